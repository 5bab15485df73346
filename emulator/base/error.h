// SPDX-License-Identifier: BSD-2-Clause
// Defines the one exception type: a message for people, and an exit status. Sorts errnos.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>

namespace ovnitrace {

inline constexpr int kExitFailure = 1; ///< an operation failed
inline constexpr int kExitUsage = 2;   ///< the command line is wrong
/// It was done, but not for all events: some were lost, dropped, not written or not checked.
inline constexpr int kExitIncomplete = 3;
/// ovnitrace ended the program (--early-out). The same status as timeout(1).
inline constexpr int kExitEarlyOut = 124;

/// An error. The message says what was tried, on what, why it failed and what to do.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string &message, int status = kExitFailure)
      : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }

private:
  int status_;
};

/// Returns whether a call failed for want of something: another try could succeed. Otherwise it
/// failed because of what it was asked for, such as a file that is not there.
inline bool is_machine_failure(int error) {
  return error == EIO || error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOSPC ||
         error == EINTR || error == EAGAIN;
}

} // namespace ovnitrace
