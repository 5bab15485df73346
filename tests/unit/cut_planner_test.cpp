// SPDX-License-Identifier: BSD-2-Clause
// Which chunks a cut leaves out, from records given one by one: emulator/input/cut_plan. The tests
// of whole traces are in cut_plan_test.cpp.
#include "emulator/input/catalog.h"
#include "emulator/input/cut_plan.h"
#include "emulator/input/host_input.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

constexpr uint64_t kNextRun = 64 << 10; ///< bytes: chunks up to here are taken together
constexpr ThreadKey kThread = {0, 11, 5};

/// The cut starts at 1000.
class CutPlannerTest : public ::testing::Test {
protected:
  void file() { planner.start_file(); }
  void chunk(uint64_t offset) { planner.start_chunk(offset, offset / 4); }
  /// A record of context 1, which is the thread kThread.
  void record(uint8_t code, uint64_t time) {
    ftrace_record one;
    ftrace_record_set(&one, code, 1, time, 0);
    planner.record(one, code, time, time);
    planner.end_context(1, kThread);
  }
  /// Returns the start of what is read of each file: in the plain file, in the file itself.
  std::vector<std::pair<uint64_t, uint64_t>> starts(size_t files) const {
    std::vector<ChunkInput> inputs(files);
    std::vector<ChunkInput *> pointers;
    for (ChunkInput &input : inputs)
      pointers.push_back(&input);
    planner.set_parts(pointers);
    std::vector<std::pair<uint64_t, uint64_t>> starts;
    for (const ChunkInput &input : inputs)
      starts.emplace_back(input.parts.at(0).start, input.parts.at(0).place);
    return starts;
  }
  using Starts = std::vector<std::pair<uint64_t, uint64_t>>;

  CutPlanner planner{1000};
};

TEST_F(CutPlannerTest, ChunksAreTakenTogetherUpTo64Kib) {
  for (const uint64_t offset : {kNextRun - 1, kNextRun}) {
    file();
    chunk(0);
    record(FTrace_EVT_trace_start, 10);
    chunk(offset);
    record(FTrace_EVT_trace_start, 2000);
  }
  EXPECT_EQ(starts(2), (Starts{{0, 0}, {65536, 16384}}));
}

TEST_F(CutPlannerTest, ARunThatEndsAtTheCutIsRead) {
  for (const uint64_t time : {999, 1000}) {
    file();
    chunk(0);
    record(FTrace_EVT_trace_start, time);
    chunk(kNextRun);
    record(FTrace_EVT_trace_start, 2000);
  }
  EXPECT_EQ(starts(2), (Starts{{65536, 16384}, {0, 0}}));
}

/// Its thread is known only from a switch, which might be left out.
TEST_F(CutPlannerTest, AUserEventBeforeTheCutNeedsAll) {
  file();
  chunk(0);
  record(FTrace_EVT_user_event_3, 1000);
  EXPECT_TRUE(planner.wanted());
  file();
  chunk(0);
  record(FTrace_EVT_user_event_3, 999);
  EXPECT_FALSE(planner.wanted());
}

TEST_F(CutPlannerTest, EventsOfAThreadMatterFromTheRunInWhichItLeftACpu) {
  file();
  chunk(0);
  record(FTrace_EVT_task_activate, 100);
  chunk(kNextRun);
  record(FTrace_EVT_task_sleep, 300);
  for (const uint64_t time : {299, 300}) {
    file();
    chunk(0);
    record(FTrace_EVT_task_activate, time);
    chunk(kNextRun);
    record(FTrace_EVT_trace_start, 2000);
  }
  EXPECT_EQ(planner.since(kThread), 300u);
  EXPECT_EQ(starts(3), (Starts{{65536, 16384}, {65536, 16384}, {0, 0}}));
}

TEST(CutPlannerFiles, OfWhichSomethingIsMissingAreReadWhole) {
  const test::TempDir dir;
  const char bytes[24] = {};
  test::TraceBuilder::write_file(dir / "a.ftr", bytes, sizeof bytes);
  const auto plans = [&](uint64_t size, const auto &change) {
    std::vector<HostInput> hosts(1);
    ChunkInput &chunk = hosts[0].chunks.emplace_back();
    chunk.fd = UniqueFd(open((dir / "a.ftr").c_str(), O_RDONLY | O_CLOEXEC));
    chunk.size = size;
    change(chunk);
    CutPlanner planner(1000);
    make_catalog(hosts, planner);
    return planner.wanted();
  };
  const auto nothing = [](ChunkInput &) {};
  EXPECT_TRUE(plans(0, nothing));
  EXPECT_TRUE(plans(16, nothing));
  EXPECT_FALSE(plans(24, nothing)) << "half a record";
  EXPECT_FALSE(plans(32, nothing)) << "the file became shorter";
  EXPECT_FALSE(plans(0, [](ChunkInput &chunk) { chunk.missing = true; }));
  EXPECT_FALSE(plans(0, [](ChunkInput &chunk) { chunk.unwritten = 1; }));
  EXPECT_FALSE(plans(16, [](ChunkInput &chunk) { chunk.written = 2; }));
  EXPECT_TRUE(plans(16, [](ChunkInput &chunk) { chunk.written = 1; }));
}

} // namespace
} // namespace ovnitrace
