// SPDX-License-Identifier: BSD-2-Clause
// How long threads waited for which futex, and who ended that.
#pragma once

#include "emulator/why/explanation.h"
#include "emulator/why/sum_table.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Adds up the waits of family mutex of which both ends are in the range. What was under way when
/// events were lost, or the family was filtered out, is left out. Memory depends on threads, and on
/// how many of them waited for which futex.
class LockWaits {
public:
  /// `from`: ns on the clock of the trace, where the range starts.
  LockWaits(size_t threads, uint64_t from) : from_(from), waits_(threads) {}

  /// Any event, in the order of time.
  void event(const Event &event);
  /// Who wakes a thread.
  void wake(uint32_t thread, Culprit waker) { waits_[thread].waker = waker; }
  /// All sums, most time first; none are left.
  std::vector<LockSum> take();

private:
  static constexpr uint64_t kNot = UINT64_MAX;
  struct Wait {
    uint64_t since = kNot; ///< ns
    uint32_t futex = 0;
    Culprit waker = {}; ///< the last one since then
  };

  void end_wait(const Event &event);
  void forget();

  uint64_t from_;
  std::vector<Wait> waits_; ///< by thread
  SumTable<LockSum> sums_;
};

} // namespace ovnitrace
