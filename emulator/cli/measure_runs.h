// SPDX-License-Identifier: BSD-2-Clause
// Measures the runs that are compared, and decides which names of both sides mean the same.
#pragma once

#include "emulator/cli/app.h"
#include "emulator/diff/comparison.h"
#include "emulator/input/source.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// The traces of both sides.
struct ComparedTraces {
  std::vector<std::string> a, b;
  std::vector<std::string> matches; ///< "OLD=NEW": OLD of A is NEW of B
};

/// Adds --match.
Option add_match(App command, std::vector<std::string> &matches);

/// Returns what threads and processes of A are called in B: those of --match, then the program that
/// was run, if each side has exactly one. The program is left out if its name occurs on the other
/// side, too. Opens at most one trace of each side.
Renames renames_of(const ComparedTraces &traces);

/// Measures all runs. Reports each fault to `sink` once. Throws Error.
ComparedRuns measure_runs(const ComparedTraces &traces, const RunQuery &query,
                          DiagnosticSink &sink);

} // namespace ovnitrace
