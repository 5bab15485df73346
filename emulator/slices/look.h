// SPDX-License-Identifier: BSD-2-Clause
// What pictures show of a slice: the state of the thread, and whether it is throttled.
#pragma once

#include "emulator/base/palette.h"
#include "emulator/format/value_names.h"
#include "emulator/slices/slice.h"

#include <array>
#include <string_view>

namespace ovnitrace {

/// Has the numbers of ThreadState. A thread that is throttled is Cooling, but waits for no CPU.
enum class Look : uint8_t { unknown, running, paused, dead, cooling, warming, throttled };
inline constexpr size_t kLooks = 7;

constexpr Look look_of(const Slice &slice) {
  const bool throttled =
      slice.state == ThreadState::Cooling && slice.reason == FTRACE_OFFCPU_THROTTLED;
  return throttled ? Look::throttled : Look(slice.state);
}

/// "cooling", "throttled".
constexpr std::string_view name_of(Look look) {
  return look == Look::throttled ? "throttled" : kStateNames[size_t(look)].name;
}
/// The same as a title.
constexpr std::string_view label_of(Look look) {
  return look == Look::throttled ? "Throttled" : kStateNames[size_t(look)].label;
}
constexpr Color color_of(Look look) {
  return look == Look::throttled ? palette::kThrottled : palette::kThreadStates[size_t(look)];
}

} // namespace ovnitrace
