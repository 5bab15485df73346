// SPDX-License-Identifier: BSD-2-Clause
// What a capture makes of the births, names, moves and regions of threads: user/record/life_events.
#include "user/record/life_events.h"

#include "emulator/format/thread_state.h"
#include "tests/unit/support/chunks.h"
#include "user/chunk/linked_chunks.h"

#include <ovnitrace/control.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Lines = std::vector<std::string>;

/// Two CPUs.
class LifeEventsTest : public testing::Test {
protected:
  LifeEventsTest() {
    for (uint32_t cpu = 0; cpu < 2; cpu++)
      streams_.emplace_back(ChunkWriter(cpu, 100, registry_, queue_), end_);
  }
  static life_record life(uint64_t time, uint16_t kind, uint32_t cpu, uint32_t tid,
                          const char *name = "app") {
    life_record record = {};
    record.time = time;
    record.kind = kind;
    record.cpu = cpu;
    record.tid = record.pid = tid;
    std::strncpy(record.comm, name, sizeof record.comm);
    return record;
  }
  static life_record region(uint64_t time, uint32_t cpu, uint32_t event, uint32_t more = 0) {
    life_record record = life(time, LIFE_REGION, cpu, 7);
    record.arg = event << FTRACE_REGION_EVENT_SHIFT | more;
    return record;
  }
  /// Writes what has come so far. The chunks stay open.
  void write() {
    for (CpuStream &stream : streams_)
      stream.take_stage(cpu_stage{});
  }
  /// The lines of a CPU's file, without the headers of chunks: "300 exit", "300 name prog" …
  Lines lines(uint16_t cpu) {
    if (!closed_)
      for (CpuStream &stream : streams_) {
        stream.take_stage(cpu_stage{});
        stream.finish();
      }
    if (!closed_)
      queue_.close();
    closed_ = true;
    static const std::map<uint32_t, const char *> kNames = {
        {FTrace_EVT_task_create, "create"}, {FTrace_EXT_exec, "exec"},
        {FTrace_EXT_exit, "exit"},          {FTrace_EXT_cgroup_move, "moved"},
        {FTrace_EXT_region, "region"},      {FTrace_EXT_snapshot, "snapshot"},
        {FTrace_EXT_affinity, "affinity"},  {FTrace_EXT_name_0, "name"},
        {FTrace_EXT_state, "state"},
    };
    Lines found;
    for (const ftrace_record &record : output_.files[cpu])
      if (const auto known = kNames.find(record.code); known != kNames.end()) {
        std::string more;
        if (record.code == FTrace_EXT_name_0)
          more = " " + std::string(reinterpret_cast<const char *>(&record.par2), 4);
        found.push_back(fmt::format("{} {}{}", ftrace_record_tsc(&record), known->second, more));
      }
    return found;
  }
  /// The names that chunks give to threads, in order; introductions, too.
  Lines names(uint16_t cpu) {
    Lines found;
    for (const std::string &line : lines(cpu))
      if (const size_t at = line.find(" name "); at != line.npos)
        found.push_back(line.substr(at + 6));
    return found;
  }
  /// The lines that are of one kind.
  Lines lines(uint16_t cpu, const std::string &kind) {
    Lines found;
    for (const std::string &line : lines(cpu))
      if (line.ends_with(" " + kind))
        found.push_back(line);
    return found;
  }

  test::CollectingOutput output_;
  LinkedChunks queue_{output_, LinkedChunks::kWait, 2, 3, 1 << 12};
  ThreadRegistry registry_;
  CgroupPaths cgroups_;
  std::atomic<uint64_t> end_{UINT64_MAX};
  std::vector<CpuStream> streams_;
  LifeEvents lives_{registry_, cgroups_, streams_, end_};
  bool closed_ = false;
};

// All three are read before the first one is written.
TEST_F(LifeEventsTest, AChunkNamesAThreadAsItWasNamedThen) {
  lives_.take(life(200, LIFE_NEW, 0, 7, "here"));
  lives_.take(life(250, LIFE_EXIT, 1, 7, "here"));
  lives_.take(life(300, LIFE_EXEC, 0, 7, "prog"));
  EXPECT_EQ(lines(0), (Lines{"200 name here", "200 create", "300 exec", "300 name prog"}));
  EXPECT_EQ(lines(1), (Lines{"250 name here", "250 exit"}));
}

TEST_F(LifeEventsTest, AnEventIsInTheFileOfTheCpuThatLoggedIt) {
  lives_.take(life(200, LIFE_NEW, 0, 7));
  lives_.take(life(300, LIFE_EXIT, 1, 7));
  lives_.take(life(400, LIFE_EXIT, 2, 7)); // there is no such CPU
  EXPECT_EQ(lines(0, "create"), Lines{"200 create"});
  EXPECT_EQ(lines(0, "exit"), Lines{});
  EXPECT_EQ(lines(1, "exit"), Lines{"300 exit"});
}

TEST_F(LifeEventsTest, WhatWasLoggedAfterTheEndIsLeftOut) {
  end_ = 300;
  lives_.take(life(300, LIFE_NEW, 0, 7));
  lives_.take(life(301, LIFE_NEW, 0, 8));
  EXPECT_EQ(registry_.count(), 1u);
  EXPECT_EQ(lines(0, "create"), Lines{"300 create"});
}

TEST_F(LifeEventsTest, ANameIsWrittenIfItIsAnother) {
  lives_.take(life(200, LIFE_NEW, 0, 7, "old"));
  lives_.take(life(300, LIFE_RENAME, 1, 7, "old"));
  lives_.take(life(400, LIFE_RENAME, 1, 7, "new"));
  EXPECT_EQ(registry_.all().at(7).name->raw(), "new");
  EXPECT_EQ(names(1), (Lines(2, std::string("new\0", 4)))) << "as it is introduced, and at 400";
  EXPECT_EQ(lines(1).back(), std::string("400 name new\0", 13));
}

// The event itself says who it is, so the name follows as an event of its own.
TEST_F(LifeEventsTest, AnotherNameInAnotherEventIsWrittenAfterIt) {
  lives_.take(life(200, LIFE_NEW, 0, 7, "old"));
  life_record executes = life(400, LIFE_EXEC, 0, 7, "prog");
  executes.arg = 7;
  executes.has_cpus = 1;
  executes.cpus[0] = 3;
  lives_.take(executes);
  const Lines all = lines(0);
  const auto exec = std::find(all.begin(), all.end(), "400 exec"),
             name = std::find(all.begin(), all.end(), "400 name prog");
  ASSERT_NE(name, all.end());
  EXPECT_LT(exec, name);
  EXPECT_EQ(lines(0, "affinity"), Lines{"400 affinity"}) << "once";
}

TEST_F(LifeEventsTest, ANameWithoutAnEventIsOnlyLearned) {
  lives_.take(life(200, LIFE_NAME, 0, 50, "peer"));
  ASSERT_EQ(registry_.peers().size(), 1u);
  EXPECT_EQ(registry_.peers()[0].tid, 50u);
  EXPECT_EQ(lines(0), Lines{});
}

// A later thread can have the tid of one that has ended.
TEST_F(LifeEventsTest, ANewThreadWithAnOldTidIsAnotherOnEachCpu) {
  lives_.take(life(200, LIFE_NEW, 0, 7, "one"));
  lives_.take(life(250, LIFE_EXIT, 1, 7, "one"));
  write();
  lives_.take(life(300, LIFE_NEW, 0, 7, "two"));
  lives_.take(life(350, LIFE_EXIT, 1, 7, "two"));
  EXPECT_EQ(registry_.count(), 2u);
  EXPECT_EQ(lines(1, "exit"), (Lines{"250 exit", "350 exit"}));
  EXPECT_EQ(names(1), (Lines{std::string("one\0", 4), std::string("two\0", 4)}))
      << "both are introduced";
}

class MovedThreads : public LifeEventsTest {
protected:
  /// Threads 10 and 11 of process 10, and thread 20, in the cgroup of the key 500.
  MovedThreads() {
    for (const auto &[tid, pid] : {std::pair(10u, 10u), {11u, 10u}, {20u, 20u}}) {
      life_record record = life(200, LIFE_NEW, 0, tid, ("t" + std::to_string(tid)).c_str());
      record.pid = pid;
      record.cgroup = 500;
      lives_.take(record);
    }
  }
  void move(uint32_t tid, uint32_t pid, uint64_t key, bool whole_process) {
    life_record record = life(300, LIFE_CGROUP, 1, tid, "other");
    record.pid = pid;
    record.cgroup = key;
    record.arg = whole_process;
    lives_.take(record);
  }
  std::vector<uint32_t> cgroups() const {
    std::vector<uint32_t> all;
    for (const uint32_t tid : {10, 11, 20})
      all.push_back(registry_.all().at(tid).cgroup);
    return all;
  }
};

using Numbers = std::vector<uint32_t>;

TEST_F(MovedThreads, AreOneThreadOrAllOfItsProcess) {
  EXPECT_EQ(cgroups(), (Numbers{1, 1, 1}));
  move(11, 10, 900, false);
  EXPECT_EQ(cgroups(), (Numbers{1, 2, 1}));
  move(10, 10, 700, true);
  EXPECT_EQ(cgroups(), (Numbers{3, 3, 1}));
  EXPECT_EQ(lines(1, "moved"), (Lines{"300 moved", "300 moved", "300 moved"}));
  EXPECT_EQ(registry_.all().at(11).name->raw(), "t11") << "it keeps its name";
}

TEST_F(MovedThreads, AreNotThoseThatAreThereAlready) {
  move(10, 10, 500, true);
  move(20, 20, 0, false); // it is not known where
  move(99, 99, 900, false);
  EXPECT_EQ(cgroups(), (Numbers{1, 1, 1}));
  EXPECT_EQ(lines(1), Lines{});
}

TEST_F(MovedThreads, AreNotThoseThatHaveEnded) {
  life_record dead = life(250, LIFE_DEAD, 0, 11, "t11");
  dead.pid = 10;
  lives_.take(dead);
  move(10, 10, 900, true);
  EXPECT_EQ(cgroups(), (Numbers{2, 1, 1}));
}

class Regions : public LifeEventsTest {
protected:
  Regions() {
    lives_.take(life(150, LIFE_NEW, 0, 7));
    lives_.on_region([this](bool starts) { called_.push_back(starts); });
  }
  std::vector<bool> called_;
};

TEST_F(Regions, AreCountedWhenTheyStart) {
  lives_.take(region(200, 0, CONTROL_START));
  lives_.take(region(210, 1, CONTROL_START, FTRACE_REGION_AGAIN));
  lives_.take(region(220, 1, CONTROL_STOP));
  lives_.take(region(230, 1, CONTROL_STOP + 2)); // neither
  lives_.take(region(240, 1, CONTROL_START));
  EXPECT_EQ(lives_.regions(), 2u);
  EXPECT_EQ(called_, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(lines(0, "region"), Lines{"200 region"});
  EXPECT_EQ(lines(1, "region"), (Lines{"210 region", "220 region", "230 region", "240 region"}));
}

/// A later chunk says who runs, if that is known.
TEST_F(Regions, ThatStopLeaveItUnknownWhoRunsOnEachCpu) {
  for (const bool stops : {false, true}) {
    for (const uint32_t cpu : {0, 1}) {
      life_record runs = life(1000 + 1000 * stops, LIFE_SNAPSHOT, cpu, 70 + cpu);
      runs.arg = uint32_t(ThreadState::Running) | cpu << FTRACE_SNAPSHOT_CPU_SHIFT;
      lives_.take(runs);
    }
    lives_.take(region(1100 + 1000 * stops, 0, stops ? CONTROL_STOP : CONTROL_START));
    write();
    for (const uint32_t cpu : {0, 1}) {
      streams_[cpu].pass_on(UINT64_MAX);
      lives_.take(life(1200 + 1000 * stops, LIFE_EXIT, cpu, 70 + cpu));
    }
    write();
  }
  for (const uint16_t cpu : {0, 1})
    EXPECT_EQ(lines(cpu, "state"), Lines{"1200 state"}) << cpu;
}

TEST_F(Regions, AreCountedAlsoIfNobodyListens) {
  LifeEvents deaf(registry_, cgroups_, streams_, end_);
  deaf.take(region(200, 0, CONTROL_START));
  deaf.take(region(300, 2, CONTROL_START)); // of a CPU that is not there
  EXPECT_EQ(deaf.regions(), 2u);
}

TEST(RecordedEvents, AreThoseOfTheKernelLessTheLateOnes) {
  cpu_stage stage = {};
  stage.events = 64;
  stage.count = 5;
  stage.lost_total = 32;
  const CpuCount late = {.events = 3, .lost = 2, .family_events = 20, .family_lost = 10};
  CpuCount count = recorded_of(stage, nullptr, late);
  EXPECT_EQ(count.events, 66u);
  EXPECT_EQ(count.lost, 30u);
  EXPECT_EQ(count.family_events, 0u);
  EXPECT_EQ(count.family_lost, 0u);
  family_count families = {};
  families.events = 1000;
  families.lost = 100;
  count = recorded_of(stage, &families, late);
  EXPECT_EQ(count.events, 66u);
  EXPECT_EQ(count.family_events, 980u);
  EXPECT_EQ(count.family_lost, 90u);
}

} // namespace
} // namespace ovnitrace
