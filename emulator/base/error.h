// SPDX-License-Identifier: BSD-2-Clause
// The one exception type: a message for people and the exit status that goes with it.
#pragma once

#include <stdexcept>
#include <string>

namespace ovnitrace {

inline constexpr int kExitFailure = 1; ///< it was tried and failed
inline constexpr int kExitUsage = 2;   ///< it was asked for wrongly
/// It was done, but not for all events: some were lost, dropped, not written or not checked.
inline constexpr int kExitIncomplete = 3;
/// ovnitrace ended the program (--early-out), as timeout(1) says that it did.
inline constexpr int kExitEarlyOut = 124;

/// Says what was tried, on what, why it failed and what to do.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string &message, int status = kExitFailure)
      : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }

private:
  int status_;
};

} // namespace ovnitrace
