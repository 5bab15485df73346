// SPDX-License-Identifier: BSD-2-Clause
// Threads and processes: found from their first instant, named, and followed to their end.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <fmt/format.h>

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <set>

namespace ovnitrace::test {

class Threads : public CaptureTest {
protected:
  /// Checks what the trace must say of every thread that started and ended while it was traced.
  void expect_whole_life(uint32_t tid, const std::string &name) {
    SCOPED_TRACE(name + " " + std::to_string(tid));
    const std::vector<DumpEvent> &events = threads_[tid];
    const ThreadRecord *thread = told_.thread(tid);
    ASSERT_TRUE(thread) << "not in trace.json";
    ASSERT_GE(events.size(), 4u);
    EXPECT_EQ(thread->name, name);
    EXPECT_EQ(events.front().event, "task_create");
    EXPECT_EQ(events.back().event, "task_end");
    EXPECT_EQ(events.back().comm, name);
    ASSERT_TRUE(thread->account);
    uint64_t switches = 0, first_wakeups = 0;
    for (const DumpEvent &event : events) {
      switches += event.leaves_cpu();
      first_wakeups += event.detail("new") == "1";
    }
    EXPECT_EQ(first_wakeups, 1u);
    EXPECT_EQ(thread->account->voluntary + thread->account->involuntary, switches);
  }
  void expect_execution_by_a_thread(const std::vector<std::string> &options);
  void read() {
    told_ = read_trace_json(trace());
    threads_ = by_thread(dump(trace()));
  }
  TraceRecord told_;
  std::map<uint32_t, std::vector<DumpEvent>> threads_;
};

TEST_F(Threads, AllShortLivedThreadsAreRecorded) {
  const Outcome outcome = record({installed("many_threads"), "300", "16"});
  read();
  std::set<uint32_t> tids;
  for (const std::string &line : lines_of(outcome.out))
    if (line.starts_with("thread tid="))
      tids.insert(uint32_t(number_after(line, "tid=")));
  ASSERT_EQ(tids.size(), 300u);
  for (uint32_t tid : tids)
    expect_whole_life(tid, "many_threads");
  EXPECT_EQ(told_.threads.size(), 301u);
}

/// A name that follows the identity of a thread is part of it.
TEST_F(Threads, AnExecWritesTheNewNameOnce) {
  record({"sh", "-c", "exec sleep 0.05"}, {"--compress=0"});
  uint32_t slee = 0;
  std::memcpy(&slee, "slee", sizeof slee);
  size_t names = 0;
  for (const std::string &name : names_in(trace())) {
    std::ifstream file(trace() + "/" + name, std::ios::binary);
    uint16_t before = 0;
    for (ftrace_record one;
         name.ends_with(".ftr") && file.read(reinterpret_cast<char *>(&one), sizeof one);
         before = one.code)
      names += one.code == FTrace_EXT_name_0 && one.par2 == slee && before != FTrace_EVT_id &&
               before != FTrace_EXT_process && before != FTrace_EXT_parent &&
               before != FTrace_EXT_cgroup;
  }
  EXPECT_EQ(names, 1u);
}

// The recorder reads the event of an execve before it writes what the thread did until then.
TEST_F(Threads, HaveTheNameOfTheirCreatorUntilTheirExec) {
  record({"sh", "-c", "n=0; while [ $n -lt 20 ]; do sleep 0.001; n=$((n + 1)); done"},
         {"--compress=0"});
  std::map<std::string, size_t> created;
  for (const std::string &name : names_in(trace())) {
    std::ifstream file(trace() + "/" + name, std::ios::binary);
    char introduced[5] = {};
    for (ftrace_record one;
         name.ends_with(".ftr") && file.read(reinterpret_cast<char *>(&one), sizeof one);)
      if (one.code == FTrace_EXT_name_0)
        std::memcpy(introduced, &one.par2, 4);
      else if (one.code == FTrace_EVT_task_create)
        created[introduced]++;
  }
  EXPECT_EQ(created["sh"], 20u);
  EXPECT_EQ(created["slee"], 0u);
}

TEST_F(Threads, ChildrenAreFollowedAndNamedAfterTheirProgram) {
  const Outcome outcome = record({installed("forker"), "20"});
  read();
  size_t children = 0;
  for (const std::string &line : lines_of(outcome.out))
    if (line.starts_with("child pid=")) {
      expect_whole_life(uint32_t(number_after(line, "pid=")), "true");
      children++;
    }
  EXPECT_EQ(children, 20u);
}

// Mostly such a thread does not leave its CPU between its last execve and its end.
TEST_F(Threads, AreNamedAfterTheLastOfSeveralPrograms) {
  const std::string program = "env " + installed("exit_status") + " 0";
  record({"sh", "-c", "n=0; while [ $n -lt 40 ]; do " + program + "; n=$((n + 1)); done"});
  read();
  size_t named = 0;
  for (const ThreadRecord &thread : told_.threads) {
    expect_whole_life(thread.tid, thread.name);
    named += thread.name == "exit_status";
  }
  EXPECT_EQ(named, 40u);
}

TEST_F(Threads, GrandchildrenAreFollowed) {
  record({"sh", "-c", "(sh -c '(sleep 0.01; true); true'; true); true"});
  read();
  std::set<std::string> names;
  for (const ThreadRecord &thread : told_.threads)
    names.insert(thread.name);
  EXPECT_TRUE(names.contains("sleep"));
  for (const ThreadRecord &thread : told_.threads)
    expect_whole_life(thread.tid, thread.name);
}

// A thread that is not the main one executes a program: the kernel ends the others and gives it the
// tid of the main thread.
void Threads::expect_execution_by_a_thread(const std::vector<std::string> &options) {
  const Outcome outcome = record({installed("exec_thread")}, options);
  read();
  const uint32_t pid = uint32_t(number_after(outcome.out, "before pid="));
  const uint32_t before = uint32_t(number_after(outcome.out, " tid="));
  ASSERT_NE(pid, before);
  const std::vector<DumpEvent> &events = threads_[pid];
  std::string from;
  for (const DumpEvent &event : events)
    if (event.event == "EXT_exec")
      from = event.detail("from");
  EXPECT_EQ(from, std::to_string(before));
  EXPECT_EQ(events.back().event, "task_end");
  EXPECT_EQ(told_.thread(pid)->name, "exe") << "of /proc/self/exe";
  ASSERT_EQ(run({.argv = {ovnitrace(), "convert", trace()}}).status(), 0);
  const Prv thread = read_prv(trace(), "thread"), cpu = read_prv(trace(), "cpu");
  expect_sound(thread, cpu);
  std::vector<int64_t> last(thread.rows.size(), -1);
  for (const PrvEvent &event : thread.events)
    if (event.type == kThreadState)
      last[event.row] = event.value;
  for (size_t row = 0; row < last.size(); row++)
    EXPECT_EQ(last[row], kDead) << thread.rows[row];
}

TEST_F(Threads, ThatExecuteTakeTheMainThreadsPlace) {
  expect_execution_by_a_thread({});
}

TEST_F(Threads, ThatExecuteTakeTheMainThreadsPlaceInFiltersToo) {
  expect_execution_by_a_thread({"--no-comm", "nobody"});
}

// The new program has another name than all threads before.
TEST_F(Threads, ThatExecuteBeginToPassAFilter) {
  const Outcome outcome = record({installed("exec_thread")}, {"--comm", "exe"});
  read();
  const auto pid = uint32_t(number_after(outcome.out, "before pid="));
  ASSERT_EQ(told_.threads.size(), 1u);
  EXPECT_EQ(told_.threads[0].tid, pid);
  EXPECT_EQ(threads_[pid].back().event, "task_end");
}

TEST_F(Threads, AreNamedAsTheyNameThemselves) {
  record({installed("sched_mix"), "0.1"});
  read();
  std::multiset<std::string> names;
  for (const ThreadRecord &thread : told_.threads)
    names.insert(thread.name);
  for (const char *name : {"sched_mix", "futex-0", "futex-1", "pipe-0", "pipe-1", "migrator",
                           "moved", "forker", "spinner"})
    EXPECT_EQ(names.count(name), 1u) << name;
  EXPECT_EQ(names.count("sleeper"), 2u);
}

// A renaming is recorded when the thread leaves its CPU, however often it renames itself. Its last
// name is known.
TEST_F(Threads, ThatRenameThemselvesAllTheTimeFloodNothing) {
  record({installed("renames"), "300000"});
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(reported.life_lost, 0u);
  ASSERT_EQ(reported.threads.size(), 1u);
  EXPECT_EQ(reported.threads[0].name, "last");
  EXPECT_EQ(dump(trace()).back().event, "trace_stop");
  EXPECT_LT(reported.records, 100'000u) << "a name is two records";
}

TEST_F(Threads, ABlockHasTheNameThatTheThreadGaveItselfBefore) {
  record({installed("renames"), "3", "asleep"});
  const Outcome folded =
      run({.argv = {ovnitrace(), "export", "--to", "folded", trace(), "-o", "-"}});
  for (const long n : {1, 2, 3}) {
    const std::string stack = fmt::format("sleep{0};sleep{0};[clock_nanosleep] ", n);
    const size_t at = folded.out.find(stack);
    ASSERT_NE(at, std::string::npos) << folded.out;
    EXPECT_GE(std::stol(folded.out.substr(at + stack.size())), n * 10'000'000) << folded.out;
  }
}

TEST_F(Threads, ThatAreRenamedAllTheTimeFloodNothing) {
  record({installed("renames"), "100000", "other"});
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(reported.life_lost, 0u);
  ASSERT_EQ(reported.threads.size(), 2u);
  EXPECT_EQ(reported.threads[1].name, "last");
  // While a thread waits for a busy CPU, each switch of other threads there is a record.
  uint64_t holders = 0;
  for (const DumpEvent &event : dump(trace()))
    holders += event.event == "EXT_holder";
  EXPECT_LT(reported.records - holders, 10'000u) << "a sleeping thread is named when it appears";
}

// The capture ends with the program. Processes that it left behind go on untraced.
TEST_F(Threads, ADaemonContinuesAfterTheCapture) {
  const std::string script = "(sleep 0.2; until [ -e " + path("go") +
                             " ]; do sleep 0.02; done; echo >" + path("alive") +
                             ") >/dev/null 2>&1 & exit 4";
  record({"sh", "-c", script}, {}, 4);
  EXPECT_FALSE(exists(path("alive")));
  read();
  size_t ended = 0;
  for (const auto &[tid, events] : threads_)
    ended += events.back().event == "task_end";
  EXPECT_GE(threads_.size(), 2u);
  EXPECT_LT(ended, threads_.size()) << "the daemon is alive when the trace ends";
  write_text(path("go"), "");
  eventually([&] { return exists(path("alive")); }, "the daemon goes on");
}

// In a PID namespace, the program knows its threads by other numbers than the kernel. The trace has
// the kernel's.
TEST_F(Threads, APidNamespaceIsTracedFromWithin) {
  Command command = record_command(trace(), {installed("many_threads"), "10"});
  command.argv.insert(command.argv.begin(), {"unshare", "--pid", "--fork"});
  const Outcome outcome = run(command);
  if (outcome.err.find("unshare") != std::string::npos && outcome.status() == 1)
    GTEST_SKIP() << "no PID namespaces here: " << outcome.err;
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  read();
  ASSERT_EQ(told_.threads.size(), 11u);
  for (const ThreadRecord &thread : told_.threads) {
    EXPECT_EQ(thread.pid, told_.program_pid);
    expect_whole_life(thread.tid, "many_threads");
  }
}

// There, ovnitrace would read the mappings of the wrong process, and could not continue what it has
// stopped.
TEST_F(Threads, APidNamespaceHasNoStacksAndNoProbes) {
  for (const std::vector<std::string> &options : std::vector<std::vector<std::string>>{
           {"--stacks"}, {"--control", "start:enter_func:main"}, {"--control", "start:icount:9"}}) {
    Command command = record_command(trace(), {"echo", "ran"}, options);
    command.argv.insert(command.argv.begin(), {"unshare", "--pid", "--fork"});
    const Outcome outcome = run(command);
    if (outcome.err.find("unshare") != std::string::npos && outcome.status() == 1)
      GTEST_SKIP() << "no PID namespaces here: " << outcome.err;
    EXPECT_EQ(outcome.status(), 1) << options.back();
    EXPECT_EQ(outcome.out, "") << options.back();
    EXPECT_NE(outcome.err.find("--pid=host"), std::string::npos) << outcome.err;
  }
}

TEST_F(Threads, ATimeNamespaceIsTracedOnlyFromOutside) {
  const std::vector<std::string> other_time = {"unshare", "--time", "--monotonic", "9999",
                                               "--fork"};
  Command command = record_command(trace(), {"echo", "ran"});
  command.argv.insert(command.argv.begin(), other_time.begin(), other_time.end());
  const Outcome within = run(command);
  if (within.err.find("unshare") != std::string::npos)
    GTEST_SKIP() << "no time namespaces here: " << within.err;
  EXPECT_EQ(within.status(), 1);
  EXPECT_EQ(within.out, "");
  EXPECT_NE(within.err.find("time namespace"), std::string::npos) << within.err;

  std::vector<std::string> program = other_time;
  program.push_back("true");
  record(program);
  read();
  EXPECT_GE(threads_.size(), 2u) << "unshare and true";
}

TEST_F(Threads, APidNamespaceIsTracedFromOutside) {
  record({"unshare", "--pid", "--fork", installed("many_threads"), "10"});
  read();
  size_t named = 0;
  for (const ThreadRecord &thread : told_.threads)
    named += thread.name == "many_threads";
  EXPECT_EQ(named, 11u);
}

} // namespace ovnitrace::test
