// SPDX-License-Identifier: BSD-2-Clause
// Which processes and threads belong to the program of a trace.
#include "emulator/core/program_threads.h"

#include "emulator/input/trace_info.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using ThreadNumbers = std::vector<uint32_t>;

class ProgramThreads : public testing::Test {
protected:
  ProgramThreads() {
    info.program_pid = 10;
    info.command = {"app"};
    catalog.hosts.resize(2);
  }
  void thread(uint32_t tid, uint32_t pid, uint32_t parent, uint64_t birth, uint32_t host = 0) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = tid;
    thread.pid = pid;
    thread.parent = parent;
    thread.birth = birth;
    thread.host = host;
  }

  TraceInfo info;
  Catalog catalog;
};

TEST_F(ProgramThreads, AreThoseOfTheProcessAndOfWhatItCreates) {
  thread(30, 30, 21, 200);
  thread(20, 20, 10, 100);
  thread(21, 20, 20, 110);
  thread(10, 10, 5, 50);
  thread(40, 40, 99, 300);
  thread(41, 41, 0, 300);
  EXPECT_EQ(program_pids(info, catalog), (ThreadNumbers{10, 20, 30}));
  info.command.clear();
  EXPECT_EQ(program_pids(info, catalog), ThreadNumbers()) << "it was attached to";
  info.command = {"app"};
  info.program_pid = 0;
  EXPECT_EQ(program_pids(info, catalog), ThreadNumbers());
}

/// The tid 50 belongs to another program first, and to this one from 300 on.
TEST_F(ProgramThreads, ACreatorIsTheLastThreadOfItsTidThatThereWas) {
  thread(10, 10, 5, 0);
  thread(50, 10, 10, 300);
  thread(50, 50, 5, 20);
  thread(60, 60, 50, 299);
  thread(70, 70, 50, 300);
  thread(80, 80, 50, 19);
  EXPECT_EQ(program_pids(info, catalog), (ThreadNumbers{10, 70}));
}

TEST_F(ProgramThreads, TheFirstWithATidIsTheOldestOfItsHost) {
  thread(7, 7, 0, 200);
  thread(7, 7, 0, 100, 1);
  thread(7, 7, 0, 150);
  thread(7, 7, 0, 150);
  EXPECT_EQ(first_with_tid(catalog, 7), 1u);
  EXPECT_EQ(first_with_tid(catalog, 7, 0), 2u) << "the first of two";
  EXPECT_EQ(first_with_tid(catalog, 7, 1), 1u);
  EXPECT_EQ(first_with_tid(catalog, 8), kNone);
  EXPECT_EQ(started_threads(catalog), ThreadNumbers());
  catalog.hosts[1].program_pid = 7;
  EXPECT_EQ(started_threads(catalog), ThreadNumbers{1});
  catalog.hosts[0].program_pid = 8;
  EXPECT_EQ(started_threads(catalog), ThreadNumbers{1}) << "8 is not in the trace";
  catalog.hosts[0].program_pid = 7;
  EXPECT_EQ(started_threads(catalog), (ThreadNumbers{2, 1}));
}

TEST_F(ProgramThreads, ATraceOfAllThreadsIsCutToThoseOfTheProgram) {
  thread(10, 10, 5, 0);
  thread(20, 20, 10, 100);
  thread(40, 40, 99, 300);
  Cut cut;
  cut.from = 5;
  EXPECT_EQ(cut_to_program(cut, info, catalog).pids, ThreadNumbers()) << "all are of the program";
  info.all_threads = true;
  EXPECT_EQ(cut_to_program(cut, info, catalog).pids, (ThreadNumbers{10, 20}));
  EXPECT_EQ(cut_to_program(cut, info, catalog).from, 5u);
  cut.tids = {40};
  EXPECT_EQ(cut_to_program(cut, info, catalog).pids, ThreadNumbers()) << "a person has chosen";
}

} // namespace
} // namespace ovnitrace
