// SPDX-License-Identifier: BSD-2-Clause
// Runs the command of --on-save.
#pragma once

#include <string>
#include <sys/types.h>

namespace ovnitrace {

/// Runs a command of the shell for each saved trace, one at a time. Nobody waits for it, also not
/// at the end of the capture.
class SaveCommand {
public:
  /// Empty: none.
  explicit SaveCommand(std::string command) : command_(std::move(command)) {}

  /// Starts the command with the environment variables OVNITRACE_TRACE, where the trace is, and
  /// OVNITRACE_CAUSE, what asked for the save. If it still runs for an earlier trace, or cannot be
  /// started, prints a warning.
  void start(const std::string &trace, const std::string &cause);

private:
  const std::string command_;
  pid_t running_ = -1;
};

} // namespace ovnitrace
