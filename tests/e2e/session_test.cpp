// SPDX-License-Identifier: BSD-2-Clause
// A session while it goes on: its status on a terminal, `ovnitrace ctl`, and parts of its trace.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/terminal.h"
#include "tests/e2e/support/trace.h"

#include <nlohmann/json.hpp>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

namespace ovnitrace::test {

class Session : public CaptureTest {
protected:
  Outcome ctl(std::vector<std::string> words) const {
    words.insert(words.begin(), {ovnitrace(), "ctl", trace()});
    return run({.argv = words});
  }
  bool listens() const { return ctl({"status"}).status() == 0; }
  std::vector<std::string> attached(uint32_t pid, const std::vector<std::string> &options = {}) {
    std::vector<std::string> argv = {ovnitrace(),         "record", "-p",
                                     std::to_string(pid), "-o",     trace()};
    argv.insert(argv.end(), options.begin(), options.end());
    return argv;
  }
  std::string convert_to(const std::string &trace, const std::string &to) {
    const Outcome outcome = run({.argv = {ovnitrace(), "convert", trace, "-o", to}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
    return read_text(to + "/thread.prv");
  }
};

TEST_F(Session, PrintsALineEachSecondOnATerminal) {
  Process program({.argv = {installed("spin"), "60000"}});
  Terminal terminal(attached(program.pid()));
  terminal.await("\n");
  terminal.await("2 s: ");
  terminal.type('\x03');
  EXPECT_EQ(terminal.wait(), 0) << terminal.printed();
  EXPECT_NE(terminal.printed().find("1 s: "), std::string::npos) << terminal.printed();
  for (const char *word : {"events/s", "0 lost", "fullest ring", "thread"})
    EXPECT_NE(terminal.printed().find(word), std::string::npos) << terminal.printed();
}

TEST_F(Session, PrintsNoStatusIntoAPipe) {
  Process program({.argv = {installed("spin"), "60000"}});
  const Outcome outcome = run({.argv = attached(program.pid(), {"-d", "2.5"})});
  EXPECT_EQ(outcome.err.find("events/s"), std::string::npos) << outcome.err;
}

TEST_F(Session, EndsIfItsTerminalGoes) {
  Process program({.argv = {installed("spin"), "60000"}});
  Terminal terminal(attached(program.pid()));
  terminal.await("1 s: ");
  const int status = terminal.hang_up();
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_GT(read_trace_json(trace()).end, 0u);
}

TEST_F(Session, CtlMarksPausesAndStops) {
  Process capture(record_command(trace(), {installed("spin"), "60000"}));
  eventually([&] { return listens(); }, "the capture listens");
  EXPECT_EQ(ctl({"mark", "before", "the \"pause\""}).status(), 0);
  EXPECT_EQ(ctl({"pause"}).status(), 0);
  const auto refusal = [&](const char *command) {
    const Outcome outcome = ctl({command});
    EXPECT_EQ(outcome.status(), 1) << command;
    return outcome.err;
  };
  EXPECT_NE(refusal("pause").find("the capture is paused already\n"), std::string::npos);
  const nlohmann::json paused = nlohmann::json::parse(ctl({"status", "--json"}).out);
  EXPECT_EQ(paused["state"], "paused");
  EXPECT_GT(paused["events"], 0);
  EXPECT_EQ(paused["lost"], 0);
  EXPECT_EQ(ctl({"resume"}).status(), 0);
  EXPECT_NE(refusal("resume").find("the capture is recording already\n"), std::string::npos);
  EXPECT_EQ(ctl({"mark", "after"}).status(), 0);
  EXPECT_NE(refusal("save").find("only a flight recorder (--buffer last:SIZE) can be saved\n"),
            std::string::npos);
  EXPECT_NE(refusal("start").find("the capture has no --control, and records already\n"),
            std::string::npos);
  EXPECT_TRUE(ctl({"status"}).out.starts_with("recording for "));
  EXPECT_EQ(ctl({"stop"}).status(), 0);
  eventually([&] { return !listens() || read_trace_json(trace()).end; }, "it has stopped");
  capture.signal(SIGTERM);
  capture.wait();

  uint64_t dark = 0, light = 0;
  std::vector<std::string> marks;
  for (const DumpEvent &event : dump(trace())) {
    if (event.event == "blackout_start" && event.detail("what") == "paused" && !dark)
      dark = event.time;
    if (event.event == "blackout_end" && event.detail("what") == "paused")
      light = std::max(light, event.time);
    if (event.event == "EXT_mark")
      marks.push_back(event.detail("mark"));
    if (dark && !light) {
      EXPECT_TRUE(event.event.starts_with("blackout") || event.event == "EXT_mark")
          << event.event << " was recorded while it was paused";
    }
  }
  EXPECT_GT(dark, 0u);
  EXPECT_GT(light, dark);
  EXPECT_EQ(marks, (std::vector<std::string>{"before_the_\"pause\"", "after"}));
  const Outcome info = run({.argv = {ovnitrace(), "info", "--json", trace()}});
  const nlohmann::json json = nlohmann::json::parse(info.out);
  ASSERT_EQ(json["marks"].size(), 2u);
  EXPECT_EQ(json["marks"][1]["text"], "after");
  EXPECT_GT(json["marks"][1]["time_ns"], json["marks"][0]["time_ns"]);
  EXPECT_GE(json["threads"][0]["time_ns"]["unknown"].get<uint64_t>(), light - dark);
  const std::string prv = convert_to(trace(), path("out"));
  EXPECT_NE(prv.find(":14:1\n"), std::string::npos) << "the mark on the thread";
  EXPECT_NE(read_text(path("out/thread.pcf")).find("after"), std::string::npos);
  const Outcome csv =
      run({.argv = {ovnitrace(), "export", "--to", "csv", trace(), "-o", path("csv")}});
  EXPECT_EQ(csv.status(), 0) << csv.err;
  EXPECT_NE(read_text(path("csv/mark-0001.csv")).find("after"), std::string::npos);
}

TEST_F(Session, CtlStopAnswersWhenTheTraceIsWhole) {
  Process capture({.argv = {ovnitrace(), "record", "-a", "-o", trace()}});
  eventually([&] { return listens(); }, "the capture listens");
  EXPECT_EQ(ctl({"stop"}).status(), 0);
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_GT(reported.end, 0u);
  EXPECT_EQ(reported.how, "stopped by ovnitrace ctl stop");
  EXPECT_EQ(capture.wait().status(), 0);
}

TEST_F(Session, CtlSavesAFlightRecorder) {
  Process capture(record_command(trace(), {installed("spin"), "60000"}, {"--buffer", "last:1M"}));
  eventually([&] { return listens(); }, "the capture listens");
  const Outcome saved = ctl({"save"});
  EXPECT_EQ(saved.status(), 0) << saved.err;
  EXPECT_NE(saved.out.find(trace() + ".1"), std::string::npos) << saved.out;
  EXPECT_FALSE(dump(trace() + ".1").empty());
  capture.signal(SIGTERM);
  capture.wait();
}

TEST_F(Session, CtlIsRefusedToAnotherUser) {
  Process capture(record_command(trace(), {installed("spin"), "60000"}));
  eventually([&] { return listens(); }, "the capture listens");
  const Outcome outcome = run({.argv = {ovnitrace(), "ctl", std::to_string(capture.pid()), "stop"},
                               .in_child = become_nobody});
  EXPECT_EQ(outcome.status(), 1) << outcome.out;
  EXPECT_TRUE(listens()) << "it goes on";
  capture.signal(SIGTERM);
  capture.wait();
}

TEST_F(Session, TwoSessionsOfOneProcessAreReachedByTheirTraces) {
  Process program({.argv = {installed("spin"), "60000"}});
  Process first({.argv = attached(program.pid())});
  eventually([&] { return listens(); }, "the first listens");
  Process second(
      {.argv = {ovnitrace(), "record", "-p", std::to_string(program.pid()), "-o", path("second")}});
  eventually(
      [&] {
        return run({.argv = {ovnitrace(), "ctl", path("second"), "status"}}).status() == 0;
      },
      "the second listens");
  EXPECT_EQ(run({.argv = {ovnitrace(), "ctl", path("second"), "stop"}}).status(), 0);
  EXPECT_EQ(second.wait().status(), 0);
  EXPECT_TRUE(listens());
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().status(), 0);
}

/// A part that a trigger keeps can be read only alone.
TEST_F(Session, APartNamesWhoHeldACpu) {
  Process hog({.argv = {"/usr/bin/taskset", "-c", "0", installed("spin"), "4000"}});
  const Outcome outcome =
      run({.argv = {ovnitrace(), "record", "-o", trace(), "--rotate", "1s", "--",
                    "/usr/bin/taskset", "-c", "0", installed("spin"), "3000"}});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  hog.wait();
  size_t parts = 0;
  for (const std::string &name : names_in(trace()))
    if (name.starts_with("0")) {
      std::ifstream file(trace() + "/" + name + "/trace.json");
      EXPECT_FALSE(nlohmann::json::parse(file)["peers"].empty()) << name;
      parts++;
    }
  EXPECT_GE(parts, 2u);
}

TEST_F(Session, RotatedPartsAreTracesAndAWhole) {
  Process capture({.argv = {ovnitrace(), "record", "-a", "-d", "4.5", "-o", trace(), "--rotate",
                            "1s", "--keep", "3"}});
  EXPECT_EQ(capture.wait().status(), 0) << capture.err();
  std::vector<std::string> parts;
  for (const std::string &name : names_in(trace()))
    if (name.starts_with("0"))
      parts.push_back(name);
  ASSERT_GE(parts.size(), 2u);
  EXPECT_LE(parts.size(), 3u);
  for (const std::string &part : parts) {
    EXPECT_FALSE(dump(trace() + "/" + part).empty()) << part;
    const TraceRecord described = read_trace_json(trace() + "/" + part);
    EXPECT_EQ(described.how, part == parts.back()
                                 ? "after 4.500 s (-d)"
                                 : "when the next part of the recording began (--rotate)");
    EXPECT_EQ(described.end > 0, part == parts.back()) << part;
  }
  EXPECT_FALSE(dump(trace()).empty());
  EXPECT_FALSE(convert_to(trace(), path("out")).empty());
}

// ovnitrace looks at the threads on the CPU where nothing happens later.
TEST_F(Session, PartsAreSoundThoughACpuIsSilent) {
  const std::string often = "while :; do sleep 0.01; done";
  Process program({.argv = {"/usr/bin/taskset", "-c", "1", "/bin/sh", "-c", often}});
  std::vector<std::string> argv = attached(program.pid(), {"--rotate", "1s"});
  argv.insert(argv.begin(), {"/usr/bin/taskset", "-c", "0"});
  Process capture({.argv = argv});
  eventually([&] { return access((trace() + "/0003").c_str(), F_OK) == 0; }, "the third part");
  capture.signal(SIGINT);
  const Outcome outcome = capture.wait();
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  for (const std::string part : {"", "/0001", "/0002", "/0003"}) {
    const Outcome dumped = run({.argv = {ovnitrace(), "dump", trace() + part}});
    EXPECT_EQ(dumped.status(), 0) << part;
    EXPECT_EQ(dumped.err, "") << part;
  }
}

// A file system of 2 MB: the newest events are kept.
TEST_F(Session, AFullDiskRemovesTheOldestPart) {
  const std::string disk = path("disk");
  ASSERT_EQ(mkdir(disk.c_str(), 0755), 0);
  ASSERT_EQ(mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m"), 0);
  // Many events of few threads, which are all in trace.json.
  const std::string pingpong = installed("pingpong") + " 300 > /dev/null; ",
                    on_both = "taskset -c 0 " + pingpong + "taskset -c 1 " + pingpong;
  Process busy({.argv = {"sh", "-c", "while :; do " + on_both + "sleep 0.05; done"}});
  Process tracer({.argv = {ovnitrace(), "record", "-p", std::to_string(busy.pid()), "-o",
                           disk + "/trace", "--compress=0", "--rotate", "1s"}});
  eventually([&] { return tracer.err().find("0002 is removed") != std::string::npos; },
             "the removal of two parts");
  tracer.signal(SIGINT);
  const Outcome outcome = tracer.wait();
  std::vector<std::string> parts;
  for (const std::string &name : names_in(disk + "/trace"))
    if (name.starts_with("0"))
      parts.push_back(name);
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_FALSE(parts.empty());
  EXPECT_EQ(std::count(parts.begin(), parts.end(), "0001"), 0) << "the oldest";
  const Outcome dumped = run({.argv = {ovnitrace(), "dump", disk + "/trace"}});
  EXPECT_EQ(dumped.status(), 0) << dumped.err << outcome.err;
  umount2(disk.c_str(), MNT_DETACH);
}

} // namespace ovnitrace::test
