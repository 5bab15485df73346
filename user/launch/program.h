// SPDX-License-Identifier: BSD-2-Clause
// Starts the traced program at a gate, waits for it, and says how it ended.
#pragma once

#include "emulator/base/identity.h"
#include "emulator/base/unique_fd.h"
#include "user/launch/signals.h"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ovnitrace {

/// How a program ended.
struct ProgramEnd {
  int wait_status = 0;
  /// Returns an exit status, as shells do: the program's own, or 128 + the signal.
  int exit_status() const;
  /// Returns, for example, "exited with status 1" or "killed by signal 11 (Segmentation fault),
  /// core dumped".
  std::string text() const;
};

/// Notes the variables that the C library removes from our environment if we have file
/// capabilities, such as LD_LIBRARY_PATH, for the traced program. Call it first in main().
void keep_removed_variables(int argc, char **argv);

/// Forks at once. The child waits at a gate and calls execvp() when the gate is opened, so that
/// tracing can be prepared in between. The child gets the terminal, the standard streams, the
/// signal mask and the signal dispositions that we were started with.
class Program {
public:
  /// `argv` is not empty. Throws Error if it cannot fork.
  Program(const std::vector<std::string> &argv, const Identity &identity);
  /// Kills the child if the gate was never opened.
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  pid_t pid() const { return pid_; }
  bool runs() const { return opened_; } ///< or has run: the gate was opened

  /// Lets the child execute the program. From here to the end, signals are forwarded to the program
  /// (SignalForwarder). Throws Error if the program cannot be executed. Its status is that of
  /// shells: 127 if there is no such command, 126 if it cannot be executed. If a signal was held
  /// before, the status is 128 + the signal.
  void open_gate();

  /// Waits for the end.
  ProgramEnd wait();

private:
  [[noreturn]] void run_child(const std::vector<std::string> &argv, const Identity &identity,
                              int gate, int failure);

  pid_t pid_ = -1;
  UniqueFd gate_;    ///< written to: opens
  UniqueFd failure_; ///< read from: errno of a failed exec, or end of file
  std::optional<SignalForwarder> forwarder_;
  std::string command_;
  bool opened_ = false;
};

} // namespace ovnitrace
