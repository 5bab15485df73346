// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace stat`: a summary on stderr, the program's exit status, and nothing left over.
#include "tests/e2e/support/e2e.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace ovnitrace::test {

class Stat : public CaptureTest {
protected:
  Command stat(const std::vector<std::string> &arguments) {
    mkdir(scratch().c_str(), 0777);
    chmod(scratch().c_str(), 0777);
    Command command{.argv = {ovnitrace(), "stat"}, .env = {{"TMPDIR", scratch()}}};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    return command;
  }
  std::string scratch() const { return path("scratch"); }
};

TEST_F(Stat, PrintsASummaryAndKeepsNothing) {
  const Outcome outcome = run(stat({"--", "sh", "-c", "echo printed; sleep 0.1; exit 7"}));
  EXPECT_EQ(outcome.status(), 7);
  EXPECT_EQ(outcome.out, "printed\n") << "stdout is the program's";
  for (const char *word :
       {"2 threads of 2 processes", "exited with status 7", "running", "preempted (cooling)",
        " of its life and ", "switches", "migrations", "wakeup latency p50", "p99"})
    EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in " << outcome.err;
  EXPECT_TRUE(names_in(scratch()).empty());
}

TEST_F(Stat, ASummaryThatCannotBeWrittenIsReported) {
  const std::string place = path("gone");
  ASSERT_TRUE(std::filesystem::create_directory(place));
  chmod(place.c_str(), 0777);
  Outcome outcome =
      run(stat({"-o", place + "/out", "--", "sh", "-c", "rmdir " + place + "; exit 7"}));
  EXPECT_EQ(outcome.status(), 7) << "the program's";
  EXPECT_NE(outcome.err.find("cannot create "), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("ovnitrace: \n"), std::string::npos) << outcome.err;
  Command full = stat({"-o", "-", "--", "true"});
  full.argv = {"sh", "-c",  "exec \"$@\" >/dev/full", "sh", full.argv[0], "stat", "-o", "-",
               "--", "true"};
  outcome = run(full);
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find("cannot write to standard output"), std::string::npos) << outcome.err;
}

TEST_F(Stat, JsonEqualsThatOfInfo) {
  const Outcome outcome = run(stat({"--json", "--", installed("sample")}));
  EXPECT_EQ(outcome.status(), 0);
  const nlohmann::json info = nlohmann::json::parse(outcome.err);
  EXPECT_EQ(info["threads"].size(), 10u);
  EXPECT_EQ(info["lost"], 0);
  EXPECT_EQ(info["trace"], "") << "it is not kept";
}

TEST_F(Stat, WritesItsSummaryIntoAFile) {
  const Outcome outcome =
      run(stat({"--json", "-o", path("stat.json"), "--", "sh", "-c", "echo mine >&2; exit 3"}));
  EXPECT_EQ(outcome.status(), 3);
  EXPECT_EQ(outcome.err, "mine\n") << "stderr is the program's";
  std::ifstream file(path("stat.json"));
  EXPECT_EQ(nlohmann::json::parse(file)["ended"], "exited with status 3");
  const Outcome text = run(stat({"-o", "-", "--", "true"}));
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("switches"), std::string::npos) << text.out;
}

TEST_F(Stat, RefusesAFileThatItCannotWriteBeforeTheProgramRuns) {
  for (const std::string &bad : {path("missing/stat.json"), path("scratch")}) {
    const Outcome outcome = run(stat({"-o", bad, "--", "touch", path("ran")}));
    EXPECT_EQ(outcome.status(), 1) << bad;
    EXPECT_NE(outcome.err.find(bad), std::string::npos) << outcome.err;
    EXPECT_NE(access(path("ran").c_str(), F_OK), 0) << bad;
  }
}

TEST_F(Stat, TakesFamiliesAndStacks) {
  const Outcome outcome = run(stat({"--filter", "+mutex", "--stacks", "--", installed("futexes")}));
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.err.find("Waits for mutexes and other futexes:"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("    at: "), std::string::npos) << outcome.err;
}

TEST_F(Stat, FindsProcessesByNameAndSaysWhich) {
  ASSERT_EQ(::symlink("/bin/sleep", path("ovn-nap").c_str()), 0);
  Process program({.argv = {path("ovn-nap"), "60"}});
  const std::string is =
      "ovnitrace: -p ovn-nap is ovn-nap (" + std::to_string(program.pid()) + ")\n";
  const auto started = [&] {
    std::ifstream comm("/proc/" + std::to_string(program.pid()) + "/comm");
    std::string name;
    return comm >> name && name == "ovn-nap";
  };
  ASSERT_TRUE(eventually(started, "no exec"));
  const Outcome outcome = run(stat({"-p", "ovn-nap", "-d", "0.1"}));
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_EQ(outcome.err.find(is), 0u) << outcome.err;
  const Outcome quiet = run(stat({"-q", "-p", "ovn-nap", "-d", "0.1"}));
  EXPECT_EQ(quiet.err.find(is), std::string::npos) << quiet.err;
  EXPECT_EQ(run(stat({"-p", "no-such-name", "-d", "0.1"})).status(), 1);
}

TEST_F(Stat, HasTheExitStatusOfAProgramThatCannotRunOrIsKilled) {
  EXPECT_EQ(run(stat({"--", "/no/such"})).status(), 127);
  EXPECT_EQ(run(stat({"--", "sh", "-c", "kill -9 $$"})).status(), 128 + SIGKILL);
  EXPECT_EQ(run(stat({})).status(), 2);
  EXPECT_TRUE(names_in(scratch()).empty());
}

TEST_F(Stat, TakesTheWholeMachineAndAProcess) {
  const Outcome machine = run(stat({"-a", "-d", "0.2"}));
  EXPECT_EQ(machine.status(), 0) << machine.err;
  EXPECT_NE(machine.err.find("of the CPUs"), std::string::npos);
  Process program({.argv = {"sleep", "60"}});
  const Outcome one = run(stat({"-p", std::to_string(program.pid()), "-d", "0.2"}));
  EXPECT_EQ(one.status(), 0) << one.err;
  EXPECT_NE(one.err.find("1 thread of 1 process"), std::string::npos) << one.err;
}

TEST_F(Stat, LeavesNothingWhenASignalEndsTheProgram) {
  Process process(stat({"--", "sleep", "60"}));
  const auto held = [&] { return names_in(scratch()); };
  ASSERT_TRUE(eventually(
      [&] { return held().size() == 1 && exists(scratch() + "/" + held()[0] + "/trace"); },
      "no trace"));
  EXPECT_EQ(::system(("test $(stat -c %a '" + scratch() + "/" + held()[0] + "') = 700").c_str()), 0)
      << "nobody else looks into it";
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().status(), 128 + SIGTERM);
  EXPECT_TRUE(held().empty());
}

TEST_F(Stat, ForTheUserWhoCalledSudo) {
  Command command = stat({"--", "id", "-u"});
  command.env["SUDO_UID"] = std::to_string(nobody_uid());
  command.env["SUDO_GID"] = std::to_string(nobody_gid());
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_EQ(outcome.out, std::to_string(nobody_uid()) + "\n");
  EXPECT_TRUE(names_in(scratch()).empty());
}

TEST_F(Stat, NamesTheDirectoryThatItCannotUse) {
  Command command = stat({"--", "true"});
  command.env["TMPDIR"] = path("no/such");
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.status(), 1);
  EXPECT_NE(outcome.err.find("TMPDIR"), std::string::npos) << outcome.err;
}

TEST_F(Stat, RepeatsAProgramAndPrintsMedians) {
  const Outcome outcome = run(stat({"-r", "3", "--", "sh", "-c", "echo ran; exit 5"}));
  EXPECT_EQ(outcome.status(), 5) << "that of the first run that failed";
  EXPECT_EQ(outcome.out, "ran\nran\nran\n") << "stdout is the program's";
  for (const char *word :
       {"3 RUNS", "MEDIAN", "\nwall ", "\nwait.p99 ", "CRITICAL PATH", "running"})
    EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in " << outcome.err;
  EXPECT_TRUE(names_in(scratch()).empty());
  const Outcome json = run(stat({"-r", "2", "--json", "--", installed("pipeline"), "3", "100"}));
  const nlohmann::json all = nlohmann::json::parse(json.err);
  EXPECT_EQ(all["schema"], 1);
  EXPECT_EQ(all["runs"].size(), 2u);
  const double a = all["runs"][0]["wall_ns"], b = all["runs"][1]["wall_ns"];
  EXPECT_EQ(all["quantities"][0]["quantity"], "wall");
  EXPECT_EQ(all["quantities"][0]["median_ns"], (a + b) / 2);
  EXPECT_EQ(all["quantities"][0]["least_ns"], std::min(a, b));
  EXPECT_EQ(all["quantities"][0]["deviation_ns"], std::abs(a - b) / 2);
}

TEST_F(Stat, AlternatesTwoCommandsAndComparesThem) {
  const std::string log = path("log");
  const auto program = [&](const std::string &name, const std::string &ms) {
    return "printf " + name + " >> " + log + "; exec " + installed("planted") + " sleep " + ms;
  };
  const Outcome outcome =
      run(stat({"-r", "6", "--json", "-o", "-", "--against", "sh -c '" + program("b", "65") + "'",
                "--", "sh", "-c", program("a", "5")}));
  EXPECT_EQ(outcome.status(), 0) << outcome.err;
  std::ifstream order(log);
  std::string runs;
  order >> runs;
  EXPECT_EQ(runs, "abababababab");
  const nlohmann::json all = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(all["a"].size(), 6u);
  EXPECT_EQ(all["verdict"], true);
  EXPECT_EQ(all["conditions"][0]["what"], "command");
  bool found = false;
  for (const nlohmann::json &cause : all["causes"])
    found |= cause["call"] == "clock_nanosleep" && cause["b_ns"] >= 60'000'000;
  EXPECT_TRUE(found) << all["causes"];
  EXPECT_TRUE(names_in(scratch()).empty());
}

TEST_F(Stat, ProgramsWithOtherNamesAreCompared) {
  const std::string before = path("app-old"), after = path("app-new");
  std::filesystem::copy_file(installed("planted"), before);
  std::filesystem::copy_file(installed("planted"), after);
  const auto compared = [&](const std::vector<std::string> &options, const std::string &command) {
    std::vector<std::string> argv = {"-r", "1", "--json", "-o", "-", "--against", command};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", before, "worker", "5"});
    return nlohmann::json::parse(run(stat(argv)).out);
  };
  const nlohmann::json direct = compared({}, after + " worker 9");
  EXPECT_TRUE(direct["only_in_a"].empty()) << direct;
  EXPECT_TRUE(direct["only_in_b"].empty()) << direct;
  const std::string in_shell = "sh -c '" + after + " worker 9; exit'";
  EXPECT_NE(compared({}, in_shell)["only_in_b"], nlohmann::json::array());
  const nlohmann::json matched = compared({"--match", "app-old=app-new"}, in_shell);
  EXPECT_EQ(matched["only_in_b"], nlohmann::json({"sh"}));
}

TEST_F(Stat, TheTwoCommandsAreNoDifferenceOfConditions) {
  const Outcome outcome = run(stat({"-r", "2", "--against", "sleep 0.02", "--", "sleep", "0.01"}));
  EXPECT_EQ(outcome.err.find("\nA: sleep 0.01\nB: sleep 0.02\n\n"), 0u) << outcome.err;
  EXPECT_EQ(outcome.err.find("command:"), outcome.err.npos) << outcome.err;
}

TEST_F(Stat, RefusesRepeatsWithoutAProgramOrWithABadCommand) {
  EXPECT_EQ(run(stat({"-r", "2"})).status(), 2);
  EXPECT_EQ(run(stat({"-r", "0", "--", "true"})).status(), 2);
  EXPECT_EQ(run(stat({"--against", "true", "--", "true"})).status(), 2);
  EXPECT_EQ(run(stat({"-r", "2", "--match", "a=b", "--", "true"})).status(), 2);
  for (const char *command : {"a | b", "", "$(id)", "'open"})
    EXPECT_EQ(run(stat({"-r", "2", "--against", command, "--", "true"})).status(), 2) << command;
  EXPECT_EQ(run(stat({"-r", "2", "--", "/no/such"})).status(), 127);
  EXPECT_TRUE(names_in(scratch()).empty());
}

TEST_F(Stat, ASignalEndsAllRuns) {
  Process process(stat({"-r", "100", "--", "sleep", "60"}));
  const auto held = [&] { return names_in(scratch()); };
  ASSERT_TRUE(eventually(
      [&] { return held().size() == 1 && exists(scratch() + "/" + held()[0] + "/0/trace.json"); },
      "no trace"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().status(), 128 + SIGTERM);
  EXPECT_TRUE(held().empty());
}

// Standard output is a pipe that is full: the summary is being printed until the signal comes.
TEST_F(Stat, ASignalDuringTheSummaryLeavesNothing) {
  Command command = stat({"-o", "-", "--", "true"});
  command.in_child = [] {
    int ends[2];
    if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0)
      _exit(202);
    const std::vector<char> bytes(4096);
    while (write(ends[1], bytes.data(), bytes.size()) > 0) {
    }
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDOUT_FILENO);
  };
  Process process(command);
  eventually(
      [&] {
        const std::string place = read_text("/proc/" + std::to_string(process.pid()) + "/wchan");
        return place.find("pipe_write") != std::string::npos;
      },
      "it prints");
  EXPECT_EQ(names_in(scratch()).size(), 1u);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().status(), 128 + SIGTERM);
  EXPECT_TRUE(names_in(scratch()).empty());
}

} // namespace ovnitrace::test
