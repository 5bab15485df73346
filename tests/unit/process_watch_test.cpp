// SPDX-License-Identifier: BSD-2-Clause
// A process that is watched until it ends: user/launch/process_watch.
#include "emulator/base/error.h"
#include "tests/unit/support/child.h"
#include "user/launch/process_watch.h"
#include "user/record/traced.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <utility>

namespace ovnitrace {
namespace {

using test::Child;

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
  const auto readable = [&] {
    pollfd file = {watch.file(), POLLIN, 0};
    return poll(&file, 1, 0);
  };
  EXPECT_FALSE(watch.ended());
  EXPECT_EQ(readable(), 0);
  child.kill();
  EXPECT_TRUE(watch.ended());
  EXPECT_EQ(readable(), 1);
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
