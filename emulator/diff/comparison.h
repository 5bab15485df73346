// SPDX-License-Identifier: BSD-2-Clause
// Compares some runs with others: where the change of their time went.
#pragma once

#include "emulator/diff/conditions.h"
#include "emulator/diff/run_times.h"
#include "emulator/diff/statistics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// The runs to compare, at least one each.
struct ComparedRuns {
  std::vector<RunTimes> a, b;
  Names names = {};      ///< of both
  Renames programs = {}; ///< of A and B, if they differ and B's name stands for both
};

/// One time, before and after.
struct Change {
  uint64_t a = 0, b = 0;           ///< ns: see Comparison
  std::optional<Shift> shift = {}; ///< of all runs, ns; absent: one run each, or events were lost
  bool shown = false;              ///< the runs show that it differs

  int64_t delta() const { return int64_t(b) - int64_t(a); }
  uint64_t size() const { return a > b ? a - b : b - a; }
};

struct CauseChange {
  TimeCause cause;
  Change change;
};

/// A group of threads that has a partner.
struct GroupChange {
  std::string group;
  size_t a_threads = 0, b_threads = 0; ///< in the first run of each side
  Change life;                         ///< of all its threads together
  std::vector<CauseChange> causes;     ///< adds up to `life`; the largest change first
};

/// The result. With several runs, `a` and `b` of each Change are means over the middle half of the
/// runs by wall time. They are rounded so that the sums close to the nanosecond.
struct Comparison {
  bool tested = false; ///< several runs, enough to show a difference
  /// Runs of each side that it takes at least to show a cause, or a time of a group. 0: there are
  /// enough.
  size_t runs_for_cause = 0, runs_for_group = 0;
  bool parts = false;   ///< RunTimes::part of any run: how long they are says nothing
  bool regions = false; ///< RunTimes::regions of any run
  Change wall;
  std::vector<CauseChange> causes;         ///< of the critical paths: adds up to `wall`
  std::vector<GroupChange> groups;         ///< the largest change of a cause first
  std::vector<std::string> only_a, only_b; ///< groups without a partner
  std::vector<Difference> conditions;
};

Comparison compare(const ComparedRuns &runs);

/// Returns whether events were lost that are part of the wall time of a run, or of all its threads.
bool loses(const std::vector<RunTimes> &runs, const std::string &group);
bool loses_any(const std::vector<RunTimes> &runs);
/// The same, of the thread at the end of the path.
bool loses_path_end(const std::vector<RunTimes> &runs);

} // namespace ovnitrace
