// SPDX-License-Identifier: BSD-2-Clause
// Chunks as docs/format.md has them: each can be read alone, and nothing is lost between two.
#include "user/chunk/chunk_writer.h"

#include "emulator/format/thread_state.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/life_records.h"
#include "tests/unit/support/read_chunks.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>

namespace ovnitrace::test {

namespace {

constexpr uint64_t kTraced = SCHED_A_TRACED | SCHED_B_TRACED;

SchedTransition switched(uint64_t time, uint32_t reason, uint32_t prev, uint32_t next,
                         uint64_t traced = kTraced) {
  return {time, SCHED_WORD(SCHED_KIND_SWITCH, reason, 121, prev, next) | traced, 0};
}

} // namespace

TEST(ChunkWriter, ReportsASwitchAsBothItsHalves) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(3, 100, registry, list);
  writer.transition(switched(200, FTRACE_OFFCPU_PREEMPTED, 11, 12));
  writer.transition(switched(300, FTRACE_OFFCPU_DISK, 12, 0, SCHED_A_TRACED));
  writer.transition(switched(400, FTRACE_OFFCPU_SLEEP, 99, 11, SCHED_B_TRACED));
  writer.transition(switched(500, FTRACE_OFFCPU_DEAD, 11, 99, SCHED_A_TRACED));
  writer.finish(600);
  const std::vector<Plain> expected = {
      {FTrace_EVT_trace_start, 0, 100, 1'000'000},
      {FTrace_EVT_task_epilogue, 11, 200, 12 | FTRACE_OFFCPU_PREEMPTED << FTRACE_REASON_SHIFT},
      {FTrace_EVT_task_dispatch, 12, 200, 121},
      {FTrace_EVT_task_sleep, 12, 300, 0 | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT},
      {FTrace_EVT_task_dispatch, 11, 400, 121},
      {FTrace_EVT_task_end, 11, 500, 11},
      // the record of an end does not name the next thread
      {FTrace_EXT_holder, 0, 500, 99 | FTRACE_CLASS_NORMAL << FTRACE_CLASS_SHIFT},
  };
  EXPECT_EQ(read_all(list), expected);
  EXPECT_EQ(list.chunks[0].cpu, 3u);
}

// The kernel did not show how 12 got the CPU. The time that is found for it later is slightly late.
TEST(ChunkWriter, AThreadThatLogsHasTheCpu) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(0, 100, registry, list);
  auto own = [&](uint64_t time, uint32_t tid) {
    writer.family({time, FTrace_EVT_user_event_0, 0, 7, FAMILY_OWN | tid, 0});
  };
  own(150, 11); // nothing is known of the CPU yet
  writer.transition(switched(200, FTRACE_OFFCPU_SLEEP, 11, 99, SCHED_A_TRACED));
  own(300, 12);
  writer.transition(switched(301, 0, 0, 12, SCHED_B_TRACED));
  own(302, 12);
  writer.transition(switched(400, FTRACE_OFFCPU_SLEEP, 12, 0, SCHED_A_TRACED));
  own(350, 12); // late: it is not said to run again
  writer.transition(switched(500, 0, 0, 12, SCHED_B_TRACED));
  writer.blackout_start(600, FTRACE_BLACKOUT_TRANSITIONS);
  own(650, 13);
  writer.transition(switched(700, 0, 0, 12, SCHED_B_TRACED));
  own(720, 13);
  writer.transition(switched(730, 0, 0, 12, SCHED_B_TRACED)); // that 13 left it was hidden, too
  writer.finish(800);
  const std::vector<Plain> expected = {
      {FTrace_EVT_trace_start, 0, 100, 1'000'000},
      {FTrace_EVT_user_event_0, 0, 150, 7},
      {FTrace_EVT_task_sleep, 11, 200,
       99 | FTRACE_CLASS_NORMAL << FTRACE_CLASS_SHIFT | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT},
      {FTrace_EVT_task_dispatch, 12, 300, 0},
      {FTrace_EVT_user_event_0, 0, 300, 7},
      {FTrace_EVT_user_event_0, 0, 302, 7},
      {FTrace_EVT_task_sleep, 12, 400, 0 | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT},
      {FTrace_EVT_user_event_0, 0, 400, 7},
      {FTrace_EVT_task_dispatch, 12, 500, 121},
      {FTrace_EVT_blackout_start, 0, 600, 0},
      {FTrace_EVT_user_event_0, 0, 650, 7},
      {FTrace_EVT_task_dispatch, 12, 700, 121},
      {FTrace_EVT_task_dispatch, 13, 720, 0},
      {FTrace_EVT_user_event_0, 0, 720, 7},
      {FTrace_EVT_task_dispatch, 12, 730, 121},
  };
  EXPECT_EQ(read_all(list), expected);
}

// The kernel hid that 11 left its CPU: what 12 logs there is not 11's.
TEST(ChunkWriter, AThreadThatLogsHasTheCpuEvenIfASwitchWasHidden) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(0, 100, registry, list);
  writer.transition(switched(200, 0, 0, 11, SCHED_B_TRACED));
  writer.family({300, FTrace_EVT_user_event_0, 0, 7, FAMILY_OWN | 12, 0});
  writer.transition(switched(301, 0, 0, 12, SCHED_B_TRACED));
  writer.transition(switched(400, FTRACE_OFFCPU_SLEEP, 12, 11));
  writer.finish(500);
  const std::vector<Plain> expected = {
      {FTrace_EVT_trace_start, 0, 100, 1'000'000},
      {FTrace_EVT_task_dispatch, 11, 200, 121},
      {FTrace_EVT_task_dispatch, 12, 300, 0},
      {FTrace_EVT_user_event_0, 0, 300, 7},
      {FTrace_EVT_task_sleep, 12, 400, 11 | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT},
      {FTrace_EVT_task_dispatch, 11, 400, 121},
  };
  EXPECT_EQ(read_all(list), expected);
}

TEST(ChunkWriter, SaysTheClassOfANextThreadThatIsNotTraced) {
  const std::map<int, uint32_t> classes = {
      {0, FTRACE_CLASS_UNKNOWN},     {1, FTRACE_CLASS_DEADLINE}, {2, FTRACE_CLASS_REAL_TIME},
      {101, FTRACE_CLASS_REAL_TIME}, {102, FTRACE_CLASS_NORMAL}, {141, FTRACE_CLASS_NORMAL}};
  for (const auto &[priority, of] : classes) {
    ThreadRegistry registry;
    ChunkList list(256);
    ChunkWriter writer(0, 1, registry, list);
    const uint32_t holder = 99 | of << FTRACE_CLASS_SHIFT;
    const auto to = [of_next = priority](uint32_t reason, uint32_t next) {
      return SCHED_WORD(SCHED_KIND_SWITCH, reason, of_next, 11, next) | SCHED_A_TRACED;
    };
    writer.transition({10, to(FTRACE_OFFCPU_PREEMPTED, 99)});
    writer.transition({20, to(FTRACE_OFFCPU_SLEEP, 99)});
    writer.transition({30, to(FTRACE_OFFCPU_SLEEP, 0)});
    writer.transition({40, SCHED_WORD(SCHED_KIND_HOLDER, 0, priority, 99, 3)});
    writer.finish(50);
    const std::vector<Plain> expected = {
        {FTrace_EVT_trace_start, 0, 1, 1'000'000},
        {FTrace_EVT_task_epilogue, 11, 10, holder | FTRACE_OFFCPU_PREEMPTED << FTRACE_REASON_SHIFT},
        {FTrace_EVT_task_sleep, 11, 20, holder | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT},
        {FTrace_EVT_task_sleep, 11, 30, FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT},
        {FTrace_EXT_holder, 0, 40, holder}};
    EXPECT_EQ(read_all(list), expected) << priority;
  }
}

TEST(ChunkWriter, NamesTheDeviceOfAWakeupAndWhenAThrottledThreadMayRun) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(0, 1, registry, list);
  const uint32_t devices[CAPTURE_DEVICES] = {0, 0, 254 << 20};
  const auto wakeup = [&](uint64_t time, uint32_t place) {
    writer.transition({time, SCHED_WORD(SCHED_KIND_WAKEUP, FTRACE_WAKER_HARDIRQ, place, 21, 20)});
  };
  wakeup(10, 2); // nobody has said what the places are
  writer.set_devices(devices);
  wakeup(20, 2);
  wakeup(30, CAPTURE_OTHER_DEVICE);
  wakeup(40, 0);
  writer.transition({50, SCHED_WORD(SCHED_KIND_REFILL, 0, 0, 21, 0)});
  writer.finish(60);
  std::vector<std::pair<int, uint32_t>> found;
  for (const ftrace_record &record : list.chunks[0].records)
    if (record.code == FTrace_EVT_task_activate || record.code == FTrace_EXT_device ||
        record.code == FTrace_EXT_refill)
      found.emplace_back(record.code, record.code == FTrace_EXT_device ? record.par2 : 0);
  EXPECT_EQ(found, (std::vector<std::pair<int, uint32_t>>{{FTrace_EVT_task_activate, 0},
                                                          {FTrace_EXT_device, 254 << 20},
                                                          {FTrace_EVT_task_activate, 0},
                                                          {FTrace_EXT_device, 0},
                                                          {FTrace_EVT_task_activate, 0},
                                                          {FTrace_EVT_task_activate, 0},
                                                          {FTrace_EXT_refill, 0}}));
}

TEST(ChunkWriter, ReportsWakeupsAndMigrations) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(0, 1, registry, list);
  writer.transition({10, SCHED_WORD(SCHED_KIND_WAKEUP_NEW, FTRACE_WAKER_TASK, 0, 21, 20)});
  writer.transition({20, SCHED_WORD(SCHED_KIND_WAKEUP, FTRACE_WAKER_HARDIRQ, 0, 21, 20)});
  const uint64_t woken = SCHED_WORD(SCHED_KIND_WAKEUP, FTRACE_WAKER_SOFTIRQ, 0, 21, 20);
  writer.transition({25, woken | SCHED_HELD_EXHAUSTED});
  writer.transition({26, woken | SCHED_HELD_THROTTLED});
  writer.transition({30, SCHED_WORD(SCHED_KIND_MIGRATE, 0, 0, 21, 513)});
  writer.finish(40);
  const std::vector<Plain> events = read_all(list);
  ASSERT_EQ(events.size(), 5u) << "a migration is of family C, which read_all() leaves out";
  EXPECT_EQ(events[1].par2, 20u | FTRACE_WAKEUP_NEW);
  EXPECT_EQ(events[2].par2, 20u | FTRACE_WAKER_HARDIRQ << FTRACE_REASON_SHIFT);
  EXPECT_EQ(events[3].par2, 20u | 0xb1000000u);
  EXPECT_EQ(events[4].par2, 20u | 0x91000000u);
  const auto &records = list.chunks[0].records;
  EXPECT_EQ(records[records.size() - 2].code, FTrace_EXT_migrate);
  EXPECT_EQ(records[records.size() - 2].par2, 513u);
}

// The largest tid (PID_MAX_LIMIT - 1) beside the smallest.
TEST(ChunkWriter, KeepsAllBitsOfATid) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(0, 1, registry, list);
  const uint32_t largest = FTRACE_TID_MASK;
  writer.transition(switched(10, FTRACE_OFFCPU_IDLE, largest, 1));
  writer.transition(switched(20, FTRACE_OFFCPU_PARKED, 1, largest));
  writer.finish(30);
  const std::vector<Plain> events = read_all(list);
  EXPECT_EQ(events[1].tid, largest);
  EXPECT_EQ(events[1].par2, 1u | FTRACE_OFFCPU_IDLE << FTRACE_REASON_SHIFT);
  EXPECT_EQ(events[3].tid, 1u);
  EXPECT_EQ(events[3].par2, largest | FTRACE_OFFCPU_PARKED << FTRACE_REASON_SHIFT);
}

// "before the first use of a context in this chunk its identity", and a tid that is used again is
// another thread.
TEST(ChunkWriter, NamesAThreadInEachChunkAndAnewWhenItsTidIsReused) {
  ThreadRegistry registry;
  ChunkList list(48);
  ChunkWriter writer(0, 1, registry, list);
  const life_record first = life(5, LIFE_NEW, 31, "first", 30);
  registry.learn(first);
  writer.life(first);
  writer.transition(switched(10, FTRACE_OFFCPU_DEAD, 31, 0, SCHED_A_TRACED));
  const life_record second = life(20, LIFE_NEW, 31, "second thread", 30);
  registry.learn(second);
  writer.life(second);
  for (uint64_t time = 30; time < 60; time++)
    writer.transition(switched(time, FTRACE_OFFCPU_YIELDED, 0, 31, SCHED_B_TRACED));
  writer.finish(70);
  read_all(list);
  ASSERT_GE(list.chunks.size(), 2u);

  std::vector<uint64_t> births;
  for (const Chunk &chunk : list.chunks)
    for (const ftrace_record &record : chunk.records)
      if (record.code == FTrace_EXT_process)
        births.push_back(ftrace_record_tsc(&record));
  ASSERT_GE(births.size(), 3u);
  EXPECT_EQ(births[0], 5u);
  EXPECT_TRUE(std::all_of(births.begin() + 1, births.end(), [](uint64_t b) { return b == 20; }));
}

// A thread that logs its renaming late: at the time of the last record, never before it.
TEST(ChunkWriter, NeverGoesBackInTime) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(0, 1, registry, list);
  writer.transition(switched(100, FTRACE_OFFCPU_SLEEP, 11, 0, SCHED_A_TRACED));
  writer.life(life(90, LIFE_RENAME, 11, "new name"));
  writer.blackout_start(80, FTRACE_BLACKOUT_TRANSITIONS);
  writer.blackout_end(70, 5, FTRACE_BLACKOUT_TRANSITIONS);
  writer.finish(60);
  const std::vector<Plain> events = read_all(list);
  EXPECT_EQ(events.back(), (Plain{FTrace_EVT_blackout_end, 0, 100, 5}));
}

// Its birth and its parent's number stand at the time of its birth, and what comes late after them
// does not.
TEST(ChunkWriter, NeverGoesBackInTimeBehindABirth) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(0, 1, registry, list);
  registry.learn(life(5, LIFE_NEW, 31, "", 30));
  writer.transition(switched(100, FTRACE_OFFCPU_SLEEP, 31, 0, SCHED_A_TRACED));
  writer.family({90, FTrace_EVT_user_event_0, 0, 7, 0, 0});
  writer.finish(110);
  const std::vector<Plain> events = read_all(list);
  EXPECT_EQ(events.back(), (Plain{FTrace_EVT_user_event_0, 0, 100, 7}));
}

TEST(ChunkWriter, HandsOverAnOldChunkThatIsNotFull) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(0, 1, registry, list);
  writer.pass_on(5'000'000'000); // nothing to hand over
  writer.transition(switched(10, FTRACE_OFFCPU_SLEEP, 11, 0, SCHED_A_TRACED));
  writer.pass_on(20);
  EXPECT_EQ(list.chunks.size(), 0u) << "it is young";
  writer.pass_on(5'000'000'000);
  EXPECT_EQ(list.chunks.size(), 1u);
  writer.finish(6'000'000'000);
  EXPECT_EQ(read_all(list).size(), 2u);
}

/// The tid of the thread that a chunk says has its CPU when it begins, 0: it says nothing.
uint32_t told_to_run(const Chunk &chunk) {
  std::map<uint16_t, uint32_t> tids; // by context
  for (const ftrace_record &record : chunk.records) {
    if (record.code == FTrace_EVT_id)
      tids[record.par1] = record.par2;
    if (record.code != FTrace_EXT_state)
      continue;
    EXPECT_EQ(record.par2, uint32_t(ThreadState::Running) | chunk.cpu << FTRACE_SNAPSHOT_CPU_SHIFT);
    EXPECT_EQ(ftrace_record_tsc(&record), ftrace_record_tsc(&chunk.records[0]));
    return tids.at(record.par1);
  }
  return 0;
}

// Who lacks the chunks before knows nevertheless who runs.
TEST(ChunkWriter, BeginsAChunkWithWhoHasTheCpu) {
  ThreadRegistry registry;
  ChunkList list(256);
  ChunkWriter writer(2, 1, registry, list);
  constexpr uint64_t kAll = UINT64_MAX;  // whatever its age
  const auto next = [&](uint64_t time) { // ends a chunk, and has another begin
    writer.pass_on(kAll);
    writer.transition({time, SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, 50, 0)});
  };
  writer.transition({10, SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, 50, 0)});
  next(20); // 1: nothing was switched yet
  writer.transition(switched(21, FTRACE_OFFCPU_SLEEP, 11, 12));
  next(30); // 2: 12
  writer.blackout_start(31, FTRACE_BLACKOUT_FAMILIES);
  writer.blackout_end(32, 1, FTRACE_BLACKOUT_FAMILIES);
  next(40); // 3: 12
  writer.transition(switched(41, FTRACE_OFFCPU_SLEEP, 12, 99, SCHED_A_TRACED));
  next(50); // 4: one that is not traced
  writer.transition(switched(51, 0, 99, 13, SCHED_B_TRACED));
  writer.transition({52, SCHED_WORD(SCHED_KIND_EXEC, 0, 0, 10, 13)});
  next(60); // 5: 10, who was 13
  writer.life(life(61, LIFE_EXEC, 10, "same", 13));
  next(70); // 6: 10 still
  writer.blackout_start(71, FTRACE_BLACKOUT_SOMEWHERE);
  next(80); // 7: not known
  writer.transition(switched(81, FTRACE_OFFCPU_SLEEP, 10, 14));
  writer.blackout_end(82, 1, FTRACE_BLACKOUT_SOMEWHERE);
  next(90); // 8: what was seen in a blackout may be over
  writer.transition(switched(91, FTRACE_OFFCPU_SLEEP, 14, 15));
  writer.pass_on(kAll);
  writer.finish(100); // 9: 15
  read_all(list);
  std::vector<uint32_t> reported;
  for (const Chunk &chunk : list.chunks)
    reported.push_back(told_to_run(chunk));
  EXPECT_EQ(reported, (std::vector<uint32_t>{0, 0, 12, 12, 0, 10, 10, 0, 0, 15}));
  EXPECT_EQ(writer.events(), 1 + 9 + 8 + 2 + 4 + 1u) << "what only states a state is no event";
}

// More threads than a chunk has contexts for: the chunk ends, whatever room it has.
TEST(ChunkWriter, EndsAChunkWhenItsContextsRunOut) {
  ThreadRegistry registry;
  ChunkList list(1 << 20);
  ChunkWriter writer(0, 1, registry, list);
  constexpr uint32_t kThreads = 3 * ContextTable::kCapacity;
  for (uint32_t n = 0; n < kThreads; n++)
    writer.transition(switched(10 + n, FTRACE_OFFCPU_PREEMPTED, 1 + n, 2 + n));
  writer.finish(100'000);
  const std::vector<Plain> events = read_all(list);
  EXPECT_GE(list.chunks.size(), 3u);
  ASSERT_EQ(events.size(), 1 + 2 * kThreads);
  for (uint32_t n = 0; n < kThreads; n++) {
    ASSERT_EQ(events[1 + 2 * n].tid, 1 + n);
    ASSERT_EQ(events[2 + 2 * n].tid, 2 + n);
  }
}

// A switch that names two threads, while the chunk has a context left for one.
TEST(ChunkWriter, EndsAChunkThatHasOneContextLeft) {
  ThreadRegistry registry;
  ChunkList list(1 << 20);
  ChunkWriter writer(0, 1, registry, list);
  writer.transition({5, SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, 1, 0)});
  for (uint32_t n = 0; n < ContextTable::kCapacity / 2 + 10; n++)
    writer.transition(switched(10 + n, FTRACE_OFFCPU_PREEMPTED, 2 + 2 * n, 3 + 2 * n));
  writer.finish(100'000);
  read_all(list);
  ASSERT_EQ(list.chunks.size(), 2u);
  for (const Chunk &chunk : list.chunks)
    for (const ftrace_record &record : chunk.records)
      if (record.code == FTrace_EVT_id) {
        ASSERT_LE(record.par1, ContextTable::kCapacity);
      }
}

// Random transitions through chunks of every small size come out whole, in order, by the reader of
// the emulator too.
TEST(ChunkWriter, LosesNothingAtAnyChunkSize) {
  for (size_t records : {32u, 33u, 39u, 64u, 257u, 4096u}) {
    SCOPED_TRACE(records);
    std::mt19937 random{uint32_t(records)};
    ThreadRegistry registry;
    for (uint32_t tid = 100; tid < 400; tid++)
      registry.learn(life(2, LIFE_NEW, tid, "fifteen letters", 99));
    ChunkList list(records);
    ChunkWriter writer(0, 1, registry, list);
    std::vector<Plain> expected = {{FTrace_EVT_trace_start, 0, 1, 1'000'000}};
    for (uint64_t time = 10; time < 5'000; time++) {
      const uint32_t prev = 100 + random() % 300, next = 100 + random() % 300;
      writer.transition(switched(time, FTRACE_OFFCPU_SLEEP, prev, next));
      expected.push_back(
          {FTrace_EVT_task_sleep, prev, time, next | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT});
      expected.push_back({FTrace_EVT_task_dispatch, next, time, 121});
    }
    writer.finish(6'000);
    EXPECT_EQ(read_all(list), expected);

    TempDir dir;
    std::ofstream json(dir / "trace.json");
    json << R"({"format":"ovnitrace","version":1,"begin_ns":1,"end_ns":6000,"cpus":1})";
    json.close();
    std::ofstream file(dir / "cpu0000.ftr", std::ios::binary);
    for (const Chunk &chunk : list.chunks)
      file.write(reinterpret_cast<const char *>(chunk.records.data()),
                 std::streamsize(chunk.records.size() * sizeof(ftrace_record)));
    file.close();
    CollectingSink sink;
    const auto source = open_trace({{dir.path()}}, sink);
    size_t at = 1; // the reader may report trace_start or not
    for (Event event; source->next(event);) {
      if (event.thread == kNone || !has_happened(event))
        continue;
      ASSERT_LT(at, expected.size());
      const ThreadInfo &thread = source->catalog().threads[event.thread];
      ASSERT_EQ((Plain{uint16_t(event.kind), thread.tid, event.time, event.par2}), expected[at]);
      ASSERT_EQ(thread.name, "fifteen letters");
      at++;
    }
    EXPECT_EQ(at, expected.size());
  }
}

} // namespace ovnitrace::test
