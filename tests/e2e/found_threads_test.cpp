// SPDX-License-Identifier: BSD-2-Clause
// Threads that are alive before a capture, in an order that is not the usual one.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <unistd.h>

#include <filesystem>
#include <set>

namespace ovnitrace::test {

class FoundThreads : public CaptureTest {
protected:
  TraceRecord record_process(pid_t pid, std::vector<std::string> options) {
    std::filesystem::remove_all(trace());
    options.insert(options.end(), {"-q", "-d", "0.1", "-p", std::to_string(pid)});
    const Outcome outcome = run(record_command(trace(), {}, options));
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    return read_trace_json(trace());
  }
  static std::set<uint32_t> tids(const TraceRecord &record) {
    std::set<uint32_t> tids;
    for (const ThreadRecord &thread : record.threads)
      tids.insert(thread.tid);
    return tids;
  }
};

// The kernel lists threads by tid, so it lists a child before its parent here.
TEST_F(FoundThreads, DescendantsWithSmallerTidsAreFound) {
  Process program({.argv = {installed("low_tids")}});
  ASSERT_TRUE(eventually([&] { return program.out().ends_with("\n") || !program.running(); },
                         "it has its children"));
  if (!program.running())
    GTEST_SKIP() << "a process may not choose the tids of its children here";
  const auto parent = uint32_t(number_after(program.out(), "parent ")),
             child = uint32_t(number_after(program.out(), " child ")),
             grandchild = uint32_t(number_after(program.out(), "grandchild "));
  if (parent != uint32_t(program.pid()) || grandchild > parent)
    GTEST_SKIP() << "in a PID namespace, or no small tid is free";
  const std::vector<std::string> no_filter, filter = {"--no-comm", "nobody"};
  for (const std::vector<std::string> &options : {no_filter, filter}) {
    const TraceRecord all = record_process(program.pid(), options);
    EXPECT_EQ(tids(all), (std::set{parent, child, grandchild}));
    for (const auto &[tid, of] : {std::pair(child, parent), std::pair(grandchild, child)})
      if (const ThreadRecord *thread = all.thread(tid)) {
        EXPECT_EQ(thread->parent, of);
      }
    std::vector<std::string> alone = options;
    alone.push_back("--no-children");
    EXPECT_EQ(tids(record_process(program.pid(), alone)), std::set{parent});
  }
}

TEST_F(FoundThreads, OnlyMainThreadsHaveAParent) {
  Process program({.argv = {installed("sched_mix"), "600"}});
  const std::string tasks = "/proc/" + std::to_string(program.pid()) + "/task";
  ASSERT_TRUE(eventually([&] { return names_in(tasks).size() == 15; }, "the threads of sched_mix"));
  size_t others = 0;
  for (const ThreadRecord &thread : record_process(program.pid(), {"--no-children"}).threads) {
    EXPECT_EQ(thread.parent, thread.tid == thread.pid ? uint32_t(getpid()) : 0) << thread.tid;
    others += thread.tid != thread.pid;
  }
  EXPECT_EQ(others, 14u);
}

// The process starts `sleep` again and again, and then becomes a program with threads.
TEST_F(FoundThreads, NewThreadsOfAProcessAreRecordedWithoutItsChildren) {
  const std::vector<std::string> no_filter = {}, filter = {"--no-comm", "nobody"};
  for (std::vector<std::string> options : {no_filter, filter}) {
    std::filesystem::remove_all(trace());
    std::filesystem::remove(path("go"));
    Process program({.argv = {"sh", "-c",
                              "until [ -e " + path("go") + " ]; do sleep 0.01; done; exec " +
                                  installed("many_threads") + " 5"}});
    const auto pid = uint32_t(program.pid());
    options.insert(options.end(), {"--no-children", "-p", std::to_string(pid)});
    Process tracer(record_command(trace(), {}, options));
    ASSERT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
    ASSERT_TRUE(blocked(program.pid(), blocks_of(program.pid()) + 4));
    write_text(path("go"), "");
    EXPECT_EQ(tracer.wait().status(), 0);
    const TraceRecord all = read_trace_json(trace());
    EXPECT_EQ(all.threads.size(), 6u);
    for (const ThreadRecord &thread : all.threads) {
      EXPECT_EQ(thread.pid, pid) << thread.tid;
      EXPECT_EQ(thread.name, "many_threads");
    }
  }
}

// What a thread does to itself and its children is in the file of the CPU where it runs.
TEST_F(FoundThreads, LifeEventsAreOnTheCpuWhereTheyHappen) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    GTEST_SKIP() << "needs two CPUs";
  for (const std::string cpu : {"0", "1"}) {
    std::filesystem::remove_all(trace());
    record({"taskset", "-c", cpu, "sh", "-c",
            "/bin/true; sh -c 'exit 7'; sh -c 'kill -9 $$'; exit 0"});
    uint32_t program = 0;      // the first thread: it was created elsewhere
    std::set<uint32_t> pinned; // the others
    std::vector<std::string> statuses;
    for (const DumpEvent &event : dump(trace())) {
      if (event.event == "task_create" && program)
        pinned.insert(event.tid);
      else if (event.event == "task_create")
        program = event.tid;
      for (const char *life : {"task_create", "EXT_exec", "EXT_exit", "task_end"})
        if (event.event == life && pinned.contains(event.tid)) {
          EXPECT_EQ(std::to_string(event.cpu), cpu) << life << " of " << event.comm;
        }
      if (event.event == "EXT_exit")
        statuses.push_back(event.detail("status") + event.detail("signal"));
    }
    EXPECT_EQ(pinned.size(), 3u);
    EXPECT_EQ(statuses, (std::vector<std::string>{"0", "7", "KILL", "0"}));
  }
}

} // namespace ovnitrace::test
