// SPDX-License-Identifier: BSD-2-Clause
// Assigns the contexts of one chunk: the 16-bit numbers by which its records name threads.
#pragma once

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Maps tids to contexts, for one chunk at a time. A fixed open-addressing table: a look-up costs a
/// multiplication and mostly one cache line, and nothing is allocated. clear() only counts an
/// epoch.
class ContextTable {
public:
  static constexpr uint32_t kCapacity = 4096; ///< contexts in a chunk: when full, the chunk ends

  ContextTable() : slots_(kSlots) {}

  void clear() {
    epoch_++;
    used_ = 0;
  }

  /// Returns the context of the thread that has `tid` at `time` (ns); 0 if it has none yet.
  uint16_t find(uint32_t tid, uint64_t time) const {
    for (uint32_t at = hash(tid);; at = (at + 1) % kSlots) {
      const Slot &slot = slots_[at];
      if (slot.epoch != epoch_)
        return 0;
      if (slot.tid == tid)
        return time < slot.until ? slot.context : 0;
    }
  }

  uint32_t remaining() const { return kCapacity - used_; } ///< contexts left to assign

  /// Gives `tid` a new context, also if it has one: a new thread may have an old tid. The context
  /// holds for times before `until` (ns). REQUIRES: remaining() > 0
  uint16_t assign(uint32_t tid, uint64_t until = UINT64_MAX) {
    uint32_t at = hash(tid);
    while (slots_[at].epoch == epoch_ && slots_[at].tid != tid)
      at = (at + 1) % kSlots;
    slots_[at] = {until, epoch_, tid, uint16_t(++used_)};
    return slots_[at].context;
  }

  /// Notes that from `time` on `tid` belongs to another thread.
  void expire(uint32_t tid, uint64_t time) {
    for (uint32_t at = hash(tid); slots_[at].epoch == epoch_; at = (at + 1) % kSlots)
      if (slots_[at].tid == tid)
        slots_[at].until = time;
  }

private:
  static constexpr uint32_t kSlots = 2 * kCapacity;
  static uint32_t hash(uint32_t tid) {
    return tid * 2654435761u >> 19;
  } // 2^32 / golden ratio; 13 bits

  struct Slot {
    uint64_t until = 0; ///< ns: when the tid comes to another thread
    uint32_t epoch = 0;
    uint32_t tid = 0;
    uint16_t context = 0;
  };
  std::vector<Slot> slots_;
  uint32_t epoch_ = 1;
  uint32_t used_ = 0;
};

} // namespace ovnitrace
