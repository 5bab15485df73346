// SPDX-License-Identifier: BSD-2-Clause
// Finds who held the CPUs during the slowest 1 % of all waits.
#pragma once

#include "emulator/why/explanation.h"
#include "emulator/why/open_wait.h"
#include "emulator/why/sum_table.h"

#include <array>
#include <cstdint>

namespace ovnitrace {

/// Sums up holders by the length of the wait. The lengths are in classes, four for each power of
/// two. Memory grows with the number of holders.
class TailWaits {
public:
  /// Adds a wait that was seen whole.
  void add(uint64_t length, const OpenWait &wait);
  /// Returns the longest classes. They have at least 1 % of the waits, or less if one more class
  /// would make it more than 10 %. Returns nothing if there are less than 100 waits, or if the
  /// longest class alone has more than 10 %.
  TailSums take(const CpuHolders &holders) const;

private:
  struct Sum {
    uint32_t length_class = 0, holder = 0;
    uint64_t ns = 0;

    std::array<uint32_t, 2> key() const { return {length_class, holder}; }
  };
  struct Class {
    uint64_t count = 0, shortest = UINT64_MAX;
  };

  std::array<Class, 260> classes_ = {};
  SumTable<Sum> sums_;
};

} // namespace ovnitrace
