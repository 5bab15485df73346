// SPDX-License-Identifier: BSD-2-Clause
// Writes what `ovnitrace stat` has measured.
#pragma once

#include "emulator/diff/comparison.h"

#include <cstddef>
#include <string>

namespace ovnitrace {

struct StatOutput {
  std::string file;   ///< - is standard output; empty: stderr
  bool json = false;  ///< objects of JSON instead of texts
  bool force = false; ///< replace a file that exists
  size_t top = 10;    ///< threads in the table
};

/// Checks before the program runs whether the output can be written: otherwise the result of the
/// run would be lost. Throws Error.
void check_output(const StatOutput &output);

/// Prints the summary of a trace as the user, who owns the trace and the output. Throws Error.
void print_summary(const std::string &directory, const StatOutput &output);

/// Prints the times of the runs, as the user. If there are runs of another command, compares both.
/// Throws Error.
void print_runs(const ComparedRuns &runs, const StatOutput &output);

} // namespace ovnitrace
