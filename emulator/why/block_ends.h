// SPDX-License-Identifier: BSD-2-Clause
// How the last block of each thread ended: in what it was blocked, and who woke it.
#pragma once

#include "emulator/input/stacks.h"
#include "emulator/slices/interrupts.h"
#include "emulator/slices/slice.h"
#include "emulator/why/explanation.h"

#include <vector>

namespace ovnitrace {

/// Notes how the last block of each thread ended. Memory grows with threads.
class BlockEnds {
public:
  struct End {
    Culprit waker = {};
    Block block = {}; ///< in what it was blocked
    uint32_t stack = kNone;
    uint32_t context = FTRACE_WAKER_UNKNOWN; ///< of the wakeup
  };

  /// `stacks`: to tell page faults apart; borrowed, may be null.
  BlockEnds(const Catalog &catalog, const Stacks *stacks);

  void event(const Event &event);
  /// Takes a change of the current event. Returns whether it is a wakeup.
  bool change(uint32_t thread, const StateChange &change);
  /// Takes the whole slice of a block, after the change that ended it.
  void end_block(const Slice &slice);

  const End &of(uint32_t thread) const { return last_[thread]; }

private:
  Culprit waker_of(const Event &event) const;

  const Catalog &catalog_;
  const Stacks *stacks_;
  ServedInterrupts served_;
  std::vector<End> last_;     ///< by thread
  uint32_t wakes_up_ = kNone; ///< the thread that the current event wakes
  End now_;                   ///< the wakeup by the current event
};

} // namespace ovnitrace
