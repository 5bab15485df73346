// SPDX-License-Identifier: BSD-2-Clause
// Signals between the terminal, ovnitrace and the traced program.
#pragma once

#include "emulator/base/unique_fd.h"
#include <csignal>
#include <sys/types.h>

namespace ovnitrace {

/// From now on HUP, INT, QUIT, TERM, ALRM, USR1 and USR2 do not end us, unless end_on_signals()
/// says so; a file size limit, and a pipe that nobody reads, are errors of write(2) and no signals;
/// a child can be waited for, whoever ignored SIGCHLD before us. The state that we were started
/// with is remembered for the traced program.
void hold_signals();

/// In the forked child: the signal mask and dispositions that ovnitrace was started with. A held
/// signal that was sent to the child before has its usual effect now.
void restore_signals();

/// One of them that came while there was nobody to forward it to, or that a StopSignals has not
/// taken yet; 0: none.
int held_signal();

/// Throws Error, with status 128 + the signal, if there is such a signal: what was going to be
/// traced has not started. For what takes a while before a capture.
void end_if_signalled();

/// The capture is over and is being finished: the second signal from now on ends us at once. The
/// first one does not, because timeout(1) sends each signal twice, and it may be the same that
/// ended the capture.
void end_on_second_signal();

/// From now on they have the effect on us that they had before hold_signals().
void end_on_signals();

/// While it lives, they are forwarded to `pid` by sudo's rule: what a process sends to us, unless
/// that is `pid` itself; and what the kernel sends, unless a key was typed (INT, QUIT) and `pid` is
/// in our process group, which the terminal signals as a whole. One at a time.
class SignalForwarder {
public:
  explicit SignalForwarder(pid_t pid);
  ~SignalForwarder();
  SignalForwarder(const SignalForwarder &) = delete;
  SignalForwarder &operator=(const SignalForwarder &) = delete;
};

/// While it lives, they wait to be taken by wait(); but HUP is ignored if it was before us. To be
/// made before any thread is created, on the main thread.
class StopSignals {
public:
  /// `but`: one that means something else, 0: none. Throws Error.
  explicit StopSignals(int but);
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;
  /// Waits until one has come, the file `other` (-1: none) can be read, or `seconds` have passed
  /// (0: no limit). Whether one has come; it is taken.
  bool wait(double seconds, int other = -1);

private:
  sigset_t before_;
  UniqueFd file_;
};

} // namespace ovnitrace
