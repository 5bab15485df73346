// SPDX-License-Identifier: BSD-2-Clause
// Signals are treated as by sudo. The terminal's signals to the process group reach the program
// directly. ovnitrace forwards the signals that a process sends to ovnitrace.
#include "tests/e2e/support/collector.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/terminal.h"
#include "tests/e2e/support/trace.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace ovnitrace::test {

class Signals : public CaptureTest {
protected:
  /// A shell script that counts the signals that it gets, and ends when asked to.
  std::string counting(const std::string &signal) const {
    return "trap 'echo got >>" + path("got") + "' " + signal + "; echo >" + path("ready") +
           "; until [ -e " + path("end") + " ]; do sleep 0.02; done; exit 6";
  }
  size_t got() const { return exists(path("got")) ? lines_of(read_text(path("got"))).size() : 0; }
  void wait_for(const std::string &file) {
    ASSERT_TRUE(eventually([&] { return exists(path(file)); }, file));
  }
};

/// Interrupts ovnitrace until the signal has ended it.
void expect_ended_by_interrupts(Process &tracer) {
  eventually(
      [&] {
        tracer.signal(SIGINT);
        return !tracer.running();
      },
      "ovnitrace ends");
  const Outcome outcome = tracer.wait();
  EXPECT_TRUE(WIFSIGNALED(outcome.wait_status)) << outcome.status() << ": " << outcome.err;
}

TEST_F(Signals, SentToOvnitraceAreForwarded) {
  for (const auto &[number, name] : {std::pair{SIGTERM, "TERM"},
                                     {SIGINT, "INT"},
                                     {SIGHUP, "HUP"},
                                     {SIGQUIT, "QUIT"},
                                     {SIGALRM, "ALRM"},
                                     {SIGUSR1, "USR1"},
                                     {SIGUSR2, "USR2"}}) {
    for (const char *file : {"got", "ready", "end"})
      unlink(path(file).c_str());
    Process tracer(record_command(trace(), {"sh", "-c", counting(name)}, {"-f"}));
    wait_for("ready");
    tracer.signal(number);
    eventually([&] { return got() == 1; }, std::string("the program gets SIG") + name);
    write_text(path("end"), "");
    EXPECT_EQ(tracer.wait().status(), 6);
    EXPECT_EQ(got(), 1u);
  }
}

// The group is signalled, as timeout(1) does. ovnitrace forwards its own copy, too. The program
// gets the signal once or twice, as the kernel may merge them.
TEST_F(Signals, SentToTheGroupByAProcessReachTheProgram) {
  Command command = record_command(trace(), {installed("take_signals")});
  command.in_child = [] { setpgid(0, 0); };
  Process tracer(command);
  ASSERT_TRUE(eventually([&] { return tracer.out() == "ready\n"; }, "the program runs"));
  kill(-tracer.pid(), SIGUSR1);
  const std::string once = "ready\n" + std::to_string(SIGUSR1) + "\n";
  EXPECT_TRUE(
      eventually([&] { return tracer.out().starts_with(once); }, "the program gets SIGUSR1"));
  kill(-tracer.pid(), SIGTERM);
  EXPECT_EQ(tracer.wait().status(), 6);
}

TEST_F(Signals, NeedNoOtherProcess) {
  Process tracer(record_command(trace(), {installed("take_signals")}));
  ASSERT_TRUE(eventually([&] { return tracer.out() == "ready\n"; }, "the program runs"));
  const Outcome children = run({.argv = {"pgrep", "-l", "-P", std::to_string(tracer.pid())}});
  EXPECT_EQ(lines_of(children.out).size(), 1u) << children.out;
  EXPECT_NE(children.out.find("take_signals"), std::string::npos) << children.out;
  tracer.signal(SIGTERM);
  EXPECT_EQ(tracer.wait().status(), 6);
}

// ovnitrace waits for a collector that is stopped.
TEST_F(Signals, EndOvnitraceAtOnceWhenTheProgramHasEnded) {
  CollectorProcess collector("tcp", path("collected"));
  const std::string until_end = "until [ -e " + path("end") + " ]; do sleep 0.02; done";
  for (const bool whole_machine : {false, true}) {
    Command command{.argv = {ovnitrace(), "record", "--compress=0", "--send", collector.url()}};
    if (whole_machine)
      command.argv.push_back("-a");
    else
      command.argv.insert(command.argv.end(),
                          {"--", "sh", "-c", "echo >" + path("ready") + "; " + until_end});
    const size_t before = collector.traces().size();
    Process tracer(command);
    const auto is_sent = [&] {
      size_t filled = 0;
      for (const std::string &trace : collector.traces())
        filled += !records_in(trace).empty();
      return filled > before;
    };
    ASSERT_TRUE(eventually(is_sent, "it is sent")) << tracer.err() << collector.process().err();
    if (!whole_machine)
      wait_for("ready");
    collector.process().signal(SIGSTOP);
    write_text(path("end"), "");
    expect_ended_by_interrupts(tracer);
    collector.process().signal(SIGCONT);
  }
}

// The same, while ovnitrace sends what an early stop left: more than sockets hold.
TEST_F(Signals, EndOvnitraceAtOnceWhileAnEarlyStopIsSent) {
  CollectorProcess collector("tcp", path("collected"));
  const std::string work = installed("pingpong") + " 400000 >/dev/null";
  for (const bool whole_machine : {false, true}) {
    Command command{.argv = {ovnitrace(), "record", "-b", "stop:12M", "--send", collector.url()}};
    if (whole_machine)
      command.argv.push_back("-a");
    else
      command.argv.insert(
          command.argv.end(),
          {"--", "sh", "-c", "until [ -e " + path("go") + " ]; do sleep 0.02; done; " + work});
    const size_t before = collector.traces().size();
    Process tracer(command);
    const auto is_prepared = [&] {
      const std::vector<std::string> traces = collector.traces();
      return traces.size() > before &&
             std::all_of(traces.begin(), traces.end(),
                         [](const std::string &trace) { return exists(trace + "/trace.json"); });
    };
    ASSERT_TRUE(eventually(is_prepared, "the capture begins")) << tracer.err();
    collector.process().signal(SIGSTOP);
    if (whole_machine) {
      EXPECT_EQ(run({.argv = {"sh", "-c", work}}).status(), 0);
    } else {
      write_text(path("go"), "");
      const std::string children = std::to_string(tracer.pid());
      ASSERT_TRUE(eventually(
          [&] {
            return run({.argv = {"pgrep", "-P", children}}).status() != 0;
          },
          "the program ends"));
    }
    expect_ended_by_interrupts(tracer);
    collector.process().signal(SIGCONT);
  }
}

// The collector accepts the connection and never answers.
TEST_F(Signals, EndOvnitraceWhileACollectorIsSilent) {
  const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  ASSERT_EQ(listen(silent, 8), 0); // on any port
  ASSERT_EQ(getsockname(silent, reinterpret_cast<sockaddr *>(&address), &size), 0);
  const std::string url = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  for (const std::vector<std::string> &what :
       {std::vector<std::string>{"--", "touch", path("ran")}, {"-a"}}) {
    Command command{.argv = {ovnitrace(), "record", "--send", url}};
    command.argv.insert(command.argv.end(), what.begin(), what.end());
    Process tracer(command);
    const int connection = accept4(silent, nullptr, nullptr, SOCK_CLOEXEC);
    char byte;
    EXPECT_EQ(recv(connection, &byte, 1, 0), 1) << "it says who it is";
    tracer.signal(SIGINT);
    const Outcome outcome = tracer.wait();
    EXPECT_EQ(outcome.status(), 128 + SIGINT);
    EXPECT_NE(outcome.err.find("before the capture started"), std::string::npos) << outcome.err;
    close(connection);
  }
  EXPECT_FALSE(exists(path("ran")));
  close(silent);
}

TEST_F(Signals, ASignalFromTheProgramIsNotForwardedToIt) {
  Process tracer(record_command(trace(), {"sh", "-c",
                                          "kill -USR1 $PPID; trap 'exit 6' TERM; echo >" +
                                              path("ready") + "; while :; do sleep 0.02; done"}));
  wait_for("ready");
  tracer.signal(SIGTERM);
  EXPECT_EQ(tracer.wait().status(), 6);
}

// ovnitrace is started as by nohup.
TEST_F(Signals, ThatWereIgnoredDoNotEndACaptureOfTheMachine) {
  Command command = record_command(trace(), {}, {"-a", "-d", "1"});
  command.in_child = [] { ::signal(SIGHUP, SIG_IGN); };
  Process tracer(command);
  ASSERT_TRUE(eventually([&] { return exists(trace() + "/trace.json"); }, "the capture begins"));
  tracer.signal(SIGHUP);
  EXPECT_EQ(tracer.wait().status(), 0);
  EXPECT_EQ(read_trace_json(trace()).how, "after 1.000 s (-d)");
}

TEST_F(Signals, EndACaptureOfTheMachineInOrder) {
  for (int number : {SIGTERM, SIGALRM, SIGUSR1, SIGUSR2}) {
    const std::string trace = path(std::to_string(number));
    Process tracer(record_command(trace, {}, {"-a"}));
    ASSERT_TRUE(eventually([&] { return exists(trace + "/trace.json"); }, "the capture begins"));
    tracer.signal(number);
    EXPECT_EQ(tracer.wait().status(), 0) << number;
    EXPECT_EQ(read_trace_json(trace).how, "stopped by a signal");
  }
}

/// Standard error is a pipe that nobody reads.
void break_stderr() {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
    _exit(202);
  close(ends[0]), close(ends[1]);
}

TEST_F(Signals, ABrokenPipeDoesNotEndOvnitrace) {
  Command command{.argv = {ovnitrace(), "-o", trace(), "--", "sh", "-c", "exit 5"},
                  .in_child = break_stderr};
  EXPECT_EQ(run(command).status(), 5);
  EXPECT_TRUE(exists(trace() + "/thread.prv"));
}

TEST_F(Signals, ABrokenPipeEndsTheProgram) {
  Command command = record_command(trace(), {"sh", "-c", "echo text >&2; exit 5"});
  command.in_child = break_stderr;
  EXPECT_EQ(run(command).status(), 128 + SIGPIPE);
}

TEST_F(Signals, ThatKillTheProgramEndTheCapture) {
  Process tracer(record_command(trace(), {"sleep", "1000"}));
  ASSERT_TRUE(eventually(
      [&] {
        const Outcome outcome =
            run({.argv = {"pgrep", "-P", std::to_string(tracer.pid()), "sleep"}});
        return outcome.status() == 0;
      },
      "the program runs"));
  tracer.signal(SIGTERM);
  EXPECT_EQ(tracer.wait().status(), 128 + SIGTERM);
  EXPECT_EQ(read_trace_json(trace()).exit_status, 128 + SIGTERM);
  EXPECT_EQ(dump(trace()).empty(), false);
}

TEST_F(Signals, AKeyOnTheTerminalReachesTheProgramOnce) {
  for (const char *name : {"got", "ready", "end"})
    unlink(path(name).c_str());
  Terminal terminal(record_command(trace(), {"sh", "-c", counting("INT")}).argv);
  wait_for("ready");
  terminal.type(3); // ^C
  eventually([&] { return got() >= 1; }, "the program gets SIGINT");
  write_text(path("end"), "");
  const int status = terminal.wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 6) << terminal.printed();
  EXPECT_EQ(got(), 1u) << "once, not also through ovnitrace";
  EXPECT_FALSE(dump(trace()).empty());
}

TEST_F(Signals, AKeyThatEndsTheProgramLeavesAFinishedTrace) {
  Terminal terminal(
      record_command(trace(), {"sh", "-c", "echo >" + path("ready") + "; exec sleep 1000"}).argv);
  wait_for("ready");
  terminal.type(3);
  const int status = terminal.wait();
  EXPECT_TRUE(WIFEXITED(status)) << "ovnitrace itself is not killed";
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT) << terminal.printed();
  EXPECT_EQ(read_trace_json(trace()).exit_status, 128 + SIGINT);
}

// timeout(1) makes a process group of its own, which is not the terminal's foreground group.
TEST_F(Signals, AKeyReachesAProgramThatLeftTheGroup) {
  Terminal terminal(record_command(trace(), {"timeout", "1000", "sh", "-c", counting("INT")}).argv);
  wait_for("ready");
  terminal.type(3);
  eventually([&] { return got() >= 1; }, "the program gets SIGINT");
  write_text(path("end"), "");
  EXPECT_EQ(WEXITSTATUS(terminal.wait()), 6) << terminal.printed();
}

// The kernel signals only the leader of the session, which is ovnitrace here.
TEST_F(Signals, AHangUpReachesTheProgram) {
  Terminal terminal(
      record_command(trace(), {"sh", "-c", "echo >" + path("ready") + "; exec sleep 1000"}).argv);
  wait_for("ready");
  const int status = terminal.hang_up();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGHUP);
  EXPECT_EQ(read_trace_json(trace()).exit_status, 128 + SIGHUP);
}

// The program can read from the terminal, which is its controlling terminal.
TEST_F(Signals, TheTerminalIsThePrograms) {
  Terminal terminal(record_command(trace(), {installed("show_env")}).argv);
  EXPECT_EQ(WEXITSTATUS(terminal.wait()), 0);
  EXPECT_NE(terminal.printed().find("foreground=1"), std::string::npos) << terminal.printed();
  EXPECT_NE(terminal.printed().find("tty=/dev/pts/"), std::string::npos) << terminal.printed();
}

} // namespace ovnitrace::test
