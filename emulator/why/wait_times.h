// SPDX-License-Identifier: BSD-2-Clause
// How long each thread waited for a CPU, by who had it.
#pragma once

#include "emulator/why/cpu_holders.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Adds up the waits of each thread by who had the CPU. Of each it keeps the 1024 sums (each of one
/// holder and one WaitKind) that are longest; once all together are more than a million, 16. What
/// it drops is the time of others, so that of a holder that was dropped and comes again is too
/// short, never too long.
class WaitTimes {
public:
  struct Sum {
    uint32_t holder; ///< as of CpuHolders
    WaitKind kind;
    uint64_t ns;
  };

  explicit WaitTimes(size_t threads) : by_thread_(threads) {}

  void add(uint32_t thread, WaitKind kind, const HolderSums &wait);
  /// Hands over those of a thread, in any order.
  std::vector<Sum> take(uint32_t thread) { return std::exchange(by_thread_[thread], {}); }

private:
  static constexpr size_t kMost = 1024, kFew = 16, kMostTogether = 1'000'000;

  void drop_shortest(std::vector<Sum> &sums) const;

  std::vector<std::vector<Sum>> by_thread_;
  size_t together_ = 0;  ///< how many sums these have
  size_t most_ = kMost;  ///< of one thread, without those of others
  std::vector<Sum> new_; ///< of a wait that is added
};

} // namespace ovnitrace
