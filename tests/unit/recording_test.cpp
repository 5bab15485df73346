// SPDX-License-Identifier: BSD-2-Clause
// Whole sessions that trace a program: user/record/record, recording and traced. They need root.
#include "emulator/base/human.h"
#include "tests/unit/support/recorded_session.h"
#include "user/net/collector.h"

#include <fmt/format.h>
#include <ovnitrace/capture.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sys/resource.h>
#include <sys/stat.h>

namespace ovnitrace {
namespace {

using test::RecordedTrace;
using test::Session;

class RecordedProgram : public test::SessionTest {};

using Words = std::vector<std::string>;

Words shell(const std::string &script) {
  return {"/bin/sh", "-c", script};
}

bool matches(const std::string &text, const std::string &pattern) {
  return std::regex_search(text, std::regex(pattern));
}

/// The line that says what was recorded, from what the trace has.
std::string summary_of(RecordedTrace &trace, const std::string &threads) {
  return fmt::format("ovnitrace: {} of {} on {} in {}, 0 lost; written to t\n",
                     human_count(trace.captured, "event", "events"), threads,
                     human_count(trace.json["topology"].size(), "CPU", "CPUs"),
                     human_duration(trace.json["end_ns"].get<uint64_t>() -
                                    trace.json["begin_ns"].get<uint64_t>()));
}

TEST_F(RecordedProgram, HasAProgramFromItsFirstInstantToItsLast) {
  Session session(Words{}, shell("exit 7"));
  EXPECT_EQ(session.wait(), 7);
  RecordedTrace trace = session.trace();
  EXPECT_EQ(session.printed(),
            summary_of(trace, "1 thread") +
                "ovnitrace: see it with `ovnitrace info t` or `ovnitrace report t --open`; for "
                "Paraver, `ovnitrace convert t`\n");
  EXPECT_EQ(trace.damage, 0u);
  ASSERT_EQ(trace.names(), Words{"sh"});
  EXPECT_GE(trace.count(FTrace_EVT_task_dispatch), 1u);
  nlohmann::json &json = trace.json;
  EXPECT_EQ(json["command"], shell("exit 7"));
  EXPECT_EQ(json["ended"], (nlohmann::json{{"how", "exited with status 7"}, {"exit_status", 7}}));
  EXPECT_EQ(json["program_pid"], trace.catalog.threads[0].pid);
  EXPECT_EQ(json["events"], trace.captured);
  EXPECT_EQ(json["options"]["families"], "sched, user");
  EXPECT_EQ(json["options"]["stacks"], "none");
  EXPECT_TRUE(json["cpu_holders"]);
  EXPECT_FALSE(json.contains("all_threads"));
  EXPECT_FALSE(json.contains("attached_pids"));
  EXPECT_FALSE(json["cgroups"].empty());
  EXPECT_TRUE(json["threads"][0].contains("kernel_account")) << "its last switch was awaited";
  ASSERT_EQ(json["command_lines"].size(), 1u);
  EXPECT_EQ(json["command_lines"][0]["text"], "/bin/sh -c exit 7");
  uint64_t written = 0, transitions = 0;
  for (const nlohmann::json &cpu : json["written"])
    written += cpu["records"].get<uint64_t>();
  for (const nlohmann::json &cpu : json["per_cpu"])
    transitions += cpu["transitions"].get<uint64_t>();
  EXPECT_EQ(json["records"], written);
  EXPECT_EQ(json["logged_by_kernel"], transitions);
  EXPECT_GE(transitions, 2u);
  EXPECT_EQ(json["lost"], 0);
  EXPECT_EQ(json["records_dropped"], 0);
}

TEST_F(RecordedProgram, ThatCannotBeginLeavesNothing) {
  Session session(Words{}, {"/no/such"});
  EXPECT_EQ(session.wait(), 127);
  EXPECT_EQ(session.printed(),
            "ovnitrace: cannot run /no/such: No such file or directory; is the path right, and the "
            "interpreter that its first line names there?\n");
  EXPECT_FALSE(session.exists("t"));
}

// trace.json is a directory, which the trace cannot replace.
TEST_F(RecordedProgram, RunsOnIfItsTraceCannotBegin) {
  Session session([] {
    if (mkdir("t", 0700) != 0 || mkdir("t/trace.json", 0700) != 0)
      return 99;
    return Session::record({"-f"}, shell("read line; echo $line >done; exit 5"));
  });
  ASSERT_TRUE(session.await_printed("ovnitrace: cannot trace on; the program runs to its end "
                                    "without it\n"))
      << session.printed();
  session.type("all\n");
  EXPECT_EQ(session.wait(), 1);
  EXPECT_EQ(test::text_of(session.path("done")), "all\n");
  EXPECT_TRUE(matches(session.printed(), "\novnitrace: .*t/trace\\.json.*Is a directory"))
      << session.printed();
}

TEST_F(RecordedProgram, AProgramOfAnotherUserGetsOurSignals) {
  Session session({"--user", "nobody"}, shell("id -un; read line"));
  ASSERT_TRUE(session.await_printed("nobody\n")) << session.printed();
  ASSERT_TRUE(session.await_start()) << session.printed();
  kill(session.pid(), SIGTERM);
  EXPECT_TRUE(session.await([&] { return session.ended(); })) << "before its input ends";
  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  EXPECT_EQ(session.count_printed("ovnitrace: /bin/sh killed by signal 15 (Terminated)\n"), 1u);
  EXPECT_EQ(session.description()["user"], "nobody");
}

TEST_F(RecordedProgram, IsControlledByHand) {
  Session session(Words{}, shell("read line; exit 5"));
  ASSERT_TRUE(session.await_start()) << session.printed();
  EXPECT_EQ(session.ctl("mark first one"), "");
  nlohmann::json early = session.description();
  EXPECT_EQ(early["marks"][0]["text"], "first one");
  const std::string program = std::to_string(early["program_pid"].get<pid_t>());
  EXPECT_TRUE(control::ask(program, "status").starts_with("recording for "));
  EXPECT_EQ(early["ended"]["how"], "still being captured, or the tracer was killed");
  EXPECT_EQ(session.ctl("save"), "only a flight recorder (--buffer last:SIZE) can be saved");
  EXPECT_EQ(session.ctl("start"), "the capture has no --control, and records already");
  EXPECT_EQ(session.ctl("sleep"), "unknown command: sleep");
  EXPECT_EQ(session.ctl("resume"), "the capture is recording already");
  EXPECT_EQ(session.ctl("pause"), "");
  EXPECT_EQ(session.ctl("pause"), "the capture is paused already");
  EXPECT_EQ(session.ctl("mark sec\x1bond"), "");
  nlohmann::json status = nlohmann::json::parse(session.ctl("status --json"));
  EXPECT_EQ(status["state"], "paused");
  EXPECT_GT(status["events"], 0);
  EXPECT_EQ(status["lost"], 0);
  EXPECT_EQ(status["threads"], 1);
  EXPECT_LT(status["fullest_ring"], 1.0);
  EXPECT_EQ(session.ctl("resume"), "");
  EXPECT_TRUE(session.ctl("status").starts_with("recording for "));
  EXPECT_EQ(session.ctl("stop"), "");
  for (const char *command : {"status", "mark third", "pause"})
    EXPECT_EQ(session.ctl(command), "the capture has ended") << command;
  EXPECT_EQ(session.ctl("stop"), "");
  EXPECT_FALSE(session.ended()) << "the program goes on";
  EXPECT_EQ(session.wait(), 5);
  EXPECT_EQ(session.count_printed("ovnitrace: ovnitrace ctl stop: tracing stopped; the program "
                                  "goes on untraced\n"),
            1u);
  RecordedTrace trace = session.trace();
  EXPECT_EQ(trace.json["ended"],
            (nlohmann::json{{"how", "stopped by ovnitrace ctl stop; later the program exited with "
                                    "status 5"},
                            {"exit_status", 5}}));
  EXPECT_EQ(trace.marks(), (Words{"first one", "sec?ond"}));
  EXPECT_EQ(trace.count(FTrace_EVT_blackout_start), trace.json["topology"].size());
  EXPECT_EQ(trace.count(FTrace_EVT_blackout_end), trace.json["topology"].size());
  EXPECT_EQ(trace.damage, 0u);
}

TEST_F(RecordedProgram, SaysHowFullItsRingsWere) {
  Session session(
      {"--ring-size", "64K"},
      shell("until [ -e end ]; do dd if=/dev/zero bs=1 count=999 2>&1; done | cat >/dev/null"));
  ASSERT_TRUE(session.await_start()) << session.printed();
  double fullest = 0;
  EXPECT_TRUE(session.await([&] {
    fullest = nlohmann::json::parse(session.ctl("status --json"))["fullest_ring"];
    return fullest > 0;
  }));
  EXPECT_GE(fullest, sizeof(sched_batch) / 65536.0 - 0.001) << "a batch at least";
  EXPECT_LE(fullest, 1.0);
  std::ofstream(session.path("end")) << "";
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(RecordedProgram, EndsAfterADurationAndTheProgramGoesOn) {
  Session session({"-d", "10ms"}, shell("read line; exit 5"));
  ASSERT_TRUE(session.await([&] { return session.ctl("status") == "the capture has ended"; }))
      << session.printed();
  EXPECT_EQ(session.wait(), 5);
  EXPECT_EQ(session.count_printed("ovnitrace: after 10.00 ms (-d): tracing stopped; the program "
                                  "goes on untraced\n"),
            1u)
      << session.printed();
  EXPECT_EQ(session.description()["ended"]["how"],
            "after 10.00 ms (-d) and tracing stopped; later the program exited with status 5");
}

/// Runs each line that it reads.
constexpr const char *kRunLines = "while read line; do $line; done; exit 5";

TEST_F(RecordedProgram, EndsWhenItsBufferIsFull) {
  Session session({"--buffer", "stop:8K"}, shell(kRunLines));
  ASSERT_TRUE(session.await([&] {
    session.type(":\n"); // it is woken and blocks
    return session.ctl("status") == "the capture has ended";
  })) << session.printed();
  EXPECT_EQ(session.wait(), 5);
  EXPECT_EQ(session.count_printed("ovnitrace: 8192 bytes were recorded: tracing stopped; the "
                                  "program goes on untraced\n"),
            1u)
      << session.printed();
  nlohmann::json json = session.description();
  EXPECT_EQ(json["ended"]["how"],
            "8192 bytes were recorded and tracing stopped; later the program exited with status "
            "5");
  EXPECT_EQ(json["options"]["buffer"], "stop:8192");
  EXPECT_GE(json["records"], 8192 / 16);
}

TEST_F(RecordedProgram, AFlightRecorderIsSavedAsOftenAsThatIsAsked) {
  Session session(
      {"--buffer", "last:1M", "--on-save", "echo $OVNITRACE_TRACE,$OVNITRACE_CAUSE. >log"},
      shell("read line; exit 5"));
  ASSERT_TRUE(session.await_start()) << session.printed();
  EXPECT_EQ(session.ctl("save"), "saved to t.1\n");
  EXPECT_EQ(session.count_printed("ovnitrace: saved to t.1 (see it with `ovnitrace why t.1`); "
                                  "recording goes on\n"),
            1u)
      << session.printed();
  EXPECT_TRUE(session.await([&] { return test::text_of(session.path("log")) == "t.1,.\n"; }));
  kill(session.pid(), SIGUSR2);
  EXPECT_TRUE(session.await_printed("ovnitrace: saved to t.2 "));

  rlimit before = {};
  const rlimit none = {0, RLIM_INFINITY};
  prlimit(session.pid(), RLIMIT_FSIZE, &none, &before);
  EXPECT_EQ(session.ctl("save"), "could not be saved: the messages of the capture say why");
  EXPECT_TRUE(session.await_printed("ovnitrace: error: cannot save to t.3: ")) << session.printed();
  prlimit(session.pid(), RLIMIT_FSIZE, &before, nullptr);
  EXPECT_EQ(session.ctl("save"), "saved to t.4\n");
  EXPECT_EQ(session.ctl("stop"), "");
  EXPECT_EQ(session.ctl("save"), "could not be saved: the messages of the capture say why");
  EXPECT_EQ(session.wait(), 5);
  EXPECT_FALSE(session.exists("t.5"));
  for (const char *saved : {"t.1", "t.2", "t.4"}) {
    RecordedTrace trace = session.trace(saved);
    EXPECT_EQ(trace.json["ended"]["how"], "saved while the capture went on") << saved;
    EXPECT_EQ(trace.names(), Words{"sh"}) << saved;
    EXPECT_GE(trace.count(FTrace_EVT_task_dispatch), 1u) << saved;
    EXPECT_EQ(trace.json["threads"].size(), 1u) << saved;
    EXPECT_FALSE(trace.json["cgroups"].empty()) << saved;
    EXPECT_GT(trace.json["end_ns"], trace.json["begin_ns"]) << saved;
    EXPECT_EQ(trace.damage, 0u) << saved;
  }
  EXPECT_EQ(session.description()["ended"]["how"],
            "stopped by ovnitrace ctl stop; later the program exited with status 5");
  EXPECT_EQ(session.description()["forgotten"], 0);
}

TEST_F(RecordedProgram, ATriggerMarksAndSavesUntilItHasSavedEnough) {
  Session session({"--buffer", "last:1M", "--trigger", "exit:true", "--max-saves", "1", "--on-save",
                   "echo $OVNITRACE_TRACE,$OVNITRACE_CAUSE. >log"},
                  shell(kRunLines));
  ASSERT_TRUE(session.await_start()) << session.printed();
  session.type("/bin/true\n");
  ASSERT_TRUE(session.await_printed("ovnitrace: --max-saves 1 reached: --trigger saves no more; "
                                    "SIGUSR2 still does\n"))
      << session.printed();
  EXPECT_TRUE(matches(session.printed(),
                      "ovnitrace: exit of true\\([0-9]+\\): saved to t\\.1 \\(see it with "
                      "`ovnitrace why t\\.1`\\); recording goes on\n"))
      << session.printed();
  session.type("/bin/true\n");
  EXPECT_EQ(session.wait(), 5);
  EXPECT_EQ(session.count_printed("ovnitrace: --trigger exit:true has hit 1 time\n"), 1u)
      << session.printed();
  EXPECT_EQ(session.count_printed("--max-saves"), 1u);
  EXPECT_FALSE(session.exists("t.2"));
  EXPECT_TRUE(session.await([&] { // a command goes on after the end
    return matches(test::text_of(session.path("log")), "^t\\.1,exit of true\\([0-9]+\\)\\.\n$");
  }));
  for (const char *name : {"t.1", "t"}) {
    const Words marks = session.trace(name).marks();
    ASSERT_EQ(marks.size(), 1u) << name;
    EXPECT_TRUE(matches(marks[0], "^exit of true\\([0-9]+\\)$")) << marks[0];
  }
}

TEST_F(RecordedProgram, AnEventOfAFamilySavesUntilItHasSavedEnough) {
  Session session(
      {"--buffer", "last:1M", "--filter", "+signal", "--trigger", "signal", "--max-saves", "1"},
      shell("trap : USR1; while read line; do kill -USR1 $$; echo sent $line; done; "
            "exit 5"));
  ASSERT_TRUE(session.await_start()) << session.printed();
  for (const std::string number : {"1", "2"}) {
    session.type(number + "\n");
    ASSERT_TRUE(session.await_printed("sent " + number + "\n"));
    for (const char *command : {"pause", "resume", "pause", "resume", "status"})
      EXPECT_NE(session.ctl(command), "the capture has ended"); // each reads what has come
    EXPECT_EQ(session.count_printed("ovnitrace: saved to t.1 "), 1u) << session.printed();
  }
  EXPECT_EQ(session.wait(), 5);
  EXPECT_EQ(session.count_printed("saved to"), 1u);
  EXPECT_EQ(session.count_printed("--max-saves 1 reached"), 1u);
  EXPECT_EQ(session.count_printed("has hit"), 0u) << "that is of triggers of the kernel side";
  EXPECT_EQ(session.trace("t.1").count(FTrace_EVT_signal), 2u) << "sent and taken";
  EXPECT_EQ(session.trace().count(FTrace_EVT_signal), 4u);
}

TEST_F(RecordedProgram, IsSentToACollector) {
  Session collector([] {
    CollectOptions options;
    options.directory = "traces";
    options.listen = {parse_endpoint("", "tcp://127.0.0.1:0")};
    return collect(options);
  });
  std::smatch url;
  ASSERT_TRUE(collector.await([&] {
    return std::regex_search(collector.printed(), url,
                             std::regex("listening on (tcp://127.0.0.1:[0-9]+)\n"));
  })) << collector.printed();
  Session session([to = url[1].str()] {
    return Session::command({"record", "--send", to}, shell("read line; exit 5"));
  });
  ASSERT_TRUE(session.await_start()) << session.printed();
  EXPECT_EQ(session.ctl_by_pid("mark it is sent"), "");
  EXPECT_EQ(session.wait(), 5);
  EXPECT_EQ(session.count_printed("see it with"), 0u) << "there is nothing to see here";
  kill(collector.pid(), SIGTERM);
  EXPECT_EQ(collector.wait(), 0) << collector.printed();
  std::vector<std::string> traces;
  for (const auto &entry : std::filesystem::directory_iterator(collector.path("traces")))
    traces.push_back("traces/" + entry.path().filename().string());
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_TRUE(traces[0].starts_with("traces/sh-")) << traces[0];
  RecordedTrace trace = collector.trace(traces[0]);
  EXPECT_EQ(trace.marks(), Words{"it is sent"});
  EXPECT_EQ(trace.names(), Words{"sh"});
  EXPECT_EQ(trace.json["ended"]["how"], "exited with status 5");
  EXPECT_EQ(trace.json["events"], trace.captured);
  EXPECT_EQ(trace.damage, 0u);
}

TEST_F(RecordedProgram, IsCutIntoParts) {
  Session session({"--rotate", "1s", "--trigger", "exit:true", "--max-saves", "1"},
                  shell(kRunLines));
  ASSERT_TRUE(session.await_start()) << session.printed();
  session.type("/bin/true\n");
  ASSERT_TRUE(session.await_printed("ovnitrace: --max-saves 1 reached: --trigger marks and keeps "
                                    "no more parts\n"))
      << session.printed();
  EXPECT_TRUE(matches(session.printed(), "ovnitrace: exit of true\\([0-9]+\\): marked in t/0001; "
                                         "recording goes on\n"))
      << session.printed();
  ASSERT_TRUE(session.await([&] {
    session.type(":\n");
    session.ctl("pause"); // hands over what is read
    session.ctl("resume");
    return session.exists("t/0002/trace.json");
  }));
  EXPECT_EQ(session.wait(), 5);
  nlohmann::json first = session.description("t/0001");
  EXPECT_EQ(first["ended"]["how"], "when the next part of the recording began (--rotate)");
  EXPECT_FALSE(first.contains("end_ns"));
  EXPECT_EQ(first["marks"].size(), 1u);
  EXPECT_FALSE(first["cgroups"].empty());
  EXPECT_GE(first["threads"].size(), 2u);
  RecordedTrace whole = session.trace();
  EXPECT_EQ(whole.marks().size(), 1u);
  EXPECT_EQ(whole.json["ended"]["how"], "exited with status 5");
  EXPECT_EQ(whole.damage, 0u);
}

} // namespace
} // namespace ovnitrace
