// SPDX-License-Identifier: BSD-2-Clause
// At which frequencies CPUs ran, and the longest sections of a number: sums of events made by hand.
#include "emulator/slices/long_sections.h"
#include "emulator/summary/frequency_times.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace_codes.h>

#include <optional>
#include <vector>

namespace ovnitrace {
namespace {

/// CPUs 0 and 1 are those of the first host, 2 is CPU 1 of the second one.
class FrequencyTimesOf : public ::testing::Test {
protected:
  FrequencyTimesOf() {
    catalog.hosts.resize(2);
    catalog.cpus = {{.index = 0, .host = 0}, {.index = 1, .host = 0}, {.index = 1, .host = 1}};
    summary.cpus.resize(3);
    summary.to = 1000;
    system.emplace(catalog, SystemOptions());
    times.emplace(summary, 3);
  }
  void event(uint32_t kind, uint32_t cpu, uint64_t time, uint16_t par1 = 0, uint32_t par2 = 0) {
    Event event;
    event.kind = kind;
    event.cpu = cpu;
    event.time = time;
    event.par1 = par1;
    event.par2 = par2;
    times->event(event, *system);
  }
  /// CPU `logs` says that the CPU with this number on its host has a frequency.
  void frequency(uint32_t logs, uint64_t time, uint16_t number, uint32_t khz) {
    event(FTrace_EXT_frequency, logs, time, number, khz);
  }
  const CpuFrequency &of(uint32_t cpu) const { return summary.cpus[cpu].frequency; }

  Catalog catalog;
  Summary summary;
  std::optional<System> system;
  std::optional<FrequencyTimes> times;
};

TEST_F(FrequencyTimesOf, AFrequencyIsThatOfTheCpuWithTheNumberOnTheHost) {
  frequency(0, 100, 1, 2000);
  frequency(1, 400, 1, 500);
  frequency(2, 600, 1, 3000);
  frequency(2, 700, 0, 9000); // the second host has no CPU 0
  times->finish();
  EXPECT_EQ(of(0).changes, 0u);
  EXPECT_EQ(of(1).changes, 2u);
  EXPECT_EQ(of(1).known, 900u);
  EXPECT_EQ(of(1).khz_ns, 2000.0 * 300 + 500.0 * 600);
  EXPECT_EQ(of(1).least, 500u);
  EXPECT_EQ(of(1).most, 2000u);
  EXPECT_EQ(of(2).changes, 1u);
  EXPECT_EQ(of(2).known, 400u);
  EXPECT_EQ(of(2).least, 3000u);
  EXPECT_EQ(of(2).most, 3000u);
}

TEST_F(FrequencyTimesOf, ALossIsOfAllCpusOfTheHost) {
  for (const uint32_t kind : {FTrace_EVT_blackout_start, FTrace_EVT_blackout_end}) {
    summary.cpus.assign(3, {});
    times.emplace(summary, 3);
    frequency(0, 100, 0, 1000);
    frequency(1, 100, 1, 1000);
    frequency(2, 100, 1, 1000);
    event(kind, 1, 300);
    frequency(0, 700, 0, 1000);
    times->finish();
    EXPECT_EQ(of(0).known, 200u + 300) << kind;
    EXPECT_EQ(of(1).known, 200u) << kind;
    EXPECT_EQ(of(2).known, 900u) << "another host";
  }
}

/// Thread 1 is not kept.
class LongSectionsOf : public ::testing::Test {
protected:
  void event(uint32_t kind, uint32_t thread, uint64_t time, uint32_t number = 7) {
    Event event;
    event.kind = kind;
    event.thread = thread;
    event.time = time;
    event.par2 = number;
    event.by_manual = by_manual;
    sections.on_event(event, system);
  }
  void section(uint32_t thread, uint64_t from, uint64_t to, uint32_t number = 7) {
    event(FTrace_EVT_user_event_13, thread, from, number);
    event(FTrace_EVT_user_event_14, thread, to, number);
  }
  /// "thread: from to" of each.
  std::vector<std::vector<uint64_t>> found() const {
    std::vector<std::vector<uint64_t>> all;
    for (const LongSection &one : sections.found())
      all.push_back({one.thread, one.from, one.to});
    return all;
  }
  using Found = std::vector<std::vector<uint64_t>>;

  Catalog catalog;
  const System system{catalog, {}};
  LongSections sections{7, 3, {1, 0, 1}};
  bool by_manual = false;
};

TEST_F(LongSectionsOf, TheLongestComeFirstAndEqualOnesAsTheyEnded) {
  section(0, 100, 110);
  section(2, 200, 230);
  section(0, 300, 310);
  EXPECT_EQ(found(), (Found{{2, 200, 230}, {0, 100, 110}, {0, 300, 310}}));
  section(0, 400, 410);
  EXPECT_EQ(found(), (Found{{2, 200, 230}, {0, 100, 110}, {0, 300, 310}})) << "at most three";
  section(0, 500, 520);
  EXPECT_EQ(found(), (Found{{2, 200, 230}, {0, 500, 520}, {0, 100, 110}}));
}

TEST_F(LongSectionsOf, OthersDoNotCount) {
  section(1, 100, 200);
  section(0, 100, 200, 8);
  by_manual = true;
  section(0, 100, 200);
  by_manual = false;
  event(FTrace_EVT_user_event_14, 0, 300);
  event(FTrace_EVT_user_event_12, 0, 300);
  event(FTrace_EVT_user_event_14, 0, 310);
  EXPECT_EQ(found(), Found());
}

TEST_F(LongSectionsOf, ASectionIsThatOfItsThread) {
  event(FTrace_EVT_user_event_13, 0, 100);
  event(FTrace_EVT_user_event_13, 2, 200);
  event(FTrace_EVT_user_event_13, 0, 300);
  event(FTrace_EVT_user_event_14, 0, 305);
  event(FTrace_EVT_user_event_14, 2, 400);
  event(FTrace_EVT_user_event_14, 0, 500);
  EXPECT_EQ(found(), (Found{{0, 100, 500}, {2, 200, 400}, {0, 300, 305}}));
}

TEST_F(LongSectionsOf, AThreadThatEndsOrIsNotSeenForgetsItsSections) {
  for (const ThreadState then : {ThreadState::Unknown, ThreadState::Dead, ThreadState::Paused}) {
    event(FTrace_EVT_user_event_13, 0, 100);
    Slice slice;
    slice.thread = 0;
    slice.then = then;
    sections.on_slice(slice);
    event(FTrace_EVT_user_event_14, 0, 200);
    EXPECT_EQ(found().size(), then == ThreadState::Paused ? 1u : 0u) << int(then);
  }
}

} // namespace
} // namespace ovnitrace
