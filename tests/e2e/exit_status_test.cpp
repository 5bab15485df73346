// SPDX-License-Identifier: BSD-2-Clause
// The exit status says how the program ended, as a shell's does, or what ovnitrace could not do.
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <csignal>

namespace ovnitrace::test {

class ExitStatus : public CaptureTest {
protected:
  /// Returns the outcome of an `ovnitrace record …` that must fail before anything is traced, and
  /// leave nothing behind.
  Outcome refused(const std::vector<std::string> &arguments, int status) {
    Command command{.argv = {ovnitrace(), "record"}, .cwd = directory()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    const std::vector<std::string> before = names_in(directory());
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status(), status) << outcome.err;
    EXPECT_NE(outcome.err, "") << "says nothing";
    EXPECT_EQ(names_in(directory()), before) << "leaves something behind";
    return outcome;
  }
  static bool says(const Outcome &outcome, const std::string &text) {
    return outcome.err.find(text) != std::string::npos;
  }
};

TEST_F(ExitStatus, IsThePrograms) {
  for (int status : {0, 1, 3, 127, 255}) {
    const Outcome outcome =
        record({installed("exit_status"), std::to_string(status)}, {"-f"}, status);
    EXPECT_EQ(outcome.out, "") << "ovnitrace writes to the program's standard output";
    const TraceRecord reported = read_trace_json(trace());
    EXPECT_EQ(reported.exit_status, status);
    EXPECT_EQ(reported.how, "exited with status " + std::to_string(status));
  }
}

TEST_F(ExitStatus, ReportsASignalAsShellsDo) {
  for (int signal : {SIGTERM, SIGKILL, SIGSEGV, SIGINT}) {
    record({installed("signal_death"), std::to_string(signal)}, {"-f"}, 128 + signal);
    EXPECT_TRUE(
        read_trace_json(trace()).how.starts_with("killed by signal " + std::to_string(signal)));
  }
}

TEST_F(ExitStatus, OfATracedAndConvertedProgramIsTheProgramsOwn) {
  for (const char *status : {"0", "7"})
    EXPECT_EQ(run({.argv = {ovnitrace(), "-q", "-f", "-o", trace(), "--", installed("exit_status"),
                            status}})
                  .status(),
              atoi(status));
}

TEST_F(ExitStatus, Is127ForACommandThatDoesNotExist) {
  EXPECT_TRUE(says(refused({"--", "no-such-command-anywhere"}, 127), "no-such-command-anywhere"));
  EXPECT_TRUE(says(refused({"--", "/no/such/path"}, 127), "/no/such/path"));
}

TEST_F(ExitStatus, Is127WithAWayOutWhereSudoHasResetThePath) {
  Command command{.argv = {ovnitrace(), "record", "--", "no-such-command-anywhere"},
                  .env = {{"SUDO_UID", "0"}, {"SUDO_GID", "0"}},
                  .cwd = directory()};
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.status(), 127);
  EXPECT_TRUE(says(outcome, "sudo env \"PATH=$PATH\" ovnitrace -- no-such-command-anywhere"))
      << outcome.err;
}

TEST_F(ExitStatus, Is126ForACommandThatCannotBeExecuted) {
  write_text(path("plain"), "text");
  EXPECT_TRUE(says(refused({"--", path("plain")}, 126), path("plain")));
  EXPECT_TRUE(says(refused({"--", directory()}, 126), directory()));
}

TEST_F(ExitStatus, Is2ForWrongUsage) {
  EXPECT_TRUE(says(refused({"--no-such-option", "--", "true"}, 2), "--no-such-option"));
  EXPECT_TRUE(says(refused({}, 2), "nothing to trace"));
  EXPECT_TRUE(says(refused({"--"}, 2), "nothing to trace"));
  EXPECT_TRUE(says(refused({"-a", "-u", "nobody", "-d", "1ms"}, 2), "-u NAME"));
  EXPECT_TRUE(says(refused({"-p", "1", "-u", "nobody", "-d", "1ms"}, 2), "-u NAME"));
  EXPECT_TRUE(says(refused({"-p", "1", "--", "true"}, 2), "not both"));
  EXPECT_TRUE(says(refused({"--send", "udp://127.0.0.1", "--", "true"}, 2), "over TCP"));
  refused({"-a", "-p", "1"}, 2);
  refused({"-m", "1K", "--", "true"}, 2);
  refused({"-m", "7T", "--", "true"}, 2);
  refused({"-m", "many", "--", "true"}, 2);
  refused({"--chunk-size", "16", "--", "true"}, 2);
  EXPECT_EQ(run({.argv = {ovnitrace(), "no-such-command"}}).status(), 2);
}

// As of a variable of a script that is not set: the option would protect nothing.
TEST_F(ExitStatus, Is2ForAnEmptyValue) {
  for (const std::string option : {"--key", "-u", "--rotate", "--send", "-o"})
    EXPECT_TRUE(says(refused({option, "", "--", "true"}, 2), option + ": its value is empty"));
}

TEST_F(ExitStatus, Is1ForANameThatDoesNotExist) {
  EXPECT_TRUE(says(refused({"--user", "no-such-user-here", "--", "true"}, 1), "no-such-user-here"));
  for (const std::string value : {"nonsense", "0x1", "1x", "4194303"})
    refused({"-p", value}, 1);
  EXPECT_TRUE(says(refused({"--uid", "no-such-user-here"}, 1), "no-such-user-here"));
  EXPECT_TRUE(says(refused({"-C", "1000"}, 1), "this machine has no CPU 1000"));
  EXPECT_TRUE(says(refused({"-t", "4194303"}, 1), "4194303"));
  EXPECT_TRUE(says(refused({"--dry-run", "-t", "4194303"}, 1), "4194303"));
  EXPECT_TRUE(says(refused({"--dry-run", "-p", "4194303"}, 1), "4194303"));
}

TEST_F(ExitStatus, Is2ForTextInsteadOfANumber) {
  for (const std::string value :
       {"", "-1", "1x", "x", " 1", "0x1", "20000000", "99999999999999999999"})
    for (const std::string option : {"--compress", "--chunks"})
      EXPECT_TRUE(says(refused({option + "=" + value, "--", "true"}, 2), option))
          << option << "=" << value;
  for (const std::string value : {"0", "-18446744073709551615", "99999999999999999999"})
    EXPECT_TRUE(says(refused({"-p", value}, 2), "--pid")) << value;
  for (const std::string value : {"0", "nan", "inf", "1x", "-1"})
    EXPECT_TRUE(says(refused({"-a", "-d", value}, 2), "--duration")) << value;
  for (const std::string option : {"--max-size", "--max-senders"})
    for (const std::string value : {"", "0", "-1", "1x", "0x1", "99999999999999999999"}) {
      const Outcome outcome =
          run({.argv = {ovnitrace(), "collect", "-l", "127.0.0.1:0", option + "=" + value}});
      EXPECT_EQ(outcome.status(), 2) << option << "=" << value;
      EXPECT_TRUE(says(outcome, option)) << outcome.err;
    }
}

// An option without effect is refused. Otherwise a recording that should stop could fill the disk.
TEST_F(ExitStatus, Is2ForAnOptionWithoutEffect) {
  for (const std::vector<std::string> &arguments :
       {std::vector<std::string>{"-b", "stop:1M", "record", "--", "true"},
        {"--send", "tcp://127.0.0.1:1", "record", "--", "true"},
        {"-q", "record", "-o", trace(), "--", "true"},
        {"-o", trace(), "convert", directory()},
        {"info", directory(), "--", "true"},
        {"convert", "--", directory()}}) {
    Command command{.argv = {ovnitrace()}, .cwd = directory()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status(), 2) << arguments[0] << ": " << outcome.err;
    EXPECT_TRUE(names_in(directory()).empty()) << arguments[0];
  }
  EXPECT_TRUE(says(run({.argv = {ovnitrace(), "--output", trace(), "record"}}),
                   "`ovnitrace record --output …`"));
}

TEST_F(ExitStatus, Is1ForAProcessThatDoesNotExist) {
  EXPECT_TRUE(says(refused({"-p", "4194303"}, 1), "4194303"));
}

TEST_F(ExitStatus, Is0ForHelpAndVersion) {
  for (const char *command : {"record", "convert", "info", "dump"}) {
    const Outcome outcome = run({.argv = {ovnitrace(), command, "--help"}});
    EXPECT_EQ(outcome.status(), 0);
    EXPECT_TRUE(outcome.out.find("Example") != std::string::npos) << command << ": no examples";
  }
  EXPECT_EQ(run({.argv = {ovnitrace(), "--help"}}).status(), 0);
  EXPECT_TRUE(run({.argv = {ovnitrace(), "--version"}}).out.starts_with("ovnitrace "));
}

TEST_F(ExitStatus, Is1ForHelpThatCannotBeWritten) {
  for (const char *option : {"--help", "--version"}) {
    const Outcome outcome = run({.argv = {"sh", "-c", ovnitrace() + " " + option + " >/dev/full"}});
    EXPECT_EQ(outcome.status(), 1);
    EXPECT_TRUE(says(outcome, "standard output")) << outcome.err;
  }
}

// A signal that comes while ovnitrace gets ready must not be lost: the program would run for ever.
TEST_F(ExitStatus, OfAnEarlySignalIsTheSignals) {
  for (int round = 0; round < 20; round++) {
    Process tracer(record_command(trace(), {"sleep", "1000"}, {"-f", "-q"}));
    usleep(useconds_t(round * 20'000));
    tracer.signal(SIGTERM);
    EXPECT_EQ(tracer.wait().status(), 128 + SIGTERM) << "sent after " << round * 20 << " ms";
  }
}

// Without a program, the signal ends the capture, or ovnitrace before the capture.
TEST_F(ExitStatus, IsNotWaitedForEverAfterAnEarlySignal) {
  for (int round = 0; round < 10; round++) {
    Process tracer(record_command(trace(), {}, {"-f", "-q", "-a"}));
    usleep(useconds_t(round * 20'000));
    tracer.signal(SIGINT);
    const int status = tracer.wait().status();
    EXPECT_TRUE(status == 0 || status == 128 + SIGINT) << status;
  }
}

} // namespace ovnitrace::test
