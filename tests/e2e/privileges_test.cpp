// SPDX-License-Identifier: BSD-2-Clause
// Which users may capture. To read a trace needs no privilege.
#include "tests/e2e/support/collector.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>

namespace fs = std::filesystem;

namespace ovnitrace::test {

class Privileges : public CaptureTest {
protected:
  /// Returns a copy of the command with file capabilities; empty if they cannot be set.
  std::string with_capabilities(const std::string &capabilities) const {
    const std::string command = path("ovnitrace");
    if (run({.argv = {"cp", ovnitrace(), command}}).status() != 0 ||
        run({.argv = {"setcap", capabilities + "+ep", command},
             .env = {{"PATH", "/usr/sbin:/sbin:/usr/bin:/bin"}}})
                .status() != 0)
      return "";
    return command;
  }
  void record_for_root() {
    record({"true"});
    for (const std::string &name : names_in(trace()))
      chmod((trace() + "/" + name).c_str(), 0600);
  }
  /// Expects each command that only reads to refuse that trace.
  void expect_refused(const std::string &command, const Command &caller) {
    const std::vector<std::vector<std::string>> commands = {
        {"info", trace()},
        {"dump", trace()},
        {"convert", trace(), "-o", path("out")},
        {"export", "--to", "ovni", trace(), "-o", path("out")},
        {"export", "--to", "sqlite", trace(), "-o", path("out")},
        {"export", "--to", "csv", trace(), "-o", path("out")},
        {"plot", trace(), "-o", path("out")},
        {"why", trace()},
        {"compress", "-d", trace()}};
    for (const auto &arguments : commands) {
      Command reader = caller;
      reader.argv = {command};
      reader.argv.insert(reader.argv.end(), arguments.begin(), arguments.end());
      const Outcome outcome = run(reader);
      EXPECT_EQ(outcome.status(), 1) << arguments[0];
      EXPECT_NE(outcome.err.find("Permission denied"), std::string::npos)
          << arguments[0] << ": " << outcome.err;
      EXPECT_EQ(outcome.out, "") << arguments[0];
      EXPECT_FALSE(exists(path("out"))) << arguments[0];
    }
  }
  /// Returns what /proc says of the system calls that the threads of a process may make.
  static std::set<std::string> call_limits(const std::string &pid) {
    std::set<std::string> limits;
    for (const std::string &tid : names_in("/proc/" + pid + "/task"))
      for (const std::string &line :
           lines_of(read_text("/proc/" + pid + "/task/" + tid + "/status")))
        if (line.starts_with("Seccomp:") || line.starts_with("NoNewPrivs:"))
          limits.insert(line);
    return limits;
  }
  static std::set<std::string> call_limits(const Process &process) {
    return call_limits(std::to_string(process.pid()));
  }
  static constexpr const char *kNoSetcap =
      "setcap (libcap2-bin) is missing or the file system has no capabilities";
};

TEST_F(Privileges, AreAskedForClearly) {
  for (const char *command : {"record", ""}) {
    std::vector<std::string> argv = {ovnitrace()};
    if (*command)
      argv.push_back(command);
    argv.insert(argv.end(), {"-o", "/tmp/never", "--", "true"});
    const Outcome outcome = run({.argv = argv, .in_child = become_nobody});
    EXPECT_EQ(outcome.status(), 1);
    EXPECT_NE(outcome.err.find("sudo"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("CAP_BPF"), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
    EXPECT_FALSE(exists("/tmp/never"));
  }
}

TEST_F(Privileges, AreNotNeededToRead) {
  record({installed("many_threads"), "10"});
  mkdir(path("prv").c_str(), 0755);
  ASSERT_EQ(chown(path("prv").c_str(), nobody_uid(), nobody_gid()), 0);
  const std::vector<std::vector<std::string>> commands = {
      {ovnitrace(), "dump", trace()},
      {ovnitrace(), "info", trace()},
      {ovnitrace(), "convert", trace(), "-o", path("prv")}};
  for (const auto &argv : commands) {
    const Outcome outcome = run({.argv = argv, .in_child = become_nobody});
    EXPECT_EQ(outcome.status(), 0) << argv[1] << ": " << outcome.err;
  }
  EXPECT_TRUE(exists(path("prv/thread.prv")));
}

// `setcap cap_bpf,cap_perfmon+ep ovnitrace`, as its message advises: no root at all. The rows of
// the table in docs/usage.md.
TEST_F(Privileges, TwoCapabilitiesSuffice) {
  const std::string command = with_capabilities("cap_bpf,cap_perfmon");
  if (command.empty())
    GTEST_SKIP() << kNoSetcap;
  mkdir(path("place").c_str(), 0755);
  ASSERT_EQ(chown(path("place").c_str(), nobody_uid(), nobody_gid()), 0);
  const auto status_of = [&](std::vector<std::string> argv) {
    argv.insert(argv.begin(), command);
    argv.insert(argv.end(), {"--", installed("many_threads"), "10"});
    const Outcome outcome = run({.argv = argv, .in_child = become_nobody});
    return std::to_string(outcome.status()) + (outcome.status() ? ": " + outcome.err : "");
  };
  const std::string trace = path("place/trace");
  const std::vector<std::vector<std::string>> options = {
      {}, {"-a"}, {"--filter", "all"}, {"--stacks"}, {"--control", "start:enter_func:main"}};
  const bool no_stacks =
      number_after("x" + read_text("/proc/sys/kernel/perf_event_paranoid"), "x") > 2;
  for (std::vector<std::string> argv : options) {
    const std::string what = argv.empty() ? "" : argv[0];
    if (what == "--stacks" && no_stacks)
      continue;
    argv.insert(argv.begin(), {"record", "-f", "-o", trace});
    ASSERT_EQ(status_of(argv), "0") << what;
    EXPECT_GE(read_trace_json(trace).threads.size(), 11u) << what;
  }
  EXPECT_EQ(status_of({"stat"}), "0");
  EXPECT_NE(status_of({"record", "-f", "-o", trace, "--user", "root"}).find("only root"),
            std::string::npos);
  EXPECT_NE(status_of({"record", "-f", "-o", trace, "--control", "start:icount:9"})
                .find("CAP_SYS_PTRACE missing?"),
            std::string::npos);
  const Outcome top = run({.argv = {command, "top", "--batch", "1"}, .in_child = become_nobody});
  EXPECT_EQ(top.status(), 0) << top.err;
}

// SIGCONT to another user's process needs CAP_KILL. Whom ovnitrace cannot continue, it does not
// stop.
TEST_F(Privileges, ControlStopsNoProcessThatItCannotContinue) {
  const std::string command = with_capabilities("cap_bpf,cap_perfmon");
  if (command.empty())
    GTEST_SKIP() << kNoSetcap;
  mkdir(path("place").c_str(), 0755);
  ASSERT_EQ(chown(path("place").c_str(), nobody_uid(), nobody_gid()), 0);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  Process of_root(
      {.argv = {"sh", "-c", "read line <" + path("pipe") + "; /bin/true; exec echo alive"}});
  Process tracer(
      {.argv = {command, "record", "-o", path("place/trace"), "-p", std::to_string(of_root.pid()),
                "--control", "start:enter_func:main,stop:enter_func:exit"},
       .in_child = become_nobody});
  ASSERT_TRUE(eventually([&] { return tracer.err().find("tracing ") != std::string::npos; },
                         "the capture begins"));
  write_text(path("pipe"), "go\n");
  EXPECT_EQ(of_root.wait().out, "alive\n");
  tracer.signal(SIGINT);
  tracer.wait();
}

// The program must not get the capabilities that ovnitrace has by its file.
TEST_F(Privileges, AreNotInheritedByTheProgram) {
  const std::string command = with_capabilities("cap_bpf,cap_perfmon");
  if (command.empty())
    GTEST_SKIP() << kNoSetcap;
  mkdir(path("place").c_str(), 0755);
  ASSERT_EQ(chown(path("place").c_str(), nobody_uid(), nobody_gid()), 0);
  const Outcome outcome = run(
      {.argv = {command, "record", "-q", "-o", path("place/trace"), "--", installed("show_env")},
       .in_child = become_nobody});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  EXPECT_NE(outcome.out.find("CapEff=0000000000000000"), std::string::npos) << outcome.out;
}

// The C library removes these from the environment of a command with file capabilities.
TEST_F(Privileges, FileCapabilitiesLeaveTheEnvironmentOfTheProgram) {
  const std::string command = with_capabilities("cap_bpf,cap_perfmon");
  if (command.empty())
    GTEST_SKIP() << kNoSetcap;
  mkdir(path("place").c_str(), 0755);
  ASSERT_EQ(chown(path("place").c_str(), nobody_uid(), nobody_gid()), 0);
  const Outcome outcome =
      run({.argv = {command, "record", "-q", "-o", path("place/trace"), "--", "env"},
           .env = {{"LD_LIBRARY_PATH", "/no/libraries"}, {"TMPDIR", "/no/files"}},
           .in_child = become_nobody});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  const std::string all = "\n" + outcome.out;
  EXPECT_NE(all.find("\nLD_LIBRARY_PATH=/no/libraries\n"), std::string::npos) << all;
  EXPECT_NE(all.find("\nTMPDIR=/no/files\n"), std::string::npos) << all;
}

// The threads of ovnitrace must not have them either, once the program runs.
TEST_F(Privileges, FileCapabilitiesAreDroppedBeforeTheProgramRuns) {
  const std::string command = with_capabilities("cap_bpf,cap_perfmon,cap_sys_nice");
  if (command.empty())
    GTEST_SKIP() << kNoSetcap;
  mkdir(path("place").c_str(), 0755);
  ASSERT_EQ(chown(path("place").c_str(), nobody_uid(), nobody_gid()), 0);
  // Threads of ovnitrace start, and then drop them, while the program runs. The program looks until
  // no thread has any.
  const std::string look =
      "for n in $(seq 500); do found=$(cat /proc/$PPID/task/*/status | grep CapPrm); "
      "[ $(echo \"$found\" | grep -c 0000000000000000) -lt 3 ] || "
      "echo \"$found\" | grep -qv 0000000000000000 || break; sleep 0.02; done; echo \"$found\"";
  const Outcome outcome =
      run({.argv = {command, "record", "-q", "-o", path("place/trace"), "--", "sh", "-c", look},
           .in_child = become_nobody});
  ASSERT_EQ(outcome.status(), 0) << outcome.err;
  size_t threads = 0;
  for (const std::string &line : lines_of(outcome.out))
    if (line.starts_with("CapPrm:")) {
      threads++;
      EXPECT_EQ(line, "CapPrm:\t0000000000000000");
    }
  EXPECT_GE(threads, 3u) << "main thread, reader, writer";
}

TEST_F(Privileges, AreNotUsedToReadUnderSudo) {
  record_for_root();
  Command caller = {.env = {{"SUDO_UID", std::to_string(nobody_uid())},
                            {"SUDO_GID", std::to_string(nobody_gid())}}};
  expect_refused(ovnitrace(), caller);
  caller.argv = {ovnitrace(), "info", trace()};
  const Outcome outcome = run(caller);
  EXPECT_NE(outcome.err.find("sudo env -u SUDO_UID ovnitrace"), std::string::npos) << outcome.err;
}

TEST_F(Privileges, FileCapabilitiesAreNotUsedToRead) {
  record_for_root();
  const std::string command = with_capabilities("cap_dac_override,cap_dac_read_search");
  if (command.empty())
    GTEST_SKIP() << kNoSetcap;
  expect_refused(command, {.in_child = become_nobody});
}

TEST_F(Privileges, AreNotUsedToCollectUnderSudo) {
  mkdir(path("place").c_str(), 0755);
  ASSERT_EQ(chown(path("place").c_str(), nobody_uid(), nobody_gid()), 0);
  CollectorProcess collector("tcp", path("place"), {}, [] {
    setenv("SUDO_UID", std::to_string(nobody_uid()).c_str(), 1);
    setenv("SUDO_GID", std::to_string(nobody_gid()).c_str(), 1);
  });
  const std::string status =
      read_text("/proc/" + std::to_string(collector.process().pid()) + "/status");
  const std::string uid = "\t" + std::to_string(nobody_uid());
  EXPECT_NE(status.find("\nUid:" + uid + uid + uid), std::string::npos) << status;
  EXPECT_NE(status.find("\nCapPrm:\t0000000000000000"), std::string::npos) << status;
}

// user/launch/call_filter.h
TEST_F(Privileges, SystemCallsAreDeniedToSessionsThatStartNoProgram) {
  const std::set<std::string> denied = {"NoNewPrivs:\t1", "Seccomp:\t2"};
  const Process program({.argv = {installed("spin"), "60000"}});
  const std::string pid = std::to_string(program.pid());
  const std::vector<std::vector<std::string>> sessions = {
      {"record", "-a", "-o", trace()},
      {"record", "-a", "--rotate", "1s", "-f", "-o", trace()},
      {"record", "-a", "--stacks", "-f", "-o", trace()},
      {"record", "-p", pid, "--control", "start:enter_func:main", "-f", "-o", trace()},
      {"-p", pid, "--report", "-f", "-o", trace()},
      {"stat", "-a"},
      {"top", "--metrics", "0"}};
  for (std::vector<std::string> argv : sessions) {
    argv.insert(argv.begin(), ovnitrace());
    Process session({.argv = argv});
    EXPECT_TRUE(eventually([&] { return call_limits(session) == denied; }, argv[1]));
    session.signal(SIGINT);
    const Outcome outcome = session.wait();
    EXPECT_EQ(outcome.status(), 0) << argv[1] << ": " << outcome.err;
  }
  CollectorProcess collector("tcp", directory());
  EXPECT_EQ(call_limits(collector.process()), denied);
}

// The program would inherit it.
TEST_F(Privileges, NoSystemCallIsDeniedToSessionsThatStartAProgram) {
  const std::set<std::string> limits = call_limits("self");
  const std::vector<std::vector<std::string>> sessions = {
      {"record", "-a", "--buffer", "last:1M", "--on-save", "true", "-o", trace()},
      {"-a", "--open", "-f", "-o", trace()}};
  for (std::vector<std::string> argv : sessions) {
    argv.insert(argv.begin(), ovnitrace());
    const Process session({.argv = argv});
    EXPECT_TRUE(eventually([&] { return session.err().find("tracing ") != std::string::npos; },
                           "it has begun"));
    EXPECT_EQ(call_limits(session), limits) << argv[1];
  }
  const Outcome outcome = record({"sh", "-c", "cat /proc/$PPID/status"}, {"-f"});
  for (const std::string &line : limits)
    EXPECT_NE(outcome.out.find("\n" + line + "\n"), std::string::npos) << outcome.out;
}

// Somebody else's trace directory must not make root read another file.
TEST_F(Privileges, DoNotFollowLinksInATrace) {
  record({"true"});
  fs::rename(trace() + "/cpu0000.ftr.zst", path("elsewhere"));
  fs::create_symlink(path("elsewhere"), trace() + "/cpu0000.ftr.zst");
  const Outcome chunk = run({.argv = {ovnitrace(), "dump", trace()}});
  EXPECT_EQ(chunk.status(), 1);
  EXPECT_NE(chunk.err.find("symbolic link"), std::string::npos) << chunk.err;

  fs::remove(trace() + "/cpu0000.ftr.zst");
  fs::rename(path("elsewhere"), trace() + "/cpu0000.ftr.zst");
  fs::rename(trace() + "/trace.json", path("description"));
  fs::create_symlink(path("description"), trace() + "/trace.json");
  const Outcome description = run({.argv = {ovnitrace(), "info", trace()}});
  EXPECT_NE(description.err.find("symbolic link"), std::string::npos) << description.err;
}

} // namespace ovnitrace::test
