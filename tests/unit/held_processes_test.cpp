// SPDX-License-Identifier: BSD-2-Clause
// Processes that are stopped are continued, also when nobody is left to do it.
#include "emulator/base/unique_fd.h"
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/fake_chains.h"
#include "tests/unit/support/files.h"
#include "user/control/held_processes.h"

#include <ovnitrace/control.h>

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace ovnitrace::control {
namespace {

/// A child that has been stopped.
class Stopped {
public:
  Stopped() {
    pid_ = fork();
    if (pid_ == 0)
      for (;;)
        pause();
    kill(pid_, SIGSTOP);
    int status = 0;
    waitpid(pid_, &status, WUNTRACED);
  }
  ~Stopped() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  uint32_t pid() const { return uint32_t(pid_); }
  /// Waits for it if it shall be so.
  bool continued(bool wait) const {
    int status = 0;
    return waitpid(pid_, &status, WCONTINUED | (wait ? 0 : WNOHANG)) == pid_ &&
           WIFCONTINUED(status);
  }

private:
  pid_t pid_ = -1;
};

class HeldTest : public testing::Test {
protected:
  void SetUp() override {
    map_ = UniqueFd(bpf_map_create(BPF_MAP_TYPE_HASH, "held", 4, 1, 64, nullptr));
    if (!map_)
      GTEST_SKIP() << "needs BPF";
    void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    holds_ = static_cast<bool *>(memory);
    *holds_ = true;
  }
  void TearDown() override {
    if (holds_ != nullptr)
      munmap(const_cast<bool *>(holds_), 4096);
  }
  void put(uint32_t pid, uint8_t how = CONTROL_HELD_PROCESS) {
    EXPECT_EQ(bpf_map_update_elem(map_.get(), &pid, &how, BPF_ANY), 0);
  }
  bool has(uint32_t pid) {
    uint8_t how = 0;
    return bpf_map_lookup_elem(map_.get(), &pid, &how) == 0;
  }

  UniqueFd map_;
  volatile bool *holds_ = nullptr;
};

TEST_F(HeldTest, AProcessIsContinuedAndForgotten) {
  HeldProcesses held(map_.get(), holds_, false);
  const Stopped one, other;
  put(one.pid());
  put(other.pid());
  held.release(one.pid());
  EXPECT_TRUE(one.continued(true));
  EXPECT_FALSE(has(one.pid()));
  EXPECT_TRUE(has(other.pid()));
  EXPECT_FALSE(other.continued(false));
  EXPECT_FALSE(held.continue_parents()) << "their parent is this process";
}

TEST_F(HeldTest, OneThatTheMapLacksIsContinuedToo) {
  HeldProcesses held(map_.get(), holds_, false);
  const Stopped one;
  held.release(one.pid());
  EXPECT_TRUE(one.continued(true));
}

TEST_F(HeldTest, AllAreContinued) {
  HeldProcesses held(map_.get(), holds_, false);
  const Stopped one, other;
  put(one.pid());
  put(other.pid());
  held.release_all();
  EXPECT_TRUE(one.continued(true));
  EXPECT_TRUE(other.continued(true));
  EXPECT_FALSE(has(one.pid()));
  EXPECT_FALSE(has(other.pid()));
  EXPECT_TRUE(*holds_) << "only the guard ends that";
}

TEST_F(HeldTest, TheGuardContinuesThemIfItsOwnerEnds) {
  const Stopped one, other;
  put(one.pid());
  put(other.pid());
  const pid_t owner = fork();
  if (owner == 0) {
    const auto *held = new HeldProcesses(map_.get(), holds_, false);
    _exit(held ? 0 : 1);
  }
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(one.continued(true));
  EXPECT_TRUE(other.continued(true));
  EXPECT_FALSE(*holds_);
}

TEST_F(HeldTest, TheGuardKeepsTheMapWhateverItsNumberIs) {
  const UniqueFd other(fcntl(map_.get(), F_DUPFD_CLOEXEC, 100));
  const Stopped one;
  put(one.pid());
  EXPECT_EQ(test::status_of([&] {
              const auto *held = new HeldProcesses(other.get(), holds_, false);
              return held ? 0 : 1; // it ends without a word to the guard
            }),
            0);
  EXPECT_TRUE(test::eventually([&] { return one.continued(false); }));
}

/// The only child of this thread.
pid_t child() {
  const std::string children =
      test::text_of("/proc/self/task/" + std::to_string(getpid()) + "/children");
  return children.empty() ? 0 : std::stoi(children);
}

TEST_F(HeldTest, TheGuardHasANameASessionAndOneFile) {
  ASSERT_EQ(child(), 0);
  {
    const HeldProcesses held(map_.get(), holds_, false);
    const pid_t guard = child();
    ASSERT_GT(guard, 0);
    const std::string place = "/proc/" + std::to_string(guard);
    EXPECT_EQ(test::text_of(place + "/comm"), "ovt-guard\n");
    EXPECT_EQ(getsid(guard), guard);
    int files = 0;
    for (const int fd : {0, 1, 2, 3, 4, 5})
      files |= (access((place + "/fd/" + std::to_string(fd)).c_str(), F_OK) == 0) << fd;
    EXPECT_EQ(files & 0x37, 0) << "streams, or files behind the map";
  }
  EXPECT_EQ(child(), 0) << "it ends with its owner";
  EXPECT_TRUE(*holds_);
}

// It has to stay in the session, but who kills the group does not mean it.
TEST_F(HeldTest, TheGuardOfAGroupIsInASessionOfOurs) {
  const pid_t owner = fork();
  if (owner == 0) {
    setpgid(0, 0); // its parent is in another group of the session
    const HeldProcesses held(map_.get(), holds_, true);
    const pid_t guard = child();
    const std::string members = test::text_of("/proc/" + std::to_string(guard) + "/task/" +
                                              std::to_string(guard) + "/children");
    const int wrong = (getsid(guard) != getsid(0)) | (getpgid(guard) != guard) << 1 |
                      (members.empty() || getpgid(std::stoi(members)) != getpgrp()) << 2;
    _exit(wrong);
  }
  int status = 0;
  waitpid(owner, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << status;
}

/// Makes a process that does this with a child that only waits. Returns both.
std::pair<pid_t, pid_t> with_child(void (*act)(pid_t grandchild)) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const pid_t grandchild = fork();
    while (grandchild == 0)
      pause();
    (void)!write(ends[1], &grandchild, sizeof grandchild);
    for (;;)
      act(grandchild);
  }
  pid_t grandchild = 0;
  EXPECT_EQ(read(ends[0], &grandchild, sizeof grandchild), ssize_t(sizeof grandchild));
  close(ends[0]), close(ends[1]);
  return {parent, grandchild};
}

/// su, for example, stops itself when its child is stopped.
TEST_F(HeldTest, AParentThatHasStoppedItselfIsContinued) {
  const auto [parent, grandchild] = with_child([](pid_t grandchild) {
    prctl(PR_SET_NAME, "a) R (b"); // as if its state were R
    raise(SIGSTOP);
    kill(grandchild, SIGKILL);
    waitpid(grandchild, nullptr, 0);
    _exit(7);
  });
  ASSERT_GT(grandchild, 0);
  int status = 0;
  waitpid(parent, &status, WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(status));
  {
    HeldProcesses held(map_.get(), holds_, false);
    put(uint32_t(grandchild), CONTROL_PARENT_STOPPED);
    held.release(uint32_t(grandchild));
    EXPECT_FALSE(held.continue_parents()) << "somebody else has stopped it";
  }
  HeldProcesses held(map_.get(), holds_, false);
  put(uint32_t(grandchild));
  held.release(uint32_t(grandchild));
  EXPECT_TRUE(held.continue_parents());
  EXPECT_EQ(waitpid(parent, &status, 0), parent);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(held.continue_parents()) << "it looks only now and then";
}

TEST_F(HeldTest, AParentThatHasEndedIsNotLookedAtAgain) {
  const auto [parent, grandchild] = with_child([](pid_t) { pause(); });
  ASSERT_GT(grandchild, 0);
  HeldProcesses held(map_.get(), holds_, false);
  put(uint32_t(grandchild));
  held.release(uint32_t(grandchild));
  kill(grandchild, SIGKILL);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_FALSE(held.continue_parents());
}

/// A parent that is stopped while it waits, and a child of it.
TEST_F(HeldTest, AParentThatOthersHaveStoppedStaysStopped) {
  for (const long call : std::initializer_list<long>{SYS_kill, SYS_tkill, SYS_tgkill, 0}) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t parent = fork();
    if (parent == 0) {
      const pid_t self = getpid(), grandchild = fork();
      if (grandchild == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == self)
          pause();
        _exit(0); // it has ended before
      }
      (void)!write(ends[1], &grandchild, sizeof grandchild);
      if (call == SYS_tgkill)
        syscall(call, self, self, SIGSTOP);
      else if (call)
        syscall(call, self, SIGSTOP);
      for (;;)
        pause();
    }
    pid_t grandchild = 0;
    ASSERT_EQ(read(ends[0], &grandchild, sizeof grandchild), ssize_t(sizeof grandchild));
    close(ends[0]), close(ends[1]);
    if (!call)
      kill(parent, SIGSTOP);
    int status = 0;
    waitpid(parent, &status, WUNTRACED);
    HeldProcesses held(map_.get(), holds_, false);
    put(uint32_t(grandchild));
    held.release(uint32_t(grandchild));
    EXPECT_TRUE(held.continue_parents());
    EXPECT_EQ(waitpid(parent, &status, WCONTINUED | (call ? 0 : WNOHANG)), call ? parent : 0)
        << call;
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
  }
}

TEST_F(HeldTest, TheMemberOfTheGroupEndsWithItsOwner) {
  const pid_t owner = fork();
  if (owner == 0) {
    setpgid(0, 0);
    pid_t member = 0;
    {
      const HeldProcesses held(map_.get(), holds_, true);
      const std::string guard = std::to_string(child());
      const std::string members = test::text_of("/proc/" + guard + "/task/" + guard + "/children");
      member = members.empty() ? 0 : std::stoi(members);
    }
    _exit(member > 0 && kill(member, 0) != 0 && errno == ESRCH ? 0 : 1);
  }
  int status = 0;
  waitpid(owner, &status, 0);
  EXPECT_EQ(status, 0);
}

} // namespace
} // namespace ovnitrace::control
