// SPDX-License-Identifier: BSD-2-Clause
// Holds, forwards and restores the signals between the terminal, ovnitrace and the traced program.
#pragma once

#include "emulator/base/unique_fd.h"
#include <csignal>
#include <sys/types.h>

namespace ovnitrace {

/// Returns the signals that ask a command to end: INT, QUIT, TERM, and HUP unless it is ignored
/// (nohup). For commands that block signals: a blocked signal waits even if it is ignored.
sigset_t ending_signals();

/// Holds HUP, INT, QUIT, TERM, ALRM, USR1 and USR2 from now on: they do not end us, until
/// end_on_signals(). A file size limit, and a pipe that nobody reads, become errors of write(2). A
/// child can be waited for, also if our parent ignored SIGCHLD. The state that we were started with
/// is remembered for the traced program.
void hold_signals();

/// Restores the signal mask and dispositions that ovnitrace was started with. Call it in the forked
/// child. A held signal that was sent to the child before now has its usual effect.
void restore_signals();

/// Returns a held signal that came while there was nobody to forward it to, or that a StopSignals
/// has not taken yet; 0 without one.
int held_signal();

/// Throws Error, with status 128 + the signal, if there is a held signal: what was going to be
/// traced has not started. For what takes a while before a capture.
void end_if_signalled();

/// Lets the second signal from now on end us at once. For the time after the capture, while it is
/// being finished. The first signal may be the one that ended the capture, because timeout(1) sends
/// each signal twice.
void end_on_second_signal();

/// Gives the signals the effect on us that they had before hold_signals().
void end_on_signals();

/// Forwards the held signals to `pid` by sudo's rule, while it lives. One object at a time.
///
/// A signal from a process is forwarded, unless that process is `pid` itself. A signal from the
/// kernel is forwarded, too. The exception is a typed key (INT, QUIT) while `pid` is in our process
/// group, because the terminal signals the whole group.
class SignalForwarder {
public:
  explicit SignalForwarder(pid_t pid);
  ~SignalForwarder();
  SignalForwarder(const SignalForwarder &) = delete;
  SignalForwarder &operator=(const SignalForwarder &) = delete;
};

/// Keeps the held signals for wait(), while it lives; HUP is ignored if it was ignored before us.
/// Make it before any thread is created, on the main thread.
class StopSignals {
public:
  /// `but`: one that means something else, 0: none. Throws Error.
  explicit StopSignals(int but);
  ~StopSignals();
  /// Waits until a signal has come, the file `other` (-1: none) can be read, or `seconds` have
  /// passed (0: no limit). Returns whether a signal has come; it is taken.
  bool wait(double seconds, int other = -1);

private:
  sigset_t before_;
  UniqueFd file_;
};

} // namespace ovnitrace
