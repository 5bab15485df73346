// SPDX-License-Identifier: BSD-2-Clause
// Measures how long threads waited for each futex, and who ended the waits.
#pragma once

#include "emulator/why/explanation.h"
#include "emulator/why/sum_table.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Sums up waits of family mutex with both ends in the range. Leaves out waits during which events
/// were lost or the family was filtered out. Memory grows with threads, and with the futexes that
/// each waited for.
class LockWaits {
public:
  /// `from`: ns on the clock of the trace, start of the range.
  LockWaits(size_t threads, uint64_t from) : from_(from), waits_(threads) {}

  /// Takes each event, in the order of time.
  void event(const Event &event);
  /// Notes who wakes a thread.
  void wake(uint32_t thread, Culprit waker) { waits_[thread].waker = waker; }
  /// Notes the stack of a thread that was blocked.
  void block(uint32_t thread, uint32_t stack) { waits_[thread].stack = stack; }
  /// Returns all sums, most time first, and clears them.
  std::vector<LockSum> take();

private:
  static constexpr uint64_t kNot = UINT64_MAX;
  struct Wait {
    uint64_t since = kNot; ///< ns
    uint32_t futex = 0;
    Culprit waker = {};     ///< the last one since then
    uint32_t stack = kNone; ///< of the last block since then
  };

  void end_wait(const Event &event);
  void forget();

  uint64_t from_;
  std::vector<Wait> waits_; ///< by thread
  SumTable<LockSum> sums_;
};

} // namespace ovnitrace
