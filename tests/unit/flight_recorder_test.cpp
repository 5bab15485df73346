// The flight recorder keeps the last chunks of each CPU, and what it keeps is a trace: user/chunk.
#include "emulator/input/open.h"
#include "tests/unit/support/chunks.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "user/chunk/flight_recorder.h"

#include <gtest/gtest.h>

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

TEST(FlightRecorder, WritesAllIfNothingWasForgotten) {
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
  EXPECT_EQ(reading.sink.damage(), 0u) << reading.sink.told.at(0).what;
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
  EXPECT_LE(output.files[0].size() * sizeof(ftrace_record), kBytes + kRecords * sizeof(ftrace_record));
  EXPECT_GE(output.files[0].size() * sizeof(ftrace_record), kBytes * 8 / 10);

  const Reading reading(output);
  EXPECT_EQ(reading.sink.damage(), 0u) << reading.sink.told.at(0).what;
  EXPECT_EQ(output.count(0, FTrace_EVT_trace_start) + output.count(1, FTrace_EVT_trace_start), 0u);
  const Event *dark = reading.first(FTrace_EVT_blackout_start), *light = reading.first(FTrace_EVT_blackout_end);
  ASSERT_TRUE(dark && light);
  EXPECT_EQ(reading.catalog.begin, dark->time) << "time 0 is the first event that is there";
  const size_t kept = output.count(0, FTrace_EVT_task_dispatch);
  EXPECT_EQ(light->par2, 50 * 200 + 10 - kept + 1) << "all that were forgotten, trace_start among them";
  EXPECT_EQ(output.count(1, FTrace_EVT_task_dispatch), 20u);
  EXPECT_EQ(output.count(1, FTrace_EVT_blackout_start), 0u);
}

// An idle CPU tells of long ago what a busy one has forgotten: the busy one is dark until it knows.
TEST(FlightRecorder, IsDarkWhereOnlyAnotherCpuRemembers) {
  CollectingOutput output;
  FlightRecorder recorder(output, 2, kBytes, kRecords);
  give(recorder, event_chunk(1, 0, 500, 5));
  for (uint32_t number = 0; number < 50; number++)
    give(recorder, event_chunk(0, number, 1000 * (number + 1), 200));
  recorder.save(output, 99000);
  const Reading reading(output);
  const Event *dark = reading.first(FTrace_EVT_blackout_start), *light = reading.first(FTrace_EVT_blackout_end);
  ASSERT_TRUE(dark && light);
  EXPECT_EQ(dark->time, 500u);
  EXPECT_GT(light->time, 30000u);
  EXPECT_EQ(reading.catalog.begin, 500u);
  EXPECT_EQ(reading.catalog.end, 99000u);
  EXPECT_EQ(reading.sink.damage(), 0u) << reading.sink.told.at(0).what;
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
    EXPECT_EQ(reading->sink.damage(), 0u) << reading->sink.told.at(0).what;
    EXPECT_EQ(reading->events.back().kind, uint32_t(FTrace_EVT_trace_stop));
  }
  EXPECT_EQ(one.catalog.end, 5000u);
  EXPECT_EQ(two.catalog.end, 6099u);
  EXPECT_EQ(first.count(0, FTrace_EVT_task_dispatch), 100u);
  EXPECT_EQ(second.count(0, FTrace_EVT_task_dispatch), 200u);
  EXPECT_EQ(at_end.count(0, FTrace_EVT_task_dispatch), 300u);
}

// One save holds all that came before it, and a frequent event must not fill the disk.
TEST(FlightRecorder, CallsOnceForASaveAndSoOftenAtMost) {
  CollectingOutput output;
  FlightRecorder recorder(output, 1, kBytes, kRecords);
  int called = 0;
  recorder.set_trigger(FTrace_EVT_task_deadline_miss, 3, [&] { called++; });
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
  EXPECT_FALSE(recorder.triggers_spent());
  recorder.rearm(); // the save failed
  miss();
  EXPECT_EQ(called, 3);
  EXPECT_TRUE(recorder.triggers_spent());
  recorder.save(saved, 9000);
  miss();
  EXPECT_EQ(called, 3);
}

TEST(FlightRecorder, CountsWhatCannotBeWritten) {
  CollectingOutput output(150);
  FlightRecorder recorder(output, 1, kBytes, kRecords);
  const Chunk good = event_chunk(0, 0, 1000, 100), lost = event_chunk(0, 1, 2000, 100);
  give(recorder, good);
  give(recorder, lost);
  recorder.close();
  EXPECT_EQ(recorder.records_dropped(), lost.records.size());
  EXPECT_EQ(recorder.error(), "no room");
  EXPECT_EQ(output.files[0].size(), good.records.size());
}

} // namespace
} // namespace ovnitrace
