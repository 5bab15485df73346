// SPDX-License-Identifier: BSD-2-Clause
// What is said if no process can be started, or no file opened.
#include "emulator/base/error.h"
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/fake_chains.h"
#include "user/control/held_processes.h"
#include "user/control/single_step.h"
#include "user/launch/program.h"
#include "user/launch/signals.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

using Use = std::function<void()>;

/// The error of a use in a child with this limit.
std::string error_of(int limit, rlim_t most, const Use &use) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  test::status_of([&] {
    const rlimit now = {most, most};
    std::string text = "no error";
    if (setrlimit(__rlimit_resource_t(limit), &now) != 0 ||
        (limit == RLIMIT_NPROC && geteuid() == 0 && setuid(65534) != 0))
      text = "no limit";
    try {
      use();
    } catch (const Error &error) {
      text = error.what();
    }
    (void)!write(ends[1], text.data(), text.size());
    return 0;
  });
  char text[512] = {};
  (void)!read(ends[0], text, sizeof text - 1);
  close(ends[0]), close(ends[1]);
  return text;
}

std::string without_processes(const Use &use) {
  return error_of(RLIMIT_NPROC, 0, use);
}

/// `more`: how many files can be opened.
std::string without_files(const Use &use, rlim_t more = 0) {
  int lowest[4]; // what the child can open, from the lowest on; the pipe takes two
  for (int &one : lowest)
    one = open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (const int one : lowest)
    close(one);
  return error_of(RLIMIT_NOFILE, rlim_t(lowest[2]) + more, use);
}

constexpr const char *kNoProcess = "Resource temporarily unavailable",
                     *kNoFile = "Too many open files";

TEST(NoRoom, ForTheProcessThatContinuesOthers) {
  const Use use = [] { control::HeldProcesses(-1, nullptr, false); };
  const std::string start =
      "--control: cannot start the process that continues stopped processes: ";
  EXPECT_EQ(without_processes(use), start + kNoProcess);
  EXPECT_EQ(without_files(use, 1), start + kNoFile);
}

TEST(NoRoom, ForTheProcessThatCountsInstructions) {
  test::FakeChains chains;
  const control::Plan plan = control::make_plan({"start:icount:5"});
  const Use use = [&] { control::SingleStep(plan, chains); };
  const std::string start = "--control: cannot start the process that counts instructions: ";
  EXPECT_EQ(without_processes(use), start + kNoProcess);
  EXPECT_EQ(without_files(use, 1), start + kNoFile);
  EXPECT_FALSE(chains.stops_for_tracer());
}

TEST(NoRoom, ForTheProgram) {
  const Use use = [] { Program({"app", "x"}, Identity()); };
  EXPECT_EQ(without_processes(use), std::string("cannot start app: fork: ") + kNoProcess);
  EXPECT_EQ(without_files(use, 1), std::string("cannot start app: ") + kNoFile);
  EXPECT_EQ(without_files(use, 3), std::string("cannot start app: ") + kNoFile);
}

TEST(NoRoom, ForSignals) {
  const Use use = [] { StopSignals signals(0); };
  EXPECT_EQ(without_files(use), std::string("cannot wait for signals: ") + kNoFile);
}

} // namespace
} // namespace ovnitrace
