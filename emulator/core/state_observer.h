// SPDX-License-Identifier: BSD-2-Clause
// Notifies observers when the replay changes the state of a thread.
#pragma once

#include "emulator/format/thread_state.h"

#include <cstdint>

namespace ovnitrace {

/// A change of a thread's state, CPU or both. CPUs are indices into System::cpus(), or kNone.
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
