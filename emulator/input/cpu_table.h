// SPDX-License-Identifier: BSD-2-Clause
// Finds the CPUs of a host by their number.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// The CPUs of one host of a catalog, by number.
class CpuTable {
public:
  CpuTable(const Catalog &catalog, uint32_t host) {
    for (uint32_t i = 0; i < catalog.cpus.size(); i++) {
      const CpuInfo &cpu = catalog.cpus[i];
      if (cpu.host != host)
        continue;
      if (index_.size() <= cpu.index)
        index_.resize(size_t(cpu.index) + 1, kNone);
      index_[cpu.index] = i;
    }
  }

  /// Returns the index of the CPU with this number, kNone if there is no such CPU.
  uint32_t find(uint32_t number) const { return number < index_.size() ? index_[number] : kNone; }

private:
  std::vector<uint32_t> index_;
};

} // namespace ovnitrace
