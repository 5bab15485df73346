// SPDX-License-Identifier: BSD-2-Clause
// kill -9 of ovnitrace in mid-capture.
#include "tests/e2e/support/bpf_programs.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/prv.h"
#include "tests/e2e/support/trace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace fs = std::filesystem;

namespace ovnitrace::test {

namespace {

uint64_t chunk_bytes(const std::string &trace) {
  uint64_t bytes = 0;
  std::error_code gone;
  for (const auto &entry : fs::directory_iterator(trace, gone))
    if (entry.path().extension() == ".zst")
      bytes += fs::file_size(entry.path(), gone);
  return bytes;
}

} // namespace

class Killed : public CaptureTest {
protected:
  /// Captures a program that switches much and, when it is allowed to, writes to a file. Kills
  /// ovnitrace when enough chunks are on the disk.
  void SetUp() override {
    CaptureTest::SetUp();
    if (IsSkipped())
      return;
    const std::string script = installed("pingpong") + " 2000 >/dev/null; until [ -e " +
                               path("go") + " ]; do " + installed("pingpong") +
                               " 2000 >/dev/null; done; echo alive >" + path("alive");
    Process tracer(record_command(trace(), {"sh", "-c", script}, {"--chunk-size", "16K"}));
    ASSERT_TRUE(eventually([&] { return chunk_bytes(trace()) > 100'000; }, "chunks on the disk"));
    programs_ = bpf_programs_of(tracer.pid());
    tracer.signal(SIGKILL);
    EXPECT_EQ(tracer.wait().status(), 128 + SIGKILL);
  }
  std::set<uint32_t> programs_;
};

TEST_F(Killed, LetsTheProgramGoOn) {
  EXPECT_FALSE(exists(path("alive")));
  write_text(path("go"), "");
  EXPECT_TRUE(eventually([&] { return exists(path("alive")); }, "the program ends its work"));
}

TEST_F(Killed, LeavesNoBpfProgramLoaded) {
  write_text(path("go"), "");
  ASSERT_GE(programs_.size(), 8u) << "the test did not see the programs";
  for (uint32_t id : programs_)
    eventually([&] { return !bpf_program_exists(id); }, "BPF program " + std::to_string(id));
}

// The missing end is reported, and the exit status is 1. All the rest is there.
TEST_F(Killed, LeavesATraceThatCanBeRead) {
  write_text(path("go"), "");
  const Outcome dumped = run({.argv = {ovnitrace(), "dump", trace()}});
  EXPECT_LE(dumped.status(), 1);
  EXPECT_NE(dumped.err.find("warning"), std::string::npos);
  const std::vector<DumpEvent> events = parse_dump(dumped.out);
  EXPECT_GT(events.size(), 5'000u) << "100 kB were on the disk";
  const TraceRecord reported = read_trace_json(trace());
  EXPECT_EQ(reported.end, 0u);

  const Outcome converted = run({.argv = {ovnitrace(), "convert", trace()}});
  EXPECT_LE(converted.status(), 1);
  EXPECT_NE(converted.err.find("warning"), std::string::npos);
  const Prv thread = read_prv(trace(), "thread"), cpu = read_prv(trace(), "cpu");
  expect_sound(thread, cpu);
  EXPECT_GT(thread.events.size(), 5'000u);
  EXPECT_NE(thread.rows.at(1).find("pingpong"), std::string::npos) << thread.rows[1];
}

/// As ps shows it: 'T' is stopped.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t end = line.rfind(')');
  return end + 2 < line.size() ? line[end + 2] : '?';
}

/// Returns whether all threads of a process have ended, which nobody has waited for.
bool has_ended(pid_t pid) {
  const fs::directory_iterator threads("/proc/" + std::to_string(pid) + "/task");
  return state_of(pid) == 'Z' && std::distance(begin(threads), end(threads)) == 1;
}

/// Returns the children of a process.
std::vector<pid_t> children_of(pid_t pid) {
  const std::string id = std::to_string(pid);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  return {std::istream_iterator<pid_t>(file), {}};
}

std::string name_of(pid_t pid) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
  return name;
}

pid_t child_named(const std::string &name, pid_t parent) {
  const std::vector<pid_t> children = children_of(parent);
  const auto child = std::find_if(children.begin(), children.end(),
                                  [&](pid_t pid) { return name_of(pid) == name; });
  return child == children.end() ? 0 : *child;
}

class KilledWithControl : public CaptureTest {
protected:
  /// Returns the number that a process has written into a file.
  pid_t pid_in(const std::string &file) const {
    pid_t pid = 0;
    eventually([&] { return bool(std::ifstream(file) >> pid); }, file + " is written");
    return pid;
  }
};

// ovnitrace was what connected the program's process group with its session. When the kernel sees
// such a process end, it sends SIGHUP to stopped members. The guard keeps another one, and so may
// be slow: it is stopped here until ovnitrace has ended.
TEST_F(KilledWithControl, ContinuesTheProgramBeforeItsGroupIsOrphaned) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Command session = record_command(
      trace(), {"sh", "-c", "echo $$ >program; read line <pipe; exec sh -c 'echo alive >alive'"},
      {"--control", "start:enter_func:main,stop:enter_func:exit"});
  session.argv.insert(session.argv.begin(),
                      {"bash", "-c", "set -m; \"$@\" & echo $! >tracer; exec sleep 1000", "bash"});
  session.cwd = directory();
  session.in_child = [] { setsid(); };
  Process leader(session);
  const pid_t tracer = pid_in(path("tracer")), program = pid_in(path("program"));
  kill(tracer, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(tracer) == 'T'; }, "a stop"));
  write_text(pipe, "go\n");
  ASSERT_TRUE(eventually([&] { return state_of(program) == 'T'; }, "the program is held"));
  const pid_t guard = child_named("ovt-guard", tracer);
  ASSERT_GT(guard, 0);
  kill(guard, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(guard) == 'T'; }, "the guard stops"));
  kill(tracer, SIGKILL);
  ASSERT_TRUE(eventually([&] { return has_ended(tracer); }, "ovnitrace ends"));
  kill(guard, SIGCONT);
  EXPECT_TRUE(eventually([&] { return strchr("?Z", state_of(program)); }, "the program ends"));
  EXPECT_TRUE(exists(path("alive"))) << "the kernel sent SIGHUP";
}

TEST_F(KilledWithControl, KillingByNameLeavesTheGuard) {
  Process tracer(record_command(trace(), {"sh", "-c", "echo $$ >" + path("program") + "; sleep 60"},
                                {"--control", "precond:enter_func:main,start:icount:9"}));
  const pid_t program = pid_in(path("program"));
  std::set<std::string> names;
  for (pid_t child : children_of(tracer.pid())) {
    if (child == program)
      continue;
    const std::string process = "/proc/" + std::to_string(child);
    const std::string arguments = read_text(process + "/cmdline");
    names.insert(read_text(process + "/comm") + arguments.substr(0, arguments.find('\0')));
    EXPECT_EQ(arguments.find("ovnitrace"), std::string::npos) << arguments;
    if (arguments.starts_with("ovt-guard")) {
      EXPECT_EQ(getpgid(child), child) << "a group's processes are killed together";
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"ovt-guard\novt-guard", "ovt-steps\novt-steps"}));
}

// A process that executes another program is stopped until its probes are set. Here ovnitrace is no
// longer there to set them.
TEST_F(KilledWithControl, ContinuesOnlyTheProcessesThatItStopped) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Process program({.argv = {"sh", "-c", "read line <" + pipe + "; exec echo alive"}});
  Process stopped({.argv = {"sleep", "1000"}});
  const auto is_stopped = [](const Process &process) { return state_of(process.pid()) == 'T'; };
  Process tracer(
      record_command(trace(), {},
                     {"-p", std::to_string(program.pid()), "-p", std::to_string(stopped.pid()),
                      "--control", "start:enter_func:main,stop:enter_func:exit"}));
  ASSERT_TRUE(eventually([&] { return tracer.err().find("tracing ") != std::string::npos; },
                         "the capture begins"));
  stopped.signal(SIGSTOP);
  tracer.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(tracer) && is_stopped(stopped); }, "a stop"));
  write_text(pipe, "go\n");
  ASSERT_TRUE(eventually([&] { return is_stopped(program); }, "the program executes echo"));
  tracer.signal(SIGKILL);
  tracer.wait();
  EXPECT_EQ(program.wait().out, "alive\n");
  EXPECT_TRUE(is_stopped(stopped)) << "somebody else has stopped it";
}

} // namespace ovnitrace::test
