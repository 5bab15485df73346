// SPDX-License-Identifier: BSD-2-Clause
// The one frame that says where a thread was blocked: emulator/why/blocked_at.
#include "emulator/why/blocked_at.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

constexpr const char *kTrace = R"json({"format": "ovnitrace", "version": 1,
  "stack_files": [{"path": "/usr/lib/libc.so.6"}, {"path": "/opt/libc++.so"},
                  {"path": "/usr/lib/libgomp.so.1.0.0"}],
  "stack_frames": [
    {"kernel": true, "function": "schedule"},
    {"kernel": true, "function": "io_schedule_timeout"},
    {"kernel": true, "function": "futex_wait"},
    {"kernel": true, "function": "do_syscall_64"},
    {"file": 0, "function": "pthread_cond_wait", "offset": 1},
    {"file": 0, "function": "std_wait", "offset": 2},
    {"file": 1, "function": "pool", "offset": 3, "source": "/src/pool.cpp", "line": 40},
    {"file": 1, "function": "main", "offset": 4},
    {"file": 1, "function": "schedule", "offset": 5}, {"missing": true},
    {"file": 2, "offset": 127010}],
  "stacks": [{"kernel": [0, 1, 2, 3], "user": [4, 5, 6, 7]}, {"kernel": [0, 2, 3], "user": [4, 5]},
             {"kernel": [0, 1, 2, 3]}, {"kernel": [0, 1]}, {"user": [8, 7]},
             {"user": [4, 9, 7]},
             {"kernel": [0, 2, 3], "user": [10, 6, 7]}, {"kernel": [0, 2], "user": [10, 4]}]})json";

using FunctionNames = std::vector<std::string>;

class BlockedAt : public testing::Test {
protected:
  BlockedAt() {
    test::TraceBuilder::write_file(dir_.path() + "/trace.json", kTrace, strlen(kTrace));
    stacks_ = StackTable::read(dir_.path(), sink_);
  }
  test::TempDir dir_;
  test::CollectingSink sink_;
  StackTable stacks_;
};

TEST_F(BlockedAt, IsTheInnermostFunctionOfTheProgramWithItsLine) {
  EXPECT_EQ(blocked_at(stacks_, 1, 1), FunctionNames{"pool pool.cpp:40"});
}

TEST_F(BlockedAt, PrefersTheCLibraryToTheKernel) {
  EXPECT_EQ(blocked_at(stacks_, 2, 1), FunctionNames{"pthread_cond_wait"});
}

TEST_F(BlockedAt, IsNotTheSchedulerOfTheKernelWhichEveryThreadIsIn) {
  EXPECT_EQ(blocked_at(stacks_, 3, 1), FunctionNames{"futex_wait"});
  EXPECT_EQ(blocked_at(stacks_, 4, 1), FunctionNames());
  EXPECT_EQ(blocked_at(stacks_, 5, 1), FunctionNames{"schedule"})
      << "a function of the program may have its name";
}

TEST_F(BlockedAt, TheFunctionIsFollowedByAsManyCallersAsAskedFor) {
  EXPECT_EQ(blocked_at(stacks_, 1, 2), (FunctionNames{"pool pool.cpp:40", "main"}));
  EXPECT_EQ(blocked_at(stacks_, 1, 99), (FunctionNames{"pool pool.cpp:40", "main"}));
  EXPECT_EQ(blocked_at(stacks_, 3, 2), (FunctionNames{"futex_wait", "do_syscall_64"}));
  EXPECT_EQ(blocked_at(stacks_, 6, 99),
            (FunctionNames{"pthread_cond_wait", "[frames missing]", "main"}))
      << "it need not have been called by main";
}

TEST_F(BlockedAt, IsNotInALibraryOfOpenMpOrMpiIfAFunctionOfTheProgramIsKnown) {
  EXPECT_EQ(blocked_at(stacks_, 7, 1), FunctionNames{"pool pool.cpp:40"});
  EXPECT_EQ(blocked_at(stacks_, 8, 1), FunctionNames{"libgomp.so.1.0.0+0x1f022"}) << "a worker";
}

TEST_F(BlockedAt, NoStackIsNowhere) {
  EXPECT_EQ(blocked_at(stacks_, 0, 1), FunctionNames());
  EXPECT_EQ(blocked_at(stacks_, 9, 1), FunctionNames());
  EXPECT_TRUE(functions_of(stacks_, 9).empty());
}

TEST_F(BlockedAt, FunctionsAreFromTheInnermostOutward) {
  EXPECT_EQ(functions_of(stacks_, 2),
            (std::vector<std::string>{"schedule", "futex_wait", "do_syscall_64",
                                      "pthread_cond_wait", "std_wait"}));
}

TEST_F(BlockedAt, OtherFunctionsOfTheKernelAreNotWhereAThreadWaitsEither) {
  const std::string trace = R"json({"version": 1, "stack_frames": [
    {"kernel": true, "function": "bpf_get_stackid"}, {"kernel": true, "function": "__schedule"},
    {"kernel": true, "function": "preempt_schedule_irq"},
    {"kernel": true, "function": "schedule_hrtimeout"}, {"kernel": true, "function": "do_poll"}],
    "stacks": [{"kernel": [0, 1, 2, 3, 4]}, {"kernel": [0, 1, 2, 3]}]})json";
  test::TraceBuilder::write_file(dir_.path() + "/trace.json", trace.data(), trace.size());
  stacks_ = StackTable::read(dir_.path(), sink_);
  EXPECT_EQ(blocked_at(stacks_, 1, 1), FunctionNames{"do_poll"});
  EXPECT_EQ(blocked_at(stacks_, 2, 1), FunctionNames());
}

TEST_F(BlockedAt, APageFaultIsKnownByAFunctionOfTheKernel) {
  const std::string trace = R"json({"version": 1, "stack_frames": [
    {"kernel": true, "function": "schedule"}, {"kernel": true, "function": "exc_page_fault"},
    {"kernel": true, "function": "asm_exc_page_fault"},
    {"kernel": true, "function": "do_page_fault"},
    {"kernel": true, "function": "page_fault"}, {"function": "do_page_fault"}],
    "stacks": [{"kernel": [0, 1]}, {"kernel": [2, 0]}, {"kernel": [0, 3, 4]}, {"kernel": [4]},
               {"user": [5]}]})json";
  test::TraceBuilder::write_file(dir_.path() + "/trace.json", trace.data(), trace.size());
  Catalog catalog;
  catalog.hosts.resize(2);
  catalog.hosts[1].stacks = dir_.path();
  const Stacks stacks(catalog, sink_);
  ThreadInfo thread;
  thread.host = 1;
  Slice slice;
  slice.call = FTRACE_CALL_NONE;
  std::vector<uint32_t> faults;
  for (slice.stack = 0; slice.stack < 7; slice.stack++)
    if (is_page_fault(&stacks, thread, slice))
      faults.push_back(slice.stack);
  EXPECT_EQ(faults, (std::vector<uint32_t>{1, 2, 3}));
  slice.stack = 1;
  EXPECT_FALSE(is_page_fault(nullptr, thread, slice));
  slice.call = FTRACE_CALL_NATIVE;
  EXPECT_FALSE(is_page_fault(&stacks, thread, slice)) << "it is in a system call";
}

} // namespace
} // namespace ovnitrace
