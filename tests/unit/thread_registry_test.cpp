// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/thread_registry.h"

#include <gtest/gtest.h>

#include <utility>

namespace ovnitrace::test {

namespace {

life_record life(uint64_t time, uint32_t kind, const char *comm, uint32_t pid, uint32_t arg = 0) {
  life_record record = {};
  record.time = time;
  record.kind = kind;
  record.tid = 7;
  record.pid = pid;
  record.arg = arg;
  std::strncpy(record.comm, comm, CAPTURE_COMM_LEN - 1);
  return record;
}

} // namespace

TEST(ThreadRegistry, KnowsNothingAtFirst) {
  ThreadRegistry registry;
  EXPECT_EQ(registry.find(7, 100), nullptr);
}

TEST(ThreadRegistry, FollowsALife) {
  ThreadRegistry registry;
  registry.learn(life(10, LIFE_NEW, "parent", 5, 3));
  registry.learn(life(20, LIFE_EXEC, "program", 7, 7));
  registry.learn(life(30, LIFE_RENAME, "worker", 7));
  const TracedThread *thread = registry.find(7, 100);
  ASSERT_NE(thread, nullptr);
  EXPECT_EQ(thread->name->raw(), "worker");
  EXPECT_EQ(thread->pid, 7u);
  EXPECT_EQ(thread->parent, 3u);
  EXPECT_EQ(thread->birth, 10u);
  EXPECT_FALSE(thread->account);

  life_record death = life(40, LIFE_DEAD, "worker", 7);
  death.account.voluntary = 12;
  registry.learn(death);
  ASSERT_TRUE(thread->account);
  EXPECT_EQ(thread->account->voluntary, 12u);
}

TEST(ThreadRegistry, CountsEachThreadOfATid) {
  ThreadRegistry registry;
  registry.learn(life(10, LIFE_NEW, "old", 7, 3));
  registry.learn(life(20, LIFE_DEAD, "old", 7));
  EXPECT_EQ(registry.count(), 1u);
  registry.learn(life(30, LIFE_NEW, "new", 9, 4));
  EXPECT_EQ(registry.count(), 2u);
}

TEST(ThreadRegistry, KeepsPeersApartFromTheThreadsThatAreTraced) {
  ThreadRegistry registry;
  EXPECT_FALSE(registry.learn(life(10, LIFE_NAME, "peer", 5)));
  EXPECT_EQ(registry.find(7, 100), nullptr);
  EXPECT_EQ(registry.count(), 0u);
  registry.learn(life(20, LIFE_NAME, "peer", 5));
  registry.learn(life(30, LIFE_NAME, "renamed", 5));
  registry.learn(life(40, LIFE_NAME, "renamed", 6));
  ASSERT_EQ(registry.peers().size(), 3u) << "the same name again is nothing new";
  EXPECT_STREQ(registry.peers()[0].comm.data(), "peer");
  EXPECT_EQ(registry.peers()[0].since, 10u);
  EXPECT_EQ(registry.peers()[1].since, 30u);
  EXPECT_EQ(registry.peers()[2].pid, 6u);
}

TEST(ThreadRegistry, NamesATracedThreadThatTheSnapshotDidNotShow) {
  ThreadRegistry registry;
  registry.learn(life(10, LIFE_NAME, "hidden", 5, 1));
  const TracedThread *thread = registry.find(7, 10);
  ASSERT_NE(thread, nullptr);
  EXPECT_EQ(thread->name->raw(), "hidden");
  EXPECT_EQ(thread->pid, 5u);
  EXPECT_EQ(thread->birth, 0u);
  EXPECT_TRUE(registry.peers().empty());
}

TEST(ThreadRegistry, KeepsEachNameOfAPeer) {
  ThreadRegistry registry;
  life_record peer = life(10, LIFE_NAME, "sh", 7);
  peer.born = 5;
  registry.learn(peer);
  peer = life(20, LIFE_NAME, "program", 7);
  peer.born = 5;
  registry.learn(peer);
  peer = life(30, LIFE_NAME, "later", 7);
  peer.born = 25; // its tid was used again
  registry.learn(peer);
  peer.time = 40;
  registry.learn(peer);
  peer = life(50, LIFE_NAME, "last", 8); // again, and this time its birth is not known
  registry.learn(peer);
  ASSERT_EQ(registry.peers().size(), 4u);
  EXPECT_STREQ(registry.peers()[0].comm.data(), "sh");
  EXPECT_EQ(registry.peers()[0].since, 10u);
  EXPECT_STREQ(registry.peers()[1].comm.data(), "program");
  EXPECT_EQ(registry.peers()[1].since, 20u);
  EXPECT_STREQ(registry.peers()[2].comm.data(), "later");
  EXPECT_EQ(registry.peers()[2].since, 25u) << "from its birth on, the tid belongs to it";
  EXPECT_EQ(registry.peers()[3].since, 50u);
}

TEST(ThreadRegistry, APeerWithMoreNamesThanItKeepsHasNoNameFromThenOn) {
  ThreadRegistry registry;
  life_record peer = life(10, LIFE_NAME, "", 7);
  for (size_t n = 0; n < ThreadRegistry::kMostPeersOfTid + 2; n++) {
    EXPECT_EQ(registry.peers_left_out(), n > ThreadRegistry::kMostPeersOfTid);
    snprintf(peer.comm, sizeof peer.comm, "name %zu", n);
    registry.learn(peer);
  }
  ASSERT_EQ(registry.peers().size(), ThreadRegistry::kMostPeersOfTid + 1);
  EXPECT_STREQ(registry.peers().back().comm.data(), "");
  EXPECT_STREQ(registry.peers()[ThreadRegistry::kMostPeersOfTid - 1].comm.data(), "name 999");
  EXPECT_EQ(registry.peers_left_out(), 2u);
  peer.tid++;
  registry.learn(peer);
  EXPECT_STREQ(registry.peers().back().comm.data(), "name 1001") << "of another one";
}

TEST(ThreadRegistry, KeepsTheNamesOfATracedThreadUntilItsEventsAreWritten) {
  ThreadRegistry registry;
  registry.learn(life(10, LIFE_NEW, "sh", 7, 3));
  EXPECT_EQ(registry.find(7, 10)->at(5).name->raw(), "sh");
  registry.learn(life(20, LIFE_EXEC, "app", 7, 7));
  registry.learn(life(30, LIFE_RENAME, "app", 7));
  registry.learn(life(40, LIFE_RENAME, "worker", 7));
  registry.learn(life(50, LIFE_DEAD, "worker", 7));
  registry.learn(life(60, LIFE_NEW, "later", 9, 3));
  const auto name = [&](uint64_t time) {
    return std::string(registry.find(7, time)->at(time).name->raw());
  };
  EXPECT_EQ(name(10), "sh");
  EXPECT_EQ(name(19), "sh");
  EXPECT_EQ(name(20), "app");
  EXPECT_EQ(name(39), "app");
  EXPECT_EQ(name(40), "worker");
  EXPECT_EQ(name(59), "worker");
  EXPECT_EQ(name(60), "later");
  EXPECT_EQ(registry.find(7, 15)->at(15).birth, 10u);
}

TEST(ThreadRegistry, ANameBeforeTooManyOthersIsNotKnown) {
  ThreadRegistry registry;
  registry.learn(life(0, LIFE_NEW, "0", 7, 3));
  for (uint64_t n = 1; n <= TracedThread::kMostNames; n++)
    registry.learn(life(n, LIFE_RENAME, std::to_string(n).c_str(), 7));
  EXPECT_EQ(registry.find(7, 0)->at(0).name->raw(), "0");
  registry.learn(life(99, LIFE_RENAME, "last", 7));
  EXPECT_FALSE(registry.find(7, 0)->at(0).name);
  EXPECT_FALSE(registry.find(7, 1)->at(1).name);
  EXPECT_EQ(registry.find(7, 2)->at(2).name->raw(), "2");
  EXPECT_EQ(registry.find(7, 99)->at(99).name->raw(), "last");
  EXPECT_EQ(registry.find(7, 99)->former_names.size(), TracedThread::kMostNames);
}

TEST(ThreadRegistry, NoticesANameThatNoRenamingGave) {
  ThreadRegistry registry;
  EXPECT_FALSE(registry.renames(life(10, LIFE_NEW, "sh", 7, 3))) << "its identity has the name";
  registry.learn(life(10, LIFE_NEW, "sh", 7, 3));
  EXPECT_FALSE(registry.renames(life(20, LIFE_EXIT, "sh", 7)));
  EXPECT_TRUE(registry.renames(life(20, LIFE_EXEC, "true", 7, 7)));
  registry.learn(life(20, LIFE_EXEC, "true", 7, 7));
  EXPECT_FALSE(registry.renames(life(30, LIFE_EXIT, "true", 7)));
}

TEST(ThreadRegistry, NoticesARenamingThatAnExecHasSaid) {
  ThreadRegistry registry;
  EXPECT_TRUE(registry.renames(life(10, LIFE_RENAME, "sh", 7))) << "no chunk has the thread";
  registry.learn(life(10, LIFE_NEW, "sh", 7, 3));
  registry.learn(life(20, LIFE_EXEC, "true", 7, 7));
  EXPECT_FALSE(registry.renames(life(30, LIFE_RENAME, "true", 7)));
  EXPECT_TRUE(registry.renames(life(30, LIFE_RENAME, "worker", 7)));
}

TEST(ThreadRegistry, NoticesANameThatAThreadGotOutsideRegions) {
  ThreadRegistry registry;
  registry.learn(life(10, LIFE_SNAPSHOT, "sh", 7));
  life_record outside = life(20, LIFE_EXEC, "true", 7, 7);
  outside.outside = 1;
  EXPECT_FALSE(registry.renames(outside)) << "no chunk has it";
  registry.learn(outside);
  EXPECT_TRUE(registry.renames(life(30, LIFE_SNAPSHOT, "true", 7)));
  registry.learn(life(30, LIFE_SNAPSHOT, "true", 7));
  EXPECT_FALSE(registry.renames(life(40, LIFE_EXIT, "true", 7)));
}

TEST(ThreadRegistry, TakesNoNameFromTheDeathOfANamedThread) {
  ThreadRegistry registry;
  registry.learn(life(10, LIFE_EXEC, "program", 7, 8));
  const life_record death = life(20, LIFE_DEAD, "former main thread", 7);
  EXPECT_FALSE(registry.renames(death));
  registry.learn(death);
  EXPECT_EQ(registry.find(7, 30)->name->raw(), "program");
}

TEST(ThreadRegistry, CountsThePeersThatItLeavesOut) {
  ThreadRegistry registry;
  life_record peer = life(10, LIFE_NAME, "peer", 5);
  for (uint32_t n = 0; n < ThreadRegistry::kMostPeers + 2; n++) {
    peer.tid = 1 + n;
    registry.learn(peer);
  }
  EXPECT_EQ(registry.peers().size(), ThreadRegistry::kMostPeers);
  EXPECT_EQ(registry.peers_left_out(), 2u);
  EXPECT_EQ(registry.without_earlier().peers_left_out(), 2u);
  EXPECT_EQ(registry.only_peers().peers_left_out(), 2u);
}

TEST(ThreadRegistry, CopiesThePeersAlone) {
  ThreadRegistry registry;
  registry.learn(life(10, LIFE_NEW, "traced", 7));
  registry.learn(life(20, LIFE_NAME, "peer", 5));
  const ThreadRegistry copy = registry.only_peers();
  EXPECT_TRUE(copy.all().empty());
  ASSERT_EQ(copy.peers().size(), 1u);
  EXPECT_EQ(copy.peers()[0].pid, 5u);
}

TEST(ThreadRegistry, TakesAReusedTidForAnotherThread) {
  ThreadRegistry registry;
  EXPECT_FALSE(registry.learn(life(10, LIFE_NEW, "old", 7, 3)));
  EXPECT_FALSE(registry.learn(life(20, LIFE_DEAD, "old", 7)));
  EXPECT_TRUE(registry.learn(life(30, LIFE_NEW, "new", 9, 4)));
  EXPECT_EQ(registry.find(7, 29)->name->raw(), "old");
  EXPECT_EQ(registry.find(7, 30)->name->raw(), "new");
  EXPECT_EQ(registry.until(7, 29), 30u);
  EXPECT_EQ(registry.until(7, 30), UINT64_MAX);
  const TracedThread *thread = registry.find(7, 100);
  EXPECT_EQ(thread->birth, 30u);
  EXPECT_EQ(thread->pid, 9u);
  EXPECT_EQ(thread->parent, 4u);
  EXPECT_FALSE(thread->account) << "of the old thread";
}

TEST(ThreadRegistry, AThreadThatEntersARegionWithAnOldTidIsAnotherOne) {
  ThreadRegistry registry;
  EXPECT_FALSE(registry.learn(life(10, LIFE_SNAPSHOT, "old", 5)));
  EXPECT_FALSE(registry.learn(life(20, LIFE_SNAPSHOT, "old", 5))) << "it is seen again";
  EXPECT_TRUE(registry.learn(life(30, LIFE_ENTER, "new", 6)));
  EXPECT_EQ(registry.count(), 2u);
  EXPECT_EQ(registry.find(7, 29)->birth, 0u);
  EXPECT_EQ(registry.find(7, 30)->birth, 30u);
  EXPECT_EQ(registry.find(7, 30)->pid, 6u);
  const ThreadRegistry copy = registry.without_earlier();
  EXPECT_EQ(copy.all().at(7).name->raw(), "new");
  EXPECT_EQ(copy.find(7, 29)->name->raw(), "new") << "the earlier one is not copied";
}

TEST(ThreadRegistry, AParentIsKnownFromTheFirstRecordThatHasIt) {
  ThreadRegistry registry;
  registry.learn(life(10, LIFE_SNAPSHOT, "daemon", 7));
  life_record later = life(20, LIFE_SNAPSHOT, "daemon", 7);
  for (const uint32_t parent : {3, 1}) { // the second one adopted it
    later.parent = parent;
    registry.learn(later);
    EXPECT_EQ(registry.find(7, 100)->parent, 3u);
  }
  EXPECT_EQ(registry.find(7, 100)->birth, 0u);
}

TEST(ThreadRegistry, ACgroupIsKnownSinceAMoveOrABirth) {
  const auto in = [](life_record record, uint64_t cgroup) {
    record.cgroup = cgroup;
    return record;
  };
  const auto seen = [](const ThreadRegistry &registry) {
    const TracedThread *thread = registry.find(7, 100);
    return std::pair(thread->cgroup, thread->cgroup_since);
  };
  using Seen = std::pair<uint32_t, uint64_t>;
  ThreadRegistry found, born;
  found.learn(in(life(10, LIFE_SNAPSHOT, "a", 7), 4));
  EXPECT_EQ(seen(found), Seen(4, 0)) << "since before the capture";
  found.learn(in(life(20, LIFE_RENAME, "b", 7), 0));
  EXPECT_EQ(seen(found), Seen(4, 0)) << "a record that does not say it";
  found.learn(in(life(30, LIFE_CGROUP, "b", 7), 5));
  EXPECT_EQ(seen(found), Seen(5, 30));
  found.learn(in(life(40, LIFE_EXIT, "b", 7), 5));
  EXPECT_EQ(seen(found), Seen(5, 30));
  born.learn(in(life(10, LIFE_NEW, "a", 7, 3), 4));
  EXPECT_EQ(seen(born), Seen(4, 10));
}

TEST(ThreadRegistry, APeerKeepsItsBirthAndItsFirstCgroup) {
  ThreadRegistry registry;
  life_record peer = life(10, LIFE_NAME, "peer", 5);
  peer.cgroup = 4;
  registry.learn(peer);
  peer.time = 20, peer.born = 3, peer.cgroup = 6;
  registry.learn(peer);
  peer.time = 30, peer.born = 0;
  registry.learn(peer);
  const ThreadRegistry copy = registry.without_earlier();
  ASSERT_EQ(copy.peers().size(), 1u);
  EXPECT_EQ(copy.peers()[0].tid, 7u);
  EXPECT_EQ(copy.peers()[0].born, 3u);
  EXPECT_EQ(copy.peers()[0].since, 10u);
  EXPECT_EQ(copy.peers()[0].cgroup, 4u);
}

TEST(ThreadRegistry, ThreadsAliveBeforeTheCaptureHaveNoBirth) {
  ThreadRegistry registry;
  registry.learn(life(10, LIFE_SNAPSHOT, "daemon", 7));
  EXPECT_EQ(registry.find(7, 100)->birth, 0u);
  EXPECT_EQ(registry.find(7, 100)->parent, 0u);
}

} // namespace ovnitrace::test
