// SPDX-License-Identifier: BSD-2-Clause
// How long threads were blocked in a futex while the thread that woke them in the end was itself
// preempted, as the holder of a lock can be.
#pragma once

#include "emulator/core/state_observer.h"
#include "emulator/slices/slice.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Of each thread the last 32 preemptions are remembered; what is older is left out, so a sum may
/// be too short, never too long.
class PreemptedWakers {
public:
  explicit PreemptedWakers(size_t threads) : threads_(threads) {}

  /// Every change of state. `preempted`: of one to Cooling, whether the thread lost its CPU to
  /// another one.
  void change(uint32_t thread, const StateChange &change, uint64_t time, bool preempted);
  /// A block in a futex that was seen to start and to end, woken by another thread of the trace.
  void block(const Slice &slice, uint32_t waker);

  struct Sum {
    uint64_t woken = 0;     ///< ns, of all blocks
    uint64_t preempted = 0; ///< ns of that
    uint32_t most = kNone;  ///< index into Catalog::threads: the waker that was preempted most
  };
  Sum sum() const;

private:
  struct Span {
    uint64_t from = 0, to = 0; ///< ns
  };
  static constexpr size_t kMost = 32;
  struct Thread {
    std::vector<Span> spans; ///< a ring of kMost
    size_t next = 0;
    bool open = false;  ///< the newest one has not ended
    uint64_t blame = 0; ///< ns
  };

  std::vector<Thread> threads_;
  uint64_t woken_ = 0;
};

} // namespace ovnitrace
