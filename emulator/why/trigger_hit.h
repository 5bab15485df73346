// SPDX-License-Identifier: BSD-2-Clause
// Finds the wait or block that hit a --trigger, by the mark that the capture left.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/slices/slice.h"

#include <cstdint>

namespace ovnitrace {

class TriggerHit {
public:
  /// Looks for the last mark in the range that is of a thread in `shown` (1 by index).
  TriggerHit(const Catalog &catalog, TimeRange range, const std::vector<uint8_t> &shown);

  /// Returns whether a wait or block ended when the trigger hit, nearer to it than all before.
  bool takes(const Slice &slice, bool is_block);
  /// Returns the throttled slice that `slice` continues, if any: together they are the wait that
  /// hit. REQUIRES: takes() has just accepted `slice`.
  const Slice *throttled_before(const Slice &slice) const {
    const bool follows = slice.reason == FTRACE_OFFCPU_REFILLED && throttled_.end == slice.start;
    return follows ? &throttled_ : nullptr;
  }
  uint64_t time() const { return time_; } ///< on the clock of the trace

private:
  const Catalog &catalog_;
  uint32_t host_ = 0, tid_ = kNone; ///< of the thread; kNone: no mark of a hit
  uint64_t time_ = 0;
  bool is_block_ = false;
  Slice throttled_ = {};         ///< the last one of the thread
  uint64_t nearest_ = 1'000'000; ///< ns: the kernel side reads the clock twice
};

} // namespace ovnitrace
