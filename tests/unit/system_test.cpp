// SPDX-License-Identifier: BSD-2-Clause
// Who has a tid, what CPUs are called, and what becomes of faults: emulator/core beside channels.
#include "emulator/core/replay.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ovnitrace {
namespace {

using test::CollectingSink;

constexpr uint32_t kTid = 7;

/// One thread of the tid for each birth, on host 0.
Catalog born(const std::vector<uint64_t> &births) {
  Catalog catalog;
  catalog.hosts = {{"a"}, {"b"}};
  for (uint64_t birth : births)
    catalog.threads.push_back({.tid = kTid, .birth = birth, .name = {}});
  return catalog;
}

// In whatever order the catalog has them, and whichever of them have ended.
TEST(System, FindsTheLatestThreadOfATidThatIsNotDead) {
  std::vector<uint64_t> births = {100, 200, 300};
  do {
    const Catalog catalog = born(births);
    for (unsigned dead = 0; dead < 8; dead++) {
      System system(catalog, {});
      uint32_t expected = kNone;
      for (bool alive : {false, true})
        for (uint64_t birth : {100, 200, 300}) {
          const uint32_t thread =
              uint32_t(std::find(births.begin(), births.end(), birth) - births.begin());
          if (alive == !(dead >> thread & 1))
            expected = thread;
        }
      for (uint32_t thread = 0; thread < 3; thread++)
        if (dead >> thread & 1)
          system.change(thread, ThreadState::Dead, kNone);
      EXPECT_EQ(system.find_thread(0, kTid, 300), expected)
          << births[0] << " first, dead: " << dead;
      EXPECT_EQ(system.find_thread(1, kTid, 300), kNone);
      EXPECT_EQ(system.find_thread(0, kTid + 1, 300), kNone);
    }
  } while (std::next_permutation(births.begin(), births.end()));
}

TEST(System, FindsNoThreadBeforeItsBirth) {
  const Catalog catalog = born({300, 100, 200});
  const System system(catalog, {});
  EXPECT_EQ(system.find_thread(0, kTid, 99), kNone);
  EXPECT_EQ(system.find_thread(0, kTid, 100), 1u);
  EXPECT_EQ(system.find_thread(0, kTid, 199), 1u);
  EXPECT_EQ(system.find_thread(0, kTid, 299), 2u);
  EXPECT_EQ(system.find_thread(0, kTid, 300), 0u);
}

TEST(System, DoesNotFindAThreadWhoseTidIsFree) {
  Catalog catalog = born({100, 200});
  System system(catalog, {});
  system.free_tid(1);
  EXPECT_EQ(system.find_thread(0, kTid, 300), 0u);
  system.free_tid(0);
  EXPECT_EQ(system.find_thread(0, kTid, 300), kNone);
  catalog.threads.push_back({.tid = kTid, .birth = 50, .name = {}});
  system.add_thread();
  EXPECT_EQ(system.find_thread(0, kTid, 300), 2u);
  EXPECT_EQ(system.threads().size(), 3u);
}

TEST(System, KeepsTheNumbersOfTwoHostsApart) {
  Catalog catalog;
  catalog.hosts = {{"a"}, {"b"}};
  catalog.cpus = {{0, 0}, {1, 0}, {0, 1}};
  for (uint32_t host : {0, 1})
    catalog.threads.push_back({.tid = kTid, .host = host, .name = {}});
  SystemOptions options;
  options.virtual_cpus = true;
  const System system(catalog, options);
  EXPECT_EQ(system.find_thread(0, kTid, 300), 0u);
  EXPECT_EQ(system.find_thread(1, kTid, 300), 1u);
  EXPECT_EQ(system.find_cpu(0, 0), 0u);
  EXPECT_EQ(system.find_cpu(0, 1), 1u);
  EXPECT_EQ(system.find_cpu(1, 0), 2u);
  EXPECT_EQ(system.find_cpu(1, 1), kNone);
  EXPECT_EQ(system.virtual_cpu(0), 3u);
  EXPECT_EQ(system.virtual_cpu(1), 4u);
  EXPECT_EQ(system.virtual_cpu(2), kNone);
  EXPECT_EQ(cpu_name(system, 1), "a CPU 1");
  EXPECT_EQ(cpu_name(system, 2), "b CPU 0");
  EXPECT_EQ(cpu_name(system, 4), "b virtual CPU");
  EXPECT_EQ(cpu_name(system, kNone), "no CPU");
}

TEST(System, OmitsTheNameOfAnOnlyHost) {
  Catalog catalog;
  catalog.hosts = {{"a"}};
  catalog.cpus = {{3, 0}};
  const System system(catalog, {});
  EXPECT_EQ(cpu_name(system, 0), "CPU 3");
  EXPECT_EQ(system.virtual_cpu(0), kNone);
}

TEST(System, NamesAThreadWithoutANameByItsTid) {
  Catalog catalog;
  catalog.threads = {{.tid = 7, .name = "app"}, {.tid = 8, .name = {}}};
  EXPECT_EQ(thread_name(catalog, 0), "app (7)");
  EXPECT_EQ(thread_name(catalog, 1), "thread 8");
  EXPECT_EQ(thread_name(catalog, 2), "no thread");
}

TEST(FaultLog, SaysWhereAndCountsBeyondItsLimit) {
  Catalog catalog;
  catalog.files = {"one", "two"};
  catalog.begin = 100;
  CollectingSink sink;
  FaultLog faults(catalog, sink, 2);
  Event event;
  event.time = 130;
  event.file = 1;
  event.offset = 48;
  faults.add(event, [] { return "impossible"; });
  event.time = 99; // before the trace begins
  faults.add(event, [] { return "earlier"; });
  event.time = 100;
  event.file = kNoFile;
  faults.add(event, [] { return "at once"; });
  faults.add(event, []() -> std::string {
    ADD_FAILURE() << "its text is not wanted";
    return {};
  });
  EXPECT_EQ(faults.count(), 3u);
  ASSERT_EQ(sink.reported.size(), 2u);
  EXPECT_EQ(sink.reported[0].file, "two");
  EXPECT_EQ(sink.reported[0].offset, 48u);
  EXPECT_EQ(sink.reported[0].time, 30u);
  EXPECT_EQ(sink.reported[0].what, "impossible");
  EXPECT_EQ(sink.reported[1].file, "");
  EXPECT_EQ(sink.reported[1].time, 0u);
}

TEST(Replay, CountsUntakenKindsUpToALimitAndTheRestTogether) {
  const Catalog catalog;
  CollectingSink sink;
  Replay replay(catalog, {}, {}, sink, FaultLog::kUnlimited);
  const auto handle = [&](uint32_t kind) {
    Event event;
    event.kind = kind;
    replay.handle(event);
  };
  constexpr uint32_t kKinds = uint32_t(Replay::kMaxUntakenKinds);
  for (uint32_t n = 0; n < kKinds + 3; n++)
    handle(0x1000 + n);
  handle(0x1000); // has its own place still
  EXPECT_EQ(replay.untaken().size(), kKinds + 1);
  EXPECT_EQ(replay.untaken().at(0x1000), 2u);
  EXPECT_EQ(replay.untaken().at(0x1000 + kKinds - 1), 1u);
  EXPECT_EQ(replay.untaken().at(kNone), 3u);
}

/// A few threads are named; the rest are counted.
TEST(FaultLog, SwitchesThatWereNotSeenAreInOneLine) {
  Catalog catalog;
  for (uint32_t t = 0; t < 6; t++)
    catalog.threads.push_back({.tid = 10 + t, .name = "app"});
  const auto said = [&](uint32_t threads, uint32_t times) {
    CollectingSink sink;
    FaultLog faults(catalog, sink, 2);
    for (uint32_t n = 0; n < threads * times; n++)
      faults.add_unseen_switch(Event(), n % threads, [] { return "unseen"; });
    EXPECT_EQ(faults.count(), 0u);
    EXPECT_TRUE(sink.reported.empty());
    faults.report_unseen();
    if (sink.reported.empty())
      return std::string();
    EXPECT_TRUE(sink.reported[0].harmless);
    return sink.reported[0].what;
  };
  EXPECT_EQ(said(0, 1), "");
  EXPECT_EQ(said(1, 1),
            "1 switch by which 1 thread left a CPU was not seen, as some kernels hide some: app "
            "(10). Part of the time of this thread is Unknown; `ovnitrace convert --lint TRACE` "
            "lists the switches");
  EXPECT_EQ(said(4, 2),
            "8 switches by which 4 threads left a CPU were not seen, as some kernels hide some: "
            "app (10), app (11), app (12), app (13). Part of the time of these threads is "
            "Unknown; `ovnitrace convert --lint TRACE` lists the switches");
  EXPECT_EQ(said(5, 1),
            "5 switches by which 5 threads left a CPU were not seen, as some kernels hide some: "
            "app (10), app (11), app (12), app (13), …. Part of the time of these threads is "
            "Unknown; `ovnitrace convert --lint TRACE` lists the switches");
}

} // namespace
} // namespace ovnitrace
