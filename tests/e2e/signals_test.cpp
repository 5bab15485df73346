// Signals: from the terminal the program gets them itself, others are passed on to it.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

namespace ovnitrace::test {

class Signals : public CaptureTest {
protected:
  /// A shell script that counts the signals that it gets, and ends when told to.
  std::string counting(const std::string &signal) const {
    return "trap 'echo got >>" + path("got") + "' " + signal + "; echo >" + path("ready") +
           "; until [ -e " + path("end") + " ]; do sleep 0.02; done; exit 6";
  }
  size_t got() const { return exists(path("got")) ? lines_of(read_text(path("got"))).size() : 0; }
  void wait_for(const std::string &file) {
    ASSERT_TRUE(eventually([&] { return exists(path(file)); }, file));
  }
};

TEST_F(Signals, SentToOvnitraceArePassedOn) {
  for (const auto &[number, name] :
       {std::pair{SIGTERM, "TERM"}, {SIGINT, "INT"}, {SIGHUP, "HUP"}, {SIGQUIT, "QUIT"}}) {
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

/// A command on a terminal of its own.
class Terminal {
public:
  explicit Terminal(const std::vector<std::string> &argv) {
    pid_ = forkpty(&master_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      forget_who_runs_the_tests();
      std::vector<char *> arguments;
      for (const std::string &argument : argv)
        arguments.push_back(const_cast<char *>(argument.c_str()));
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(201);
    }
  }
  ~Terminal() { close(master_); }
  void type(char key) { EXPECT_EQ(write(master_, &key, 1), 1); }
  /// Reads what is printed until the command ends. Its wait status.
  int wait() {
    char part[4096];
    for (ssize_t got; (got = read(master_, part, sizeof part)) > 0;)
      printed_.append(part, size_t(got));
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }
  const std::string &printed() const { return printed_; }

private:
  pid_t pid_ = -1;
  int master_ = -1;
  std::string printed_;
};

TEST_F(Signals, OfTheTerminalReachTheProgramOnce) {
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

TEST_F(Signals, OfTheTerminalEndAProgramAndItsTraceIsFinished) {
  Terminal terminal(
      record_command(trace(), {"sh", "-c", "echo >" + path("ready") + "; exec sleep 1000"}).argv);
  wait_for("ready");
  terminal.type(3);
  const int status = terminal.wait();
  EXPECT_TRUE(WIFEXITED(status)) << "ovnitrace itself is not killed";
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT) << terminal.printed();
  EXPECT_EQ(read_trace_json(trace()).exit_status, 128 + SIGINT);
}

// The program has the terminal: it reads from it, and it is its controlling one.
TEST_F(Signals, AndTheTerminalAreThePrograms) {
  Terminal terminal(record_command(trace(), {installed("show_env")}).argv);
  EXPECT_EQ(WEXITSTATUS(terminal.wait()), 0);
  EXPECT_NE(terminal.printed().find("foreground=1"), std::string::npos) << terminal.printed();
  EXPECT_NE(terminal.printed().find("tty=/dev/pts/"), std::string::npos) << terminal.printed();
}

} // namespace ovnitrace::test
