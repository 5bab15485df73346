// SPDX-License-Identifier: BSD-2-Clause
// The one exception type: a message for people and the exit status that goes with it.
#pragma once

#include <stdexcept>
#include <string>

namespace ovnitrace {

inline constexpr int kExitFailure = 1; ///< it was tried and failed
inline constexpr int kExitUsage = 2;   ///< it was asked for wrongly
/// It was done, but events of the trace are missing: lost, dropped, or not written.
inline constexpr int kExitIncomplete = 3;

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
