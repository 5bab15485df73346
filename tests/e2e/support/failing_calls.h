// SPDX-License-Identifier: BSD-2-Clause
// System calls of ovnitrace that fail (tests/preload/failing_calls.cpp).
#pragma once

#include "tests/e2e/support/process.h"

#include <compare>
#include <functional>
#include <string>
#include <vector>

namespace ovnitrace::test {

/// One call of a session: the `nth` of its kind from its place in the code.
struct CallPoint {
  std::string kind; ///< write, open, …
  std::string site;
  unsigned nth = 0;
  char file = '-'; ///< what the call works on, as in the log
  auto operator<=>(const CallPoint &) const = default;
};

constexpr int kShortCount = 0; ///< in place of an error

/// Runs a command by `run` and logs its calls. Returns the first two of each place, the middle one
/// and the last, and the outcome in `clean`.
std::vector<CallPoint> count_calls(Command command, const std::string &log, Outcome &clean,
                                   const std::function<Outcome(const Command &)> &run);

/// Starts the command with a call that fails with `error`.
Command with_failure(Command command, const std::string &log, const CallPoint &point, int error);

/// Whether the call was reached in the run that wrote this log.
bool has_failed(const std::string &log);

/// The errors that the kernel can return for this call.
std::vector<int> errors_of(const CallPoint &point);

std::string name_of_error(int error);

} // namespace ovnitrace::test
