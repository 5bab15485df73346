// SPDX-License-Identifier: BSD-2-Clause
// Finds the threads of a node by what its chunks say of them.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Numbers the threads of one node from 0, by tid, and by birth among those of one tid.
class ThreadTable {
public:
  /// Those of one node of a catalog, by their index there.
  ThreadTable(const Catalog &catalog, uint32_t node);
  /// With none yet.
  ThreadTable() { reserve(0); }

  /// The number of a thread; if it is not there it gets `next`.
  uint32_t find_or_add(uint32_t tid, uint64_t birth, uint32_t next);

  /// Number of the thread with this tid and birth, kNone if there is none.
  uint32_t find(uint32_t tid, uint64_t birth) const { return slots_[slot_of(tid, birth)].index; }

  /// Number of the thread that had this tid at `time`: the last one born until then, or the first
  /// one if none was. kNone if there is none.
  uint32_t latest(uint32_t tid, uint64_t time) const;

  /// Asks the processor for a tid.
  [[gnu::always_inline]] void prefetch(uint32_t tid) const {
    __builtin_prefetch(&slots_[place(tid)]);
  }

private:
  struct Slot {
    uint64_t birth = 0;
    uint32_t tid = 0;
    uint32_t index = kNone; ///< kNone: free
  };
  /// Where a tid belongs: multiplicative hashing, of which the high bits are the good ones.
  uint32_t place(uint32_t tid) const { return (tid * 2654435769u) >> shift_; }
  uint32_t after(uint32_t slot) const { return (slot + 1) & uint32_t(slots_.size() - 1); }
  /// That of a thread, or the free one where it belongs.
  uint32_t slot_of(uint32_t tid, uint64_t birth) const;
  /// Room for `count` threads.
  void reserve(size_t count);

  std::vector<Slot> slots_; ///< one free at least; a thread is before the next free one
  uint32_t shift_ = 0;
  size_t count_ = 0; ///< of threads
  size_t room_ = 0;  ///< for threads
};

} // namespace ovnitrace
