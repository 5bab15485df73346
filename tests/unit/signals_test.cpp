// SPDX-License-Identifier: BSD-2-Clause
// Which signals are forwarded to the program, and which are kept: user/launch/signals.
#include "emulator/base/error.h"
#include "tests/unit/support/child_status.h"
#include "user/launch/signals.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

using test::status_of;

/// Lets the kernel send us a signal, as a terminal does when a key is typed.
bool send_from_kernel(int signal) {
  int ends[2];
  return pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, getpid()) == 0 &&
         fcntl(ends[0], F_SETSIG, signal) == 0 && fcntl(ends[0], F_SETFL, O_ASYNC) == 0 &&
         write(ends[1], "x", 1) == 1;
}

/// Which signal ends a program after one was sent to us, from the kernel or by a process.
/// `own_group`: the program has left our process group.
int end_of_program(int signal, bool from_kernel, bool own_group) {
  return status_of([=] {
    const int all[] = {SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    for (const int one : all)
      std::signal(one, SIG_DFL); // a shell in the background ignores some
    int ends[2], last[2];
    char byte = 0;
    const pid_t program = pipe(ends) == 0 && pipe(last) == 0 ? fork() : -1;
    if (program == 0) {
      prctl(PR_SET_DUMPABLE, 0); // no core
      if (own_group)
        setpgid(0, 0);
      (void)!write(ends[1], "x", 1);
      (void)!read(last[0], &byte, 1);
      std::raise(SIGUSR2); // it has got none
    }
    if (read(ends[0], &byte, 1) != 1)
      return 101;
    hold_signals();
    {
      const SignalForwarder forwarder(program);
      if (from_kernel ? !send_from_kernel(signal) : raise(signal) != 0)
        return 102;
    }
    (void)!write(last[1], "x", 1);
    int status = 0;
    waitpid(program, &status, 0);
    return held_signal() ? 103 : WTERMSIG(status);
  });
}

TEST(ForwardedSignals, AreThoseOfProcesses) {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGUSR1})
    for (const bool own_group : {false, true})
      EXPECT_EQ(end_of_program(signal, false, own_group), signal) << own_group;
}

TEST(ForwardedSignals, TypedKeysReachTheGroupByThemselves) {
  for (const int key : {SIGINT, SIGQUIT}) {
    EXPECT_EQ(end_of_program(key, true, false), SIGUSR2) << "the terminal signals it";
    EXPECT_EQ(end_of_program(key, true, true), key) << "it does not";
  }
  for (const int other : {SIGTERM, SIGUSR1})
    EXPECT_EQ(end_of_program(other, true, false), other);
}

// What was interrupted may look at errno next.
TEST(ForwardedSignals, LeaveErrnoAsItWas) {
  EXPECT_EQ(status_of([] {
              hold_signals();
              const pid_t ended = fork();
              if (ended == 0)
                _exit(0);
              waitpid(ended, nullptr, 0);
              const SignalForwarder forwarder(ended);
              errno = 0;
              raise(SIGUSR1); // which nobody can get
              return errno;
            }),
            0);
}

TEST(HeldSignals, AreTakenOneAtATime) {
  EXPECT_EQ(status_of([] {
              const auto held = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2};
              for (const int signal : held)
                std::signal(signal, SIG_DFL);
              hold_signals();
              for (const int taken : held)
                for (const int other : held) {
                  struct sigaction action = {};
                  sigaction(taken, nullptr, &action);
                  if (sigismember(&action.sa_mask, other) != 1)
                    return taken;
                }
              return 0;
            }),
            0);
}

TEST(HeldSignals, EndWhatHasNotStartedWithTheirNumber) {
  EXPECT_EQ(status_of([] {
              std::signal(SIGQUIT, SIG_DFL);
              hold_signals();
              end_if_signalled();
              raise(SIGQUIT);
              try {
                end_if_signalled();
              } catch (const Error &error) {
                return error.status() == 131 && std::string(error.what()) ==
                                                    "stopped by signal 3 before the capture started"
                           ? 0
                           : 1;
              }
              return 2;
            }),
            0);
}

TEST(HeldSignals, ThatCameBeforeAStopSignalsStopItToo) {
  EXPECT_EQ(status_of([] {
              hold_signals();
              raise(SIGUSR1);
              StopSignals signals(0);
              return signals.wait(0) && !signals.wait(1e-9) ? 0 : 1;
            }),
            0);
}

TEST(HeldSignals, TheMaskIsAsItWasAfterAStopSignals) {
  EXPECT_EQ(status_of([] {
              sigset_t one, now;
              sigemptyset(&one);
              sigaddset(&one, SIGALRM);
              sigprocmask(SIG_BLOCK, &one, nullptr);
              {
                const StopSignals signals(0);
                sigprocmask(SIG_SETMASK, nullptr, &now);
                for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2})
                  if (sigismember(&now, signal) != 1)
                    return 1;
              }
              sigprocmask(SIG_SETMASK, nullptr, &now);
              if (sigismember(&now, SIGALRM) != 1 || sigismember(&now, SIGTERM) != 0)
                return 2;
              raise(SIGALRM); // it waits, for nobody that we know of
              return held_signal();
            }),
            0);
}

TEST(EndingSignals, AreThoseThatAskACommandToEnd) {
  const auto before = std::signal(SIGHUP, SIG_DFL);
  const sigset_t ending = ending_signals();
  std::signal(SIGHUP, before);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP})
    EXPECT_EQ(sigismember(&ending, signal), 1) << signal;
  for (const int signal : {SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGTSTP})
    EXPECT_EQ(sigismember(&ending, signal), 0) << signal;
}

TEST(RestoredSignals, HaveTheMaskThatWeWereStartedWith) {
  EXPECT_EQ(status_of([] {
              sigset_t one, other, now;
              sigemptyset(&one);
              sigaddset(&one, SIGUSR1);
              sigemptyset(&other);
              sigaddset(&other, SIGUSR2);
              sigprocmask(SIG_SETMASK, &one, nullptr);
              hold_signals();
              sigprocmask(SIG_SETMASK, &other, nullptr);
              restore_signals();
              sigprocmask(SIG_SETMASK, nullptr, &now);
              return sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGUSR2) == 0 ? 0 : 1;
            }),
            0);
}

} // namespace
} // namespace ovnitrace
