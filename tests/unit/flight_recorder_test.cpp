// SPDX-License-Identifier: BSD-2-Clause
// The flight recorder keeps the last chunks of each CPU, and what it keeps is a trace: user/chunk.
#include "emulator/open/open_trace.h"
#include "tests/unit/support/chunks.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "user/chunk/flight_recorder.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace ovnitrace {
namespace {

using test::CollectingOutput;
using test::CollectingSink;
using test::event_chunk;
using test::give;

constexpr size_t kRecords = 256;
constexpr uint64_t kBytes = 10 * kRecords * sizeof(ftrace_record);

/// What a reader makes of what was written.
struct Reading {
  explicit Reading(const CollectingOutput &output) {
    for (const auto &[cpu, records] : output.files)
      test::TraceBuilder::write_file(test::TraceBuilder(dir.path()).file(cpu), records.data(),
                                     records.size() * sizeof(ftrace_record));
    std::unique_ptr<EventSource> source = open_trace({{dir.path(), 0}}, sink);
    catalog = source->catalog();
    for (Event event; source->next(event);)
      events.push_back(event);
  }
  const Event *first(uint32_t kind) const {
    for (const Event &event : events)
      if (event.kind == kind)
        return &event;
    return nullptr;
  }
  test::TempDir dir;
  CollectingSink sink;
  Catalog catalog;
  std::vector<Event> events;
};

TEST(FlightRecorder, WritesAllIfNothingWasEvicted) {
  CollectingOutput output;
  FlightRecorder recorder(output, 2, kBytes, kRecords);
  give(recorder, event_chunk(0, 0, 1000, 100));
  give(recorder, event_chunk(0, 1, 2000, 50, FTrace_EVT_trace_stop));
  EXPECT_TRUE(output.files.empty()) << "before the end nothing leaves the memory";
  recorder.close();
  recorder.close();
  EXPECT_EQ(output.finished, 1);
  EXPECT_EQ(recorder.records_dropped(), 0u);
  const Reading reading(output);
  EXPECT_EQ(reading.sink.damage(), 0u) << reading.sink.reported.at(0).what;
  EXPECT_EQ(reading.events.size(), 1 + 150 + 1u);
  EXPECT_EQ(reading.catalog.begin, 1u) << "trace_start";
}

TEST(FlightRecorder, KeepsTheLastChunksOfEachCpu) {
  CollectingOutput output;
  FlightRecorder recorder(output, 2, kBytes, kRecords);
  for (uint32_t number = 0; number < 50; number++)
    give(recorder, event_chunk(0, number, 1000 * (number + 1), 200));
  give(recorder, event_chunk(0, 50, 51000, 10, FTrace_EVT_trace_stop));
  give(recorder, event_chunk(1, 0, 47500, 20, FTrace_EVT_trace_stop));
  recorder.close();
  EXPECT_LE(output.files[0].size() * sizeof(ftrace_record),
            kBytes + kRecords * sizeof(ftrace_record));
  EXPECT_GE(output.files[0].size() * sizeof(ftrace_record), kBytes * 8 / 10);

  const Reading reading(output);
  EXPECT_EQ(reading.sink.damage(), 0u) << reading.sink.reported.at(0).what;
  EXPECT_EQ(output.count(0, FTrace_EVT_trace_start) + output.count(1, FTrace_EVT_trace_start), 0u);
  const Event *dark = reading.first(FTrace_EVT_blackout_start),
              *light = reading.first(FTrace_EVT_blackout_end);
  ASSERT_TRUE(dark && light);
  EXPECT_EQ(reading.catalog.begin, dark->time)
      << "time 0 is just before the first event that is there";
  const size_t kept = output.count(0, FTrace_EVT_task_dispatch);
  EXPECT_EQ(light->par2, 50 * 200 + 10 - kept + 1)
      << "all that were forgotten, trace_start among them";
  EXPECT_EQ(output.count(1, FTrace_EVT_task_dispatch), 20u);
  EXPECT_EQ(output.count(1, FTrace_EVT_blackout_start), 0u);
}

TEST(FlightRecorder, ForgetsWhatIsOlderButTheNewestChunkOfEachCpu) {
  CollectingOutput output;
  FlightRecorder recorder(output, 2, kBytes, kRecords);
  give(recorder, event_chunk(1, 0, 500, 5));
  for (uint32_t number = 0; number < 3; number++) // up to 1009, 2009 and 3009
    give(recorder, event_chunk(0, number, 1000 * (number + 1), 10));
  recorder.forget_before(1009);
  EXPECT_EQ(recorder.events_forgotten(), 0u) << "its last event is not older";
  recorder.forget_before(3010);
  recorder.save(output, 9000);
  EXPECT_EQ(output.count(0, FTrace_EVT_task_dispatch), 10u);
  EXPECT_EQ(output.count(1, FTrace_EVT_task_dispatch), 5u);
  EXPECT_EQ(recorder.events_forgotten(), 1 + 20u) << "trace_start is one";
}

// An idle CPU knows of long ago what a busy one has forgotten: the busy one is dark until it knows.
TEST(FlightRecorder, HasABlackoutWhereOnlyAnotherCpuHasEvents) {
  CollectingOutput output;
  FlightRecorder recorder(output, 2, kBytes, kRecords);
  give(recorder, event_chunk(1, 0, 500, 5));
  for (uint32_t number = 0; number < 50; number++)
    give(recorder, event_chunk(0, number, 1000 * (number + 1), 200));
  recorder.save(output, 99000);
  const Reading reading(output);
  const Event *dark = reading.first(FTrace_EVT_blackout_start),
              *light = reading.first(FTrace_EVT_blackout_end);
  ASSERT_TRUE(dark && light);
  EXPECT_EQ(dark->time, 499u) << "before the first event that is there";
  EXPECT_GT(light->time, 30000u);
  EXPECT_EQ(reading.catalog.begin, 499u);
  EXPECT_EQ(reading.catalog.end, 99000u);
  EXPECT_EQ(reading.sink.damage(), 0u) << reading.sink.reported.at(0).what;
}

/// The start of chunk `number` of a CPU.
test::ChunkBuilder begun(uint16_t cpu, uint32_t number, uint64_t time) {
  test::ChunkBuilder builder(cpu);
  builder.records().clear();
  builder.at(time)
      .record(FTrace_EVT_cycles_per_msec, 0, 1000000)
      .record(FTrace_EXT_format, FTRACE_EXT_VERSION);
  return builder.record(FTrace_EXT_chunk, cpu, number).record(FTrace_EVT_numevents);
}

void give_ended(FlightRecorder &recorder, uint16_t cpu, uint32_t number,
                test::ChunkBuilder builder) {
  give(recorder, {cpu, builder.record(FTrace_EVT_next_chunk, 0, number + 1).records()});
}

constexpr uint64_t kOneChunk = 1; ///< bytes: the newest chunk of each CPU is kept

// Also where the first event that is kept changes one, on a CPU that a reader hears first.
TEST(FlightRecorder, ReportsTheLastStatesThatItForgotBeforeAllThatIsKept) {
  CollectingOutput output;
  FlightRecorder recorder(output, 2, kOneChunk, kRecords);
  test::ChunkBuilder forgotten =
      begun(1, 0, 10).id(1, 7, 5, "sleeper", 3).parent(1, 5, 3).dispatch(1);
  forgotten.at(20)
      .record(FTrace_EVT_task_sleep | 3 << 8, 1,
              FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT | 5u << 28)
      .id(2, 9, 5, "gone")
      .at(30)
      .dispatch(2)
      .at(40)
      .end(2);
  give_ended(recorder, 1, 0, forgotten);
  give_ended(recorder, 0, 0,
             begun(0, 0, 15).id(1, 8, 5, "spinner").dispatch(1).at(50).name(1, "renamed"));
  give_ended(recorder, 1, 1, begun(1, 1, 200).id(1, 6, 5, "other").dispatch(1));
  give_ended(recorder, 0, 1, begun(0, 1, 100).id(1, 7, 5, "sleeper", 3).activate(1));
  recorder.save(output, 300);
  const Reading reading(output);
  EXPECT_EQ(reading.sink.damage(), 0u) << reading.sink.reported.at(0).what;
  std::map<std::string, std::pair<uint64_t, uint32_t>> reported; // by name: time, parameter 2
  bool woken = false;
  for (const Event &event : reading.events) {
    woken |= event.kind == FTrace_EVT_task_activate;
    if (has_happened(event))
      continue;
    EXPECT_FALSE(woken) << "too late";
    reported[reading.catalog.threads[event.thread].name] = {event.time, event.par2};
    EXPECT_EQ(event.call, event.par2 >> FTRACE_REASON_SHIFT ? 3 * 16 + 5 : FTRACE_CALL_UNKNOWN);
  }
  const uint32_t paused =
      2 | 1 << FTRACE_SNAPSHOT_CPU_SHIFT | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT;
  const uint32_t whole = FTRACE_SNAPSHOT_NO_CPU
                         << FTRACE_SNAPSHOT_CPU_SHIFT; // nothing of it was forgotten
  EXPECT_EQ(reported,
            (std::map<std::string, std::pair<uint64_t, uint32_t>>{
                {"sleeper", {99, paused}}, {"renamed", {99, 1}}, {"other", {99, whole}}}));
  EXPECT_EQ(reading.catalog.threads.size(), 3u) << "not the one that is dead";
  for (const ThreadInfo &thread : reading.catalog.threads)
    if (thread.name == "sleeper") {
      EXPECT_EQ(thread.birth, 3u);
      EXPECT_EQ(thread.parent, 5u);
    }
}

// A blackout that began in what is forgotten and goes on in what is kept; what it hides is not
// reported.
TEST(FlightRecorder, BeginsWithABlackoutThatWasOpen) {
  CollectingOutput output;
  FlightRecorder recorder(output, 2, kOneChunk, kRecords);
  test::ChunkBuilder forgotten = begun(0, 0, 10).id(1, 7, 5, "sleeper").dispatch(1).at(20).sleep(1);
  give_ended(recorder, 0, 0, forgotten.id(2, 8, 5, "runs").dispatch(2).at(30).blackout_start());
  give_ended(recorder, 1, 0, begun(1, 0, 10).id(1, 9, 5, "runs on").dispatch(1));
  test::ChunkBuilder kept = begun(0, 1, 100).id(1, 7, 5, "sleeper").activate(1);
  give_ended(recorder, 0, 1, kept.at(120).blackout_end(3).at(130).dispatch(1));
  give_ended(recorder, 1, 1, begun(1, 1, 110).id(1, 9, 5, "runs on").sleep(1));
  recorder.save(output, 300);
  const Reading reading(output);
  EXPECT_EQ(reading.sink.damage(), 0u) << reading.sink.reported.at(0).what;
  std::vector<std::pair<uint64_t, uint16_t>> started; // on CPU 0: time and kind
  for (const Event &event : reading.events) {
    if (event.kind == FTrace_EVT_blackout_start && event.cpu == 0)
      started.push_back({event.time, event.par1});
    if (!has_happened(event)) {
      EXPECT_EQ(reading.catalog.threads[event.thread].name, "runs on") << "where nothing is lost";
    }
  }
  EXPECT_EQ(started, (std::vector<std::pair<uint64_t, uint16_t>>{
                         {99, FTRACE_BLACKOUT_FORGOTTEN}, {100, FTRACE_BLACKOUT_TRANSITIONS}}));
}

/// What is reported of threads in place of what was forgotten, by name: parameter 2 of EXT_state.
std::map<std::string, uint32_t> told_states(const Reading &reading) {
  std::map<std::string, uint32_t> reported;
  for (const Event &event : reading.events)
    if (!has_happened(event))
      reported[reading.catalog.threads[event.thread].name] = event.par2;
  return reported;
}

/// Returns the state of a thread that was off its CPU.
uint32_t state_word(ThreadState state, uint32_t cpu, uint32_t reason) {
  return uint32_t(state) | cpu << FTRACE_SNAPSHOT_CPU_SHIFT | reason << FTRACE_REASON_SHIFT;
}

// What this CPU logged at the nanosecond at which its blackout ended comes after it; what another
// CPU logged then may have been followed by something that was lost.
TEST(FlightRecorder, KeepsStatesOfTheInstantAtWhichABlackoutEnds) {
  CollectingOutput output;
  FlightRecorder recorder(output, 2, kOneChunk, kRecords);
  test::ChunkBuilder forgotten = begun(0, 0, 10).id(1, 7, 5, "here").dispatch(1);
  give_ended(recorder, 0, 0, forgotten.at(20).blackout_start().at(100).blackout_end(3).sleep(1));
  give_ended(recorder, 1, 0, begun(1, 0, 10).id(1, 8, 5, "there").dispatch(1).at(100).sleep(1));
  give_ended(recorder, 0, 1, begun(0, 1, 200).record(FTrace_EVT_ipoint));
  give_ended(recorder, 1, 1, begun(1, 1, 200).record(FTrace_EVT_ipoint));
  recorder.save(output, 300);
  EXPECT_EQ(told_states(Reading(output)),
            (std::map<std::string, uint32_t>{
                {"here", state_word(ThreadState::Paused, 0, FTRACE_OFFCPU_SLEEP)}}));
}

// Interrupts may be lost while all transitions are there.
TEST(FlightRecorder, ReportsStatesFromBeforeABlackoutOfFamilies) {
  CollectingOutput output;
  FlightRecorder recorder(output, 1, kOneChunk, kRecords);
  test::ChunkBuilder forgotten = begun(0, 0, 10).id(1, 7, 5, "sleeper").at(20).sleep(1);
  forgotten.at(30).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_FAMILIES);
  give_ended(recorder, 0, 0,
             forgotten.at(40).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FAMILIES, 2));
  give_ended(recorder, 0, 1, begun(0, 1, 200).record(FTrace_EVT_ipoint));
  recorder.save(output, 300);
  EXPECT_EQ(told_states(Reading(output)),
            (std::map<std::string, uint32_t>{
                {"sleeper", state_word(ThreadState::Paused, 0, FTRACE_OFFCPU_SLEEP)}}));
}

TEST(FlightRecorder, ReportsNoReasonOfAThreadThatWasWoken) {
  CollectingOutput output;
  FlightRecorder recorder(output, 1, kOneChunk, kRecords);
  test::ChunkBuilder forgotten = begun(0, 0, 10).id(1, 7, 5, "woken").dispatch(1);
  forgotten.at(20).sleep(1, 0, FTRACE_OFFCPU_DISK).at(30).activate(1);
  give_ended(recorder, 0, 0, forgotten);
  give_ended(recorder, 0, 1, begun(0, 1, 200).record(FTrace_EVT_ipoint));
  recorder.save(output, 300);
  EXPECT_EQ(told_states(Reading(output)),
            (std::map<std::string, uint32_t>{{"woken", state_word(ThreadState::Warming, 0, 0)}}));
}

/// The fewest bytes at which all of so many equal chunks are kept.
uint64_t least_bytes(uint32_t chunks) {
  for (uint64_t bytes = 1;; bytes++) {
    CollectingOutput output;
    FlightRecorder recorder(output, 1, bytes, kRecords);
    for (uint32_t number = 1; number <= chunks; number++)
      give(recorder, event_chunk(0, number, 1000 * number, 1));
    if (recorder.events_forgotten() == 0)
      return bytes;
  }
}

TEST(FlightRecorder, FillsItsBytesToTheLast) {
  EXPECT_EQ(2 * least_bytes(3), 3 * least_bytes(2));
}

TEST(FlightRecorder, LendsAnEmptyChunkOfEachCpu) {
  CollectingOutput output;
  FlightRecorder recorder(output, 2, kBytes, kRecords);
  for (const uint32_t cpu : {1u, 0u, 1u}) {
    Chunk *const chunk = recorder.borrow(cpu);
    EXPECT_EQ(chunk->cpu, cpu);
    EXPECT_TRUE(chunk->records.empty());
    EXPECT_GE(chunk->records.capacity(), kRecords);
    chunk->records = event_chunk(uint16_t(cpu), 0, 1000, 5).records;
  } // the last one was lent twice, and never given
  EXPECT_EQ(recorder.bytes_kept(), 0u);
}

TEST(FlightRecorder, SavesWhileItGoesOn) {
  CollectingOutput at_end, first, second;
  FlightRecorder recorder(at_end, 1, kBytes, kRecords);
  give(recorder, event_chunk(0, 0, 1000, 100));
  EXPECT_EQ(recorder.save(first, 5000), 0u);
  give(recorder, event_chunk(0, 1, 6000, 100));
  EXPECT_EQ(recorder.save(second, 3), 0u) << "an end before the last event is at the last event";
  give(recorder, event_chunk(0, 2, 7000, 100, FTrace_EVT_trace_stop));
  recorder.close();
  const Reading one(first), two(second), three(at_end);
  for (const Reading *reading : {&one, &two, &three}) {
    EXPECT_EQ(reading->sink.damage(), 0u) << reading->sink.reported.at(0).what;
    EXPECT_EQ(reading->events.back().kind, uint32_t(FTrace_EVT_trace_stop));
  }
  EXPECT_EQ(one.catalog.end, 5000u);
  EXPECT_EQ(two.catalog.end, 6099u);
  EXPECT_EQ(first.count(0, FTrace_EVT_task_dispatch), 100u);
  EXPECT_EQ(second.count(0, FTrace_EVT_task_dispatch), 200u);
  EXPECT_EQ(at_end.count(0, FTrace_EVT_task_dispatch), 300u);
}

// One save holds all that came before it, and a frequent event must not fill the disk.
TEST(FlightRecorder, TriggersOnceForEachSaveWhileThereAreSaves) {
  CollectingOutput output;
  FlightRecorder recorder(output, 1, kBytes, kRecords);
  int called = 0;
  recorder.set_triggers({FTrace_EVT_task_deadline_miss}, [&] { return ++called < 4; });
  uint32_t number = 0;
  const auto miss = [&] {
    Chunk missed = event_chunk(0, number, 1000 * (number + 1), 2);
    missed.records[missed.records.size() - 2].code = FTrace_EVT_task_deadline_miss;
    give(recorder, missed);
    number++;
  };
  give(recorder, event_chunk(0, number++, 1000, 100));
  EXPECT_EQ(called, 0);
  miss();
  EXPECT_EQ(called, 1);
  miss();
  EXPECT_EQ(called, 1) << "the save that was called for holds it";
  CollectingOutput saved;
  recorder.save(saved, 9000);
  EXPECT_EQ(saved.count(0, FTrace_EVT_task_deadline_miss), 2u);
  EXPECT_EQ(called, 1);
  miss();
  EXPECT_EQ(called, 2);
  recorder.rearm(); // the save failed
  miss();
  EXPECT_EQ(called, 3);
  recorder.save(saved, 9000);
  miss();
  EXPECT_EQ(called, 4) << "there is no further save";
  recorder.save(saved, 9000);
  miss();
  EXPECT_EQ(called, 4);
}

TEST(FlightRecorder, IsTriggeredByEachOfItsTriggers) {
  CollectingOutput output;
  FlightRecorder recorder(output, 1, kBytes, kRecords);
  int called = 0;
  recorder.set_triggers({FTrace_EVT_task_deadline_miss, FTrace_EVT_task_timer},
                        [&] { return ++called; });
  uint32_t number = 0;
  for (const uint16_t code :
       {FTrace_EVT_task_deadline_miss, FTrace_EVT_task_end_cycle, FTrace_EVT_task_timer}) {
    Chunk chunk = event_chunk(0, number, 1000 * (number + 1), 2);
    chunk.records[chunk.records.size() - 2].code = code;
    give(recorder, chunk);
    recorder.rearm();
    number++;
  }
  EXPECT_EQ(called, 2);
}

// Also where a system call is in the code, or two events are in the record.
TEST(FlightRecorder, IsTriggeredByEachEventOfARecord) {
  constexpr unsigned kFutex = 202 + FTRACE_CALL_NATIVE;
  const auto triggers = [](uint16_t trigger, uint16_t code, uint32_t reason) {
    CollectingOutput output;
    FlightRecorder recorder(output, 1, 1 << 20, 256);
    int called = 0;
    recorder.set_triggers({trigger}, [&] { return ++called; });
    Chunk chunk = event_chunk(0, 0, 1000, 2);
    for (ftrace_record &record : chunk.records)
      if (record.code == FTrace_EVT_task_dispatch)
        record.code = FTrace_EVT_empty;
    ftrace_record &record = chunk.records[chunk.records.size() - 2];
    record.code = uint16_t(code | FTRACE_CALL_CODE(kFutex));
    record.par2 = 1 | reason << FTRACE_REASON_SHIFT;
    give(recorder, chunk);
    return called == 1;
  };
  constexpr uint16_t kOne = FTrace_EVT_task_sleep, kTwo = FTrace_EXT_switch,
                     kThree = FTrace_EXT_wake_switch;
  constexpr uint32_t kBlocks = FTRACE_OFFCPU_SLEEP, kCanRun = FTRACE_OFFCPU_PREEMPTED;
  EXPECT_TRUE(triggers(FTrace_EVT_task_sleep, kOne, kBlocks));
  for (const uint16_t code : {kTwo, kThree}) {
    EXPECT_TRUE(triggers(FTrace_EVT_task_sleep, code, kBlocks));
    EXPECT_FALSE(triggers(FTrace_EVT_task_sleep, code, kCanRun));
    EXPECT_TRUE(triggers(FTrace_EVT_task_epilogue, code, kCanRun));
    EXPECT_FALSE(triggers(FTrace_EVT_task_epilogue, code, kBlocks));
    EXPECT_TRUE(triggers(FTrace_EVT_task_dispatch, code, kBlocks));
    EXPECT_EQ(triggers(FTrace_EVT_task_activate, code, kBlocks), code == kThree);
  }
}

TEST(FlightRecorder, CountsWhatCannotBeWritten) {
  CollectingOutput output(150);
  FlightRecorder recorder(output, 1, kBytes, kRecords);
  const Chunk good = event_chunk(0, 0, 1000, 100), lost = event_chunk(0, 1, 2000, 100);
  give(recorder, good);
  give(recorder, lost);
  CollectingOutput without_end(good.records.size() + lost.records.size());
  EXPECT_GT(recorder.save(without_end, 3000), 0u) << "its trace_stop";
  recorder.close();
  EXPECT_EQ(recorder.records_dropped(), lost.records.size());
  EXPECT_EQ(recorder.error(), "no room");
  EXPECT_EQ(output.files[0].size(), good.records.size());
}

} // namespace
} // namespace ovnitrace
