// SPDX-License-Identifier: BSD-2-Clause
// A process that is running already, and the whole machine.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <csignal>
#include <filesystem>
#include <set>

namespace fs = std::filesystem;

namespace ovnitrace::test {

namespace {

std::set<uint32_t> tasks_of(const std::string &pid) {
  std::set<uint32_t> tids;
  std::error_code gone;
  for (const auto &entry : fs::directory_iterator("/proc/" + pid + "/task", gone))
    tids.insert(uint32_t(std::stoul(entry.path().filename())));
  return tids;
}

std::string comm_of(uint32_t pid, uint32_t tid) {
  const std::string text =
      read_text("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/comm");
  return text.substr(0, text.find('\n'));
}

/// Threads of the machine that live before and after a call.
std::map<uint32_t, uint32_t> threads_of_machine() {
  std::map<uint32_t, uint32_t> process_of;
  std::error_code gone;
  for (const auto &entry : fs::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (isdigit(name[0]))
      for (uint32_t tid : tasks_of(name))
        process_of[tid] = uint32_t(std::stoul(name));
  }
  return process_of;
}

} // namespace

class Attach : public CaptureTest {
protected:
  Command attach_command(pid_t pid) {
    return record_command(trace(), {}, {"-p", std::to_string(pid)});
  }
  /// Waits until ovnitrace has taken its snapshot.
  void wait_for_capture() {
    ASSERT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
  }
  void expect_convertible() {
    const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace()}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    expect_sound(read_prv(trace(), "thread"), read_prv(trace(), "cpu"));
  }
};

TEST_F(Attach, FindsEachThreadInItsRealState) {
  Process program({.argv = {installed("sched_mix"), "600"}});
  ASSERT_TRUE(eventually([&] { return tasks_of(std::to_string(program.pid())).size() == 15; },
                         "the threads of sched_mix"));
  std::map<uint32_t, std::string> names;
  ASSERT_TRUE(eventually(
      [&] {
        names.clear();
        for (uint32_t tid : tasks_of(std::to_string(program.pid())))
          names[tid] = comm_of(uint32_t(program.pid()), tid);
        return std::count_if(names.begin(), names.end(),
                             [](const auto &thread) { return thread.second == "sched_mix"; }) == 1;
      },
      "each thread has its name"));
  Process tracer(attach_command(program.pid()));
  wait_for_capture();
  usleep(300'000);
  tracer.signal(SIGINT);
  const Outcome outcome = tracer.wait();
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_TRUE(program.running()) << "the program is not touched";

  auto threads = by_thread(dump(trace()));
  for (const auto &[tid, name] : names) {
    SCOPED_TRACE(name + " " + std::to_string(tid));
    ASSERT_TRUE(threads.contains(tid));
    const std::vector<DumpEvent> &events = threads[tid];
    EXPECT_EQ(events.front().comm, name);
    const auto snapshot = std::find_if(events.begin(), events.end(), [](const DumpEvent &event) {
      return event.event == "EXT_snapshot";
    });
    ASSERT_NE(snapshot, events.end());
    // What comes next must be possible from the state that was seen. Before the snapshot,
    // transitions were logged already.
    const auto next = std::find_if(snapshot + 1, events.end(), [](const DumpEvent &event) {
      return event.leaves_cpu() || event.takes_cpu();
    });
    const std::string state = snapshot->detail("state");
    if (next != events.end() && next->time > 0) {
      EXPECT_EQ(state == "running", next->leaves_cpu())
          << "was " << state << ", and then " << next->event;
    }
  }
  expect_convertible();
}

TEST_F(Attach, FollowsChildrenThatComeLater) {
  Process program({.argv = {"sh", "-c",
                            "until [ -e " + path("go") + " ]; do sleep 0.02; done; " +
                                installed("many_threads") + " 5; true"}});
  Process tracer(attach_command(program.pid()));
  wait_for_capture();
  write_text(path("go"), "");
  EXPECT_EQ(tracer.wait().status(), 0) << "ends when the process does";
  EXPECT_EQ(program.wait().status(), 0);
  const TraceRecord told = read_trace_json(trace());
  EXPECT_EQ(std::count_if(told.threads.begin(), told.threads.end(),
                          [](const ThreadRecord &thread) { return thread.name == "many_threads"; }),
            6);
  EXPECT_EQ(told.how, "the process ended");
  expect_convertible();
}

TEST_F(Attach, EndsAfterItsDuration) {
  Process program({.argv = {"sleep", "1000"}});
  Command command = attach_command(program.pid());
  command.argv.insert(command.argv.end(), {"-d", "0.3"});
  EXPECT_EQ(run(command).status(), 0);
  const TraceRecord told = read_trace_json(trace());
  EXPECT_GE(told.end - told.begin, 300'000'000u);
  EXPECT_TRUE(program.running());
  expect_convertible();
}

// SIGCONT interrupts a wait, also where it is not handled; the time goes on.
TEST_F(Attach, EndsAfterItsDurationHoweverOftenItIsStopped) {
  Process program({.argv = {"sleep", "1000"}});
  Command command = attach_command(program.pid());
  command.argv.insert(command.argv.end(), {"-d", "1"});
  Process tracer(command);
  wait_for_capture();
  bool stopped = false;
  EXPECT_TRUE(eventually(
      [&] {
        stopped = !stopped;
        tracer.signal(stopped ? SIGSTOP : SIGCONT);
        return !tracer.running();
      },
      "the end of the duration"));
  EXPECT_EQ(tracer.wait().status(), 0);
}

TEST_F(Attach, ToTheMachineFindsEveryThread) {
  Process spinner({.argv = {installed("sched_mix"), "600"}});
  ASSERT_TRUE(eventually([&] { return tasks_of(std::to_string(spinner.pid())).size() == 15; },
                         "the threads of sched_mix"));
  const auto before = threads_of_machine();
  const Outcome outcome = run(record_command(trace(), {}, {"-a", "-d", "0.5"}));
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const auto after = threads_of_machine();

  const TraceRecord told = read_trace_json(trace());
  size_t missing = 0;
  for (const auto &[tid, pid] : before)
    if (const auto still = after.find(tid); still != after.end() && still->second == pid)
      if (!told.thread(tid) && pid != 1) {
        missing++;
        ADD_FAILURE() << comm_of(pid, tid) << " (" << tid << ") is missing";
      }
  EXPECT_EQ(missing, 0u);
  EXPECT_FALSE(told.thread(0)) << "the idle task is no thread";
  auto threads = by_thread(dump(trace()));
  for (uint32_t tid : tasks_of(std::to_string(spinner.pid())))
    EXPECT_GE(threads[tid].size(), 2u);
  expect_convertible();
}

// `-a` with a program: the machine for as long as the program runs.
TEST_F(Attach, ToTheMachineWhileAProgramRuns) {
  Process other({.argv = {"sleep", "1000"}});
  const Outcome outcome = record({installed("exit_status"), "5"}, {"-a"}, 5);
  EXPECT_EQ(outcome.err.find("warning"), std::string::npos) << outcome.err;
  const TraceRecord told = read_trace_json(trace());
  const ThreadRecord *seen = told.thread(uint32_t(other.pid()));
  ASSERT_TRUE(seen) << "a thread that was alive before";
  EXPECT_EQ(seen->name, "sleep");
  expect_convertible();
}

} // namespace ovnitrace::test
