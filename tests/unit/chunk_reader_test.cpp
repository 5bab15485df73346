// SPDX-License-Identifier: BSD-2-Clause
// One chunk file, good and broken: emulator/input/chunk_file.
#include "emulator/base/error.h"
#include "emulator/format/chunk_times.h"
#include "emulator/input/merge.h"
#include "emulator/input/tick_clock.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <random>
#include <string_view>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::CollectingSink;

struct Result {
  Catalog catalog;
  std::vector<Event> events;
  CollectingSink sink;

  std::vector<uint32_t> kinds() const {
    std::vector<uint32_t> kinds;
    for (const Event &event : events)
      kinds.push_back(event.kind);
    return kinds;
  }
};

/// Reads bytes as the one chunk file of a host.
Result read_bytes(const void *bytes, size_t size, int64_t clock_offset_ns = 0) {
  HostInput host{.name = "host", .clock_offset_ns = clock_offset_ns, .chunks = {}};
  UniqueFd fd(memfd_create("chunk", MFD_CLOEXEC));
  EXPECT_EQ(write(fd.get(), bytes, size), ssize_t(size));
  host.chunks.push_back({.name = "chunk", .fd = std::move(fd), .size = size});
  std::vector<HostInput> hosts;
  hosts.push_back(std::move(host));
  Result result;
  MergedTrace trace(std::move(hosts), result.sink);
  result.catalog = trace.catalog();
  for (Event event; trace.next(event);)
    result.events.push_back(event);
  return result;
}

Result read_chunk(ChunkBuilder &chunk, int64_t clock_offset_ns = 0) {
  const auto &records = chunk.records();
  return read_bytes(records.data(), records.size() * sizeof(ftrace_record), clock_offset_ns);
}

ChunkBuilder started() {
  ChunkBuilder chunk(0);
  chunk.at(100).start();
  return chunk;
}

TEST(ChunkReader, GivesEventsAndKeepsIdentitiesToItself) {
  ChunkBuilder chunk(3);
  chunk.at(100).start().id(1, 42, 40, "worker").parent(1, 40, 7).at(120).dispatch(1, 121);
  chunk.at(130).record(0).sleep(1).name(1, "renamed").at(140).stop();
  const Result result = read_chunk(chunk);
  EXPECT_EQ(result.kinds(), (std::vector<uint32_t>{FTrace_EVT_trace_start, FTrace_EVT_task_dispatch,
                                                   FTrace_EVT_task_sleep, FTrace_EVT_trace_stop}));
  EXPECT_TRUE(result.sink.reported.empty());
  const Event &dispatch = result.events[1];
  EXPECT_EQ(dispatch.time, 120u);
  EXPECT_EQ(dispatch.thread, 0u);
  EXPECT_EQ(dispatch.cpu, 0u);
  EXPECT_EQ(dispatch.par1, 1u);
  EXPECT_EQ(dispatch.par2, 121u);
  EXPECT_EQ(dispatch.offset, 10u * 16);
  ASSERT_EQ(result.catalog.threads.size(), 1u);
  EXPECT_EQ(result.catalog.threads[0].name, "renamed");
  EXPECT_EQ(result.catalog.threads[0].parent, 40u);
  EXPECT_EQ(result.catalog.cpus.at(0).index, 3u);
}

TEST(ChunkReader, GivesAStateWhichIsNoEvent) {
  ChunkBuilder chunk(3);
  chunk.at(100).start().id(1, 42, 40, "worker").record(FTrace_EXT_state, 1, 5).at(140).stop();
  const Result result = read_chunk(chunk);
  ASSERT_EQ(result.events.size(), 3u);
  EXPECT_EQ(result.events[1].kind, uint32_t(FTrace_EXT_state));
  EXPECT_EQ(result.events[1].thread, 0u);
  EXPECT_EQ(result.events[1].par2, 5u);
  EXPECT_FALSE(has_happened(result.events[1]));
  EXPECT_TRUE(has_happened(result.events[2]));
  EXPECT_TRUE(result.sink.reported.empty());
}

TEST(ChunkReader, ForgetsContextsWhereAChunkBegins) {
  ChunkBuilder chunk = started();
  chunk.id(1, 10, 10, "a").dispatch(1).next_chunk().sleep(1).id(1, 20, 20, "b").dispatch(1).stop();
  const Result result = read_chunk(chunk);
  ASSERT_EQ(result.kinds(),
            (std::vector<uint32_t>{FTrace_EVT_trace_start, FTrace_EVT_task_dispatch,
                                   FTrace_EVT_blackout_start, FTrace_EVT_blackout_end,
                                   FTrace_EVT_task_dispatch, FTrace_EVT_trace_stop}));
  EXPECT_EQ(result.catalog.threads[result.events[1].thread].tid, 10u);
  EXPECT_EQ(result.catalog.threads[result.events[4].thread].tid, 20u);
  ASSERT_EQ(result.sink.reported.size(), 1u);
  EXPECT_EQ(result.sink.reported[0].what,
            "task_sleep of context 1, for which there is no id record: dropped");
}

TEST(ChunkReader, ATimeThatGoesBackBecomesTheTimeBefore) {
  ChunkBuilder chunk = started();
  chunk.id(1, 10, 10, "a").at(200).dispatch(1).at(150).sleep(1).at(210).activate(1).at(300).stop();
  const Result result = read_chunk(chunk);
  ASSERT_EQ(result.events.size(), 5u);
  EXPECT_EQ(result.events[2].time, 200u);
  EXPECT_EQ(result.events[3].time, 210u);
  ASSERT_EQ(result.sink.reported.size(), 1u);
  EXPECT_EQ(result.sink.reported[0].what, "the time goes back by 50 ns");
  EXPECT_EQ(result.sink.reported[0].offset, 9u * 16);
}

TEST(ChunkReader, LeavesEventsBeforeTraceStartInPlace) {
  ChunkBuilder chunk(0);
  chunk.at(50).id(1, 10, 10, "a").dispatch(1).at(100).start().at(200).sleep(1).stop();
  const Result result = read_chunk(chunk);
  ASSERT_EQ(result.events.size(), 4u);
  EXPECT_EQ(result.events[0].kind, uint32_t(FTrace_EVT_task_dispatch));
  EXPECT_EQ(result.events[0].time, 50u);
  EXPECT_EQ(result.catalog.begin, 100u);
  EXPECT_TRUE(result.sink.reported.empty());
}

TEST(ChunkReader, OneWildTimeDoesNotMoveLaterEvents) {
  ChunkBuilder chunk = started();
  chunk.id(1, 10, 10, "a").at(200).dispatch(1).at(1ull << 60).sleep(1).at(210).activate(1);
  chunk.at(300).stop();
  const Result result = read_chunk(chunk);
  ASSERT_EQ(result.events.size(), 5u);
  EXPECT_EQ(result.events[2].time, 200u);
  EXPECT_EQ(result.events[3].time, 210u);
  EXPECT_EQ(result.catalog.end, 300u);
  EXPECT_EQ(result.sink.count("after the end of the trace"), 1u);
}

ChunkBuilder with_extensions() {
  ChunkBuilder chunk = started();
  chunk.id(1, 10, 10, "a").at(120).dispatch(1);
  for (const uint32_t family : {7u, 7u, 0xfffffffeu})
    chunk.at(130)
        .record(FTrace_EXT_extension, 2, family)
        .record_at(~0ull, FTrace_EXT_payload, 0xffff, ~0u)
        .record_at(0, FTrace_EXT_payload);
  chunk.at(140).sleep(1).at(150).stop();
  return chunk;
}

TEST(ChunkReader, SkipsExtensionsOfUnknownFamiliesAndWarnsOnceForEach) {
  ChunkBuilder chunk = with_extensions();
  const Result result = read_chunk(chunk);
  EXPECT_EQ(result.kinds(), (std::vector<uint32_t>{FTrace_EVT_trace_start, FTrace_EVT_task_dispatch,
                                                   FTrace_EVT_task_sleep, FTrace_EVT_trace_stop}));
  EXPECT_EQ(result.events[2].time, 140u);
  EXPECT_EQ(result.sink.reported.size(), 2u);
  EXPECT_EQ(result.sink.count("events of the unknown family 0x7 are skipped: a newer ovnitrace may "
                              "know them"),
            1u);
  EXPECT_EQ(result.sink.count("unknown family 0xfffffffe"), 1u);
}

TEST(ChunkReader, RestoresPayloadsThatWereStoredAsDifferences) {
  ChunkBuilder chunk = with_extensions();
  std::vector<ftrace_record> records = chunk.records();
  ASSERT_TRUE(make_differences(records));
  TimeRestorer().restore(records);
  EXPECT_EQ(memcmp(records.data(), chunk.records().data(), records.size() * sizeof(ftrace_record)),
            0);
}

TEST(ChunkReader, ReportsWhatDoesNotBelongAndReadsOn) {
  struct Case {
    const char *what;
    void (*damage)(ChunkBuilder &chunk);
    bool gap = true; ///< an event may be missing there
    int before = 2;  ///< the event that is seen to be behind it
  };
  const Case cases[] = {
      {"unknown code 0x00ee", [](ChunkBuilder &c) { c.record(0xee); }},
      {"unknown code 0x0122", [](ChunkBuilder &c) { c.record(0x0122, 1); }},
      {"task_dispatch of context 2, for which there is no id record",
       [](ChunkBuilder &c) { c.dispatch(2); }},
      {"task_dispatch of context 0, for which there is no id record",
       [](ChunkBuilder &c) { c.dispatch(0); }},
      {"task_sleep of context 65535, for which there is no id record",
       [](ChunkBuilder &c) { c.sleep(65535); }},
      {"EXT_state of context 2, for which there is no id record",
       [](ChunkBuilder &c) { c.record(FTrace_EXT_state, 2, 1); }},
      {"an id for context 0", [](ChunkBuilder &c) { c.record(FTrace_EVT_id, 0, 5); }, false},
      {"cycles_per_msec is 0", [](ChunkBuilder &c) { c.record(FTrace_EVT_cycles_per_msec); },
       false},
      {"a chunk starts without cycles_per_msec",
       [](ChunkBuilder &c) { c.record(FTrace_EVT_next_chunk).record(FTrace_EXT_format, 1); }},
      {"chunk 7 is in the place of chunk 1",
       [](ChunkBuilder &c) { c.record(FTrace_EXT_chunk, 0, 7); }},
      {"but its numevents says 5000",
       [](ChunkBuilder &c) { c.record(FTrace_EVT_numevents, 0, 5000); }, true, 3},
  };
  for (const Case &damaged : cases) {
    ChunkBuilder chunk = started();
    chunk.id(1, 10, 10, "a").dispatch(1);
    damaged.damage(chunk);
    chunk.id(1, 10, 10, "a").sleep(1).stop();
    const Result result = read_chunk(chunk);
    EXPECT_EQ(result.sink.count(damaged.what), 1u) << damaged.what;
    std::vector<uint32_t> kinds = {FTrace_EVT_trace_start, FTrace_EVT_task_dispatch,
                                   FTrace_EVT_task_sleep, FTrace_EVT_trace_stop};
    if (damaged.gap)
      kinds.insert(kinds.begin() + damaged.before,
                   {FTrace_EVT_blackout_start, FTrace_EVT_blackout_end});
    EXPECT_EQ(result.kinds(), kinds) << damaged.what;
  }
}

TEST(ChunkReader, ReadsFastIpointsAndTheMisprintOfMutexUnlock) {
  ChunkBuilder chunk = started();
  chunk.record(0x8000 | FTrace_EVT_ipoint, 9, 1).record(0x43, 1, 5).stop();
  const Result result = read_chunk(chunk);
  EXPECT_EQ(result.kinds(),
            (std::vector<uint32_t>{FTrace_EVT_trace_start, FTrace_EVT_ipoint,
                                   FTrace_EVT_mutex_unlock, FTrace_EVT_trace_stop}));
  EXPECT_EQ(result.events[1].par1, 9u);
  EXPECT_TRUE(result.sink.reported.empty());
}

TEST(ChunkReader, ConvertsTicksExactly) {
  ChunkBuilder chunk(0);
  chunk.records()[0].par2 = 3000000; // 3 ticks a ns
  chunk.at(3000).start().id(1, 10, 10, "a", 4500).at(6001).dispatch(1).at(9000).stop();
  const Result result = read_chunk(chunk, 100);
  ASSERT_EQ(result.events.size(), 3u);
  EXPECT_EQ(result.events[0].time, 1100u);
  EXPECT_EQ(result.events[1].time, 2100u); // rounded down
  EXPECT_EQ(result.catalog.threads[0].birth, 1600u);
  EXPECT_EQ(result.catalog.begin, 1100u);
  EXPECT_EQ(result.catalog.end, 3100u);
  EXPECT_TRUE(result.sink.reported.empty());
}

TEST(TickClock, NeverOverflows) {
  TickClock clock;
  EXPECT_EQ(clock.ns(123), 123u);
  EXPECT_EQ(clock.ns(UINT64_MAX), uint64_t(INT64_MAX));
  clock.set_rate(1);
  EXPECT_EQ(clock.ns(1ull << 40), (1ull << 40) * 1000000);
  EXPECT_EQ(clock.ns(UINT64_MAX), uint64_t(INT64_MAX));
  clock.set_rate(UINT32_MAX);
  EXPECT_EQ(clock.ns(UINT64_MAX), 4294967297000000u); // UINT64_MAX / UINT32_MAX = 2^32 + 1
  TickClock behind(INT64_MIN);
  EXPECT_EQ(behind.ns(5), 0u);
  TickClock ahead(INT64_MAX);
  EXPECT_EQ(ahead.ns(UINT64_MAX), uint64_t(INT64_MAX));
}

/// Two chunks with every kind of record that a reader must take care of.
ChunkBuilder small_trace() {
  ChunkBuilder chunk = started();
  chunk.id(1, 10, 10, "a thread", 50).at(200).dispatch(1).at(250).sleep(1, 11).blackout_start();
  chunk.at(300).next_chunk().blackout_end(3).id(2, 11, 10, "other").activate(2).stop();
  return chunk;
}

TEST(ChunkReader, SalvagesAllWholeRecordsOfAFileCutAtEachByte) {
  ChunkBuilder chunk = small_trace();
  const auto records = chunk.records();
  const auto *bytes = reinterpret_cast<const char *>(records.data());
  const size_t size = records.size() * sizeof(ftrace_record);
  const std::vector<uint32_t> all = read_bytes(bytes, size).kinds();
  size_t events = 0; // of the whole records
  for (size_t length = 0; length < size; length++) {
    if (length && length % sizeof(ftrace_record) == 0)
      events += is_event(kCodeKinds[records[length / sizeof(ftrace_record) - 1].code]);
    const Result result = read_bytes(bytes, length);
    std::vector<uint32_t> expected(all.begin(), all.begin() + long(events));
    expected.push_back(FTrace_EVT_blackout_start); // nobody knows what was in the rest
    ASSERT_EQ(result.kinds(), expected) << length;
    ASSERT_EQ(result.sink.damage(), 1u) << length;
    ASSERT_EQ(result.sink.count("cut") + result.sink.count("empty"), 1u) << length;
  }
}

TEST(ChunkReader, SurvivesWrongBytes) {
  std::mt19937 random(2);
  ChunkBuilder chunk = small_trace();
  const auto records = chunk.records();
  for (unsigned round = 0; round < test::cases(20000); round++) {
    auto damaged = records;
    auto *bytes = reinterpret_cast<unsigned char *>(damaged.data());
    const size_t size = damaged.size() * sizeof(ftrace_record);
    for (uint32_t flips = 1 + random() % 4; flips; flips--)
      bytes[random() % size] ^= uint8_t(1 + random() % 255);
    try {
      const Result result = read_bytes(bytes, size - random() % 40);
      ASSERT_LE(result.events.size(), 3 * records.size()); // with a blackout before each
      ASSERT_LE(result.catalog.threads.size(), 3u);
      uint64_t time = 0;
      for (const Event &event : result.events) {
        ASSERT_GE(event.time, time);
        ASSERT_LE(event.time, result.catalog.end);
        time = event.time;
        ASSERT_LT(event.cpu, result.catalog.cpus.size());
        ASSERT_TRUE(event.thread == kNone || event.thread < result.catalog.threads.size());
        ASSERT_TRUE(event.peer == kNone || event.peer < result.catalog.threads.size());
        const bool needs = kCodeKinds[event.kind] == CodeKind::thread_event;
        ASSERT_TRUE(!needs || event.thread != kNone);
      }
    } catch (const Error &error) { // only a newer version is refused
      ASSERT_NE(std::string_view(error.what()).find("newer ovnitrace"), std::string_view::npos);
    }
  }
}

} // namespace
} // namespace ovnitrace
