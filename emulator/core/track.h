// SPDX-License-Identifier: BSD-2-Clause
// Defines in which states of its thread a channel is enabled.
#pragma once

#include "emulator/format/thread_state.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// When a channel is enabled: always; while its thread is Running; or while it is Running, Cooling
/// or Warming. For the copy on a CPU: which thread is followed; `none` means no copy.
enum class Track : uint8_t { none, running, active };

constexpr bool is_tracked(Track mode, ThreadState state) {
  return mode == Track::none || state == ThreadState::Running ||
         (mode == Track::active && is_active(state));
}

constexpr uint32_t track_bit(Track mode) {
  return 1u << uint32_t(mode);
}

/// By state: a bit for each mode that enables channels in this state.
inline constexpr auto kTracksOf = [] {
  std::array<uint8_t, kThreadStates> bits{};
  for (uint32_t state = 0; state < kThreadStates; state++)
    for (const Track mode : {Track::running, Track::active})
      if (is_tracked(mode, ThreadState(state)))
        bits[state] |= uint8_t(track_bit(mode));
  return bits;
}();

/// Calls `f(mode)` for each of these bits.
template <class F> void for_each_track(uint32_t bits, F &&f) {
  for (; bits; bits &= bits - 1)
    f(Track(std::countr_zero(bits)));
}

/// A value for each mode.
template <class T> class ByTrack {
public:
  T &operator[](Track mode) { return all_[size_t(mode)]; }
  const T &operator[](Track mode) const { return all_[size_t(mode)]; }

private:
  std::array<T, 3> all_{};
};

} // namespace ovnitrace
