// SPDX-License-Identifier: BSD-2-Clause
// Measures how long threads were blocked in a futex while the later waker was itself preempted, as
// a lock holder can be.
#pragma once

#include "emulator/core/state_observer.h"
#include "emulator/slices/slice.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace ovnitrace {

/// Remembers the last 32 preemptions of each thread. Older ones are left out, so a sum may be too
/// small, never too large.
class PreemptedWakers {
public:
  explicit PreemptedWakers(size_t threads) : threads_(threads) {}

  /// Takes each change of state. `preempted`, for a change to Cooling: another thread took the CPU.
  void change(uint32_t thread, const StateChange &change, uint64_t time, bool preempted);
  /// Takes a part of the preemption of a thread, in which `holder`, a thread of the trace, ran.
  /// `real_time`: with such a priority. To be called before the change() that ends the preemption.
  void held(uint32_t thread, uint32_t holder, uint64_t ns, bool real_time);
  /// Takes a block in a futex with both ends seen, and whose waker is another thread of the trace.
  /// `real_time`: the blocked thread has such a priority.
  void block(const Slice &slice, uint32_t waker, bool real_time);

  struct Sum {
    uint64_t woken = 0;    ///< ns, of all blocks
    uint64_t blocked = 0;  ///< ns of `woken`, in which the waker was preempted
    uint32_t most = kNone; ///< index into Catalog::threads: the waker with the longest time below
    uint64_t most_preempted = 0; ///< ns of its preemptions in which it let at least one thread wait
    uint32_t by = kNone;  ///< the thread that ran for at least half of that time, as far as known
    bool inverts = false; ///< that one, and a thread that waited, had real-time priorities
  };
  Sum sum() const;

private:
  struct Span {
    uint64_t from = 0, to = 0; ///< ns
    uint64_t blame = 0;        ///< ns of it, in which it let at least one thread wait
    uint32_t holder = kNone;   ///< who ran longest meanwhile; kNone: no thread of the trace
    uint64_t held = 0;         ///< how long, ns
    bool real_time = false;    ///< with such a priority

    uint64_t held_in(uint64_t part) const;
  };
  /// What is known of a thread that ran instead.
  struct By {
    uint64_t ns = 0; ///< of `blame`, at least
    bool inverts = false;
  };
  static constexpr size_t kMost = 32;
  struct Thread {
    std::vector<Span> spans; ///< the last kMost, as a ring
    size_t next = 0;
    bool open = false;  ///< the newest span has not ended
    uint64_t blame = 0; ///< ns, of all spans
    std::map<uint32_t, By> by;
  };

  std::vector<Thread> threads_;
  uint64_t woken_ = 0, blocked_ = 0; ///< as in Sum
};

} // namespace ovnitrace
