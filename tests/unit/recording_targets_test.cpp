// SPDX-License-Identifier: BSD-2-Clause
// Whole sessions by what they trace, and by what they record of it: user/record/record, recording
// and traced. They need root.
#include "tests/unit/support/project_file.h"
#include "tests/unit/support/recorded_session.h"
#include "tests/unit/support/user_event_program.h"
#include "tests/unit/support/waiting_program.h"
#include "user/bpf/preflight.h"
#include "user/cli/checked_options.h"
#include "user/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sys/stat.h>

namespace ovnitrace {
namespace {

using test::RecordedTrace;
using test::Session;
using test::WaitingProgram;
using Words = std::vector<std::string>;

class RecordingTargets : public test::SessionTest {
protected:
  static Words attached(const WaitingProgram &program, Words more = {}) {
    more.insert(more.begin(), {"-p", std::to_string(program.pid())});
    return more;
  }
  /// Records as root does for a user who called sudo.
  static int record_under_sudo(const Words &options, const Words &program = {}) {
    setenv("SUDO_UID", "65534", 1);
    setenv("SUDO_GID", "65533", 1);
    chmod(".", 0777);
    return Session::record(options, program);
  }
};

Words shell(const std::string &script) {
  return {"/bin/sh", "-c", script};
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST_F(RecordingTargets, AProcessIsTracedUntilItEndsWithTheRightsOfTheUserOfSudo) {
  WaitingProgram cat("/bin/cat");
  Session session([&] { return record_under_sudo(attached(cat)); });
  ASSERT_TRUE(session.await_start()) << session.printed();
  const std::string status = test::text_of(fmt::format("/proc/{}/status", session.pid()));
  EXPECT_TRUE(contains(status, "\nUid:\t65534\t65534\t65534\t65534\n")) << status;
  EXPECT_TRUE(contains(status, "\nGid:\t65533\t65533\t65533\t65533\n")) << status;
  EXPECT_TRUE(contains(status, "\nCapEff:\t0000000000000000\n")) << status;
  EXPECT_TRUE(contains(status, "\nSeccomp:\t2\n")) << status;
  EXPECT_TRUE(cat.turn());
  const uint32_t pid = cat.pid();
  cat.end(SIGTERM);
  EXPECT_EQ(session.wait(), 0);
  EXPECT_TRUE(session.printed().starts_with(
      fmt::format("ovnitrace: tracing process {} (cat) with children until it ends or Ctrl-C; the "
                  "trace goes to t\novnitrace: the process ended: tracing stopped\novnitrace: ",
                  pid)))
      << session.printed();
  struct stat file = {};
  EXPECT_EQ(stat((session.path("t") + "/trace.json").c_str(), &file), 0);
  EXPECT_EQ(file.st_uid, 65534u);
  EXPECT_EQ(file.st_gid, 65533u);
  RecordedTrace trace = session.trace();
  EXPECT_EQ(trace.names(), Words{"cat"});
  EXPECT_GE(trace.count(FTrace_EVT_task_dispatch), 1u);
  EXPECT_EQ(trace.damage, 0u);
  EXPECT_EQ(trace.json["ended"]["how"], "the process ended");
  EXPECT_EQ(trace.json["attached_pids"], std::vector{trace.catalog.threads.at(0).pid});
  EXPECT_TRUE(trace.json["with_children"]);
  EXPECT_TRUE(trace.json["command"].empty());
  EXPECT_FALSE(trace.json.contains("program_pid"));
  if (in_initial_pid_namespace()) {
    ASSERT_EQ(trace.json["command_lines"].size(), 1u);
    EXPECT_EQ(trace.json["command_lines"][0]["text"], "/bin/cat");
    EXPECT_EQ(trace.json["command_lines"][0]["since_ns"], 0);
  }
}

TEST_F(RecordingTargets, TheWholeMachineIsTracedUntilItIsStoppedByHand) {
  Session session({"-a"});
  ASSERT_TRUE(session.await_start()) << session.printed();
  EXPECT_EQ(session.ctl("stop"), "");
  nlohmann::json json = session.description();
  EXPECT_EQ(json["ended"]["how"], "stopped by ovnitrace ctl stop");
  EXPECT_EQ(json["ended"]["exit_status"], 0) << "the answer comes when the trace is whole";
  EXPECT_TRUE(json["all_threads"]);
  EXPECT_FALSE(json.contains("cpu_holders"));
  EXPECT_GT(json["threads"].size(), 10u);
  EXPECT_EQ(session.wait(), 0) << session.printed();
  EXPECT_TRUE(session.printed().starts_with(
      "ovnitrace: tracing every thread of the machine until Ctrl-C; the trace goes to t\n"))
      << session.printed();
  EXPECT_EQ(session.count_printed("ovnitrace: ovnitrace ctl stop: tracing stopped\n"), 1u);
}

TEST_F(RecordingTargets, FiltersThatNothingPassesAreReported) {
  const std::string filters = "--cgroup no-such-cgroup --comm no-such-name";
  Session session({"--comm", "no-such-name", "--cgroup", "no-such-cgroup", "--buffer", "last:1M",
                   "--trigger", "exit:no-such-exit", "-d", "10ms"});
  EXPECT_EQ(session.wait(), 0) << session.printed();
  for (const std::string &line :
       {std::string("warning: --cgroup no-such-cgroup: there is no such cgroup now; ovnitrace "
                    "waits for one"),
        "warning: no thread passes the filters now (" + filters + "); ovnitrace waits for one",
        std::string("warning: --trigger exit:no-such-exit: no thread has this name now; ovnitrace "
                    "waits for one. To match a longer name, add *"),
        "tracing threads of the machine that pass " + filters +
            " for 10.00 ms or until Ctrl-C; the trace goes to t",
        std::string("--trigger exit:no-such-exit has hit 0 times")})
    EXPECT_EQ(session.count_printed("ovnitrace: " + line + "\n"), 1u) << line << "\n"
                                                                      << session.printed();
  nlohmann::json json = session.description();
  EXPECT_EQ(json["ended"]["how"], "after 10.00 ms (-d)");
  EXPECT_EQ(json["filters"], (Words{"--cgroup no-such-cgroup", "--comm no-such-name"}));
  EXPECT_FALSE(json.contains("all_threads"));
  EXPECT_TRUE(json["threads"].empty());
}

TEST_F(RecordingTargets, ASignalBeforeTheStartEndsTheSession) {
  Session session([] {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGTERM);
    sigprocmask(SIG_BLOCK, &one, nullptr);
    raise(SIGTERM);
    return Session::record({"-p", std::to_string(getpid())}, {});
  });
  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  EXPECT_EQ(session.printed(), "ovnitrace: stopped by signal 15 before the capture started\n");
  EXPECT_FALSE(session.exists("t"));
}

TEST_F(RecordingTargets, FamiliesAreRecordedBesideTheScheduler) {
  Session session({"--filter", "+signal"}, shell("trap : USR1; kill -USR1 $$; exit 3"));
  EXPECT_EQ(session.wait(), 3) << session.printed();
  RecordedTrace trace = session.trace();
  EXPECT_EQ(trace.count(FTrace_EVT_signal), 2u) << "sent and taken";
  EXPECT_GE(trace.count(FTrace_EVT_task_dispatch), 1u);
  EXPECT_EQ(trace.json["options"]["families"], "sched, signal, user");
  EXPECT_EQ(trace.json["events"], trace.captured);
  uint64_t of_families = 0, transitions = 0;
  for (const nlohmann::json &cpu : trace.json["per_cpu"]) {
    of_families += cpu["family_events"].get<uint64_t>();
    transitions += cpu["transitions"].get<uint64_t>();
  }
  EXPECT_EQ(of_families, 2u);
  EXPECT_EQ(trace.json["logged_by_kernel"], transitions + 2);
}

TEST_F(RecordingTargets, UserEventsAreThoseOfTheProgramThatIsNamed) {
  const test::TempDir dir;
  const std::string app =
      test::user_event_program(dir, "int main(void) {\n"
                                    "  TRACER_LOGEVENT(FTrace_EVT_user_event_0, 7, 42);\n"
                                    "  TRACER_LOGEVENT(FTrace_EVT_user_event_3, 8, 43);\n"
                                    "  return 3;\n"
                                    "}\n");
  Session other(Words{}, {"/usr/bin/env", app});
  EXPECT_EQ(other.wait(), 3) << other.printed();
  EXPECT_EQ(
      other.count_printed(fmt::format("ovnitrace: /usr/bin/env started {0}, whose user events "
                                      "are not recorded: add --probe {0}\n",
                                      app)),
      1u)
      << other.printed();
  EXPECT_EQ(other.trace().count(FTrace_EVT_user_event_0), 0u);
  Session quiet({"-q"}, {"/usr/bin/env", app});
  EXPECT_EQ(quiet.wait(), 3);
  EXPECT_EQ(quiet.printed(), "");

  Session named({"--filter", "user"}, {app});
  EXPECT_EQ(named.wait(), 3) << named.printed();
  EXPECT_EQ(named.count_printed("ovnitrace: the threads of user events are not known without the "
                                "scheduler's events: add sched to --filter\n"),
            1u)
      << named.printed();
  EXPECT_EQ(named.count_printed("--probe"), 0u);
  RecordedTrace trace = named.trace();
  Words logged;
  for (const Event &event : trace.events)
    if (event.kind == FTrace_EVT_user_event_0 || event.kind == FTrace_EVT_user_event_3)
      logged.push_back(fmt::format("{:x} {}", event.kind, event.par2));
  EXPECT_EQ(logged, (Words{"9 42", "39 43"}));
  EXPECT_EQ(trace.count(FTrace_EVT_task_dispatch), 0u);
  EXPECT_EQ(trace.json["options"]["families"], "user");
  EXPECT_EQ(trace.json["user_events_refused"], 0);
}

// The user of sudo may not read this program, which another user runs.
TEST_F(RecordingTargets, UserEventsOfAProcessAreFoundWithTheRightsOfRoot) {
  const test::TempDir dir;
  const std::string app =
      test::user_event_program(dir, "#include <unistd.h>\n"
                                    "int main(void) {\n"
                                    "  for (char c; read(0, &c, 1) == 1 && write(1, &c, 1) == 1;)\n"
                                    "    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 7, c);\n"
                                    "}\n");
  ASSERT_EQ(chmod(app.c_str(), 0700), 0);
  WaitingProgram program(app);
  Session session([&] { return record_under_sudo(attached(program)); });
  ASSERT_TRUE(session.await_start()) << session.printed();
  EXPECT_TRUE(program.turn());
  EXPECT_TRUE(program.turn()) << "the first event is logged";
  program.end(SIGTERM);
  EXPECT_EQ(session.wait(), 0) << session.printed();
  EXPECT_GE(session.trace().count(FTrace_EVT_user_event_0), 1u);
}

// The user may execute this program, but not read it.
TEST_F(RecordingTargets, UserEventsOfAProgramAreFoundWithTheRightsOfItsUser) {
  const test::TempDir dir;
  const std::string app = test::user_event_program(
      dir, "int main(void) { TRACER_LOGEVENT(FTrace_EVT_user_event_0, 7, 42); }\n");
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  for (const mode_t rights : {0711, 0755}) {
    ASSERT_EQ(chmod(app.c_str(), rights), 0);
    Session session([&] { return record_under_sudo({}, {app}); });
    EXPECT_EQ(session.wait(), 0) << session.printed();
    EXPECT_EQ(session.trace().count(FTrace_EVT_user_event_0), rights == 0755 ? 1u : 0u);
  }
}

TEST_F(RecordingTargets, CommandLinesOfLivingProcessesAreRecordedUnlessThatIsRefused) {
  const WaitingProgram cat("/bin/cat");
  for (const Words &more : {Words{}, Words{"--no-cmdline"}}) {
    Session session(attached(cat, more));
    ASSERT_TRUE(session.await_start()) << session.printed();
    kill(session.pid(), SIGINT);
    EXPECT_EQ(session.wait(), 0) << session.printed();
    EXPECT_EQ(session.description()["command_lines"].size(), more.empty() ? 1u : 0u);
  }
}

TEST_F(RecordingTargets, StacksOfBlocksAreNamed) {
  if (!in_initial_pid_namespace())
    GTEST_SKIP() << "stacks need the machine's pids";
  const WaitingProgram cat("/bin/cat");
  Session session(attached(cat, {"--stacks"}));
  ASSERT_TRUE(session.await_start()) << session.printed();
  for (int n = 0; n < 20; n++) {
    EXPECT_TRUE(cat.turn());
    // On the same CPU, it may be preempted by each answer, and never block.
    EXPECT_TRUE(session.await([&] { return cat.is_blocked(); }));
  }
  kill(session.pid(), SIGINT);
  EXPECT_EQ(session.wait(), 0) << session.printed();
  RecordedTrace trace = session.trace();
  EXPECT_EQ(trace.json["ended"]["how"], "stopped by a signal");
  EXPECT_EQ(trace.json["options"]["stacks"], "kernel,user");
  ASSERT_GT(trace.json["stacks_taken"]["all"], 0) << session.printed() << trace.json;
  EXPECT_EQ(trace.json["stacks_taken"]["lost"], 0);
  EXPECT_GT(trace.count(FTrace_EXT_stack), 0u);
  EXPECT_EQ(trace.json["stacks"].size(), trace.json["stacks_taken"]["distinct"]);
  size_t of_kernel = 0, of_files = 0; // with a name
  for (const nlohmann::json &frame : trace.json["stack_frames"])
    if (frame.contains("function"))
      (frame.contains("kernel") ? of_kernel : of_files)++;
  EXPECT_GT(of_kernel, 0u);
  EXPECT_GT(of_files, 0u) << "read() of the C library at least";
  EXPECT_TRUE(contains(session.printed(), " stack")) << session.printed();
  EXPECT_FALSE(contains(session.printed(), "warning")) << session.printed();
}

TEST_F(RecordingTargets, RegionsAreOpenedByHandAndSavedWhenTheyStop) {
  Session session({"--control", "start:interactive,stop:interactive,name:hand", "--buffer",
                   "last:1M", "--trigger", "region_stop"},
                  shell("read line; exit 5"));
  ASSERT_TRUE(session.await_start()) << session.printed();
  EXPECT_TRUE(contains(session.ctl("status"), ": in no region\n"));
  EXPECT_EQ(session.ctl("start"), "");
  EXPECT_TRUE(contains(session.ctl("status"), ": in a region since "));
  EXPECT_EQ(session.count_printed("saved to"), 0u);
  EXPECT_EQ(session.ctl("stop"), "");
  EXPECT_TRUE(session.await_printed("ovnitrace: saved to t.1 ")) << session.printed();
  EXPECT_EQ(session.ctl("start"), "no thread waits for start:interactive now");
  EXPECT_EQ(session.wait(), 5);
  EXPECT_EQ(session.count_printed("no region started"), 0u);
  RecordedTrace trace = session.trace("t.1");
  EXPECT_EQ(trace.count(FTrace_EXT_region), 2u);
  EXPECT_EQ(trace.json["control"]["region"], "global");
  EXPECT_EQ(trace.json["control"]["chains"][0]["name"], "hand");
}

TEST_F(RecordingTargets, ACaptureWithoutARegionSaysSo) {
  Session session({"--control", "start:interactive"}, shell("exit 3"));
  EXPECT_EQ(session.wait(), 3) << session.printed();
  EXPECT_EQ(session.count_printed("ovnitrace: no region started, so nothing was recorded. Never "
                                  "fired: start:interactive. "),
            1u)
      << session.printed();
  EXPECT_EQ(session.count_printed("see it with"), 0u) << "there is nothing to see";
}

/// Looks at two parts at once, with a save between them, prints them, and ends the capture.
class TwoParts final : public LiveView {
public:
  TwoParts() { scratch = "scratch"; }
  bool wait(uint64_t, int) override {
    for (int tries = 0; parts_ == 1 && !saved_ && tries < 30'000; tries++)
      usleep(2000);
    return parts_ < 2;
  }
  void take(const std::string &directory, uint64_t from, uint64_t to) override {
    RecordedTrace part(directory);
    std::printf("%s of %s %s, %s\n", directory.c_str(), part.names().at(0).c_str(),
                part.json["ended"]["how"].get<std::string>().c_str(), from < to ? "ahead" : "back");
    if (parts_++ == 0)
      kill(getpid(), SIGUSR2);
  }
  void saved(const std::string &message) override {
    std::printf("%s\n", message.substr(0, message.find('-')).c_str());
    saved_ = true;
  }
  void close() override { std::printf("closed\n"); }

private:
  int parts_ = 0;
  std::atomic<bool> saved_ = false;
};

TEST_F(RecordingTargets, ADryRunPrintsTheThreadsAndRecordsNothing) {
  const WaitingProgram cat("/bin/cat");
  const std::string pid = std::to_string(cat.pid());
  Session session([&] { return Session::command({"record", "--dry-run", "-p", pid}, {}); });
  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(session.printed(), fmt::format("     PID      TID NAME\n{:>8} {:>8} cat\n"
                                           "1 thread would be recorded now\n",
                                           pid, pid));
}

TEST_F(RecordingTargets, TopHasLinesForWhatIsWanted) {
  const WaitingProgram cat("/bin/cat");
  const Words targets[] = {{"thread", "-a"},
                           {"process", "-p", std::to_string(cat.pid())},
                           {"name", "-p", std::to_string(cat.pid())}};
  for (const Words &target : targets) {
    Words arguments = {"top", "--batch", "1", "-i", "100ms", "--by"};
    arguments.insert(arguments.end(), target.begin(), target.end());
    Session session([&] { return Session::command(arguments, {}); });
    EXPECT_EQ(session.wait(), 0);
    const std::string printed = session.printed();
    EXPECT_FALSE(contains(printed, "stopped by a signal")) << "its own";
    EXPECT_TRUE(contains(printed, "  every 100.0 ms  by " + target[0] + "  sorted by run\n"))
        << printed;
    if (target[1] == "-a") {
      const size_t first = printed.find('\n', printed.find("\nTHREAD ") + 1) + 1;
      const size_t last = printed.find(" more: --top 0 prints all)\n");
      ASSERT_NE(last, printed.npos) << printed;
      EXPECT_EQ(std::count(printed.begin() + first, printed.begin() + last, '\n'), 20) << printed;
    } else {
      EXPECT_TRUE(contains(printed, "\n1 thread   used ")) << printed;
    }
  }
}

TEST_F(RecordingTargets, ALiveViewGetsPartsOfACapture) {
  const WaitingProgram cat("/bin/cat");
  Session session([&] {
    if (mkdir("scratch", 0700) != 0)
      return 1;
    RecordArguments arguments;
    arguments.buffer = "last:1M";
    arguments.options.pids = {cat.pid()};
    arguments.options.directory = "t";
    arguments.options.quiet = true;
    RecordOptions options = checked(arguments);
    TwoParts view;
    options.live = &view;
    const RecordResult result = record(options);
    std::printf("%s\n", result.how.c_str());
    if (view.failure)
      std::rethrow_exception(view.failure);
    return result.exit_status;
  });
  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(session.printed(), "scratch/part-0 of cat saved while the capture went on, ahead\n"
                               "saved to cat\n"
                               "scratch/part-1 of cat saved while the capture went on, ahead\n"
                               "closed\n"
                               "stopped by a signal\n");
}

} // namespace
} // namespace ovnitrace
