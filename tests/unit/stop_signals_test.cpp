// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/signals.h"

#include "emulator/base/error.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

TEST(StopSignals, AreTaken) {
  const auto before = std::signal(SIGHUP, SIG_DFL); // nohup
  StopSignals signals(0);
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2}) {
    raise(signal);
    EXPECT_TRUE(signals.wait(0)) << signal;
  }
  EXPECT_FALSE(signals.wait(1e-9));
  std::signal(SIGHUP, before);
}

// Started by nohup, for example.
TEST(StopSignals, LeaveAHangupOutThatIsIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  sigset_t ending = ending_signals();
  EXPECT_EQ(sigismember(&ending, SIGHUP), 0);
  EXPECT_EQ(sigismember(&ending, SIGTERM), 1);
  {
    StopSignals signals(0);
    raise(SIGHUP);
    EXPECT_FALSE(signals.wait(1e-9));
  }
  std::signal(SIGHUP, SIG_DFL);
  ending = ending_signals();
  EXPECT_EQ(sigismember(&ending, SIGHUP), 1);
  std::signal(SIGHUP, before);
}

TEST(StopSignals, LeaveOneOut) {
  sigset_t save, before;
  sigemptyset(&save);
  sigaddset(&save, SIGUSR2);
  sigprocmask(SIG_BLOCK, &save, &before);
  {
    StopSignals signals(SIGUSR2);
    raise(SIGUSR2);
    EXPECT_FALSE(signals.wait(1e-9));
  }
  int got = 0;
  sigwait(&save, &got);
  EXPECT_EQ(got, SIGUSR2);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

// Slow work before a capture can therefore be given up.
TEST(StopSignals, AreSeenBeforeTheyAreTaken) {
  StopSignals signals(0);
  EXPECT_NO_THROW(end_if_signalled());
  raise(SIGTERM);
  try {
    end_if_signalled();
    ADD_FAILURE() << "SIGTERM is not seen";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), 128 + SIGTERM);
  }
  EXPECT_TRUE(signals.wait(0));
  EXPECT_NO_THROW(end_if_signalled());
}

TEST(StopSignals, AreNotWaitedForWhenAFileCanBeRead) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  StopSignals signals(0);
  EXPECT_FALSE(signals.wait(0, ends[0]));
  raise(SIGTERM);
  EXPECT_TRUE(signals.wait(0, ends[0])) << "both";
  close(ends[0]), close(ends[1]);
}

// timeout(1) sends each signal twice: the first of the two must not end a capture that is finished.
TEST(StopSignals, TheSecondOneEndsWhatIsBeingFinished) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    hold_signals();
    end_on_second_signal();
    raise(SIGTERM);
    if (write(ends[1], "x", 1) == 1)
      raise(SIGTERM);
    _exit(0);
  }
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1) << "the first one ended it";
  close(ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

} // namespace
} // namespace ovnitrace
