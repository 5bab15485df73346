// SPDX-License-Identifier: BSD-2-Clause
// Who had a CPU for which more threads waited, during more switches, than are followed one by one.
#include "emulator/why/cpu_holders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

constexpr uint32_t kCpu = 1, kRunners = 3, kFirst = 5, kShown = 1120, kHidden = kFirst + kShown;
constexpr uint64_t kFrom = 40;

struct Wait {
  uint32_t thread;
  uint64_t since, until = 0;

  WaitKind kind() const { return WaitKind(thread % kWaitKinds); }
  uint64_t common(uint64_t from, uint64_t to) const {
    from = from < since ? since : from;
    from = from < kFrom ? kFrom : from;
    to = until < to ? until : to;
    return from < to ? to - from : 0;
  }
};

struct Turn {
  uint32_t thread;
  uint64_t start, end;
};

class CrowdedCpu : public ::testing::Test, public CpuHolders::Taker {
protected:
  CrowdedCpu() {
    catalog.hosts = {{"first"}, {"second"}};
    catalog.hosts[0].all_threads = catalog.hosts[1].all_threads = true;
    catalog.cpus = {{.index = 0, .host = 0}, {.index = 0, .host = 1}};
    for (uint32_t n = 0; n <= kHidden; n++) {
      ThreadInfo &thread = catalog.threads.emplace_back();
      thread.tid = 100 + n;
      thread.host = n == 3 || n == 4 ? 0 : 1;
    }
    shown.assign(catalog.threads.size(), 1);
    shown[kHidden] = 0;
    holders.emplace(catalog, kFrom, shown, *this);
  }

  void held(uint32_t thread, uint32_t cpu, WaitKind kind, const HolderSums &sums) override {
    EXPECT_EQ(cpu, thread == 4 ? 0 : kCpu) << thread;
    EXPECT_EQ(kind, WaitKind(thread % kWaitKinds)) << thread;
    for (const HolderSum &sum : sums.all()) {
      EXPECT_GT(sum.ns, 0u) << thread;
      parts[{thread, sum.holder}] += sum.ns;
    }
  }

  void change(uint32_t thread, ThreadState from, ThreadState to, uint64_t time,
              uint32_t cpu = kCpu) {
    holders->change(thread, {from, to, cpu, cpu}, time, Culprit(), WaitKind(thread % kWaitKinds));
  }
  void begin_wait(uint32_t thread, uint64_t time) {
    change(thread, ThreadState::Paused, ThreadState::Warming, time);
    waits.push_back({thread, time});
  }
  /// Gives the CPU to another runner.
  void next_turn(uint64_t time) {
    turns.back().end = time;
    const uint32_t next = (turns.back().thread + 1) % kRunners;
    change(turns.back().thread, ThreadState::Running, ThreadState::Paused, time);
    change(next, ThreadState::Paused, ThreadState::Running, time);
    turns.push_back({next, time, 0});
  }
  uint32_t number_of(uint32_t thread) {
    for (uint32_t n = 0;; n++)
      if (holders->holder(n).is_thread(thread))
        return n;
  }

  Catalog catalog;
  std::vector<uint8_t> shown;
  std::optional<CpuHolders> holders;
  std::vector<Wait> waits;
  std::vector<Turn> turns;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> parts; ///< by thread and number of the holder
};

/// Threads begin to wait during all the turns. Only some waits are followed one by one.
TEST_F(CrowdedCpu, EveryWaitIsWholeAndTheTotalsAreExact) {
  constexpr size_t kFollowed = 1024;
  change(3, ThreadState::Paused, ThreadState::Running, 0, 0);
  change(4, ThreadState::Paused, ThreadState::Warming, 60, 0);
  change(0, ThreadState::Paused, ThreadState::Running, 0);
  turns.push_back({0, 0, 0});
  uint64_t time = 0, last_forgotten = 0;
  const auto begin_waits = [&](uint32_t upto) {
    while (waits.size() < std::min(upto, kShown))
      begin_wait(kFirst + uint32_t(waits.size()), time);
  };
  for (uint32_t turn = 1; turn <= 4500; turn++) {
    time += 1 + turn % 4;
    begin_waits(turn < 2000 ? std::min(turn * 2 / 3, 1100u) : 1100 + (turn - 2000) / 60);
    if (turn == 1)
      change(kHidden, ThreadState::Paused, ThreadState::Warming, time);
    time += turn % 2;
    // The turn that is dropped first ends while a thread that has just come waits.
    if (turn == 2048 || turn == 3072 || turn == 4096) {
      begin_waits(uint32_t(waits.size()) + 1);
      last_forgotten = time;
    }
    next_turn(time);
  }
  turns.back().end = time + 7;
  time += 3; // in the last turn
  change(4, ThreadState::Warming, ThreadState::Paused, time, 0);
  for (Wait &wait : waits) {
    wait.until = time;
    change(wait.thread, ThreadState::Warming, ThreadState::Paused, time);
  }
  ASSERT_EQ(waits.size(), kShown);

  std::array<std::array<uint64_t, kWaitKinds>, kRunners> expected = {};
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> exact;
  exact[{4, number_of(3)}] = time - 60;
  for (size_t n = 0; n < waits.size(); n++) {
    const Wait &wait = waits[n];
    const uint64_t followed = n < kFollowed ? 0 : last_forgotten; // since then
    std::array<uint64_t, kRunners> own = {};
    for (const Turn &turn : turns) {
      expected[turn.thread][size_t(wait.kind())] += wait.common(turn.start, turn.end);
      own[turn.thread] += wait.common(turn.start < followed ? followed : turn.start, turn.end);
    }
    for (uint32_t runner = 0; runner < kRunners; runner++)
      if (own[runner])
        exact[{wait.thread, number_of(runner)}] = own[runner];
    if (const uint64_t rest = wait.common(0, followed))
      exact[{wait.thread, CpuHolders::kOthers}] = rest;
  }
  EXPECT_EQ(parts, exact);

  const std::vector<CpuHolders::Total> totals = holders->totals();
  for (uint32_t runner = 0; runner < kRunners; runner++) {
    const uint32_t number = number_of(runner);
    EXPECT_EQ(totals[number].ns, expected[runner]);
    EXPECT_GE(totals[number].waiter, kFirst);
    EXPECT_LT(totals[number].waiter, kHidden);
    EXPECT_EQ(holders->host_of(number), 1u);
  }
  EXPECT_EQ(totals[CpuHolders::kOthers].ns, (std::array<uint64_t, kWaitKinds>{}));
  EXPECT_EQ(totals[CpuHolders::kOthers].waiter, kNone);
}

} // namespace
} // namespace ovnitrace
