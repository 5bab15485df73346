// SPDX-License-Identifier: BSD-2-Clause
// --control changes nothing of what programs do, traced or not.
#include "tests/e2e/support/regions.h"

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#include <sstream>

namespace ovnitrace::test {

namespace {

const std::vector<std::string> kChains = {"--control",
                                          "start:enter_func:foo,stop:exit_func:foo,repeat",
                                          "--control", "threadid:enter_func:getppid,repeat"};

/// The addresses of foo and getppid, as the program prints them.
struct Where {
  uint64_t foo = 0, getppid = 0;
};

Where where_of(const Process &process) {
  Where where;
  eventually([&] { return process.out().find('\n') != std::string::npos; }, "the program runs");
  std::istringstream(process.out()) >> std::hex >> where.foo >> where.getppid;
  return where;
}

/// Returns the bytes of a process's code in memory, with the probes.
std::string code_of(pid_t pid, uint64_t address) {
  std::string bytes(64, '\0');
  const int fd = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || pread(fd, bytes.data(), bytes.size(), off_t(address)) != ssize_t(bytes.size()))
    bytes = "unreadable";
  close(fd);
  return bytes;
}

/// The process that a capture has started.
pid_t child_of(pid_t parent) {
  pid_t child = 0;
  const std::string id = std::to_string(parent);
  eventually(
      [&] {
        std::istringstream(read_text("/proc/" + id + "/task/" + id + "/children")) >> child;
        return child != 0;
      },
      "the capture has started its program");
  return child;
}

} // namespace

class ControlHarm : public RegionTest {};

TEST_F(ControlHarm, ProgramsBehaveTheSameHoweverAFunctionIsLeft) {
  for (const std::string step : {"call", "tail", "throw", "longjmp", "coroutine", "frames",
                                 "altstack", "copied", "exit_thread", "fork=throw"}) {
    SCOPED_TRACE(step);
    remove_trace();
    const Outcome without = run({.argv = {installed("unwinds"), step}});
    EXPECT_EQ(without.status(), 0);
    const Outcome with = run(record_command(trace(), {installed("unwinds"), step}, kChains));
    EXPECT_EQ(with.status(), 0) << with.err;
    EXPECT_EQ(with.out, without.out);
  }
}

TEST_F(ControlHarm, ATailCallIsAnExit) {
  read(run(record_command(trace(), {installed("unwinds"), "call", "tail", "call"},
                          {"--control", "start:enter_func:tail,stop:exit_func:tail"})));
  const std::vector<Region> all = regions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].stopped_by, "exit_func");
}

/// The first call ends by an exception and does not count as an exit. The call that returns later
/// does.
TEST_F(ControlHarm, AnExceptionIsNoExit) {
  read(run(record_command(trace(), {installed("unwinds"), "throw"},
                          {"--control", "threadid:exit_func:foo,repeat"})));
  EXPECT_EQ(alarms(), std::vector<std::string>{"exit_func/1/1"});
}

TEST_F(ControlHarm, OtherProcessesHaveNoProbes) {
  const std::vector<std::string> steps = {"where",  "wait=" + path("go"), "parent", "throw",
                                          "frames", "coroutine"};
  std::vector<std::string> command = {installed("unwinds")};
  command.insert(command.end(), steps.begin(), steps.end());
  Process before({.argv = command});
  const Where place = where_of(before);
  const std::string foo = code_of(before.pid(), place.foo);
  const std::string getppid = code_of(before.pid(), place.getppid);
  Process capture(record_command(trace(), command, kChains));
  const Where traced = where_of(capture);
  const pid_t program = child_of(capture.pid());
  EXPECT_NE(code_of(program, traced.foo), foo) << "the test sees no probes";
  EXPECT_NE(code_of(program, traced.getppid), getppid);
  Process after({.argv = command});
  const Where later = where_of(after);
  EXPECT_EQ(code_of(before.pid(), place.foo), foo);
  EXPECT_EQ(code_of(before.pid(), place.getppid), getppid);
  EXPECT_EQ(code_of(after.pid(), later.foo), foo);
  EXPECT_EQ(code_of(after.pid(), later.getppid), getppid);
  write_text(path("go"), "");
  EXPECT_EQ(before.wait().status(), 0);
  EXPECT_EQ(after.wait().status(), 0);
  EXPECT_EQ(capture.wait().status(), 0);
}

/// Valgrind reads the code of the program and translates it. A probe would be an int3 for it.
TEST_F(ControlHarm, ValgrindIsNotDisturbed) {
  if (run({.argv = {"sh", "-c", "command -v valgrind"}}).status() != 0)
    GTEST_SKIP() << "valgrind is not installed";
  const std::vector<std::string> valgrind = {"valgrind", "-q", installed("unwinds"), "parent",
                                             "throw"};
  Process capture(record_command(
      trace(), {installed("unwinds"), "where", "wait=" + path("go"), "parent"}, kChains));
  where_of(capture);
  const Outcome beside = run({.argv = valgrind});
  EXPECT_EQ(beside.status(), 0) << beside.err;
  write_text(path("go"), "");
  EXPECT_EQ(capture.wait().status(), 0);
  remove_trace();
  const Outcome traced = run(record_command(trace(), valgrind, kChains));
  EXPECT_EQ(traced.status(), 0) << traced.err;
  EXPECT_NE(traced.out.find("fine"), std::string::npos) << traced.err;
}

/// The shell would take a child that ovnitrace has stopped for one that the user has stopped.
TEST_F(ControlHarm, AShellWithJobControlIsNotDisturbed) {
  const std::string script = "set -m; sleep 0.01; sleep 0.01; (exit 3); echo $?; jobs";
  const Outcome outcome = run(record_command(trace(), {"bash", "-c", script}, kChains));
  EXPECT_EQ(outcome.status(), 0);
  EXPECT_EQ(outcome.out, "3\n") << outcome.err;
}

/// The shell is not traced.
TEST_F(ControlHarm, AJobOfAShellIsNotDisturbed) {
  const std::string program =
      installed("regions") + " spin=" + path("go") + " dlopen=libz.so.1:zlibCompileFlags";
  Process shell({.argv = {"bash", "-c", "set -m; " + program + "; echo status $?"}});
  eventually([&] { return shell.out().find("spin") != std::string::npos; }, "the job runs");
  Process capture(record_command(trace(), {},
                                 {"-p", std::to_string(child_of(shell.pid())), "--control",
                                  "start:enter_func:zlibCompileFlags"}));
  eventually([&] { return capture.err().find("tracing process") != std::string::npos; }, "traced");
  write_text(path("go"), "");
  const Outcome outcome = shell.wait();
  EXPECT_NE(outcome.out.find("status 0"), std::string::npos) << outcome.out << outcome.err;
  EXPECT_EQ(capture.wait().status(), 0);
}

/// Such a parent stops itself when its child stops, and so does the parent of that.
TEST_F(ControlHarm, AParentThatWaitsForStopsIsContinued) {
  capture({"threadid:enter_func:foo,repeat"},
          {"su=su=foo", "su=su=exec=" + installed("regions") + ":foo", "bar"});
  EXPECT_EQ(alarms(), (std::vector<std::string>{"enter_func/1/1", "enter_func/1/1"}));
}

/// No process would continue it, because ovnitrace does not learn about it.
TEST_F(ControlHarm, AProcessIsNotStoppedIfThereIsNoRoomForItsMessage) {
  std::vector<std::string> options = {"--control", "threadid:enter_func:foo,repeat"};
  for (int n = 0; n < 4; n++) // a message of each, for each new thread
    options.insert(options.end(), {"--control", "start:timeout:100000"});
  std::vector<std::string> program = {installed("regions"), "spin=" + path("go")};
  program.insert(program.end(), 16, "threads=500:bar"); // 32,000 messages: 1.2 MB
  program.push_back("fork=foo");
  Process capture(record_command(trace(), program, options));
  eventually([&] { return capture.out().find("spin") != std::string::npos; }, "it runs");
  capture.signal(SIGSTOP);
  write_text(path("go"), "");
  EXPECT_TRUE(eventually([&] { return capture.out().find("foo") != std::string::npos; },
                         "the child is not stopped"));
  capture.signal(SIGCONT);
  const Outcome outcome = capture.wait();
  EXPECT_EQ(outcome.status(), 0);
  EXPECT_NE(outcome.err.find("could not be stopped"), std::string::npos) << outcome.err;
}

TEST_F(ControlHarm, AKilledCaptureLeavesNoProbes) {
  const std::vector<std::string> command = {
      installed("unwinds"), "where", "wait=" + path("go"), "parent", "throw", "coroutine"};
  Process program({.argv = command});
  const Where place = where_of(program);
  const std::string foo = code_of(program.pid(), place.foo);
  std::vector<std::string> options = {ovnitrace(), "-o", trace(), "-p",
                                      std::to_string(program.pid())};
  options.insert(options.end(), kChains.begin(), kChains.end());
  Process capture({.argv = options});
  eventually([&] { return capture.err().find("tracing process") != std::string::npos; }, "traced");
  EXPECT_NE(code_of(program.pid(), place.foo), foo);
  capture.signal(SIGKILL);
  capture.wait();
  eventually([&] { return code_of(program.pid(), place.foo) == foo; }, "the probes are gone");
  write_text(path("go"), "");
  EXPECT_EQ(program.wait().status(), 0);
}

} // namespace ovnitrace::test
