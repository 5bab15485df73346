// SPDX-License-Identifier: BSD-2-Clause
// The records that a writer of chunks makes of lives, stacks, work and marks:
// user/chunk/chunk_writer.
#include "emulator/format/thread_state.h"
#include "tests/unit/support/chunk_list.h"
#include "user/chunk/chunk_writer.h"

#include <ovnitrace/ftrace_codes.h>

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <tuple>

namespace ovnitrace::test {
namespace {

/// Code, parameter 1, time and parameter 2. A context is the number of a thread, from 1 on in the
/// order of their first records.
using Record = std::tuple<unsigned, unsigned, uint64_t, uint32_t>;
using Records = std::vector<Record>;

constexpr uint64_t kTraced = SCHED_A_TRACED | SCHED_B_TRACED;

class ChunkRecords : public testing::Test {
protected:
  life_record life(uint64_t time, uint32_t kind, uint32_t tid, uint32_t arg = 0) {
    life_record record = {};
    record.time = time;
    record.kind = uint16_t(kind);
    record.tid = record.pid = tid;
    record.arg = arg;
    return record;
  }
  /// All records of all chunks but for headers, ids, the start and the ends.
  Records written() {
    writer_.finish(100'000);
    Records records;
    for (const Chunk &chunk : list_.chunks)
      for (size_t n = 4; n + 1 < chunk.records.size(); n++) {
        const ftrace_record &r = chunk.records[n];
        if (r.code != FTrace_EVT_id && r.code != FTrace_EVT_trace_start)
          records.emplace_back(r.code, r.par1, ftrace_record_tsc(&r), r.par2);
      }
    return records;
  }

  ThreadRegistry registry_;
  ChunkList list_{256};
  ChunkWriter writer_{2, 1, registry_, list_};
};

TEST_F(ChunkRecords, EachEventOfALifeHasItsOwn) {
  writer_.life(life(10, LIFE_NEW, 31, 30));
  writer_.life(life(20, LIFE_EXEC, 31, 29));
  writer_.life(life(30, LIFE_EXIT, 31, 0xf00));
  life_record moved = life(40, LIFE_CGROUP, 31);
  moved.cgroup = 5;
  writer_.life(moved);
  writer_.life(life(50, LIFE_REGION, 31, 0x12345678));
  life_record snapshot = life(60, LIFE_SNAPSHOT, 32, 0x02000302);
  snapshot.call = 0x25; // its low half is in parameter 2, the rest in the code
  writer_.life(snapshot);
  life_record renamed = life(70, LIFE_RENAME, 31);
  std::memcpy(renamed.comm, "abcdefgh", 8);
  writer_.life(renamed);
  EXPECT_EQ(written(), (Records{{FTrace_EVT_task_create, 1, 10, 31},
                                {FTrace_EXT_exec, 1, 20, 29},
                                {FTrace_EXT_exit, 1, 30, 0xf00},
                                {FTrace_EXT_cgroup, 1, 40, 5},
                                {FTrace_EXT_cgroup_move, 1, 40, 5},
                                {FTrace_EXT_region, 1, 50, 0x12345678},
                                {FTrace_EXT_snapshot | 2 << 8, 2, 60, 0x52000302},
                                {FTrace_EXT_name_0, 1, 70, 0x64636261},
                                {FTrace_EXT_name_1, 1, 70, 0x68676665}}));
}

TEST_F(ChunkRecords, ASnapshotSaysWhoHasTheCpu) {
  const auto state = [](ThreadState what, uint32_t cpu) {
    return uint32_t(what) | cpu << FTRACE_SNAPSHOT_CPU_SHIFT;
  };
  const auto next = [&](uint64_t time) { // ends a chunk, and has another begin
    writer_.pass_on(UINT64_MAX);
    writer_.mark(time, 1);
  };
  writer_.life(life(10, LIFE_SNAPSHOT, 11, state(ThreadState::Running, 2)));
  next(20); // 11
  writer_.life(life(21, LIFE_SNAPSHOT, 12, state(ThreadState::Running, 3)));
  next(30); // 12 runs elsewhere
  writer_.life(life(31, LIFE_ENTER, 13, state(ThreadState::Running, 2)));
  next(40); // 13
  writer_.life(life(41, LIFE_SNAPSHOT, 13, state(ThreadState::Running, 3)));
  next(50); // none
  std::vector<uint32_t> runs;
  written();
  for (const Chunk &chunk : list_.chunks) {
    std::map<uint16_t, uint32_t> tids;
    uint32_t tid = 0;
    for (const ftrace_record &record : chunk.records)
      if (record.code == FTrace_EVT_id)
        tids[record.par1] = record.par2;
      else if (record.code == FTrace_EXT_state)
        tid = tids.at(record.par1);
    runs.push_back(tid);
  }
  EXPECT_EQ(runs, (std::vector<uint32_t>{0, 11, 11, 13, 0}));
}

TEST_F(ChunkRecords, AnItemOfWorkHasItsAge) {
  writer_.transition({10, SCHED_WORD(SCHED_KIND_WORK, 3, 1, 21, 777), 0x1234});
  writer_.transition({20, SCHED_WORD(SCHED_KIND_WORK, 3, 0x81, 21, 0), 0x1234});
  EXPECT_EQ(written(), (Records{{FTrace_EXT_work, 1, 10, 777},
                                {FTrace_EXT_work_age, 1, 10, 0x131234},
                                {FTrace_EXT_work, 1, 20, 0},
                                {FTrace_EXT_work_age, 1, 20, 0x80131234}}));
}

TEST_F(ChunkRecords, AStackBelongsToTheRecordOfItsTime) {
  writer_.set_stacks([](const SchedTransition &stack) {
    return uint32_t(stack.word >> SCHED_STACK_USER_SHIFT & 0xffff);
  });
  const auto stack = [&](uint64_t time, uint32_t whose, uint32_t number) {
    writer_.transition({time, SCHED_STACK_WORD(whose, 0, number, 7)});
  };
  const auto leave = [&](uint64_t time) {
    writer_.transition(
        {time, SCHED_WORD(SCHED_KIND_SWITCH, FTRACE_OFFCPU_SLEEP, 0, 11, 0) | SCHED_A_TRACED});
  };
  const auto wake = [&](uint64_t time) {
    writer_.transition({time, SCHED_WORD(SCHED_KIND_WAKEUP, FTRACE_WAKER_TASK, 0, 11, 0)});
  };
  stack(10, SCHED_STACK_OF_PREV, 5);
  leave(10);
  stack(20, SCHED_STACK_OF_WAKER, 6);
  wake(20);
  stack(30, SCHED_STACK_OF_PREV, 7); // of another time
  leave(31);
  leave(40);                          // it was of one record
  stack(50, SCHED_STACK_OF_WAKER, 8); // nobody is woken
  leave(50);
  stack(60, SCHED_STACK_OF_PREV, 0); // not known
  leave(60);
  Records stacks;
  for (const Record &record : written())
    if (std::get<0>(record) == FTrace_EXT_stack || std::get<0>(record) == FTrace_EXT_waker_stack)
      stacks.push_back(record);
  EXPECT_EQ(stacks, (Records{{FTrace_EXT_stack, 1, 10, 5}, {FTrace_EXT_waker_stack, 1, 20, 6}}));
}

TEST_F(ChunkRecords, AnEventOfAFamilyNamesThreadsByContext) {
  writer_.family({10, FTrace_EVT_signal, 3, 4, 0, 0});
  writer_.family({20, FTrace_EVT_signal, 3, 4, 21, 0});
  writer_.family({30, FTrace_EVT_signal, 3, 4, 0, 22});
  writer_.family({25, FTrace_EVT_signal, 3, 4, 22, 21}); // late
  EXPECT_EQ(written(), (Records{{FTrace_EVT_signal, 3, 10, 4},
                                {FTrace_EVT_signal, 1, 20, 4},
                                {FTrace_EVT_signal, 3, 30, 2},
                                {FTrace_EVT_signal, 2, 30, 1}}));
}

TEST_F(ChunkRecords, MarksAndBlackoutsAreInTheOrderOfTime) {
  writer_.mark(50, 7);
  writer_.mark(40, 8);
  writer_.blackout_start(60, FTRACE_BLACKOUT_SOMEWHERE);
  writer_.blackout_end(70, uint64_t(1) << 33, FTRACE_BLACKOUT_SOMEWHERE);
  EXPECT_EQ(written(), (Records{{FTrace_EXT_mark, 7, 50, 0},
                                {FTrace_EXT_mark, 8, 50, 0},
                                {FTrace_EVT_blackout_start, 1, 60, 0},
                                {FTrace_EVT_blackout_end, 1, 70, UINT32_MAX}}));
}

TEST_F(ChunkRecords, AChunkIsHandedOverASecondAfterItBegan) {
  constexpr uint64_t kSecond = 1'000'000'000;
  writer_.mark(10, 1);
  writer_.mark(20, 2);
  writer_.pass_on(10 + kSecond);
  EXPECT_EQ(list_.chunks.size(), 0u);
  writer_.pass_on(11 + kSecond);
  EXPECT_EQ(list_.chunks.size(), 1u);
  written();
  ASSERT_EQ(list_.chunks.size(), 2u);
  EXPECT_EQ(writer_.records(), list_.chunks[0].records.size() + list_.chunks[1].records.size());
}

// A thread that is known by its registry is in another cgroup than it was when it was born.
TEST_F(ChunkRecords, ALifeSaysACgroupThatTheRegistryNoLongerHas) {
  life_record born = life(10, LIFE_NEW, 31, 30);
  born.cgroup = 4;
  registry_.learn(born);
  life_record moved = life(20, LIFE_CGROUP, 31);
  moved.cgroup = 5;
  registry_.learn(moved);
  writer_.life(born); // it comes late
  Records cgroups;
  for (const Record &record : written())
    if (std::get<0>(record) == FTrace_EXT_cgroup)
      cgroups.push_back(record);
  EXPECT_EQ(cgroups, (Records{{FTrace_EXT_cgroup, 1, 20, 5}, {FTrace_EXT_cgroup, 1, 10, 4}}));
}

// A wakeup and the switch to the thread that is woken are one record, if no other is between them.
TEST_F(ChunkRecords, AWakeupRightBeforeItsSwitchIsOneRecordWithIt) {
  const auto wake = [&](uint64_t time, uint32_t kind, uint32_t waker) {
    writer_.transition({time, SCHED_WORD(kind, FTRACE_WAKER_TASK, 0, 12, waker)});
  };
  const auto leave = [&](uint64_t time) {
    writer_.transition(
        {time, SCHED_WORD(SCHED_KIND_SWITCH, FTRACE_OFFCPU_SLEEP, FTRACE_WAKE_SWITCH_PRIO, 11, 12) |
                   kTraced});
  };
  leave(5); // both threads have their ids
  wake(10, SCHED_KIND_WAKEUP, 11);
  leave(15);
  wake(20, SCHED_KIND_WAKEUP, 99); // by another thread
  leave(25);
  wake(30, SCHED_KIND_WAKEUP_NEW, 11);
  leave(35);
  wake(40, SCHED_KIND_WAKEUP, 11);
  writer_.mark(41, 1);
  leave(45);
  std::vector<std::pair<unsigned, uint64_t>> codes;
  for (const Record &record : written())
    codes.emplace_back(std::get<0>(record) & 0xff, std::get<2>(record));
  EXPECT_EQ(codes, (std::vector<std::pair<unsigned, uint64_t>>{{FTrace_EXT_switch, 5},
                                                               {FTrace_EXT_wake_switch, 15},
                                                               {FTrace_EVT_task_activate, 20},
                                                               {FTrace_EXT_switch, 25},
                                                               {FTrace_EVT_task_activate, 30},
                                                               {FTrace_EXT_switch, 35},
                                                               {FTrace_EVT_task_activate, 40},
                                                               {FTrace_EXT_mark, 41},
                                                               {FTrace_EXT_switch, 45}}));
}

} // namespace
} // namespace ovnitrace::test
