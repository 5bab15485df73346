// SPDX-License-Identifier: BSD-2-Clause
// Gives the state in which outputs show a slice.
#pragma once

#include "emulator/format/state_table.h"
#include "emulator/slices/slice.h"

namespace ovnitrace {

constexpr ShownState shown_state(const Slice &slice) {
  const bool throttled =
      slice.state == ThreadState::Cooling && ftrace_offcpu_is_throttled(slice.reason);
  return throttled ? ShownState::throttled : ShownState(slice.state);
}

} // namespace ovnitrace
