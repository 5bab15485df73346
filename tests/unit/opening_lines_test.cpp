// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: the lines on the hit of a trigger and on the slowest waits, from explanations
// made by hand.
#include "emulator/why/opening_lines.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <optional>

namespace ovnitrace {
namespace {

class OpeningLines : public ::testing::Test {
protected:
  OpeningLines() {
    catalog.hosts = {{"node"}, {"other"}};
    const char *names[] = {"a", "b", "c", "d", "a"};
    for (uint32_t tid = 71; tid <= 75; tid++)
      catalog.hosts[0].peers.push_back({.tid = tid, .pid = tid, .name = names[tid - 71]});
    catalog.hosts[1].peers = {{.tid = 71, .pid = 71, .name = "z"}};
    catalog.cpus = {{.index = 0, .host = 0}};
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = thread.pid = 11;
    thread.name = "app";
    stacks.emplace(catalog, sink);
    why.tail = {.count = 3, .all = 300, .shortest = 5000};
  }
  ~OpeningLines() override {
    unsetenv("TZ");
    tzset();
  }
  WhyInput input() const { return {path, info, catalog, *stacks, why}; }
  static Culprit peer(uint32_t tid) { return {Culprit::Kind::untraced, tid}; }
  void held(Culprit holder, uint64_t ns, WaitKind kind = WaitKind::wakeup) {
    why.held.push_back({.thread = 0, .kind = kind, .holder = holder, .ns = ns});
  }
  void slowest(Culprit holder, uint64_t ns, uint32_t host = 0) {
    why.tail.holders.push_back({holder, host, ns});
  }

  const std::string path;
  TraceInfo info;
  Catalog catalog;
  test::CollectingSink sink;
  std::optional<Stacks> stacks;
  Explanation why;
};

constexpr const char *kSlowest =
    "The slowest 1.0 % of the waits (3 waits, 5.000 us or longer) were behind ";

TEST_F(OpeningLines, ThreeHoldersOfTheSlowestWaitsAreNamed) {
  held(peer(71), 1000);
  slowest(peer(74), 7);
  slowest(peer(73), 9);
  slowest(peer(72), 8);
  EXPECT_EQ(tail_line(input()), std::string(kSlowest) + "c for 9 ns, b for 8 ns, d for 7 ns.");
  slowest(peer(71), 1);
  EXPECT_EQ(tail_line(input()),
            std::string(kSlowest) + "c for 9 ns, b for 8 ns, d for 7 ns and others.");
}

TEST_F(OpeningLines, HoldersOfOneNameAreOne) {
  held(peer(72), 1000);
  slowest(peer(72), 5);
  slowest(peer(71), 3);
  slowest(peer(75), 4);
  slowest(peer(99), 2);
  slowest(peer(71), 1, 1);
  EXPECT_EQ(tail_line(input()), std::string(kSlowest) +
                                    "a for 7 ns, b for 5 ns, threads without a name for 2 ns and "
                                    "others.");
}

TEST_F(OpeningLines, TheSlowestWaitsAreOnlyNamedIfTheyAreBehindAnother) {
  held(peer(71), 50);
  held(peer(72), 60);
  held(peer(75), 11);
  held(peer(72), 1000, WaitKind::spin);
  held(peer(72), 1000, WaitKind::throttling);
  held(Culprit(), 1000);
  held(Culprit::Kind::others, 1000);
  slowest(Culprit(), 90);
  slowest(Culprit::Kind::others, 90);
  EXPECT_EQ(tail_line(input()), "") << "nobody is known";
  slowest(peer(71), 5);
  EXPECT_EQ(tail_line(input()), "") << "all waits were mostly behind them";
  slowest(peer(72), 6);
  EXPECT_EQ(tail_line(input()), std::string(kSlowest) + "b for 6 ns, a for 5 ns.");
}

TEST_F(OpeningLines, AHitHasItsTimeByTheLocalClock) {
  setenv("TZ", "XYZ-1", 1); // an hour ahead of UTC
  tzset();
  EXPECT_EQ(hit_line(input()), "") << "there was no hit";
  LongWait wait = {.thread = 0, .start = 1000, .end = 3000};
  wait.starts = wait.ends = true;
  why.hit = {wait};
  why.hit_is_block = true;
  why.hit_time = 2'000'000;
  const std::string line =
      "he trigger hit: app (11) was blocked 2.000 us from 0.000001 s: who woke it is not known.";
  EXPECT_EQ(hit_line(input()), "T" + line);
  info.to_wall_ns = 1'743'336'000'509'999'999; // 2025-03-30 12:00:00.51 UTC
  EXPECT_EQ(hit_line(input()), "At 13:00:00.511, t" + line);
  info.to_wall_ns = 1'743'336'000'001'000'000;
  EXPECT_EQ(hit_line(input()), "At 13:00:00.003, t" + line);
}

} // namespace
} // namespace ovnitrace
