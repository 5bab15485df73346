// SPDX-License-Identifier: BSD-2-Clause
// Defines the one exception type: a message for people, and an exit status. Sorts errnos.
#pragma once

#include <fmt/core.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <utility>

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
  struct Status {
    int number;
  };

  explicit Error(const std::string &message, Status status = {kExitFailure})
      : std::runtime_error(message), status_(status) {}
  /// Formats the message as fmt::format() does.
  template <class First, class... More>
  Error(fmt::format_string<First, More...> format, First &&first, More &&...more)
      : Error(fmt::format(format, std::forward<First>(first), std::forward<More>(more)...)) {}
  int status() const { return status_.number; }

private:
  Status status_;
};

/// An error of the command line.
class UsageError : public Error {
public:
  explicit UsageError(const std::string &message) : Error(message, Status{kExitUsage}) {}
  template <class First, class... More>
  UsageError(fmt::format_string<First, More...> format, First &&first, More &&...more)
      : UsageError(fmt::format(format, std::forward<First>(first), std::forward<More>(more)...)) {}
};

/// Returns whether a call failed for want of something: another try could succeed. Otherwise it
/// failed because of what it was asked for, such as a file that is not there.
inline bool is_machine_failure(int error) {
  return error == EIO || error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOSPC ||
         error == EINTR || error == EAGAIN;
}

} // namespace ovnitrace
