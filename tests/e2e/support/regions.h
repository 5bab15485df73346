// SPDX-License-Identifier: BSD-2-Clause
// Captures with --control of a program that logs where it is (tests/programs/regions.cpp), and
// their regions.
#pragma once

#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace::test {

/// A line that the program prints: where it was, and when.
struct Mark {
  std::string name;
  uint32_t tid = 0;
  uint64_t time = 0; ///< ns, CLOCK_MONOTONIC
};

struct Region {
  uint32_t tid = 0;                      ///< who started it
  uint64_t start = 0, stop = UINT64_MAX; ///< ns, CLOCK_MONOTONIC
  std::string started_by, stopped_by;    ///< types of alarms
};

class RegionTest : public CaptureTest {
protected:
  /// Records the program while it does `steps`.
  Outcome capture(const std::vector<std::string> &chains, const std::vector<std::string> &steps,
                  std::vector<std::string> options = {});
  /// Whether chains can be captured on this machine. Checks that those with alarms of x86-64 are
  /// refused elsewhere.
  bool are_possible(const std::vector<std::string> &chains) const;
  /// Skips the test if they are not. Returns whether it did: return then.
  bool skip_if_impossible(const std::vector<std::string> &chains) const;
  /// Reads what a capture has left in trace().
  void read(const Outcome &outcome);
  /// Removes the trace.
  void remove_trace() const;

  std::vector<Region> regions() const;
  /// "TYPE/CHAIN/STEP", both from 1.
  static std::string alarm_of(const DumpEvent &region);
  /// Returns the alarms of chains that the trace has, in order.
  std::vector<std::string> alarms() const;
  /// Returns when the program was at a mark for the n-th time.
  uint64_t mark(const std::string &name, size_t n = 0) const;
  /// Fails the test unless something is recorded in the regions, and nothing outside them.
  void expect_events_in_regions() const;

  std::vector<DumpEvent> events_;
  std::vector<Mark> marks_;
  uint64_t begin_ = 0; ///< of the trace, ns
};

} // namespace ovnitrace::test
