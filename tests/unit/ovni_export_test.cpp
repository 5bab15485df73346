// SPDX-License-Identifier: BSD-2-Clause
// Writing ovni traces: "writes a capture as an ovni trace that the real ovniemu accepts, events of
// one instant ordered so that no order is illegal".
#include "emulator/base/error.h"
#include "emulator/ovni_export/exporter.h"
#include "tests/unit/support/ovni_streams.h"
#include "tests/unit/support/strict_ovni_reader.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include <sys/resource.h>

namespace ovnitrace::test {
namespace {

using ovni::Exporter;
using ovni::StreamStore;
using enum ThreadState;

Catalog make_catalog(uint32_t threads, uint32_t cpus, uint64_t end) {
  Catalog catalog;
  catalog.hosts.push_back({"node"});
  for (uint32_t i = 0; i < cpus; ++i)
    catalog.cpus.push_back({i, 0});
  for (uint32_t i = 0; i < threads; ++i) {
    ThreadInfo thread;
    thread.tid = 100 + i;
    thread.pid = 100 + i / 4 * 4;
    thread.name = "t" + std::to_string(i);
    catalog.threads.push_back(thread);
  }
  catalog.begin = 10;
  catalog.end = end;
  return catalog;
}

struct Change {
  uint64_t time;
  uint32_t thread;
  ThreadState state;
  uint32_t cpu;
};

/// Writes `changes` as an ovni trace and reads it with the strict reader.
StrictReader exported(const TempDir &dir, const Catalog &catalog,
                      const std::vector<Change> &changes, Exporter::Counts *counts = nullptr) {
  StreamStore store(dir / "out");
  Exporter exporter(catalog, store);
  for (const Change &change : changes)
    exporter.change(change.time, change.thread, change.state, change.cpu);
  exporter.finish();
  store.finish();
  if (counts)
    *counts = exporter.counts();
  return StrictReader(dir / "out");
}

using Texts = std::vector<std::string>;

TEST(OvniExport, SwitchAtOneInstantIsOneNanosecondApart) {
  TempDir dir;
  const Catalog catalog = make_catalog(2, 1, 100);
  const StrictReader ovni =
      exported(dir, catalog, {{20, 0, Running, 0}, {50, 1, Running, 0}, {50, 0, Cooling, 0}});
  EXPECT_EQ(ovni.refused, Texts{});
  EXPECT_EQ(ovni.state_at(0, 49), 'r');
  EXPECT_EQ(ovni.state_at(0, 50), 'c');
  EXPECT_EQ(ovni.state_at(1, 50), 'u');
  EXPECT_EQ(ovni.state_at(1, 51), 'r');
  EXPECT_EQ(ovni.catalog.begin, 10u);
  EXPECT_EQ(ovni.catalog.end, 100u);
}

TEST(OvniExport, TheEndOfTheCaptureIsMarkedWhereAllThreadsHaveEndedBefore) {
  TempDir dir;
  const StrictReader ovni =
      exported(dir, make_catalog(1, 1, 100), {{20, 0, Running, 0}, {40, 0, Dead, kNone}});
  EXPECT_EQ(ovni.refused, Texts{});
  EXPECT_EQ(ovni.state_at(0, 40), 'd');
  EXPECT_EQ(ovni.catalog.end, 100u);
}

/// Once a host, not once a process: else a trace of many processes that names many CPUs is a bomb.
TEST(OvniExport, CpusAreListedOnceAHost) {
  TempDir dir;
  exported(dir, make_catalog(12, 3, 100),
           {{20, 0, Running, 0}, {20, 4, Running, 1}, {20, 8, Running, 2}});
  size_t lists = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(dir / "out"))
    if (entry.path().filename() == "stream.json")
      lists += text_of(entry.path().string()).find("loom_cpus") != std::string::npos;
  EXPECT_EQ(lists, 1u);
}

TEST(OvniExport, MoreCpusThanAHostCanHaveAreRefused) {
  TempDir dir;
  StreamStore store(dir / "out");
  const Catalog most = make_catalog(1, 8192, 100), more = make_catalog(1, 8193, 100);
  EXPECT_NO_THROW(Exporter(most, store));
  EXPECT_THROW(Exporter(more, store), Error);
}

TEST(OvniExport, CoolingToRunningPassesPausedForNoTime) {
  TempDir dir;
  const StrictReader ovni =
      exported(dir, make_catalog(1, 2, 100),
               {{20, 0, Running, 0}, {30, 0, Cooling, 0}, {40, 0, Running, 1}});
  EXPECT_EQ(ovni.refused, Texts{});
  EXPECT_EQ(ovni.state_at(0, 39), 'c');
  EXPECT_EQ(ovni.state_at(0, 40), 'r');
  EXPECT_EQ(ovni.cpu_at(0, 39), 0);
  EXPECT_EQ(ovni.cpu_at(0, 40), 1);
}

TEST(OvniExport, FirstStateMayBeAny) {
  for (const ThreadState first : {Running, Paused, Cooling, Warming}) {
    TempDir dir;
    const StrictReader ovni =
        exported(dir, make_catalog(2, 2, 100), {{10, 1, Running, 1}, {20, 0, first, 0}});
    EXPECT_EQ(ovni.refused, Texts{}) << name(first);
    EXPECT_EQ(ovni.state_at(0, 20), "urpdcw"[size_t(first)]) << name(first);
    EXPECT_EQ(ovni.cpu_at(0, 20), 0) << name(first);
  }
}

TEST(OvniExport, ThreadsThatLiveAtTheEndDieThere) {
  TempDir dir;
  const StrictReader ovni =
      exported(dir, make_catalog(4, 4, 500),
               {{10, 0, Running, 0}, {10, 1, Paused, 0}, {10, 2, Cooling, 0}, {10, 3, Warming, 0}});
  EXPECT_EQ(ovni.refused, Texts{});
  for (uint32_t thread = 0; thread < 4; ++thread) {
    EXPECT_EQ(ovni.state_at(thread, 499), "rpcw"[thread]);
    EXPECT_EQ(ovni.state_at(thread, 500), 'd');
  }
}

TEST(OvniExport, UnknownIsDeadAndFlushing) {
  TempDir dir;
  Exporter::Counts counts;
  const StrictReader ovni = exported(dir, make_catalog(1, 2, 100),
                                     {{20, 0, Running, 0},
                                      {30, 0, Unknown, kNone},
                                      {40, 0, Unknown, 1},
                                      {50, 0, Paused, 1},
                                      {60, 0, Dead, kNone}},
                                     &counts);
  EXPECT_EQ(ovni.refused, Texts{});
  EXPECT_EQ(counts.gaps, 1u);
  EXPECT_EQ(ovni.state_at(0, 30), 'd');
  EXPECT_EQ(ovni.state_at(0, 50), 'p');
  const std::string events = text_of(dir / "out/loom.node/proc.100/thread.100/stream.obs");
  EXPECT_NE(events.find("OF[" + bytes_of(uint64_t(30))), events.npos);
  EXPECT_NE(events.find("OF]" + bytes_of(uint64_t(50))), events.npos);
}

TEST(OvniExport, SecondRunningThreadOfACpuGoesToTheVirtualOne) {
  TempDir dir;
  Exporter::Counts counts;
  const StrictReader ovni =
      exported(dir, make_catalog(2, 1, 100), {{20, 0, Running, 0}, {30, 1, Running, 0}}, &counts);
  EXPECT_EQ(ovni.refused, Texts{});
  EXPECT_EQ(counts.conflicts, 1u);
  EXPECT_EQ(ovni.cpu_at(1, 30), -1);
}

TEST(OvniExport, IdleTaskIsLeftOutAndATidUsedTwiceIsTwoThreads) {
  TempDir dir;
  Catalog catalog = make_catalog(4, 2, 100);
  catalog.threads[0].tid = catalog.threads[0].pid = 0;
  catalog.threads[2].tid = catalog.threads[1].tid;
  catalog.threads[2].birth = 30;
  Exporter::Counts counts;
  const StrictReader ovni = exported(dir, catalog,
                                     {{10, 0, Running, 0},
                                      {20, 1, Running, 0},
                                      {30, 1, Dead, kNone},
                                      {40, 2, Running, 1},
                                      {50, 0, Paused, 0}},
                                     &counts);
  EXPECT_EQ(ovni.refused, Texts{});
  EXPECT_EQ(counts.unnamed, 1u);
  EXPECT_EQ(counts.renamed, 1u);
  ASSERT_EQ(ovni.catalog.threads.size(), 2u); // the one without events is left out
  EXPECT_EQ(ovni.catalog.threads[0].tid, 101u);
  EXPECT_EQ(ovni.catalog.threads[1].tid, 101u + (1u << 22));
  EXPECT_EQ(ovni.catalog.threads[1].birth, 30u);
  EXPECT_EQ(ovni.catalog.threads[1].name, "t2");
}

TEST(OvniExport, HostsBecomeLooms) {
  TempDir dir;
  Catalog catalog = make_catalog(2, 2, 100);
  catalog.hosts = {{"a/b"}, {"a/b"}};
  catalog.cpus[1] = {7, 1};
  catalog.threads[1].host = 1;
  catalog.threads[1].name = "\xff\"\n";
  const StrictReader ovni = exported(dir, catalog, {{10, 0, Running, 0}, {10, 1, Running, 1}});
  EXPECT_EQ(ovni.refused, Texts{});
  ASSERT_EQ(ovni.catalog.hosts.size(), 2u);
  EXPECT_EQ(ovni.catalog.hosts[0].name, "a_b");
  EXPECT_EQ(ovni.cpu_at(1, 50), 7);
}

// Any schedule at all: random states on random CPUs at times of which many are equal.
TEST(OvniExport, RandomSchedulesAreLegalAndKeepTheirStates) {
  constexpr uint32_t kThreads = 12, kCpus = 4;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const Catalog catalog = make_catalog(kThreads, kCpus, 100000);
    std::vector<Change> changes;
    std::vector<uint32_t> running(kCpus, kNone);
    std::vector<uint32_t> on(kThreads, kNone);
    uint64_t time = 10;
    for (int i = 0; i < 400; ++i) {
      time += random() % 3 ? random() % 2 * 7 : 0;
      const uint32_t thread = random() % kThreads;
      ThreadState state = ThreadState(random() % kThreadStates);
      uint32_t cpu = state == Dead || state == Unknown ? kNone : random() % kCpus;
      if (on[thread] != kNone)
        running[on[thread]] = kNone;
      on[thread] = kNone;
      if (state == Running && running[cpu] != kNone)
        state = Warming;
      if (state == Running)
        running[on[thread] = cpu] = thread;
      changes.push_back({time, thread, state, cpu});
    }
    TempDir dir;
    Exporter::Counts counts;
    const StrictReader ovni = exported(dir, catalog, changes, &counts);
    ASSERT_EQ(ovni.refused, Texts{}) << seed;
    EXPECT_EQ(counts.conflicts, 0u) << seed;

    std::map<uint32_t, uint32_t> row; // of a tid
    for (uint32_t i = 0; i < ovni.catalog.threads.size(); ++i)
      row[ovni.catalog.threads[i].tid] = i;
    std::map<std::pair<uint32_t, uint64_t>, Change> last; // of each thread at each instant
    for (const Change &change : changes)
      last.insert_or_assign({change.thread, change.time}, change);
    for (const auto &[key, change] : last) {
      const auto found = row.find(catalog.threads[change.thread].tid);
      if (found == row.end())
        continue; // never known
      // A thread that takes a CPU does so up to 1 ns late.
      const uint64_t settled = change.time + (change.state == Running);
      const char expected = "drpdcw"[size_t(change.state)];
      const char seen = ovni.state_at(found->second, settled);
      if (change.state == Unknown) {
        EXPECT_TRUE(seen == 'd' || seen == 'u') << seed;
      } else {
        EXPECT_EQ(seen, expected) << seed << " at " << change.time;
      }
      if (change.cpu != kNone) {
        EXPECT_EQ(ovni.cpu_at(found->second, settled), int32_t(change.cpu)) << seed;
      }
    }
  }
}

TEST(OvniExport, ThousandsOfThreadsNeedFewDescriptors) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 24;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  {
    TempDir dir;
    constexpr uint32_t kThreads = 500;
    std::vector<Change> changes;
    for (uint32_t round = 0; round < 4; ++round)
      for (uint32_t i = 0; i < kThreads; ++i)
        changes.push_back({100 + round, i, round % 2 ? Paused : Warming, i % 4});
    const StrictReader ovni = exported(dir, make_catalog(kThreads, 4, 1000), changes);
    EXPECT_EQ(ovni.refused, Texts{});
    EXPECT_EQ(ovni.catalog.threads.size(), kThreads);
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(OvniExport, BuffersAreWrittenWhenTheyAreFull) {
  TempDir dir;
  std::vector<Change> changes;
  for (uint64_t i = 0; i < 20000; ++i)
    changes.push_back({100 + i, uint32_t(i % 2), i / 2 % 2 ? Paused : Running, uint32_t(i % 2)});
  const StrictReader ovni = exported(dir, make_catalog(2, 2, 50000), changes);
  EXPECT_EQ(ovni.refused, Texts{});
  EXPECT_GT(std::filesystem::file_size(dir / "out/loom.node/proc.100/thread.100/stream.obs"),
            StreamStore::kStreamMost);
}

TEST(OvniExport, NeverOverwritesAndLeavesNothingBehind) {
  TempDir dir;
  write_file(dir / "out/precious", "x");
  EXPECT_THROW(StreamStore(dir / "out"), Error);
  EXPECT_THROW(StreamStore(dir / "none/out"), Error);
  {
    StreamStore store(dir / "new");
    store.add({"n", 1, 1, 1, "", 0, 0, {0}});
  }
  EXPECT_EQ(text_of(dir / "out/precious"), "x");
  const auto entries = std::filesystem::directory_iterator(dir.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

} // namespace
} // namespace ovnitrace::test
