// SPDX-License-Identifier: BSD-2-Clause
// Finds the threads of a node by what its chunks say of them.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// The threads of one node of a catalog by tid, and by birth among those of one tid.
class ThreadTable {
public:
  ThreadTable(const Catalog &catalog, uint32_t node);

  /// Index of the thread with this tid and birth, kNone if there is none.
  uint32_t find(uint32_t tid, uint64_t birth) const;

  /// Index of the thread that had this tid at `time`: the last one born until then, or the first
  /// one if none was. kNone if there is none.
  uint32_t latest(uint32_t tid, uint64_t time) const;

  /// Asks the processor for a tid.
  void prefetch(uint32_t tid) const { __builtin_prefetch(&slots_[place(tid)]); }

private:
  struct Slot {
    uint64_t birth = 0;
    uint32_t tid = 0;
    uint32_t index = kNone; ///< kNone: free
  };
  /// Where a tid belongs: multiplicative hashing, of which the high bits are the good ones.
  uint32_t place(uint32_t tid) const { return (tid * 2654435769u) >> shift_; }
  uint32_t after(uint32_t slot) const { return (slot + 1) & uint32_t(slots_.size() - 1); }

  std::vector<Slot> slots_; ///< one free at least; a thread is before the next free one
  uint32_t shift_ = 0;
};

} // namespace ovnitrace
