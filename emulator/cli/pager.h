// SPDX-License-Identifier: BSD-2-Clause
// Shows long output in a pager, as git does.
#pragma once

#include "emulator/base/unique_fd.h"

#include <string>
#include <sys/types.h>

namespace ovnitrace {

/// Returns the command: the configured one, else OVNITRACE_PAGER, else PAGER, else less. Empty: no
/// pager, also for `cat`.
std::string pager_command(const std::string &configured);

/// A pager that runs. The destructor closes its input and waits until the person has left it.
class Pager {
public:
  /// Starts it if standard output is a terminal and use_pager() has not been told otherwise. A
  /// pager that does not start is reported, and is no error.
  Pager();
  ~Pager();

  /// Returns where to write: its input, or standard output without a pager.
  int fd() const;
  /// Closes its input and waits.
  void finish();

private:
  UniqueFd input_;
  pid_t pid_ = -1;
};

/// Sets whether a Pager starts one at all, true at first.
void use_pager(bool yes);
/// Sets the command, as --pager does.
void configure_pager(const std::string &command);

} // namespace ovnitrace
