// SPDX-License-Identifier: BSD-2-Clause
// Finds the threads of a host by what its chunks say of them.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ovnitrace {

/// The numbers of a host's threads, by tid, and by birth among those of one tid.
class ThreadTable {
public:
  /// With none yet.
  ThreadTable() { resize(16); }
  /// Those of one host of a catalog, by their index there.
  ThreadTable(const Catalog &catalog, uint32_t host);

  /// Number of the thread with this tid and birth; if it is not there yet it gets `next`.
  uint32_t find_or_add(uint32_t tid, uint64_t birth, uint32_t next);

  /// Number of the thread with this tid and birth, kNone if there is none.
  uint32_t find(uint32_t tid, uint64_t birth) const;

  /// Number of the thread that had this tid at `time`: the last one born until then, or the first
  /// one if none was. kNone if there is none.
  uint32_t latest(uint32_t tid, uint64_t time) const;

  /// Asks the processor for a tid.
  void prefetch(uint32_t tid) const { __builtin_prefetch(&slots_[place(tid)]); }

private:
  static constexpr uint32_t kOthers = kNone - 1; ///< no number of a thread is so large
  static constexpr uint32_t kMostSteps = 64;     ///< from where a tid belongs; few take so many

  /// A tid, and its thread.
  struct Slot {
    uint64_t birth = 0;
    uint32_t tid = 0;
    uint32_t number = kNone; ///< kNone: free; kOthers: its threads are in others_
  };
  /// Where a tid belongs: multiplicative hashing, of which the high bits are the good ones.
  uint32_t place(uint32_t tid) const { return (tid * 2654435769u) >> shift_; }
  /// The slot of a tid, or the free one where it belongs; nullptr where there is no room for it:
  /// its threads are in others_.
  const Slot *find_slot(uint32_t tid) const {
    uint32_t at = place(tid);
    for (uint32_t steps = 0; steps < kMostSteps; steps++) {
      if (slots_[at].number == kNone || slots_[at].tid == tid) [[likely]]
        return &slots_[at];
      at = (at + 1) & uint32_t(slots_.size() - 1);
    }
    return nullptr;
  }
  Slot *find_slot(uint32_t tid) { return const_cast<Slot *>(std::as_const(*this).find_slot(tid)); }
  void resize(size_t slots);

  std::vector<Slot> slots_; ///< 2^n, of which a fifth is free at least
  uint32_t shift_ = 0;
  size_t used_ = 0; ///< slots
  /// By tid and birth: of tids that the kernel used again, and of those that found no slot, as a
  /// file may have any number of tids that belong to one place.
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> others_;
};

} // namespace ovnitrace
