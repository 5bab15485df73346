// SPDX-License-Identifier: BSD-2-Clause
// Finds the wait or block that hit a --trigger, by the mark that the capture left.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/slices/slice.h"

#include <cstdint>

namespace ovnitrace {

class TriggerHit {
public:
  /// Looks for the last mark of a hit in the range.
  TriggerHit(const Catalog &catalog, TimeRange range);

  /// Returns whether a wait or block ended when the trigger hit, nearer to it than all before.
  bool takes(const Slice &slice, bool is_block);
  uint64_t time() const { return time_; } ///< on the clock of the trace

private:
  const Catalog &catalog_;
  uint32_t tid_ = kNone; ///< kNone: no mark of a hit
  uint64_t time_ = 0;
  bool is_block_ = false;
  uint64_t nearest_ = 1'000'000; ///< ns: the kernel side reads the clock twice
};

} // namespace ovnitrace
