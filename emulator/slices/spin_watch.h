// SPDX-License-Identifier: BSD-2-Clause
// Finds threads that wait for something by yielding again and again.
#pragma once

#include "emulator/core/state_observer.h"
#include "emulator/input/source.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Follows the yields of threads. Two successive yields are in one spin if the thread does not
/// block between them, and runs for less than a limit.
class SpinWatch {
public:
  explicit SpinWatch(const Catalog &catalog);

  /// Takes a change of a thread's state. `yields`: it leaves its CPU in sched_yield().
  void change(uint32_t thread, const StateChange &change, uint64_t time, bool yields);

  /// Returns whether the last yield of a thread is not the first one of a spin.
  bool spins(uint32_t thread) const { return threads_[thread].spins; }
  /// Returns when the last spin of a thread started, ns: its first yield.
  uint64_t since(uint32_t thread) const { return threads_[thread].since; }
  /// Returns whether a thread has spun before.
  bool has_spun(uint32_t thread) const { return threads_[thread].has_spun; }

private:
  struct State {
    uint64_t limit = 0;         ///< ns, of runs between two yields
    uint64_t since = 0;         ///< ns: the first yield
    uint64_t running_since = 0; ///< ns
    uint64_t ran = 0;           ///< ns, since the last yield
    bool yielded = false;       ///< and has not blocked since
    bool spins = false, has_spun = false;
  };

  std::vector<State> threads_; ///< by thread
};

} // namespace ovnitrace
