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

} // namespace
} // namespace ovnitrace
