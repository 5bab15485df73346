// SPDX-License-Identifier: BSD-2-Clause
// Collects who held the CPUs for which a thread waits, until the wait ends.
#pragma once

#include "emulator/why/cpu_holders.h"
#include "emulator/why/explanation.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ovnitrace {

class OpenWait {
public:
  /// A holder on one CPU.
  struct Part {
    uint32_t cpu;
    HolderSum sum;
  };

  /// Adds a part of the wait. If there are too many holders, forgets those with the least time.
  void add(uint32_t cpu, const HolderSums &sums);
  /// Writes the CPUs and the holders of the whole wait into `wait`.
  void describe(LongWait &wait, const CpuHolders &holders) const;
  /// Prepares for the next wait, which has the same kind until on_change() says another.
  void clear();
  const std::vector<Part> &parts() const { return parts_; }

  WaitKind kind = WaitKind::not_known;

private:
  std::vector<Part> parts_;
  std::vector<std::pair<uint32_t, uint64_t>> cpus_; ///< CPU, and how long it waited for it
  bool more_ = false;                               ///< there were holders that have no part
};

} // namespace ovnitrace
