// SPDX-License-Identifier: BSD-2-Clause
// Who may capture, and where: user/bpf/preflight. Each case is a process of its own, with fewer
// rights or in other namespaces.
#include "user/bpf/preflight.h"

#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"
#include "user/bpf/capture.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <functional>
#include <string>

namespace ovnitrace {
namespace {

constexpr int kTime = 0x80; // CLONE_NEWTIME, which older headers do not know
constexpr const char *kNotAllowed = "not allowed";

/// Returns what a child process answers.
std::string answer_of(const std::function<std::string()> &act) {
  int ends[2];
  if (pipe(ends) != 0)
    return "no pipe";
  const pid_t pid = fork();
  if (pid == 0) {
    std::string text;
    try {
      text = act();
    } catch (const std::exception &error) {
      text = error.what();
    }
    _exit(write(ends[1], text.data(), text.size()) == ssize_t(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, size_t(got));
  close(ends[0]);
  waitpid(pid, nullptr, 0);
  return text;
}

/// Returns what a process in a new namespace answers. `prepare` is called before it is there.
std::string answer_in(
    int space, const std::function<std::string()> &act,
    const std::function<bool()> &prepare = [] { return true; }) {
  return answer_of([&]() -> std::string {
    if (unshare(space) != 0 && unshare(space | CLONE_NEWUSER) != 0)
      return kNotAllowed;
    return prepare() ? answer_of(act) : kNotAllowed;
  });
}

std::string why_not(const std::function<void()> &act = check_can_capture) {
  try {
    act();
  } catch (const Error &error) {
    return error.what();
  }
  return "it can";
}

bool has_types() {
  return access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

/// Returns what a process with only these capabilities answers.
std::string answer_with(uint64_t capabilities,
                        const std::function<void()> &act = check_can_capture) {
  return answer_of([&]() -> std::string {
    if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
      return kNotAllowed;
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
    for (int word = 0; word < 2; word++)
      data[word].effective = data[word].permitted = uint32_t(capabilities >> 32 * word);
    return syscall(SYS_capset, &header, data) != 0 ? kNotAllowed : why_not(act);
  });
}

TEST(Preflight, ACaptureNeedsTwoCapabilitiesOrOne) {
  constexpr uint64_t kAdmin = 1ull << 21, kPerfmon = 1ull << 38, kBpf = 1ull << 39;
  const std::string right = answer_with(kBpf | kPerfmon), admin = answer_with(kAdmin);
  if (right == kNotAllowed || admin == kNotAllowed || !has_types())
    GTEST_SKIP() << "this user has no such rights here";
  EXPECT_EQ(right, "it can");
  EXPECT_EQ(admin, "it can");
  for (const uint64_t few : {uint64_t(0), kBpf, kPerfmon})
    EXPECT_EQ(answer_with(few),
              "capturing needs root, or the capabilities CAP_BPF and CAP_PERFMON: run it with "
              "sudo, or once `sudo setcap cap_bpf,cap_perfmon+ep` on the ovnitrace binary. "
              "Converting a trace (ovnitrace convert) needs neither")
        << std::hex << few;
}

TEST(Preflight, ACaptureChecksFirst) {
  const std::string answer = answer_with(0, [] { Capture{CaptureParameters{}}; });
  if (answer == kNotAllowed)
    GTEST_SKIP() << "this user cannot give up rights here";
  EXPECT_TRUE(answer.starts_with("capturing needs root")) << answer;
}

TEST(Preflight, AClockOfAnotherTimeNamespaceIsRefused) {
  const auto answer = [](const std::string &offset) {
    return answer_in(
        kTime, [] { return why_not(); },
        [&] {
          std::ofstream file("/proc/self/timens_offsets");
          file << "monotonic " << offset << "\n";
          return bool(file.flush());
        });
  };
  const std::string same = answer("0 0");
  if (same == kNotAllowed || !has_types())
    GTEST_SKIP() << "this user can make no time namespace";
  EXPECT_EQ(same, "it can");
  for (const char *offset : {"5 0", "0 7"})
    EXPECT_EQ(answer(offset), "this time namespace has a CLOCK_MONOTONIC of its own, and the "
                              "kernel's events have the machine's: run ovnitrace outside of it")
        << offset;
}

TEST(Preflight, AnOffsetOfTheMonotonicClockCounts) {
  const test::TempDir dir;
  const auto same = [&](const char *text) {
    std::ofstream(dir / "offsets") << text;
    return has_machine_clock(dir / "offsets");
  };
  EXPECT_TRUE(same("monotonic           0         0\nboottime            5         7\n"));
  EXPECT_FALSE(same("monotonic           1         0\nboottime            0         0\n"));
  EXPECT_FALSE(same("monotonic           0         1\nboottime            0         0\n"));
  EXPECT_FALSE(same("monotonic          -1 0\n"));
  EXPECT_TRUE(has_machine_clock(dir / "none")) << "a kernel without time namespaces";
}

TEST(Preflight, InAPidNamespacePidsAreOtherNumbers) {
  if (!in_initial_pid_namespace())
    GTEST_SKIP() << "the tests are in one themselves";
  EXPECT_NO_THROW(require_kernel_pids("--stacks"));
  const std::string answer = answer_in(CLONE_NEWPID, [] {
    if (in_initial_pid_namespace())
      return std::string("the same");
    require_kernel_pids("--stacks");
    return std::string("no error");
  });
  if (answer == kNotAllowed)
    GTEST_SKIP() << "this user can make no PID namespace";
  EXPECT_EQ(answer, "--stacks works only where processes have the machine's pids: start the "
                    "container with --pid=host, or run ovnitrace outside it");
}

} // namespace
} // namespace ovnitrace
