// SPDX-License-Identifier: BSD-2-Clause
// The traced program: it waits at a gate, gets our signals, and says how it ended.
#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "user/control/process_name.h"
#include "user/launch/call_filter.h"
#include "user/launch/file_limit.h"
#include "user/launch/program.h"
#include "user/launch/signals.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

using test::status_of;

/// Why the program cannot run, and the status of it.
std::pair<std::string, int> failure_of(const std::string &command) {
  Program program({command}, Identity());
  try {
    program.open_gate();
  } catch (const Error &error) {
    EXPECT_FALSE(program.runs());
    return {error.what(), error.status()};
  }
  program.wait();
  return {"", 0};
}

using Failure = std::pair<std::string, int>;

class ProgramTest : public testing::Test {
protected:
  // As main() does first: what is restored in the child is what was before it.
  void SetUp() override { hold_signals(); }
  void TearDown() override {
    end_on_signals();
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  test::TempDir dir_;
};

TEST_F(ProgramTest, RunsWhenItsGateIsOpened) {
  const std::string made = dir_ / "made";
  Program program({"/bin/sh", "-c", "echo \"$0 $1\" >" + made + "; exit 3", "zero", "one"},
                  Identity());
  EXPECT_GT(program.pid(), 0);
  EXPECT_FALSE(program.runs());
  EXPECT_FALSE(std::filesystem::exists(made));
  program.open_gate();
  EXPECT_TRUE(program.runs());
  EXPECT_EQ(program.wait().exit_status(), 3);
  EXPECT_EQ(test::text_of(made), "zero one\n");
}

TEST_F(ProgramTest, IsKilledIfItsGateIsNeverOpened) {
  const std::string made = dir_ / "made";
  pid_t pid = 0;
  {
    const Program program({"/bin/sh", "-c", "echo x >" + made}, Identity());
    pid = program.pid();
  }
  EXPECT_EQ(kill(pid, 0), -1) << "it has been waited for";
  EXPECT_FALSE(std::filesystem::exists(made));
}

TEST_F(ProgramTest, ThatIsKilledAtTheGateEndedByASignal) {
  Program program({"/bin/sh", "-c", "exit 3"}, Identity());
  kill(program.pid(), SIGKILL);
  siginfo_t info;
  waitid(P_PID, id_t(program.pid()), &info, WEXITED | WNOWAIT);
  program.open_gate();
  EXPECT_TRUE(program.runs());
  EXPECT_EQ(program.wait().exit_status(), 137);
}

TEST_F(ProgramTest, IsNotStartedAfterASignalThatEndsUs) {
  const std::string made = dir_ / "made";
  StopSignals signals(0);
  {
    Program program({"/bin/sh", "-c", "echo x >" + made}, Identity());
    raise(SIGTERM);
    EXPECT_THROW(program.open_gate(), Error);
    EXPECT_FALSE(program.runs());
  }
  EXPECT_FALSE(std::filesystem::exists(made));
  EXPECT_TRUE(signals.wait(0)) << "the signal is still there";
}

TEST_F(ProgramTest, SaysWhyItCannotRun) {
  unsetenv("SUDO_UID");
  EXPECT_EQ(
      failure_of("no-such-command-0"),
      Failure("cannot run no-such-command-0: No such file or directory; it is not in PATH", 127));
  setenv("SUDO_UID", "1", 1);
  EXPECT_EQ(
      failure_of("no-such-command-0"),
      Failure("cannot run no-such-command-0: No such file or directory; it is not in the PATH "
              "that sudo sets. To keep yours: sudo env \"PATH=$PATH\" ovnitrace -- "
              "no-such-command-0; or give the path of the program",
              127));
  unsetenv("SUDO_UID");
  EXPECT_EQ(failure_of("/no/such"),
            Failure("cannot run /no/such: No such file or directory; is the path right, and the "
                    "interpreter that its first line names there?",
                    127));
  EXPECT_EQ(failure_of(dir_.path()),
            Failure("cannot run " + dir_.path() + ": it is a directory", 126));
  const std::string file = dir_ / "file";
  std::ofstream(file) << "\x7f"
                         "ELF is not all";
  EXPECT_EQ(failure_of(file), Failure("cannot run " + file +
                                          ": Permission denied; is it executable "
                                          "by the user who runs it?",
                                      126));
  EXPECT_EQ(failure_of("/bin/true"), Failure("", 0));
}

/// As if ovnitrace were killed before the capture has started.
TEST_F(ProgramTest, IsNotExecutedIfItsGateIsNeverOpened) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0); // the child of the child keeps it open until it ends
  EXPECT_EQ(status_of([&] {
              new Program({"touch", dir_ / "made"}, Identity()); // its destructor would kill it
              return 0;
            }),
            0);
  close(ends[1]);
  char none;
  EXPECT_EQ(read(ends[0], &none, 1), 0);
  close(ends[0]);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "made"));
}

TEST_F(ProgramTest, HasTheLimitOfFilesThatWeWereStartedWith) {
  restore_file_limit();
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const std::string made = dir_ / "made";
  const rlimit low = {100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  raise_file_limit(23);
  Program program({"/bin/sh", "-c", "ulimit -n >" + made}, Identity());
  program.open_gate();
  program.wait();
  restore_file_limit();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(test::text_of(made), "100\n");
}

TEST_F(ProgramTest, GetsTheSignalsThatAProcessSendsToUs) {
  const std::string ready = dir_ / "ready";
  ASSERT_EQ(mkfifo(ready.c_str(), 0600), 0);
  Program program({"/bin/sh", "-c", "trap 'exit 5' USR1; echo >" + ready + "; while :; do :; done"},
                  Identity());
  program.open_gate();
  test::text_of(ready); // waits for the trap
  kill(getpid(), SIGUSR1);
  EXPECT_EQ(program.wait().exit_status(), 5);
  EXPECT_EQ(held_signal(), 0) << "it was for the program";
}

TEST_F(ProgramTest, HasTheSignalsThatWeWereStartedWith) {
  end_on_signals();
  const auto hangup = std::signal(SIGHUP, SIG_DFL), // nohup, or a shell in the background
      interrupt = std::signal(SIGINT, SIG_DFL), quit = std::signal(SIGQUIT, SIG_DFL);
  std::signal(SIGUSR2, SIG_IGN);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  hold_signals();
  sigset_t all, before;
  sigfillset(&all);
  const std::string made = dir_ / "made";
  pthread_sigmask(SIG_BLOCK, &all, &before); // ours alone
  Program program({"/bin/sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status >" + made},
                  Identity());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  program.open_gate();
  program.wait();
  uint64_t blocked = 1, ignored = 0;
  ASSERT_EQ(sscanf(test::text_of(made).c_str(), "SigBlk: %lx SigIgn: %lx", &blocked, &ignored), 2);
  EXPECT_EQ(blocked, 0u);
  constexpr uint64_t kStandard = (1u << 31) - 1; // 32 and up are the C library's, or real-time
  EXPECT_EQ(ignored & kStandard, 1u << (SIGUSR2 - 1));
  end_on_signals();
  std::signal(SIGUSR2, SIG_DFL);
  std::signal(SIGHUP, hangup);
  std::signal(SIGINT, interrupt);
  std::signal(SIGQUIT, quit);
  hold_signals(); // TearDown() restores what is now
}

TEST(Signals, AreHeldAndRestored) {
  EXPECT_EQ(status_of([] {
              const auto held = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2};
              for (const int signal : held)
                std::signal(signal, SIG_DFL); // nohup, or a shell in the background, ignores some
              hold_signals();
              for (const int signal : held) {
                raise(signal);
                if (held_signal() != signal)
                  return 1;
              }
              return 0;
            }),
            0);
  EXPECT_EQ(status_of([] {
              hold_signals();
              end_on_signals();
              raise(SIGUSR1);
              return 0;
            }),
            128 + SIGUSR1);
  EXPECT_EQ(status_of([] {
              hold_signals();
              raise(SIGUSR2);
              restore_signals(); // has its usual effect now
              return 0;
            }),
            128 + SIGUSR2);
}

TEST(Signals, ThatWereIgnoredStayIgnored) {
  EXPECT_EQ(status_of([] {
              std::signal(SIGHUP, SIG_IGN);
              hold_signals();
              raise(SIGHUP);
              return held_signal();
            }),
            0);
}

TEST(Signals, WritingWhereNobodyReadsIsAnError) {
  EXPECT_EQ(status_of([] {
              std::signal(SIGPIPE, SIG_DFL);
              std::signal(SIGXFSZ, SIG_DFL);
              std::signal(SIGCHLD, SIG_IGN);
              hold_signals();
              raise(SIGPIPE);
              raise(SIGXFSZ);
              const pid_t child = fork();
              if (child == 0)
                _exit(0);
              return waitpid(child, nullptr, 0) == child ? 0 : 1;
            }),
            0);
  EXPECT_EQ(status_of([] {
              std::signal(SIGPIPE, SIG_DFL);
              hold_signals();
              restore_signals();
              raise(SIGPIPE);
              return 0;
            }),
            128 + SIGPIPE);
}

TEST(Signals, TheSecondAfterTheEndEndsUs) {
  for (const auto &[count, status] : {std::pair(1, 0), std::pair(2, 128 + SIGALRM)})
    EXPECT_EQ(status_of([count = count] {
                hold_signals();
                end_on_second_signal();
                for (int n = 0; n < count; n++)
                  raise(SIGALRM);
                return 0;
              }),
              status)
        << count;
}

// A program that signals us does not want it back.
TEST(Signals, OfTheProgramItselfAreNotForwarded) {
  EXPECT_EQ(status_of([] {
              hold_signals();
              const SignalForwarder forwarder(getpid());
              raise(SIGUSR1); // would come again and again
              return held_signal();
            }),
            0);
  EXPECT_EQ(status_of([] {
              hold_signals();
              { const SignalForwarder forwarder(getpid()); }
              raise(SIGUSR1);
              return held_signal();
            }),
            SIGUSR1)
      << "there is no program any more";
}

TEST(ProtectTerminal, CharactersCannotBePutIntoATerminal) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root may install the filter";
  const auto error_of = [](unsigned long request) {
    errno = 0;
    ioctl(-1, request, nullptr);
    return errno;
  };
  EXPECT_EQ(status_of([&] {
              protect_terminal();
              return error_of(TIOCSTI) == EPERM && error_of(TIOCLINUX) == EPERM &&
                             error_of(TIOCSTI | 1ul << 40) == EPERM && error_of(TIOCGWINSZ) == EBADF
                         ? 0
                         : 1;
            }),
            0);
  EXPECT_EQ(status_of([] {
              protect_terminal();
              return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
            }),
            0)
      << "set-user-ID programs stay what they are";
}

TEST(ProcessName, IsWhatPsShows) {
  EXPECT_EQ(status_of([] {
              control::call_process("ovt-test");
              const std::string comm = test::text_of("/proc/self/comm"),
                                line = test::text_of("/proc/self/cmdline");
              return comm == "ovt-test\n" && line.substr(0, 9) == std::string("ovt-test\0", 9) &&
                             line.find("unit_tests") == line.npos
                         ? 0
                         : 1;
            }),
            0);
}

} // namespace
} // namespace ovnitrace
