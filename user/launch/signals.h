// Signals between the terminal, ovnitrace and the traced program.
#pragma once

#include <csignal>
#include <sys/types.h>

namespace ovnitrace {

/// From now on INT, QUIT, TERM and HUP do not end us, unless end_on_signals() says so; a file size limit is
/// an error of write(2) and no signal; a child can be waited for, whoever ignored SIGCHLD before us. The
/// state that we were started with is remembered for the traced program.
void hold_signals();

/// In the forked child: the signal mask and dispositions that ovnitrace was started with. A held signal
/// that was sent to the child before has its usual effect now.
void restore_signals();

/// INT, QUIT, TERM or HUP that came while there was nobody to pass it on to; 0: none.
int held_signal();

/// From now on INT, QUIT, TERM and HUP have the effect on us that they had before hold_signals().
void end_on_signals();

/// While it lives, signals that were sent to us (kill(2)), and not by the terminal to the whole
/// foreground group, are passed on to `pid`.
class SignalForwarder {
public:
  explicit SignalForwarder(pid_t pid);
  ~SignalForwarder();
  SignalForwarder(const SignalForwarder &) = delete;
  SignalForwarder &operator=(const SignalForwarder &) = delete;
};

/// While it lives, INT, QUIT, TERM and HUP wait to be taken by wait(). To be made before any thread is
/// created, on the main thread.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;
  /// Waits until one has come or `seconds` have passed (0: no limit). Whether one has.
  bool wait(double seconds);

private:
  sigset_t stops_, before_;
};

} // namespace ovnitrace
