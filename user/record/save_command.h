// SPDX-License-Identifier: BSD-2-Clause
// Runs the command of --on-save.
#pragma once

#include <string>
#include <sys/types.h>

namespace ovnitrace {

/// Runs a command of the shell for each saved trace, one at a time. Nobody waits for it, also not
/// at the end of the capture. If it has failed, that is printed before the next run and at the end.
class SaveCommand {
public:
  ~SaveCommand() { look(); }
  SaveCommand(const SaveCommand &) = delete;
  SaveCommand &operator=(const SaveCommand &) = delete;

  /// Empty: none.
  explicit SaveCommand(std::string command) : command_(std::move(command)) {}

  /// Starts the command with the environment variables OVNITRACE_TRACE, where the trace is, and
  /// OVNITRACE_CAUSE, what asked for the save. If it still runs for an earlier trace, or cannot be
  /// started, prints a warning.
  void start(const std::string &trace, const std::string &cause);

private:
  void look();

  const std::string command_;
  std::string trace_; ///< for which it runs
  pid_t running_ = -1;
};

} // namespace ovnitrace
