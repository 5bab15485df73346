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

private:
  struct Entry {
    uint64_t birth;
    uint32_t tid;
    uint32_t index;
  };
  /// The first of the entries of a tid, which are one after another; nullptr if there is none.
  const Entry *first(uint32_t tid) const;

  std::vector<Entry> entries_;  ///< by tid, then birth, and one after them that ends the last run
  std::vector<uint32_t> slots_; ///< hash of a tid to the first of its entries, kNone: free
  uint32_t shift_ = 0;
};

} // namespace ovnitrace
