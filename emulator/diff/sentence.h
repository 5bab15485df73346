// SPDX-License-Identifier: BSD-2-Clause
// Says in plain English what changed.
#pragma once

#include "emulator/diff/comparison.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Returns "+38.0 ms", "-1.2 us" or "0".
std::string signed_duration(int64_t ns);

/// Returns a cause as a column of a table: "preempted by hog", "blocked in futex, woken by loader".
std::string cause_text(const TimeCause &cause, const Names &names);

/// Returns "B is 38.0 ms slower (+12.3 %): +27.0 ms preempted by kworker/1:2, +11.0 ms running."
/// Where several runs do not show a difference, says so.
std::string sentence(const Comparison &comparison, const Names &names);

/// Returns what the statistics say: the medians, the interval and the test. Without them,
/// says why.
std::string verdict(const Comparison &comparison, const ComparedRuns &runs);

} // namespace ovnitrace
