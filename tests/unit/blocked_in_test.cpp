// SPDX-License-Identifier: BSD-2-Clause
// The system call in which a thread is blocked: from its record to what readers see.
#include "emulator/dump/dump_line.h"
#include "emulator/input/call_name.h"
#include "emulator/models/blocked_in.h"
#include "emulator/open/open_trace.h"
#include "emulator/slices/slicer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/replay_rig.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <set>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::ReplayRig;
using test::TempDir;
using test::Timeline;
using test::TraceBuilder;

constexpr uint16_t kRead32 = FTRACE_CALL_COMPAT + 3, kFutex = FTRACE_CALL_NATIVE + 202;
constexpr uint32_t kSleepOf77 = 77u | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT;

/// A trace whose thread sleeps in each of `calls`, by the bits that docs/format.md describes.
class BlockedIn : public ::testing::Test {
protected:
  BlockedIn() : trace(dir.path()) { trace.json(R"({"version":1,"machine":"x86_64"})"); }

  void sleep_in(const std::vector<uint16_t> &calls) {
    auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a");
    uint64_t time = 100;
    for (const uint16_t call : calls) {
      cpu.at(time += 10).dispatch(1);
      cpu.at(time += 10)
          .record(uint16_t(0x72 | call >> 4 << 8), 1, kSleepOf77 | uint32_t(call) << 28);
      cpu.at(time += 10).activate(1);
    }
    cpu.at(time + 10).stop();
    trace.write();
  }
  std::unique_ptr<EventSource> open() { return open_trace({{dir.path()}}, sink); }

  TempDir dir;
  TraceBuilder trace;
  CollectingSink sink;
};

TEST_F(BlockedIn, IsReadFromTheRecordAndLeavesTheParametersAlone) {
  std::vector<uint16_t> calls;
  for (uint16_t call = 0; call < FTRACE_CALLS; call++)
    calls.push_back(call);
  sleep_in(calls);
  const auto source = open();
  std::vector<uint16_t> found;
  for (Event event; source->next(event);) {
    if (event.kind == FTrace_EVT_task_sleep) {
      EXPECT_EQ(event.par2, kSleepOf77);
      found.push_back(event.call);
    } else {
      EXPECT_EQ(event.call, FTRACE_CALL_UNKNOWN) << event.kind;
    }
  }
  EXPECT_EQ(found, calls);
  EXPECT_TRUE(sink.reported.empty());
}

TEST_F(BlockedIn, TheSnapshotHasTheSystemCall) {
  trace.cpu(0).at(90).id(1, 11, 11, "a");
  trace.cpu(0).record(FTrace_EXT_snapshot | 12 << 8, 1,
                      OVNI_THREAD_PAUSED | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT | 12u << 28);
  trace.cpu(0).at(100).start().at(110).stop();
  trace.write();
  const auto source = open();
  Event event;
  ASSERT_TRUE(source->next(event));
  EXPECT_EQ(event.kind, uint32_t(FTrace_EXT_snapshot));
  EXPECT_EQ(event.call, kFutex);
  EXPECT_EQ(event.par2 >> FTRACE_REASON_SHIFT, uint32_t(FTRACE_OFFCPU_DISK));
}

TEST_F(BlockedIn, NoOtherRecordMayHaveItsBits) {
  trace.cpu(0).at(100).start().id(1, 11, 11, "a").record(FTrace_EVT_task_dispatch | 1 << 8, 1);
  trace.cpu(0).at(110).stop();
  trace.write();
  const auto source = open();
  for (Event event; source->next(event);)
    EXPECT_NE(event.kind, uint32_t(FTrace_EVT_task_dispatch));
  ASSERT_FALSE(sink.reported.empty());
  EXPECT_NE(sink.reported[0].what.find("unknown code 0x0122"), std::string::npos);
}

TEST_F(BlockedIn, DumpNamesTheCall) {
  sleep_in({kFutex, FTRACE_CALL_NONE, kRead32, FTRACE_CALL_UNKNOWN, FTRACE_CALL_NATIVE + 900});
  const auto source = open();
  const DumpLine line(source->catalog());
  char buffer[DumpLine::kMaxBytes];
  std::vector<std::string> found, json;
  for (Event event; source->next(event);)
    if (event.kind == FTrace_EVT_task_sleep) {
      const std::string text(buffer, line.put(buffer, event) - 1);
      found.push_back(text.substr(text.find("reason=")));
      const std::string members(buffer, line.put_json_details(buffer, event));
      json.push_back(members.substr(members.find("\"reason\"")));
    }
  EXPECT_EQ(found,
            (std::vector<std::string>{"reason=sleep call=futex", "reason=sleep call=no_system_call",
                                      "reason=sleep call=read_(32-bit)", "reason=sleep",
                                      "reason=sleep call=call_900"}));
  ASSERT_EQ(json.size(), 5u);
  EXPECT_EQ(json[2], "\"reason\":\"sleep\",\"call\":\"read (32-bit)\"}");
}

TEST_F(BlockedIn, ASliceHasTheCallWhileItsThreadIsPaused) {
  sleep_in({kFutex, FTRACE_CALL_NONE});
  struct Calls final : SliceSink {
    void on_slice(const Slice &slice) override { all.emplace_back(slice.state, slice.call); }
    std::vector<std::pair<ThreadState, uint16_t>> all;
  } calls;
  const auto source = open();
  replay_slices(*source, {}, calls);
  using enum ThreadState;
  EXPECT_EQ(calls.all, (std::vector<std::pair<ThreadState, uint16_t>>{{Unknown, 0},
                                                                      {Running, 0},
                                                                      {Paused, kFutex},
                                                                      {Warming, 0},
                                                                      {Running, 0},
                                                                      {Paused, FTRACE_CALL_NONE},
                                                                      {Warming, 0}}));
  EXPECT_EQ(call_name(source->catalog(), 0, kFutex), "futex");
}

TEST(BlockedInModel, ShowsTheCallWhilePaused) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).blocked(0, kFutex).at(3).activate(0).at(4).dispatch(0);
  rig.at(5).blocked(0, FTRACE_CALL_NONE).at(6).activate(0).at(7).dispatch(0);
  rig.at(8).blocked(0, kRead32).at(9).dispatch(0);
  rig.at(10).blocked(0, FTRACE_CALL_UNKNOWN).at(11).dispatch(0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 203),
            (Timeline{{2, 203}, {3, 0}, {8, 1027}, {9, 0}, {10, 2048}, {11, 0}}));
}

TEST(BlockedInModel, ABlackoutEndsIt) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).blocked(0, kFutex).at(3);
  rig.ftrace(FTrace_EVT_blackout_start, kNone, 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 203), (Timeline{{2, 203}, {3, 0}}));
}

TEST(BlockedInModel, AThreadThatIsFoundBlockedShowsItsCallUnlessItIsKnownAlready) {
  const uint32_t paused = uint32_t(ThreadState::Paused);
  for (const uint32_t code : {FTrace_EXT_snapshot, FTrace_EXT_state}) {
    ReplayRig rig;
    Event found = {.time = 1, .kind = code, .thread = 0, .cpu = 0, .par2 = paused};
    found.call = kFutex;
    rig.at(1).replay.handle(found);
    found.time = 2;
    found.call = kRead32; // older than what is known
    rig.at(2).replay.handle(found);
    rig.at(3).activate(0).flush();
    EXPECT_EQ(rig.threads.timeline(0, 203), (Timeline{{1, 203}, {3, 0}})) << code;
  }
}

/// Another CPU may have woken it since.
TEST(BlockedInModel, AThreadThatSleepsDuringALossShowsNoCall) {
  ReplayRig rig;
  rig.at(1).dispatch(0).ftrace(FTrace_EVT_blackout_start, kNone, 1);
  rig.at(2).blocked(0, kFutex).flush();
  EXPECT_EQ(rig.threads.timeline(0, 203), Timeline());
}

/// Each label then belongs to one call.
TEST(BlockedInModel, EveryCallHasAValueOfItsOwn) {
  std::set<int64_t> values;
  for (uint16_t call = FTRACE_CALL_NATIVE; call < FTRACE_CALLS; call++)
    EXPECT_TRUE(values.insert(blocked_in_value(call)).second) << call;
  EXPECT_EQ(*values.begin(), 1);
  EXPECT_EQ(blocked_in_value(FTRACE_CALL_NATIVE), 1);
  EXPECT_EQ(blocked_in_value(FTRACE_CALL_NONE), 0);
  EXPECT_EQ(blocked_in_value(FTRACE_CALL_UNKNOWN), 2048);
  EXPECT_FALSE(values.contains(2048));
}

} // namespace
} // namespace ovnitrace
