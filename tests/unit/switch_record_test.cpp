// SPDX-License-Identifier: BSD-2-Clause
// EXT_switch and EXT_wake_switch: what is written as one record is read as the events that
// happened.
#include "emulator/format/switch_record.h"

#include "emulator/input/merge.h"
#include "tests/unit/support/chunk_list.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/trace_builder.h"
#include "user/chunk/chunk_writer.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <ostream>
#include <random>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;

/// An event without its place in the file and its context.
struct Happened {
  uint64_t time;
  std::string what;
  uint32_t tid, peer; ///< 0: none
  uint32_t par2;
  uint16_t call;
  bool operator==(const Happened &) const = default;
  friend std::ostream &operator<<(std::ostream &out, const Happened &e) {
    return out << e.time << ' ' << e.what << ' ' << e.tid << " peer " << e.peer << " par2 "
               << e.par2 << " call " << e.call;
  }
};

std::string name_of(uint32_t kind) {
  return kind == FTrace_EVT_task_dispatch    ? "gets"
         : kind == FTrace_EVT_task_sleep     ? "sleeps"
         : kind == FTrace_EVT_task_epilogue  ? "waits"
         : kind == FTrace_EVT_task_end       ? "ends"
         : kind == FTrace_EVT_task_activate  ? "is woken"
         : kind == FTrace_EXT_holder         ? "has the CPU"
         : kind == FTrace_EVT_blackout_start ? "dark"
         : kind == FTrace_EVT_blackout_end   ? "light"
                                             : "else";
}

struct Reading {
  /// Bytes as the one chunk file of a host.
  Reading(const void *bytes, size_t size) {
    HostInput host{.name = "host", .chunks = {}};
    UniqueFd fd(memfd_create("chunk", MFD_CLOEXEC));
    EXPECT_EQ(write(fd.get(), bytes, size), ssize_t(size));
    host.chunks.push_back({.name = "chunk", .fd = std::move(fd), .size = size});
    std::vector<HostInput> hosts;
    hosts.push_back(std::move(host));
    MergedTrace trace(std::move(hosts), sink);
    const auto tid = [&](uint32_t thread) {
      return thread == kNone ? 0 : trace.catalog().threads[thread].tid;
    };
    for (Event event; trace.next(event);) {
      whole.push_back(event);
      if (has_happened(event) && event.kind != FTrace_EVT_trace_start &&
          event.kind != FTrace_EVT_trace_stop)
        events.push_back({event.time, name_of(event.kind), tid(event.thread), tid(event.peer),
                          event.par2, event.call});
    }
  }
  explicit Reading(const std::vector<ftrace_record> &records)
      : Reading(records.data(), records.size() * sizeof(ftrace_record)) {}

  test::CollectingSink sink;
  std::vector<Happened> events;
  std::vector<Event> whole;
};

std::vector<ftrace_record> records_of(const test::ChunkList &list) {
  std::vector<ftrace_record> all;
  for (const Chunk &chunk : list.chunks)
    all.insert(all.end(), chunk.records.begin(), chunk.records.end());
  return all;
}

size_t count(const std::vector<ftrace_record> &records, uint8_t code) {
  size_t found = 0;
  for (const ftrace_record &record : records)
    found += code_of(record.code) == code;
  return found;
}

/// One switch as the kernel says it.
struct Switch {
  uint64_t time;
  uint32_t reason, prev, next; ///< tids
  bool prev_traced, next_traced;
  uint32_t priority;
  uint16_t call;
};

/// What happened in it, in the words of the format's documentation.
void add_events(const Switch &s, bool next_has_row, std::vector<Happened> &events) {
  const bool can_run = s.reason == FTRACE_OFFCPU_YIELDED || s.reason == FTRACE_OFFCPU_PREEMPTED ||
                       s.reason == FTRACE_OFFCPU_THROTTLED || s.reason == FTRACE_OFFCPU_EXHAUSTED ||
                       s.reason == FTRACE_OFFCPU_NEXT_PERIOD;
  const uint32_t known = s.priority == 0 ? 0 : s.priority == 1 ? 3 : s.priority < 102 ? 2 : 1;
  const uint32_t next = s.next | (s.next_traced || !s.next ? 0 : known << 22);
  const uint32_t peer = next_has_row ? s.next : 0;
  if (s.prev_traced && s.reason == FTRACE_OFFCPU_DEAD)
    events.push_back({s.time, "ends", s.prev, 0, s.prev, 0});
  else if (s.prev_traced)
    events.push_back({s.time, can_run ? "waits" : "sleeps", s.prev, peer, next | s.reason << 24,
                      can_run ? uint16_t(0) : s.call});
  if (s.next_traced)
    events.push_back({s.time, "gets", s.next, 0, s.priority, 0});
  else if (!s.prev_traced || s.reason == FTRACE_OFFCPU_DEAD) // an end does not name the next one
    events.push_back({s.time, "has the CPU", 0, 0, next, 0});
}

SchedTransition transition(const Switch &s) {
  const uint64_t traced =
      (s.prev_traced ? SCHED_A_TRACED : 0) | (s.next_traced ? SCHED_B_TRACED : 0);
  return {s.time, SCHED_WORD(SCHED_KIND_SWITCH, s.reason, s.priority, s.prev, s.next) | traced,
          s.call};
}

/// One wakeup, in the words of the same.
struct Wakeup {
  uint64_t time;
  uint32_t tid, waker, context;
  bool is_first;
};

Happened event_of(const Wakeup &w, bool waker_has_row) {
  return {w.time,
          "is woken",
          w.tid,
          waker_has_row ? w.waker : 0,
          w.waker | w.context << 24 | (w.is_first ? 1u << 23 : 0),
          0};
}

SchedTransition transition(const Wakeup &w) {
  const uint64_t kind = w.is_first ? SCHED_KIND_WAKEUP_NEW : SCHED_KIND_WAKEUP;
  return {w.time, SCHED_WORD(kind, w.context, 0, w.tid, w.waker), 0};
}

// Every reason, with calls and priorities over all their bits, through chunks of every size.
TEST(SwitchRecord, IsReadAsWhatHappened) {
  for (const size_t chunk_records : {32u, 41u, 100u, 4096u}) {
    SCOPED_TRACE(chunk_records);
    std::mt19937 random{uint32_t(chunk_records)};
    const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
    ThreadRegistry registry;
    test::ChunkList list(chunk_records);
    ChunkWriter writer(0, 1, registry, list);
    std::vector<Happened> expected;
    uint64_t time = 10;
    constexpr uint32_t kThreads = 20, kOutside = 50;
    for (uint32_t tid = 1; tid <= kThreads; tid++) { // so that each has its row
      const Switch s = {time++, 0, kOutside, tid, false, true, 120, 0};
      writer.transition(transition(s));
      add_events(s, true, expected);
    }
    for (int n = 0; n < 3000; n++) {
      Switch s = {.time = time += below(3),
                  .reason = below(14),
                  .prev = 1 + below(kThreads),
                  .next = 1 + below(kThreads - 1),
                  .prev_traced = below(8) != 0,
                  .next_traced = below(8) != 0,
                  .priority = below(2) ? 122 : below(256),
                  .call = uint16_t(below(FTRACE_CALLS))};
      s.next += s.next >= s.prev;
      if (!s.next_traced)
        s.next = below(2) ? kOutside : 0;
      if (!s.prev_traced)
        s.prev = kOutside;
      if (below(2) && s.next_traced) { // mostly the one that leaves woke it, a while ago
        const uint32_t before[] = {0, 1, 2047, 2048, 100'000, below(4000)};
        const Wakeup w = {.time = time,
                          .tid = s.next,
                          .waker = below(8) ? s.prev : kOutside,
                          .context = below(8) ? 0 : below(5),
                          .is_first = below(8) == 0};
        s.time = time += before[below(6)];
        writer.transition(transition(w));
        expected.push_back(event_of(w, w.waker != kOutside));
      }
      writer.transition(transition(s));
      add_events(s, s.next_traced, expected);
    }
    writer.finish(time);
    const std::vector<ftrace_record> records = records_of(list);
    const Reading reading(records);
    EXPECT_EQ(reading.sink.damage(), 0u);
    ASSERT_EQ(reading.events, expected);
    EXPECT_EQ(writer.events(), expected.size() + 2) << "with trace_start and trace_stop";
    EXPECT_GT(count(records, FTrace_EXT_switch), expected.size() / 5);
    EXPECT_GT(count(records, FTrace_EVT_task_activate), expected.size() / 50);
    if (chunk_records == 4096) { // in a small one an identity stands between mostly
      EXPECT_GT(count(records, FTrace_EXT_wake_switch), expected.size() / 50);
    }
    EXPECT_FALSE(list.grew());
  }
}

/// The same switches in one record each, or in two as older traces have them.
ChunkBuilder play(bool in_one, uint32_t seed) {
  std::mt19937 random{seed};
  const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  ChunkBuilder chunk(3);
  chunk.at(100).start();
  const auto introduce = [&] {
    for (uint16_t context = 1; context <= 5; context++)
      chunk.id(context, 100u + context, 100, "t");
  };
  introduce();
  uint64_t time = 200;
  for (int n = 0; n < 300; n++, time++) {
    chunk.at(time);
    const uint16_t prev = uint16_t(1 + below(5)), next = uint16_t(1 + (prev + below(4)) % 5);
    const uint32_t reason = below(10), priority = below(256);
    const uint32_t call = ftrace_offcpu_is_runnable(reason) ? 0 : below(FTRACE_CALLS);
    const bool is_stack = below(4) == 0, ends = below(20) == 0;
    const bool is_woken = below(3) == 0;
    const uint32_t ticks = below(2048);
    if (is_woken) // a stack is before all of the record
      chunk.record(FTrace_EXT_waker_stack, next, 1 + below(9)).at(time += 5000);
    else if (is_stack)
      chunk.record(FTrace_EXT_stack, prev, 1 + below(9));
    const uint32_t why = reason << FTRACE_REASON_SHIFT | call << 28;
    const uint16_t call_bits = uint16_t(call >> 4 << 8);
    const uint16_t off = uint16_t(ftrace_offcpu_is_runnable(reason) ? FTrace_EVT_task_epilogue
                                                                    : FTrace_EVT_task_sleep);
    if (is_woken && in_one)
      chunk.record(uint16_t(FTrace_EXT_wake_switch | call_bits), prev, next | ticks << 13 | why);
    else if (is_woken)
      chunk.at(time - ticks)
          .record(FTrace_EVT_task_activate, next, 100u + prev)
          .at(time)
          .record(uint16_t(off | call_bits), prev, (100u + next) | why)
          .record(FTrace_EVT_task_dispatch, next, 122);
    else if (in_one)
      chunk.record(uint16_t(FTrace_EXT_switch | call_bits), prev, next | priority << 16 | why);
    else
      chunk.record(uint16_t(off | call_bits), prev, (100u + next) | why)
          .record(FTrace_EVT_task_dispatch, next, priority);
    if (ends)
      chunk.next_chunk();
    if (ends)
      introduce();
  }
  return chunk.at(time + 100).stop();
}

TEST(SwitchRecord, EqualsTwoOrThreeSeparateRecords) {
  for (uint32_t seed = 0; seed < 20; seed++) {
    const Reading one(play(true, seed).records()), two(play(false, seed).records());
    EXPECT_EQ(one.sink.damage() + two.sink.damage(), 0u);
    ASSERT_EQ(one.whole.size(), two.whole.size());
    EXPECT_GT(one.whole.size(), 700u);
    for (size_t n = 0; n < one.whole.size(); n++) {
      const Event &a = one.whole[n], &b = two.whole[n];
      ASSERT_EQ(std::tie(a.time, a.kind, a.thread, a.cpu, a.peer, a.par2, a.par1, a.file, a.call),
                std::tie(b.time, b.kind, b.thread, b.cpu, b.peer, b.par2, b.par1, b.file, b.call))
          << n;
    }
  }
}

// A file that was cut has both its events or none.
TEST(SwitchRecord, IsWholeInAFileCutAnywhere) {
  ChunkBuilder chunk = play(true, 1);
  const std::vector<ftrace_record> records = chunk.records();
  const std::vector<Happened> all = Reading(records).events;
  size_t events = 0;
  for (size_t n = 1; n < records.size(); n++) {
    events += event_count(kCodeKinds[code_of(records[n - 1].code)]);
    events -= records[n - 1].code == FTrace_EVT_trace_start;
    std::vector<Happened> expected(all.begin(), all.begin() + long(events));
    Reading cut(records.data(), n * sizeof(ftrace_record) + n % 16);
    ASSERT_FALSE(cut.events.empty());
    EXPECT_EQ(cut.events.back().what, "dark");
    cut.events.pop_back();
    ASSERT_EQ(cut.events, expected) << n;
  }
}

TEST(SwitchRecord, IsDroppedWhereOneOfItsThreadsIsNotKnown) {
  for (const bool wakes : {false, true})
    for (const uint16_t unknown : {1, 2}) {
      ChunkBuilder chunk(0);
      chunk.at(100).start().id(uint16_t(3 - unknown), 11, 11, "known").at(200);
      chunk.record(wakes ? FTrace_EXT_wake_switch : FTrace_EXT_switch, 1,
                   2 | FTRACE_OFFCPU_SLEEP << 24);
      const Reading reading(chunk.at(300).stop().records());
      EXPECT_EQ(reading.sink.count("switch of context " + std::to_string(unknown) +
                                   ", for which there is no id"),
                1u);
      ASSERT_EQ(reading.events.size(), 2u);
      EXPECT_EQ(reading.events[0].what, "dark");
      EXPECT_EQ(reading.events[1].what, "light");
    }
}

// A clock that cannot be: before the record of before, and before the start of all time.
TEST(SwitchRecord, GivesNoTimeThatGoesBack) {
  ChunkBuilder chunk(0);
  chunk.at(100).start().id(1, 11, 11, "a").id(2, 12, 11, "b").at(101);
  chunk.record(FTrace_EXT_wake_switch, 1, 2 | 50 << 13 | FTRACE_OFFCPU_SLEEP << 24);
  chunk.at(102).record(FTrace_EXT_wake_switch, 2, 1 | 2000 << 13);
  const Reading reading(chunk.at(400).stop().records());
  std::vector<uint64_t> times;
  for (const Happened &event : reading.events)
    times.push_back(event.time);
  EXPECT_EQ(times, (std::vector<uint64_t>{100, 101, 101, 101, 102, 102}));
  EXPECT_EQ(reading.sink.reported.size(), 2u);
}

// After a gap the first of two events waits for the end of the blackout, and the second for it.
TEST(SwitchRecord, IsInOrderAfterAGap) {
  ChunkBuilder chunk(0);
  chunk.at(100).start().id(1, 11, 11, "a").id(2, 12, 11, "b").at(200).dispatch(9).at(300);
  chunk.record(FTrace_EXT_switch, 1, 2 | 121 << 16 | FTRACE_OFFCPU_SLEEP << 24);
  const Reading reading(chunk.at(400).stop().records());
  std::vector<std::string> order;
  for (const Happened &event : reading.events)
    order.push_back(event.what);
  EXPECT_EQ(order, (std::vector<std::string>{"dark", "light", "sleeps", "gets"}));
}

} // namespace
} // namespace ovnitrace
