// SPDX-License-Identifier: BSD-2-Clause
// Who wants to know what the replay does to threads.
#pragma once

#include "emulator/format/thread_state.h"

#include <cstdint>

namespace ovnitrace {

/// A thread has another state, is on another CPU, or both. CPUs are indices into System's, or
/// kNone.
struct StateChange {
  ThreadState from, to;
  uint32_t old_cpu, cpu;
};

class StateObserver {
public:
  virtual ~StateObserver() = default;
  virtual void on_change(uint32_t thread, const StateChange &change) = 0;
};

} // namespace ovnitrace
