// SPDX-License-Identifier: BSD-2-Clause
// Shares out each moment among the threads that run in it.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/core/state_observer.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// While n threads run, each of them gets 1/n of the time: its latency share. The shares of all
/// threads add up to the time in which at least one ran. Memory grows with threads; a change costs
/// the same whatever runs.
class LatencyShares {
public:
  /// Only time in the range counts.
  LatencyShares(size_t threads, TimeRange range) : range_(range), threads_(threads) {}

  /// Takes a change of a thread that counts, in the order of time.
  void change(uint32_t thread, const StateChange &change, uint64_t time);
  /// Returns the share of each thread, ns. To be called once.
  std::vector<uint64_t> finish();
  /// Returns the ns in which at least one thread ran. To be called after finish().
  uint64_t covered() const { return covered_; }

private:
  struct Share {
    double ns = 0, since = 0; ///< `since`: whole_ when it began to run
    bool runs = false;
  };
  void advance(uint64_t time);

  TimeRange range_;
  std::vector<Share> threads_;
  uint64_t running_ = 0, now_ = 0; ///< threads; ns
  double whole_ = 0;               ///< the share of a thread that always ran, ns
  uint64_t covered_ = 0;
};

} // namespace ovnitrace
