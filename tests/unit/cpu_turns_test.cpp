// SPDX-License-Identifier: BSD-2-Clause
// The turns of CPUs, and waits whose CPU is not known.
#include "emulator/why/cpu_holders.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Texts = std::vector<std::string>;
using enum ThreadState;

/// CPU 0 and threads 0 and 1 are of the first host, CPU 1 and threads 2 and 3 of the second.
class CpuTurns : public ::testing::Test, public CpuHolders::Taker, public CpuHolders::TurnTaker {
protected:
  static Catalog two_hosts() {
    Catalog catalog;
    catalog.hosts = {{"first"}, {"second"}};
    catalog.hosts[0].all_threads = true;
    catalog.hosts[1].peers = {{.tid = 77, .pid = 77, .name = "hog"}};
    catalog.cpus = {{.index = 0, .host = 0}, {.index = 0, .host = 1}};
    for (uint32_t n = 0; n < 4; n++) {
      ThreadInfo &thread = catalog.threads.emplace_back();
      thread.tid = 10 + n;
      thread.host = n / 2;
      thread.name = fmt::format("t{}", n);
    }
    return catalog;
  }

  void held(uint32_t thread, uint32_t cpu, WaitKind, const HolderSums &sums) override {
    for (const HolderSum &sum : sums.all())
      waits.push_back(
          fmt::format("{} on {}: {} {}", thread, cpu == kNone ? "none" : std::to_string(cpu),
                      name(holders.holder(sum.holder), catalog.threads[thread].host), sum.ns));
  }
  void turn(uint32_t cpu, Culprit holder, uint64_t start, uint64_t end) override {
    turns.push_back(
        fmt::format("{}: {} {}-{}", cpu, name(holder, catalog.cpus[cpu].host), start, end));
  }
  std::string name(Culprit culprit, uint32_t host) { return name_of(catalog, culprit, host); }
  void change(uint32_t thread, ThreadState from, ThreadState to, uint32_t old_cpu, uint32_t cpu,
              uint64_t time) {
    holders.change(thread, {from, to, old_cpu, cpu}, time, Culprit(), WaitKind::wakeup);
  }

  Catalog catalog = two_hosts();
  std::vector<uint8_t> shown = std::vector<uint8_t>(4, 1);
  Texts waits, turns;
  CpuHolders holders{catalog, 0, shown, *this};
};

TEST_F(CpuTurns, CoverTheTimeOfEachCpu) {
  holders.take_turns(*this);
  change(0, Paused, Running, 0, 0, 10);
  change(2, Paused, Running, 1, 1, 15);
  change(0, Running, Paused, 0, 0, 20);
  change(1, Paused, Running, 0, 0, 20);
  holders.rename(0, 1, 25);                 // to the name that it has
  holders.hold(0, Culprit::Kind::idle, 26); // ignored: a thread runs there
  change(2, Running, Paused, 1, 1, 30);
  holders.hold(1, Culprit(Culprit::Kind::untraced, 77), 35);
  holders.end_turns(40);
  EXPECT_EQ(turns, (Texts{"0: not known 0-10", "1: not known 0-15", "0: t0 10-20", "1: t2 15-30",
                          "1: no traced thread 30-35", "0: t1 20-40", "1: hog 35-40"}));
}

TEST_F(CpuTurns, HaveTheNamesThatUntracedHoldersHadThen) {
  catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .since_ns = 0, .name = "first"},
                            {.tid = 77, .pid = 78, .since_ns = 30, .name = "second"}};
  catalog.hosts[1].peers.push_back({.tid = 77, .pid = 77, .since_ns = 40, .name = "renamed"});
  holders.take_turns(*this);
  change(0, Paused, Running, 0, 0, 10);
  holders.change(0, {Running, Paused, 0, 0}, 20, Culprit(Culprit::Kind::untraced, 77),
                 WaitKind::wakeup);
  holders.hold(0, Culprit(Culprit::Kind::untraced, 77), 29);
  holders.hold(0, Culprit(Culprit::Kind::untraced, 77), 30);
  for (const uint64_t time : {35, 39, 40, 45})
    holders.hold(1, Culprit(Culprit::Kind::untraced, 77), time);
  holders.end_turns(50);
  EXPECT_EQ(turns, (Texts{"0: not known 0-10", "0: t0 10-20", "0: first 20-30", "1: not known 0-35",
                          "1: hog 35-40", "0: second 30-50", "1: renamed 40-50"}));
}

TEST_F(CpuTurns, AWaitOnNoKnownCpuIsBehindAnUnknownHolderOfItsHost) {
  change(0, Paused, Warming, kNone, kNone, 10);
  change(2, Paused, Warming, kNone, kNone, 20);
  change(0, Warming, Paused, kNone, kNone, 25);
  change(2, Warming, Paused, kNone, kNone, 30);
  EXPECT_EQ(waits, (Texts{"0 on none: not known 15", "2 on none: not known 10"}));
  const std::vector<CpuHolders::Total> totals = holders.totals();
  Texts sums;
  for (uint32_t n = 0; n < totals.size(); n++)
    if (const uint64_t ns = totals[n].ns[size_t(WaitKind::wakeup)])
      sums.push_back(fmt::format("host {}: {} of {}", holders.host_of(n), ns, totals[n].waiter));
  EXPECT_EQ(sums, (Texts{"host 0: 15 of 0", "host 1: 10 of 2"}));
}

TEST_F(CpuTurns, AWaitThatIsSettledGoesOn) {
  change(0, Paused, Running, 0, 0, 10);
  change(1, Paused, Warming, 0, 0, 20);
  holders.settle(0, 25); // does not wait
  EXPECT_EQ(waits, Texts{});
  holders.settle(1, 25);
  holders.settle(1, 25);
  EXPECT_EQ(waits, Texts{"1 on 0: t0 5"});
  change(1, Warming, Paused, 0, 0, 40);
  EXPECT_EQ(waits, (Texts{"1 on 0: t0 5", "1 on 0: t0 15"}));
}

TEST_F(CpuTurns, OnlyTimeInTheRangeAndAfterTheBirthOfAShownThreadCounts) {
  catalog.threads[3].birth = 32;
  shown[1] = 0;
  CpuHolders later(catalog, 30, shown, *this);
  const auto wait = [&](uint32_t thread, uint64_t from, uint64_t to) {
    later.change(thread, {Paused, Warming, 0, 0}, from, Culprit(), WaitKind::wakeup);
    later.change(thread, {Warming, Paused, 0, 0}, to, Culprit(), WaitKind::wakeup);
  };
  wait(0, 20, 31);
  wait(0, 20, 30);
  wait(1, 31, 40);
  wait(3, 20, 40);
  EXPECT_EQ(waits, (Texts{"0 on 0: not known 1", "3 on 0: not known 8"}));
}

} // namespace
} // namespace ovnitrace
