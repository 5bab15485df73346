// SPDX-License-Identifier: BSD-2-Clause
// Logging with libovnitrace: what each kind of chunk does when it is full.
#include "tests/unit/support/ftrace_rig.h"

using namespace ovnitrace::test;

namespace {

constexpr int CYC = FTRACE_CHUNK_FLAG_CYC, JTN = FTRACE_CHUNK_FLAG_JTN,
              STOP = FTRACE_CHUNK_FLAG_STOP, FULL = FTRACE_CHUNK_FLAG_FULL;

class FtraceLog : public FtraceRig {};

using Saids = std::vector<Said>;

TEST_F(FtraceLog, NothingBeforeEnableAndAfterDisable) {
  int chunk = create(4, kFree);
  ASSERT_EQ(FTrace_actual_chunk_select(chunk), 0);
  log(1);
  FTrace_enable();
  log(2);
  FTrace_disable();
  log(3);
  EXPECT_EQ(said_in(chunk), Saids{user(2)});
}

TEST_F(FtraceLog, OnlyTheEventsOfARegionAreFired) {
  for (int event = FTrace_FIRE_stop; event <= FTrace_FIRE_threadid; event++)
    for (int tid : {0, 7})
      EXPECT_EQ(FTrace_fire(event, tid, 1), FTRACE_OK) << event;
  EXPECT_EQ(FTrace_fire(FTrace_FIRE_stop - 1, 0, 0), FTRACE_E_ARGUMENT);
  EXPECT_EQ(FTrace_fire(FTrace_FIRE_threadid + 1, 0, 0), FTRACE_E_ARGUMENT);
  EXPECT_EQ(FTrace_fire(FTrace_FIRE_start, -1, 0), FTRACE_E_ARGUMENT);
}

TEST_F(FtraceLog, CyclicOverwritesTheOldest) {
  int chunk = start(3, CYC);
  for (unsigned i = 1; i <= 7; i++)
    log(i);
  EXPECT_EQ(flags_of(chunk), 0); // never full
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), (Saids{user(7), user(5), user(6)})); // memory order
  EXPECT_EQ(status(chunk).events, 3u);
  EXPECT_EQ(status(chunk).lost, 0u);
}

TEST_F(FtraceLog, JumpLosesNothingAndUsesTheLastSlot) {
  int a = create(3, kFree | JTN), b = create(2, kFree | JTN), c = create(2, kFree | CYC);
  FTrace_chunk_link(a, b);
  FTrace_chunk_link(b, c);
  FTrace_actual_chunk_select(a);
  FTrace_enable();
  for (unsigned i = 1; i <= 3; i++)
    log(i);
  EXPECT_EQ(flags_of(a), JTN | FULL);
  EXPECT_EQ(flags_of(b), kFree | JTN); // nothing has come there yet
  for (unsigned i = 4; i <= 8; i++)
    log(i);
  FTrace_disable();
  EXPECT_EQ(said_in(a), (Saids{user(1), user(2), user(3)}));
  EXPECT_EQ(said_in(b), (Saids{user(4), user(5)}));
  EXPECT_EQ(said_in(c), (Saids{user(8), user(7)}));
}

TEST_F(FtraceLog, NextChunkEndsAChunkWithRoom) {
  int a = create(9, kFree | CYC), b = create(9, kFree | JTN);
  FTrace_chunk_link(a, b);
  FTrace_actual_chunk_select(a);
  FTrace_enable();
  log(1);
  TRACER_LOGEVENT(FTrace_EVT_next_chunk, 5, 6);
  EXPECT_EQ(flags_of(a), CYC | FULL);
  log(2);
  FTrace_disable();
  EXPECT_EQ(said_in(a), (Saids{user(1), {0xFF, 5, 6}}));
  EXPECT_EQ(said_in(b), Saids{user(2)});
}

TEST_F(FtraceLog, NextChunkOfAFullOneGoesToTheEmergencyArea) {
  int a = create(1, kFree | JTN), b = create(9, kFree | JTN);
  FTrace_chunk_link(a, b);
  FTrace_actual_chunk_select(a);
  FTrace_enable();
  log(1);
  TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
  log(2);
  FTrace_disable();
  EXPECT_EQ(said_in(a), (Saids{user(1), {0xFF, 0, 0}}));
  EXPECT_EQ(status(a).emergency_events, 1u);
  EXPECT_EQ(said_in(b), Saids{user(2)});
}

TEST_F(FtraceLog, NextChunkWithNoneLinkedChangesNothing) {
  int chunk = start(4, JTN);
  TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
  log(1);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), (Saids{{0xFF, 0, 0}, user(1)}));
}

TEST_F(FtraceLog, AFullStopChunkEndsWithTraceStop) {
  int chunk = start(2, STOP);
  log(1);
  EXPECT_EQ(status(chunk).emergency_events, 0u);
  log(2);
  EXPECT_EQ(flags_of(chunk), STOP | FULL);
  EXPECT_EQ(status(chunk).emergency_events, 1u); // at once
  log(3), log(4);
  TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 7);
  EXPECT_EQ(FTrace_enable(), FTRACE_E_FULL);
  log(5);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), (Saids{user(1), user(2), {FTrace_EVT_trace_stop, 0, 0}}));
  EXPECT_EQ(status(chunk).lost, 0u); // tracing had ended
  EXPECT_EQ(FTrace_set_chunk_flags(chunk, kFree | STOP), 0);
  EXPECT_EQ(FTrace_enable(), 0);
  log(6);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), Saids{user(6)});
  EXPECT_EQ(FTrace_enable(), 0);
  log(7);
  EXPECT_EQ(said_in(chunk), (Saids{user(6), user(7), {FTrace_EVT_trace_stop, 0, 0}}));
}

TEST_F(FtraceLog, AStoppedTraceGoesOnOnlyWhenEnabledAgain) {
  start(1, STOP);
  log(1);
  int other = create(9, kFree);
  ASSERT_EQ(FTrace_actual_chunk_select(other), 0);
  log(2);
  EXPECT_EQ(FTrace_enable(), 0);
  log(3);
  FTrace_disable();
  EXPECT_EQ(said_in(other), Saids{user(3)});
}

TEST_F(FtraceLog, NextChunkInTheLastSlotOfAStopChunkGoesOn) {
  int a = create(1, kFree | STOP), b = create(9, kFree | JTN);
  FTrace_chunk_link(a, b);
  FTrace_actual_chunk_select(a);
  FTrace_enable();
  TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
  log(1);
  FTrace_disable();
  EXPECT_EQ(said_in(a), (Saids{{0xFF, 0, 0}}));
  EXPECT_EQ(said_in(b), Saids{user(1)});
}

TEST_F(FtraceLog, AStopChunkDoesNotJumpWhenFull) {
  int a = create(1, kFree | STOP), b = create(1, kFree);
  FTrace_chunk_link(a, b);
  FTrace_actual_chunk_select(a);
  FTrace_enable();
  log(1), log(2);
  TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
  log(3);
  FTrace_disable();
  EXPECT_EQ(status(b).events, 0u);
  EXPECT_EQ(said_in(a), (Saids{user(1), {FTrace_EVT_trace_stop, 0, 0}}));
}

TEST_F(FtraceLog, AStopChunkStopsThoughADeletedOneWithItsNumberHas) {
  for (int run = 0; run < 2; run++) {
    const int a = create(1, kFree | STOP);
    ASSERT_EQ(a, 0);
    FTrace_actual_chunk_select(a);
    FTrace_enable();
    log(1), log(2);
    FTrace_disable();
    EXPECT_EQ(said_in(a), (Saids{user(1), {FTrace_EVT_trace_stop, 0, 0}})) << run;
    ASSERT_EQ(FTrace_chunk_delete(a), 0);
  }
}

// A program that closes a full STOP chunk by its flag may go on in the next one.
TEST_F(FtraceLog, AClosedStopChunkDoesJump) {
  int a = create(1, kFree | STOP), b = create(9, kFree | JTN);
  FTrace_chunk_link(a, b);
  FTrace_actual_chunk_select(a);
  FTrace_enable();
  log(1);
  EXPECT_EQ(FTrace_enable(), FTRACE_E_FULL) << "it is full, and open";
  ASSERT_EQ(FTrace_set_chunk_flags(a, STOP | FULL), 0);
  EXPECT_EQ(FTrace_enable(), 0);
  log(2);
  FTrace_disable();
  EXPECT_EQ(said_in(a), (Saids{user(1), {FTrace_EVT_trace_stop, 0, 0}}));
  EXPECT_EQ(said_in(b), Saids{user(2)});
}

TEST_F(FtraceLog, NowhereToJumpIsABlackout) {
  int a = start(2, JTN);
  for (unsigned i = 1; i <= 5; i++)
    log(i);
  EXPECT_EQ(status(a).lost, 3u);
  int b = create(2, kFree | JTN);
  ASSERT_EQ(FTrace_chunk_link(a, b), 0);
  log(6);
  FTrace_disable();
  EXPECT_EQ(
      said_in(a),
      (Saids{
          user(1), user(2), {FTrace_EVT_blackout_start, 0, 0}, {FTrace_EVT_blackout_end, 0, 3}}));
  EXPECT_EQ(said_in(b), Saids{user(6)});
}

TEST_F(FtraceLog, LossAfterAChunkWasSavedOrChangedIsAnotherBlackout) {
  const Said start_of{FTrace_EVT_blackout_start, 0, 0};
  int chunk = start(2, JTN, 6 * kEvent);
  log(1);
  FTrace_disable();
  EXPECT_EQ(FTrace_set_chunk_flags(chunk, JTN | FTRACE_CHUNK_FLAG_NODEL), 0);
  EXPECT_EQ(FTrace_enable(), 0);
  log(2), log(3), log(4);
  FTrace_disable();
  Saids expected{user(1), user(2), start_of, {FTrace_EVT_blackout_end, 0, 2}};
  EXPECT_EQ(said_in(chunk), expected);
  EXPECT_EQ(said_in(chunk), expected);
  EXPECT_EQ(status(chunk).lost, 2u);

  int next = create(1, kFree | JTN);
  ASSERT_EQ(FTrace_chunk_link(chunk, next), 0);
  EXPECT_EQ(FTrace_enable(), 0);
  ASSERT_EQ(FTrace_set_chunk_flags(next, FULL | JTN), 0); // taken away again
  log(5), log(6), log(7);
  FTrace_disable();
  expected.insert(expected.end(), {start_of, {FTrace_EVT_blackout_end, 0, 3}});
  EXPECT_EQ(said_in(chunk), expected);
  EXPECT_EQ(status(chunk).lost, 5u);
}

TEST_F(FtraceLog, TheLastSlotTellsThatEventsAreLost) {
  int chunk = start(1, JTN, 5 * kEvent);
  for (int blackouts = 0; blackouts < 3; blackouts++) {
    log(1), log(2);
    FTrace_disable();
    said_in(chunk); // ends the blackout
    int next = create(1, kFree | JTN);
    ASSERT_EQ(FTrace_chunk_link(chunk, next), 0);
    EXPECT_EQ(FTrace_enable(), 0);
    ASSERT_EQ(FTrace_set_chunk_flags(next, FULL | JTN), 0); // taken away again
  }
  FTrace_disable();
  const Said start_of{FTrace_EVT_blackout_start, 0, 0};
  EXPECT_EQ(said_in(chunk), (Saids{user(1),
                                   start_of,
                                   {FTrace_EVT_blackout_end, 0, 1},
                                   start_of,
                                   {FTrace_EVT_blackout_end, 0, 2},
                                   start_of}));
}

TEST_F(FtraceLog, ABlackoutEndsWhenTheChunkIsSavedOrLeft) {
  const Saids expected{user(1), {FTrace_EVT_blackout_start, 0, 0}, {FTrace_EVT_blackout_end, 0, 2}};
  int saved = start(1, JTN);
  log(1), log(2), log(3);
  FTrace_disable();
  EXPECT_EQ(said_in(saved), expected);
  EXPECT_EQ(said_in(saved), expected); // once
  EXPECT_EQ(FTrace_enable(), FTRACE_E_FULL);

  int left = start(1, JTN);
  log(1), log(2), log(3);
  int other = create(1, kFree);
  ASSERT_EQ(FTrace_actual_chunk_select(other), 0);
  log(4);
  FTrace_disable();
  EXPECT_EQ(said_in(left), expected);
  EXPECT_EQ(said_in(other), Saids{user(4)});
}

TEST_F(FtraceLog, EndOfTheTraceFindsRoom) {
  int chunk = start(1, JTN, 3 * kEvent);
  log(1);
  TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 7);
  TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 8); // two slots are the library's own
  log(2);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), (Saids{user(1),
                                   {FTrace_EVT_trace_stop, 0, 7},
                                   {FTrace_EVT_blackout_start, 0, 0},
                                   {FTrace_EVT_blackout_end, 0, 1}}));
}

TEST_F(FtraceLog, ARingOfChunksGoesOnWhileTheyAreFreedInTime) {
  int a = start(2, JTN), b = create(2, kFree | JTN);
  ASSERT_EQ(FTrace_chunk_link(a, b), 0);
  std::string path = dir_ / "ring.dat";
  ASSERT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
  Saids expected;
  for (unsigned i = 0; i < 40; i++) {
    log(i);
    expected.push_back(user(i));
    if (i >= 2 && i % 2 == 0) { // the other one has just been left
      int full = i / 2 % 2 ? a : b;
      ASSERT_EQ(FTrace_send_chunk(full, 0, FTrace_flags(kFree | JTN)), 0);
      ASSERT_EQ(i == 2 ? FTrace_chunk_link(b, a) : 0, 0);
    }
  }
  FTrace_disable();
  ASSERT_EQ(FTrace_send_chunk(b, 0, FTrace_flags(kFree | JTN)), 0);
  auto records = read_records(path);
  ASSERT_EQ(records.at(0).code, FTrace_EVT_cycles_per_msec);
  records.erase(records.begin());
  EXPECT_EQ(said(records), expected);
}

TEST_F(FtraceLog, ARingNobodyFreesIsABlackoutAndNoEndlessLoop) {
  int a = start(1, JTN), b = create(1, kFree | JTN);
  ASSERT_EQ(FTrace_chunk_link(a, b), 0);
  FTrace_disable();
  ASSERT_EQ(FTrace_set_chunk_flags(a, kFree | JTN), 0);
  ASSERT_EQ(FTrace_chunk_link(b, a), 0);
  ASSERT_EQ(FTrace_enable(), 0);
  log(1), log(2), log(3), log(4);
  FTrace_disable();
  EXPECT_EQ(said_in(a), Saids{user(1)});
  EXPECT_EQ(said_in(b),
            (Saids{user(2), {FTrace_EVT_blackout_start, 0, 0}, {FTrace_EVT_blackout_end, 0, 2}}));
}

TEST_F(FtraceLog, EnableGoesOnInAChunkThatWasSentAndFreed) {
  int chunk = start(2, CYC);
  log(1);
  FTrace_disable();
  std::string path = dir_ / "a.dat";
  FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr);
  ASSERT_EQ(FTrace_send_chunk(chunk, 0, CYC), 0); // not freed: goes on after what it holds
  EXPECT_EQ(FTrace_enable(), 0);
  log(2);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), (Saids{user(1), user(2)}));
  ASSERT_EQ(FTrace_set_chunk_flags(chunk, kFree), 0);
  EXPECT_EQ(flags_of(chunk), kFree);
  EXPECT_EQ(FTrace_enable(), 0);
  EXPECT_EQ(flags_of(chunk), 0);
  log(3);
  FTrace_disable();
  EXPECT_EQ(said_in(chunk), Saids{user(3)});
}

} // namespace
