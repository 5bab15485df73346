// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace top`: what the threads do now, on a terminal and as text.
#include "emulator/base/clock.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/terminal.h"

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

namespace ovnitrace::test {

class TopCommand : public CaptureTest {
protected:
  Command top(const std::vector<std::string> &arguments) {
    mkdir(scratch().c_str(), 0777);
    chmod(scratch().c_str(), 0777);
    Command command{.argv = {ovnitrace(), "top"}, .env = {{"TMPDIR", scratch()}}};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    return command;
  }
  std::string scratch() const { return path("scratch"); }
};

/// What the threads of a process did, by an interval of a tenth of a second.
std::vector<nlohmann::json> intervals(const std::string &out) {
  std::vector<nlohmann::json> parts;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);)
    parts.push_back(nlohmann::json::parse(line));
  return parts;
}

TEST_F(TopCommand, IntervalsAreAdjacentAndContainAllTime) {
  Process program({.argv = {installed("spin"), "60000"}});
  const Outcome outcome =
      run(top({"-p", std::to_string(program.pid()), "--batch", "3", "--json", "-i", "200ms"}));
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const auto parts = intervals(outcome.out);
  ASSERT_EQ(parts.size(), 3u) << outcome.out;
  uint64_t end = parts[0]["begin_ns"], running = 0;
  for (const nlohmann::json &part : parts) {
    EXPECT_EQ(part["begin_ns"], end);
    end += part["duration_ns"].get<uint64_t>();
    EXPECT_GE(part["duration_ns"], 200'000'000u);
    EXPECT_EQ(part["lost"], 0);
    ASSERT_EQ(part["threads"].size(), 1u);
    uint64_t all = 0;
    for (const auto &[state, ns] : part["threads"][0]["time_ns"].items())
      all += ns.get<uint64_t>();
    EXPECT_EQ(all, part["duration_ns"]);
    EXPECT_EQ(part["threads"][0]["time_ns"]["unknown"], 0) << part;
    EXPECT_EQ(part["threads"][0]["time_ns"]["paused"], 0) << "it spins";
    running += part["threads"][0]["time_ns"]["running"].get<uint64_t>();
  }
  EXPECT_GT(running, 0u);
  EXPECT_TRUE(names_in(scratch()).empty()) << "nothing is kept";
}

TEST_F(TopCommand, NamesTheThreadsThatPreemptAndAreNotTraced) {
  const std::vector<std::string> spins = {"/usr/bin/taskset", "-c", "0", installed("spin"),
                                          "60000"};
  Process program({.argv = spins}), other({.argv = spins});
  const Outcome outcome =
      run(top({"-p", std::to_string(program.pid()), "--batch", "3", "--json", "-i", "200ms"}));
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  size_t found = 0;
  for (const nlohmann::json &part : intervals(outcome.out))
    for (const nlohmann::json &pair : part["preemptions"])
      if (pair["by_tid"] == other.pid()) {
        found++;
        EXPECT_EQ(pair["by_name"], "spin") << pair;
      }
  EXPECT_GT(found, 0u) << outcome.out;
}

TEST_F(TopCommand, ABlockedThreadThatDoesNothingIsShown) {
  Process program({.argv = {"sleep", "60"}});
  const std::string pid = std::to_string(program.pid());
  const Outcome outcome = run(top({"-p", pid, "--batch", "2", "-i", "200ms"}));
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  size_t seen = 0;
  for (size_t at = 0; (at = outcome.out.find("sleep (" + pid + ")", at)) != std::string::npos;
       at++) {
    const std::string line = outcome.out.substr(at, outcome.out.find('\n', at) - at);
    EXPECT_NE(line.find(" 100.0 "), std::string::npos) << line;
    seen++;
  }
  EXPECT_EQ(seen, 2u) << outcome.out;
}

TEST_F(TopCommand, ServesTheTimesOfAProcessUntilASignal) {
  Process program({.argv = {installed("spin"), "60000"}});
  Process server(top({"-p", std::to_string(program.pid()), "--metrics", "0", "-i", "100ms"}));
  ASSERT_TRUE(eventually([&] { return server.err().find("/metrics\n") != std::string::npos; },
                         "where the metrics are"));
  const uint64_t port = number_after(server.err(), "http://127.0.0.1:");
  const std::string get = "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(port) +
                          "; printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3";
  const auto seconds_of = [&](const std::string &start, const std::string &end) {
    for (const std::string &line : lines_of(run({.argv = {"bash", "-c", get}}).out))
      if (const size_t at = line.find(end + " ");
          line.starts_with("ovnitrace_" + start) && at != std::string::npos)
        return std::stod(line.substr(at + end.size() + 1));
    return -1.0;
  };
  const std::string spins = R"(thread_seconds_total{process="spin")";
  EXPECT_TRUE(eventually([&] { return seconds_of(spins, R"("running"})") > 0.5; },
                         "half a second of running"));
  EXPECT_EQ(seconds_of(spins, R"("blocked"})"), 0);
  EXPECT_GT(seconds_of("observed_seconds_total", ""), 0.5);
  server.signal(SIGTERM);
  const Outcome outcome = server.wait();
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_TRUE(names_in(scratch()).empty()) << "nothing is kept";
}

TEST_F(TopCommand, ShowsTheWholeMachineWithoutAProcess) {
  const Outcome outcome = run(top({"--batch", "1", "--by", "name", "--top", "3"}));
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" CPUs "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" more: --top 0 prints all)"), std::string::npos) << outcome.out;
}

TEST_F(TopCommand, NeedsATerminalOrBatch) {
  EXPECT_EQ(run(top({})).status(), 2);
  EXPECT_EQ(run(top({"--json"})).status(), 2);
  EXPECT_EQ(run(top({"--batch", "1", "-i", "1ms"})).status(), 2);
  EXPECT_EQ(run(top({"--batch", "1", "-p", "no-such-name"})).status(), 1);
}

TEST_F(TopCommand, WaitsForAThreadThatPassesTheFilter) {
  const Outcome outcome = run(top({"--comm", "no-such", "--batch", "2", "-i", "200ms"}));
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.out.find("0 threads "), std::string::npos) << outcome.out;
}

TEST_F(TopCommand, SaysThatTheCaptureEndedBeforeAnInterval) {
  const Outcome outcome = run(top({"--batch", "1", "-d", "200ms"}));
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.err.find("after 200.0 ms (-d): 0 of 1 intervals were printed"),
            std::string::npos)
      << outcome.err;
}

TEST_F(TopCommand, EndsWhenItsProcessEnds) {
  Process program({.argv = {"sleep", "0.5"}});
  const Outcome outcome =
      run(top({"-p", std::to_string(program.pid()), "--batch", "100000", "-i", "200ms"}));
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.err.find("the process ended: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(" of 100,000 intervals were printed"), std::string::npos);
  EXPECT_TRUE(names_in(scratch()).empty());
}

TEST_F(TopCommand, TakesKeysOnATerminal) {
  Process program({.argv = {"sleep", "60"}});
  const std::string pid = std::to_string(program.pid());
  mkdir(scratch().c_str(), 0777);
  Terminal terminal({"/usr/bin/env", "-C", path(""), "TERM=xterm", "LC_ALL=C.UTF-8",
                     "TMPDIR=" + scratch(), ovnitrace(), "top", "-p", pid, "-i", "200ms"});
  terminal.await("sleep (" + pid + ")");
  terminal.type('\r');
  terminal.await("WHERE THE TIME WENT");
  terminal.type('w');
  terminal.await("to sleep-2"); // a screen is only sent what changes
  terminal.type('h');
  terminal.await("freeze the screen");
  terminal.type('q');
  EXPECT_EQ(WEXITSTATUS(terminal.wait()), 0);
  EXPECT_TRUE(names_in(scratch()).empty());
  std::string saved;
  for (const std::string &name : names_in(path("")))
    if (name.starts_with("sleep-"))
      saved = path(name);
  ASSERT_FALSE(saved.empty());
  const Outcome info = run({.argv = {ovnitrace(), "info", saved}});
  EXPECT_EQ(info.status(), 0) << info.err;
  EXPECT_NE(info.out.find("sleep (" + pid + ")"), std::string::npos) << info.out;
}

TEST_F(TopCommand, AKeyActsAtOnceAndIsNotPrinted) {
  mkdir(scratch().c_str(), 0777);
  Terminal terminal({"/usr/bin/env", "TERM=xterm", "LC_ALL=C.UTF-8", "TMPDIR=" + scratch(),
                     ovnitrace(), "top", "-i", "60s"});
  terminal.await("the first interval is being recorded");
  const uint64_t start = monotonic_ns();
  terminal.type('~'); // does nothing
  terminal.type('h');
  terminal.await("freeze the screen");
  EXPECT_LT(monotonic_ns() - start, 30'000'000'000u) << "before the interval ends";
  EXPECT_EQ(terminal.printed().find('~'), std::string::npos);
  terminal.type('q');
  EXPECT_EQ(WEXITSTATUS(terminal.wait()), 0);
}

TEST_F(TopCommand, EndsWhenItsTerminalIsGone) {
  mkdir(scratch().c_str(), 0777);
  Terminal terminal({"/usr/bin/env", "TERM=xterm", "TMPDIR=" + scratch(), ovnitrace(), "top"});
  terminal.await("CPUs");
  terminal.hang_up();
  EXPECT_TRUE(eventually([&] { return names_in(scratch()).empty(); }, "the directory stays"));
}

TEST_F(TopCommand, ForTheUserWhoCalledSudo) {
  Command command = top({"--batch", "1", "-i", "200ms"});
  command.env["SUDO_UID"] = std::to_string(nobody_uid());
  command.env["SUDO_GID"] = std::to_string(nobody_gid());
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.out.find("THREAD"), std::string::npos) << outcome.err;
  EXPECT_TRUE(names_in(scratch()).empty());
}

} // namespace ovnitrace::test
