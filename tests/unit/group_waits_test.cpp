// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why --by cgroup`: to which part of the waiting time of a group a wait belongs.
#include "emulator/why/group_waits.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>

#include <optional>

namespace ovnitrace {
namespace {

constexpr uint32_t kA = 0, kB = 1, kC = 2, kKernel = 3; ///< cgroups

/// Two hosts with the same cgroups. The thread 77, which is not traced, is in /b on the first host
/// and in /c on the second one.
class GroupWaitsTest : public ::testing::Test {
protected:
  GroupWaitsTest() {
    catalog.hosts = {{"node"}, {"other"}};
    for (HostInfo &host : catalog.hosts)
      for (const char *path : {"/a", "/b", "/c", kKernelGroup.data()})
        host.cgroups.emplace_back().path = path;
    catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .name = "x", .cgroup = kB},
                              {.tid = 88, .pid = 88, .name = "y"}};
    catalog.hosts[1].peers = {{.tid = 77, .pid = 77, .name = "x", .cgroup = kC}};
    why.range = {100, 1000};
  }
  /// Returns its number.
  uint32_t thread(uint32_t cgroup, uint64_t waiting, uint32_t host = 0) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.host = host;
    if (cgroup != kNone)
      thread.cgroups = {{0, cgroup}};
    why.shown.push_back(1);
    why.threads.push_back({.waiting = waiting});
    return uint32_t(catalog.threads.size() - 1);
  }
  void wait(uint32_t thread, Culprit holder, uint64_t ns, WaitKind kind = WaitKind::wakeup) {
    why.waits.push_back({.thread = thread, .kind = kind, .holder = holder, .ns = ns});
  }
  static Culprit traced(uint32_t thread) { return {Culprit::Kind::thread, thread}; }
  static Culprit untraced(uint32_t tid) { return {Culprit::Kind::untraced, tid}; }
  std::string table(const WhyOptions &options = {}) {
    test::CollectingSink sink;
    const Stacks stacks(catalog, sink);
    const std::string path;
    return group_table({path, TraceInfo(), catalog, stacks, why}, options);
  }

  Catalog catalog;
  Explanation why;
};

using Behind = std::vector<std::pair<std::string, uint64_t>>;

TEST_F(GroupWaitsTest, AWaitBelongsToTheGroupOfTheThreadThatHadTheCpu) {
  const uint32_t a = thread(kA, 9), same = thread(kA, 0), b = thread(kB, 0), k = thread(kKernel, 0);
  wait(a, traced(same), 1);
  wait(a, traced(b), 10);
  wait(a, untraced(77), 100);
  wait(a, traced(k), 1'000);
  wait(a, untraced(88), 10'000);
  wait(a, untraced(99), 20'000);
  wait(a, Culprit::Kind::idle, 40'000);
  wait(a, Culprit(), 80'000);
  wait(a, traced(b), 1'000'000, WaitKind::throttling);
  wait(a, traced(b), 2'000'000, WaitKind::budget);
  const GroupWaits group = group_waits(catalog, why).at(0);
  EXPECT_EQ(group.group, "/a");
  EXPECT_EQ(group.threads, 2u);
  EXPECT_EQ(group.same_group, 1u);
  EXPECT_EQ(group.other_groups, 110u);
  EXPECT_EQ(group.system, 1'000u);
  EXPECT_EQ(group.rest, 150'000u) << "no cgroup of 88 is known, and nobody knows 99";
  EXPECT_EQ(group.throttled, 3'000'000u);
  EXPECT_EQ(group.behind, (Behind{{"/b", 110}}));
}

TEST_F(GroupWaitsTest, WhoIsBehindWhomIsNotKnownWithoutAGroup) {
  const uint32_t none = thread(kNone, 5), b = thread(kB, 0);
  wait(none, traced(b), 3);
  wait(none, traced(none), 4);
  const GroupWaits group = group_waits(catalog, why).at(0);
  EXPECT_EQ(group.group, "");
  EXPECT_EQ(group.rest, 7u);
  EXPECT_EQ(group.same_group + group.other_groups + group.system, 0u);
  EXPECT_TRUE(table().find("\nnot known ") != std::string::npos) << table();
}

TEST_F(GroupWaitsTest, AKernelThreadBehindAnotherWaitsForTheSystem) {
  const uint32_t one = thread(kKernel, 5), two = thread(kKernel, 0);
  wait(one, traced(two), 5);
  EXPECT_EQ(group_waits(catalog, why).at(0).system, 5u);
}

TEST_F(GroupWaitsTest, GroupsOfOneNameOnTwoHostsAreTwo) {
  const uint32_t first = thread(kA, 10), second = thread(kA, 20, 1);
  wait(first, untraced(77), 10);
  wait(second, untraced(77), 20);
  const std::vector<GroupWaits> groups = group_waits(catalog, why);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].time.waiting, 20u);
  EXPECT_EQ(groups[0].behind, (Behind{{"/c", 20}})) << "77 is another thread there";
  EXPECT_EQ(groups[1].time.waiting, 10u);
  EXPECT_EQ(groups[1].behind, (Behind{{"/b", 10}}));
}

TEST_F(GroupWaitsTest, AThreadBelongsToItsGroupAtTheEndOfTheRange) {
  const uint32_t moved = thread(kA, 10), stays = thread(kB, 5);
  catalog.threads[moved].cgroups = {{0, kA}, {1000, kB}, {1001, kC}};
  wait(stays, traced(moved), 5);
  wait(moved, traced(stays), 10);
  const std::vector<GroupWaits> groups = group_waits(catalog, why);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].group, "/b");
  EXPECT_EQ(groups[0].same_group, 15u);
}

TEST_F(GroupWaitsTest, ThreadsThatAreNotShownDoNotCount) {
  const uint32_t hidden = thread(kB, 50), shown = thread(kA, 1), also = thread(kB, 2);
  why.shown[hidden] = 0;
  wait(hidden, traced(shown), 50);
  wait(shown, traced(hidden), 1);
  wait(also, traced(shown), 2);
  const std::vector<GroupWaits> groups = group_waits(catalog, why);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].group, "/b");
  EXPECT_EQ(groups[0].threads, 1u);
  EXPECT_EQ(groups[0].other_groups, 2u);
  EXPECT_EQ(groups[1].other_groups, 1u) << "they still hold CPUs";
}

TEST_F(GroupWaitsTest, TheGroupsThatHeldTheCpuLongestComeFirst) {
  const uint32_t a = thread(kA, 9), b = thread(kB, 9), c = thread(kC, 9);
  wait(a, traced(b), 3);
  wait(a, traced(c), 2);
  wait(a, untraced(77), 1);
  wait(a, traced(c), 3);
  wait(b, traced(c), 4);
  wait(b, traced(a), 4);
  const std::vector<GroupWaits> groups = group_waits(catalog, why);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].group, "/a") << "equal ones stay in the order of their threads";
  EXPECT_EQ(groups[2].group, "/c");
  EXPECT_EQ(groups[0].behind, (Behind{{"/c", 5}, {"/b", 4}}));
  EXPECT_EQ(groups[1].behind, (Behind{{"/a", 4}, {"/c", 4}})) << "equal ones by name";
  EXPECT_TRUE(groups[2].behind.empty());
}

TEST_F(GroupWaitsTest, TheTableHasTenGroupsUnlessToldOtherwise) {
  for (HostInfo &host : catalog.hosts)
    host.cgroups.clear();
  for (uint32_t n = 0; n < 12; n++) {
    catalog.hosts[0].cgroups.emplace_back().path = "/" + std::string(1, char('a' + n));
    thread(n, 100 - n);
  }
  const auto has = [&](const WhyOptions &options, char group) {
    return table(options).find(std::string("\n/") + group + ' ') != std::string::npos;
  };
  EXPECT_TRUE(has({}, 'j'));
  EXPECT_FALSE(has({}, 'k'));
  EXPECT_TRUE(has({.top = 11}, 'k'));
  EXPECT_FALSE(has({.top = 11}, 'l'));
  EXPECT_TRUE(has({.top = 0}, 'l'));
}

TEST_F(GroupWaitsTest, TheTableIsDividedInTwoWhereItDoesNotFit) {
  wait(thread(kA, 9), untraced(77), 9);
  const auto is_one = [](const std::string &text) { return text.find("\n\n") == text.npos; };
  size_t columns = 60;
  while (columns < 200 && is_one(table({.columns = columns})) == is_one(table({.columns = 60})))
    columns++;
  const std::string whole = table({.columns = columns});
  EXPECT_FALSE(is_one(table({.columns = columns - 1})));
  EXPECT_TRUE(is_one(whole));
  const size_t last = whole.rfind('\n', whole.size() - 2);
  EXPECT_EQ(whole.size() - 1 - (last + 1), columns) << whole;
}

TEST_F(GroupWaitsTest, TheTableHasEachPartUnderItsHead) {
  const uint32_t a = thread(kA, 63), b = thread(kB, 40), k = thread(kKernel, 0);
  why.threads[a].running = 100;
  why.threads[a].blocked = 30;
  wait(a, traced(a), 1);
  wait(a, traced(b), 2);
  wait(a, traced(k), 4);
  wait(a, untraced(99), 8);
  wait(a, traced(b), 48, WaitKind::throttling);
  wait(b, traced(a), 40);
  EXPECT_EQ("\n" + table(), R"(
        LONGEST                                                  SAME   OTHER
CGROUP  BEHIND   THREADS  RUNNING  BLOCKED  WAITING  THROTTLED  GROUP  GROUPS  SYSTEM  REST
/a      /b             1   100 ns    30 ns    63 ns      48 ns   1 ns    2 ns    4 ns  8 ns
/b      /a             1        0        0    40 ns          0      0   40 ns       0     0
kernel  -              1        0        0        0          0      0       0       0     0
)");
  EXPECT_EQ("\n" + table({.columns = 60}), R"(
CGROUP  THREADS  RUNNING  BLOCKED  WAITING
/a            1   100 ns    30 ns    63 ns
/b            1        0        0    40 ns
kernel        1        0        0        0

        LONGEST              SAME   OTHER
CGROUP  BEHIND   THROTTLED  GROUP  GROUPS  SYSTEM  REST
/a      /b           48 ns   1 ns    2 ns    4 ns  8 ns
/b      /a               0      0   40 ns       0     0
kernel  -                0      0       0       0     0
)");
}

} // namespace
} // namespace ovnitrace
