// SPDX-License-Identifier: BSD-2-Clause
// A process that is watched until it ends: user/launch/process_watch.
#include "emulator/base/error.h"
#include "user/launch/process_watch.h"
#include "user/record/traced.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <utility>

namespace ovnitrace {
namespace {

/// A child that waits, with this name.
class Child {
public:
  explicit Child(const char *name) {
    int ends[2];
    if (pipe(ends) != 0 || (pid_ = fork()) < 0)
      throw std::runtime_error("no child");
    if (pid_ == 0) {
      prctl(PR_SET_NAME, name);
      close(ends[0]);
      close(ends[1]);
      for (;;)
        pause();
    }
    close(ends[1]);
    char end;
    while (read(ends[0], &end, 1) > 0)
      ;
    close(ends[0]);
  }
  ~Child() { kill(); }
  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    pid_ = 0;
  }
  uint32_t pid() const { return uint32_t(pid_); }

private:
  pid_t pid_ = 0;
};

TEST(ProcessWatch, HasANameThatIsFitForAFile) {
  const std::pair<const char *, const char *> names[] = {
      {"app", "app"}, {"a b/c", "a_b_c"}, {"x  y", "x__y"}, {"a.b-c", "a.b-c"}, {"\x1b[m", "_[m"}};
  for (const auto &[name, expected] : names)
    EXPECT_EQ(ProcessWatch(Child(name).pid()).name(), expected);
}

TEST(ProcessWatch, ANameWithALeadingDotOrDashOrNoNameBecomesThePid) {
  for (const char *name : {".hidden", "-rf", ""}) {
    const Child child(name);
    EXPECT_EQ(ProcessWatch(child.pid()).name(), "pid" + std::to_string(child.pid())) << name;
  }
}

TEST(ProcessWatch, SeesItsEnd) {
  Child child("app");
  const ProcessWatch watch(child.pid());
  EXPECT_FALSE(watch.ended());
  child.kill();
  EXPECT_TRUE(watch.ended());
}

TEST(ProcessWatch, SaysThatThereIsNoSuchProcess) {
  Child child("app");
  const uint32_t pid = child.pid();
  child.kill();
  try {
    const ProcessWatch watch(pid);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()), "cannot trace process " + std::to_string(pid) +
                                             ": No such process; -p takes the id of a process, as "
                                             "ps shows it");
  }
}

TEST(WatchProcesses, LeavesOutEndedProcessesOfAName) {
  Child ended("app");
  const Child lives("app");
  RecordOptions options;
  options.pids = {ended.pid(), lives.pid()};
  ended.kill();
  EXPECT_THROW(watch_processes(options), Error) << "a number";
  options.named_pids = options.pids;
  const std::deque<ProcessWatch> watched = watch_processes(options);
  ASSERT_EQ(watched.size(), 1u);
  EXPECT_EQ(watched[0].pid(), lives.pid());
  std::swap(options.pids[0], options.pids[1]);
  EXPECT_EQ(watch_processes(options).size(), 1u);
  options.pids = {options.pids[1]};
  EXPECT_THROW(watch_processes(options), Error) << "all have ended";
}

} // namespace
} // namespace ovnitrace
