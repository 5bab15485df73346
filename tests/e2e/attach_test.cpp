// SPDX-License-Identifier: BSD-2-Clause
// Captures of a process that runs already, and of the whole machine.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <map>
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
  ASSERT_TRUE(blocked(program.pid(), blocks_of(program.pid()) + 20));
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
    // The next event must be possible from the state in the snapshot. Transitions were logged
    // before the snapshot, too.
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
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(std::count_if(reported.threads.begin(), reported.threads.end(),
                          [](const ThreadRecord &thread) { return thread.name == "many_threads"; }),
            6);
  EXPECT_EQ(reported.how, "the process ended");
  expect_convertible();
}

// A master that has its workers already.
TEST_F(Attach, TakesTheLivingDescendantsToo) {
  Process program({.argv = {"sh", "-c",
                            "sh -c 'while [ ! -e " + path("go") +
                                " ]; do sleep 0.01; done; true' & echo $!; wait"}});
  ASSERT_TRUE(eventually([&] { return program.out().ends_with("\n"); }, "the child runs"));
  const auto child = uint32_t(std::stoul(lines_of(program.out()).at(0)));
  Process alone(
      record_command(path("alone"), {}, {"-p", std::to_string(program.pid()), "--no-children"}));
  Process tracer(attach_command(program.pid()));
  wait_for_capture();
  ASSERT_TRUE(eventually([&] { return exists(path("alone") + "/trace.json"); }, "the other too"));
  ASSERT_TRUE(blocked(pid_t(child), blocks_of(pid_t(child)) + 4)) << "it starts another program";
  write_text(path("go"), "");
  EXPECT_EQ(tracer.wait().status(), 0);
  EXPECT_EQ(alone.wait().status(), 0);
  const TraceRecord with_children = read_trace_json(trace());
  EXPECT_TRUE(with_children.thread(uint32_t(program.pid())));
  ASSERT_TRUE(with_children.thread(child));
  EXPECT_EQ(with_children.thread(child)->parent, uint32_t(program.pid()));
  EXPECT_EQ(with_children.thread(uint32_t(program.pid()))->parent, uint32_t(getpid()))
      << "as ps says";
  EXPECT_GT(with_children.threads.size(), 2u) << "and those that it starts meanwhile";
  const TraceRecord without = read_trace_json(path("alone"));
  ASSERT_EQ(without.threads.size(), 1u);
  EXPECT_EQ(without.threads[0].tid, uint32_t(program.pid()));
  expect_convertible();
}

TEST_F(Attach, TakesListsOfProcessesAndEndsWhenAllHaveEnded) {
  Process first({.argv = {"sleep", "1000"}}), second({.argv = {"sleep", "1000"}}),
      third({.argv = {"sleep", "1000"}}), other({.argv = {"sleep", "1000"}});
  Process tracer(
      record_command(trace(), {},
                     {"-p", std::to_string(first.pid()) + "," + std::to_string(second.pid()), "-p",
                      std::to_string(third.pid()), "-d", "1000"}));
  wait_for_capture();
  const uint64_t before = blocks_of(tracer.pid());
  third.signal(SIGKILL);
  first.signal(SIGKILL);
  ASSERT_TRUE(blocked(tracer.pid(), before + 1)) << "it waits for one after the other";
  EXPECT_TRUE(tracer.running()) << "one is left";
  second.signal(SIGKILL);
  const Outcome outcome = tracer.wait();
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(reported.how, "the processes ended");
  EXPECT_NE(outcome.err.find("ovnitrace: the processes ended: tracing stopped\n"),
            std::string::npos)
      << outcome.err;
  for (const Process *process : {&first, &second, &third})
    EXPECT_TRUE(reported.thread(uint32_t(process->pid())));
  EXPECT_FALSE(reported.thread(uint32_t(other.pid())));
  const std::tuple<const char *, const char *, int> wrong[] = {
      {"0", "--pid: give a whole number", 2},
      {"1,", "--pid: give a whole number", 2},
      {"4194304", "--pid: give a whole number", 2},
      {"nobody-is-called-so", "--pid nobody-is-called-so: no process has this name or number", 1},
  };
  for (const auto &[text, why, status] : wrong) {
    const Outcome refused = run({.argv = {ovnitrace(), "-p", text}});
    EXPECT_EQ(refused.status(), status) << text;
    EXPECT_NE(refused.err.find(why), std::string::npos) << refused.err;
  }
}

// The snapshot of a thread that is being switched must not be older than its first recorded switch.
TEST_F(Attach, ToProcessesThatSwitchAllTheTimeIsSound) {
  Process program({.argv = {installed("pingpong"), "--threads", "100000000"}});
  for (int n = 0; n < 20; n++) {
    ASSERT_EQ(
        run(record_command(trace(), {}, {"-f", "-p", std::to_string(program.pid()), "-d", "20ms"}))
            .status(),
        0);
    const Outcome outcome = run({.argv = {ovnitrace(), "convert", "--lint", trace()}});
    ASSERT_EQ(outcome.status(), 0) << outcome.err;
  }
}

TEST_F(Attach, SaysAtOnceWhatItDoesAndHowToStop) {
  Process program({.argv = {"sleep", "1000"}});
  Process tracer(attach_command(program.pid()));
  const std::string expected = "tracing process " + std::to_string(program.pid()) +
                               " (sleep) with children until it ends or "
                               "Ctrl-C";
  EXPECT_TRUE(eventually([&] { return tracer.err().find(expected) != std::string::npos; },
                         "it says what it does: " + tracer.err()));
  EXPECT_NE(tracer.err().find(trace()), std::string::npos) << tracer.err();
  tracer.signal(SIGINT);
  EXPECT_EQ(tracer.wait().status(), 0);
}

// A thread that wakes a traced one, or is the next on its CPU, has a name although it is not
// traced.
TEST_F(Attach, NamesThePeersOfTheTracedThreads) {
  Process waker({.argv = {"sh", "-c",
                          "exec 3<> " + path("pipe") + "; while :; do echo >&3; sleep 0.01; done"},
                 .in_child = [this] { mkfifo(path("pipe").c_str(), 0666); }});
  ASSERT_TRUE(eventually([&] { return exists(path("pipe")); }, "the pipe"));
  Process reader({.argv = {"sh", "-c", "while read x; do :; done < " + path("pipe")}});
  Command command = attach_command(reader.pid());
  command.argv.insert(command.argv.end(), {"-d", "300ms"});
  ASSERT_EQ(run(command).status(), 0);
  const auto json = nlohmann::json::parse(read_text(trace() + "/trace.json"));
  // A forked `sh` becomes `sleep`: the same tid has two names, each from a time on.
  std::map<uint32_t, std::map<uint64_t, std::string>> names;
  for (const auto &peer : json.at("peers"))
    names[peer.at("tid")][peer.at("since_ns")] = peer.at("name");
  const uint64_t begin = read_trace_json(trace()).begin;
  const auto name_at = [&](uint32_t tid, uint64_t time) {
    const auto after = names[tid].upper_bound(begin + time);
    return after == names[tid].begin() ? std::string() : std::prev(after)->second;
  };
  EXPECT_EQ(name_at(uint32_t(waker.pid()), ~0ull - begin), "sh");
  EXPECT_FALSE(names.contains(uint32_t(reader.pid()))) << "it is traced, and no peer";
  EXPECT_EQ(json.at("threads").size(), 1u) << "peers are no threads of the trace";
  size_t peers = 0;
  for (const DumpEvent &event : dump(trace()))
    for (const char *who : {"next", "waker"}) {
      const uint32_t tid = tid_of(event.detail(who));
      if (tid && tid != uint32_t(reader.pid()) && event.time > 0) {
        EXPECT_EQ(event.detail(who), name_at(tid, event.time) + "(" + std::to_string(tid) + ")")
            << who;
        peers++;
      }
    }
  EXPECT_GT(peers, 0u);
}

// -d with a program limits the capture and not the program.
TEST_F(Attach, ToAProgramEndsAfterItsDurationAndTheProgramGoesOn) {
  const Outcome outcome =
      record({"sh", "-c", "sleep 0.4; touch " + path("done") + "; exit 3"}, {"-d", "100ms"}, 3);
  EXPECT_TRUE(exists(path("done")));
  EXPECT_NE(outcome.err.find("after 100.0 ms (-d): tracing stopped; the program goes on untraced"),
            std::string::npos)
      << outcome.err;
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(reported.how,
            "after 100.0 ms (-d) and tracing stopped; later the program exited with status 3");
  EXPECT_EQ(reported.exit_status, 3);
  for (const ThreadRecord &thread : reported.threads)
    EXPECT_NE(thread.name, "touch") << "it ran later";
  expect_convertible();
}

TEST_F(Attach, OptionsOfTimesSayWhatIsWrong) {
  for (const char *wrong : {"0", "-1", "x", "5y", "1e30", "nan"}) {
    const Outcome outcome = run({.argv = {ovnitrace(), "-a", "-d", wrong}});
    EXPECT_EQ(outcome.status(), 2) << wrong;
    EXPECT_NE(outcome.err.find("--duration: '" + std::string(wrong) + "' is no time"),
              std::string::npos)
        << outcome.err;
  }
}

// The one-step command converts as its options say.
TEST_F(Attach, OvnitraceWithoutASubcommandTakesOptionsOfConvert) {
  const Outcome outcome = run({.argv = {ovnitrace(), "-o", trace(), "--gzip", "--draw", "true*",
                                        "--", "sh", "-c", "/bin/true; /bin/true; exit 4"}});
  EXPECT_EQ(outcome.status(), 4) << outcome.err;
  EXPECT_TRUE(exists(trace() + "/thread.prv.gz"));
  EXPECT_FALSE(exists(trace() + "/thread.prv"));
  const std::string rows = read_text(trace() + "/thread.row");
  EXPECT_NE(rows.find("true ("), std::string::npos) << rows;
  EXPECT_EQ(rows.find("sh ("), std::string::npos) << rows;
  EXPECT_GT(read_trace_json(trace()).threads.size(), 2u) << "the trace has all of them";
  const Outcome missing = run({.argv = {ovnitrace(), "-o", path("b"), "--model", path("none"), "--",
                                        "touch", path("ran")}});
  EXPECT_EQ(missing.status(), 2);
  EXPECT_FALSE(exists(path("ran"))) << "known before the program runs";
}

TEST_F(Attach, EndsAfterItsDuration) {
  Process program({.argv = {"sleep", "1000"}});
  Command command = attach_command(program.pid());
  command.argv.insert(command.argv.end(), {"-d", "0.3"});
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.status(), 0);
  EXPECT_EQ(outcome.err.find("ended"), std::string::npos) << outcome.err;
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_GE(reported.end - reported.begin, 300'000'000u);
  EXPECT_TRUE(program.running());
  expect_convertible();
}

// SIGCONT interrupts a wait, even if it has no handler. The time limit still counts.
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
  const Outcome outcome = run({.argv = {ovnitrace(), "-a", "-d", "0.5", "-o", trace()}});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("still runs"), std::string::npos) << outcome.err;
  const Outcome info = run({.argv = {ovnitrace(), "info", "--json", trace()}});
  const auto converted_json = nlohmann::json::parse(info.out);
  std::map<uint32_t, std::string> described, converted; // by tid, the latest thread that has it
  for (const ThreadRecord &thread : read_trace_json(trace()).threads)
    described[thread.tid] = thread.name;
  for (const auto &thread : converted_json.at("threads"))
    converted[thread.at("tid")] = thread.at("name");
  EXPECT_EQ(converted, described);
  for (const auto &[tid, name] : converted)
    EXPECT_NE(name, "") << tid;
  std::string said = outcome.err;
  std::erase(said, ',');
  EXPECT_NE(said.find(" of " + std::to_string(converted_json.at("threads").size()) + " threads"),
            std::string::npos)
      << outcome.err;
  const auto after = threads_of_machine();

  const TraceRecord reported = read_trace_json(trace());
  size_t missing = 0;
  for (const auto &[tid, pid] : before)
    if (const auto still = after.find(tid); still != after.end() && still->second == pid)
      if (!reported.thread(tid) && pid != 1) {
        missing++;
        ADD_FAILURE() << comm_of(pid, tid) << " (" << tid << ") is missing";
      }
  EXPECT_EQ(missing, 0u);
  EXPECT_FALSE(reported.thread(0)) << "the idle task is no thread";
  auto threads = by_thread(dump(trace()));
  for (uint32_t tid : tasks_of(std::to_string(spinner.pid())))
    EXPECT_GE(threads[tid].size(), 2u);
  expect_convertible();
}

// `-a` with a program captures the machine for as long as the program runs.
TEST_F(Attach, ToTheMachineWhileAProgramRuns) {
  Process other({.argv = {"sleep", "1000"}});
  const Outcome outcome = record({installed("exit_status"), "5"}, {"-a"}, 5);
  EXPECT_EQ(outcome.err.find("warning"), std::string::npos) << outcome.err;
  const TraceRecord reported = read_trace_json(trace());
  const ThreadRecord *seen = reported.thread(uint32_t(other.pid()));
  ASSERT_TRUE(seen) << "a thread that was alive before";
  EXPECT_EQ(seen->name, "sleep");
  expect_convertible();
}

} // namespace ovnitrace::test
