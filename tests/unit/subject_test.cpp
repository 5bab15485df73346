// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: what the answer calls the threads that it is about.
#include "emulator/why/subject.h"

#include <gtest/gtest.h>

#include <string>

namespace ovnitrace {
namespace {

class SubjectTest : public ::testing::Test {
protected:
  SubjectTest() { catalog.hosts = {{"node"}}; }

  void thread(uint32_t tid, uint32_t pid, const std::string &name, uint64_t running) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = tid;
    thread.pid = pid;
    thread.name = name;
    why.threads.push_back({.running = running});
    why.shown.push_back(1);
  }
  std::string text() const {
    const Subject subject = subject_of({}, catalog, why);
    return subject.name + subject.count;
  }

  Catalog catalog;
  Explanation why;
};

TEST_F(SubjectTest, OneThreadHasItsName) {
  EXPECT_EQ(text(), "");
  thread(11, 11, "app", 5);
  EXPECT_EQ(text(), "app (11)");
}

TEST_F(SubjectTest, ThreadsOfOneProcessAreCounted) {
  thread(11, 11, "app", 5);
  thread(12, 11, "worker", 500);
  EXPECT_EQ(text(), "app (11, 2 threads)");
}

TEST_F(SubjectTest, ProcessesAreNamedByTheirTimeUpToThreeOrFour) {
  thread(11, 11, "a", 1);
  thread(12, 12, "b", 2);
  thread(13, 13, "", 3);
  thread(14, 14, "d", 4);
  EXPECT_EQ(text(), "d, a process without a name, b, a (4 threads of 4 processes)");
  thread(15, 15, "e", 5);
  thread(16, 15, "f", 1);
  EXPECT_EQ(text(), "e, d, a process without a name and 2 others (6 threads of 5 processes)");
  EXPECT_EQ(subject_of({}, catalog, why).programs, 5u);
  why.shown[4] = why.shown[5] = 0;
  EXPECT_EQ(text(), "d, a process without a name, b, a (4 threads of 4 processes)");
}

TEST_F(SubjectTest, AllThreadsOfAllHostsAreTheMachine) {
  catalog.hosts[0].all_threads = true;
  thread(11, 11, "a", 1);
  thread(12, 12, "b", 2);
  EXPECT_TRUE(subject_of({}, catalog, why).is_machine);
  EXPECT_EQ(subject_of({}, catalog, why).programs, 1u);
  why.shown.push_back(0);
  catalog.threads.emplace_back();
  why.threads.emplace_back();
  EXPECT_FALSE(subject_of({}, catalog, why).is_machine);
  why.shown.back() = 1;
  catalog.hosts.push_back({"other"});
  EXPECT_FALSE(subject_of({}, catalog, why).is_machine);
}

} // namespace
} // namespace ovnitrace
