// SPDX-License-Identifier: BSD-2-Clause
// Captures that are loaded: the threads of --dry-run, and what the machine refuses. They need root.
#include "user/bpf/capture.h"

#include "tests/unit/support/child_status.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/ordered_child.h"
#include "user/bpf/cause_capture.h"
#include "user/record/record.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ovnitrace {
namespace {

using test::OrderedChild;

class LoadedCapture : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root may load BPF programs";
  }
};

/// Starts a thread that lives as long as the process.
void add_thread(char) {
  std::thread([] {
    for (;;)
      pause();
  }).detach();
}

// The kernel gives them by tid.
TEST_F(LoadedCapture, ThreadsAreListedByProcess) {
  const OrderedChild first(add_thread), second(add_thread);
  first.order('x');
  RecordOptions options;
  options.pids = {second.pid(), first.pid()};
  const std::vector<listed_thread> threads = list_threads(options);
  ASSERT_EQ(threads.size(), 3u);
  std::vector<uint32_t> pids;
  for (const listed_thread &one : threads)
    pids.push_back(one.pid);
  EXPECT_EQ(pids, (std::vector<uint32_t>{threads[0].tid, threads[0].tid, threads[2].tid}));
  EXPECT_LT(threads[0].pid, threads[2].pid);
  EXPECT_LT(threads[0].tid, threads[1].tid);
}

TEST_F(LoadedCapture, ARingHasAPossibleSize) {
  EXPECT_TRUE(test::failure_from([] { Capture({.ring_bytes = 1000}); })
                  .starts_with("cannot create a ring buffer of 1000 bytes for CPU 0: Invalid "
                               "argument"));
}

/// Returns what is printed in a child that can open only so many files more.
std::string printed_with_files(rlim_t more, const std::function<void(const CauseCapture &)> &look,
                               const Capture &capture, bool when_attaching) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const int status = test::status_of([&] {
    dup2(ends[1], STDERR_FILENO);
    std::optional<CauseCapture> causes;
    if (when_attaching)
      causes.emplace(capture);
    const int lowest = dup(STDERR_FILENO);
    close(lowest);
    const rlimit few = {rlim_t(lowest) + more, rlim_t(lowest) + more};
    setrlimit(RLIMIT_NOFILE, &few);
    if (!when_attaching)
      causes.emplace(capture);
    causes->attach();
    look(*causes);
    causes->detach();
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  close(ends[1]);
  std::string text(4096, 0);
  text.resize(size_t(std::max<ssize_t>(read(ends[0], text.data(), text.size()), 0)));
  close(ends[0]);
  return text;
}

TEST_F(LoadedCapture, GoesOnWithoutCausesIfTheMachineHasNoRoomForThem) {
  const Capture capture({});
  const auto has_none = [](const CauseCapture &causes) {
    EXPECT_FALSE(causes.sees_refills());
    EXPECT_EQ(causes.devices(), nullptr);
  };
  for (const bool when_attaching : {false, true})
    EXPECT_EQ(printed_with_files(when_attaching ? 0 : 1, has_none, capture, when_attaching),
              "ovnitrace: warning: devices and refills of CPU quotas and budgets are not recorded: "
              "Too many open files\n")
        << when_attaching;
  EXPECT_EQ(printed_with_files(
                1000, [](const CauseCapture &causes) { EXPECT_NE(causes.devices(), nullptr); },
                capture, false),
            "");
}

} // namespace
} // namespace ovnitrace
