// SPDX-License-Identifier: BSD-2-Clause
// Finds the threads of a host by tid, birth or time.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A hash table of the threads of a host: a number for each tid and birth.
class ThreadTable {
public:
  /// Makes an empty table.
  ThreadTable() { resize(16); }
  /// Takes the threads of one host of a catalog, with their indices there as numbers.
  ThreadTable(const Catalog &catalog, uint32_t host);

  /// Returns the number of the thread with this tid and birth. A new thread gets `next`.
  uint32_t find_or_add(uint32_t tid, uint64_t birth, uint32_t next);

  /// Returns the number of the thread with this tid and birth, kNone if no thread has them.
  uint32_t find(uint32_t tid, uint64_t birth) const;

  /// Returns the number of the thread that had this tid at `time`: the last one born until then,
  /// unless it had ended. kNone if none had it: an untraced thread may have had it. `late`: the
  /// thread did something that took effect at `time`. It counts until another thread with its tid
  /// is known.
  uint32_t latest(uint32_t tid, uint64_t time, bool late = false) const;

  /// Prefetches the slot of a tid.
  void prefetch(uint32_t tid) const { __builtin_prefetch(&slots_[place(tid)]); }

private:
  static constexpr uint32_t kOthers = kNone - 1; ///< larger than any number of a thread
  /// Slots tried for a tid; hardly any tid takes so many.
  static constexpr uint32_t kMostSteps = 64;

  /// A tid, and its thread.
  struct Slot {
    uint64_t birth = 0;
    uint32_t tid = 0;
    uint32_t number = kNone; ///< kNone: free; kOthers: its threads are in others_
  };
  /// Returns where a tid belongs: multiplicative hashing, whose high bits are the good ones.
  uint32_t place(uint32_t tid) const { return (tid * 2654435769u) >> shift_; }
  /// Returns the slot of a tid, or the free slot where it belongs; nullptr if there is no room, and
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
  uint32_t unless_ended(uint32_t number, uint64_t time, bool late) const {
    if (number - first_ >= ends_.size())
      return number;
    const End &end = ends_[number - first_];
    return (late ? end.reused : end.ended) < time ? kNone : number;
  }

  std::vector<Slot> slots_; ///< 2^n slots, at least a fifth of them free
  uint32_t shift_ = 0;
  size_t used_ = 0; ///< slots
  /// By tid and birth: threads of tids that the kernel used again, and of tids that found no slot.
  /// A file may have any number of tids that belong to one slot.
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> others_;
  /// The last times at which a thread had its tid, and no other thread was known to have it.
  struct End {
    uint64_t ended = UINT64_MAX, reused = UINT64_MAX;
  };
  uint32_t first_ = 0;    ///< number of the first thread of a catalog
  std::vector<End> ends_; ///< of it and those after it
};

} // namespace ovnitrace
