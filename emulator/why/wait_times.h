// SPDX-License-Identifier: BSD-2-Clause
// Sums up how long each thread waited for a CPU, by the holder of the CPU.
#pragma once

#include "emulator/why/cpu_holders.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Keeps for each thread the 1024 longest sums, each of a holder and a WaitKind; once all threads
/// have more than a million sums, only 16. Other time is counted under `others`. A holder that was
/// dropped and reappears may show too little time, never too much.
class WaitTimes {
public:
  struct Sum {
    uint32_t holder; ///< as in CpuHolders
    WaitKind kind;
    uint64_t ns;
  };

  explicit WaitTimes(size_t threads) : by_thread_(threads) {}

  void add(uint32_t thread, WaitKind kind, const HolderSums &wait);
  /// Returns the sums of a thread, in any order, and clears them.
  std::vector<Sum> take(uint32_t thread) { return std::exchange(by_thread_[thread], {}); }

private:
  static constexpr size_t kMost = 1024, kFew = 16, kMostTogether = 1'000'000;

  void drop_shortest(std::vector<Sum> &sums) const;

  std::vector<std::vector<Sum>> by_thread_;
  size_t together_ = 0;  ///< number of all sums
  size_t most_ = kMost;  ///< for one thread, without `others`
  std::vector<Sum> new_; ///< of the wait that is being added
};

} // namespace ovnitrace
