// SPDX-License-Identifier: BSD-2-Clause
// Defines the colours of every output, so that a state looks the same in Paraver, in pages and in
// pictures. Colours differ in lightness too, for people who cannot distinguish them, and suit a
// black background.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace ovnitrace {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Color &) const = default;
};

/// Returns the colour as CSS writes it.
inline std::string css(Color color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

namespace palette {

inline constexpr Color kNothing{0, 0, 0};       ///< the background: nothing, or not known
inline constexpr Color kRunning{0, 175, 125};   ///< has a CPU
inline constexpr Color kBlocked{66, 74, 96};    ///< sleeps, waits for a lock or for I/O
inline constexpr Color kGone{30, 30, 34};       ///< has ended: hardly lighter than the background
inline constexpr Color kPreempted{205, 75, 0};  ///< runnable, but preempted
inline constexpr Color kThrottled{235, 205, 0}; ///< runnable, but without CPU quota
inline constexpr Color kWoken{170, 200, 255};   ///< woken, waits for a CPU
inline constexpr Color kBad{255, 255, 255};     ///< ST_BAD: no channel should show it
inline constexpr Color kAlarm{255, 0, 255}; ///< events lost, deadlines missed, impossible things

/// For values without a meaning that has a colour. The first ones differ most.
inline constexpr std::array<Color, 12> kSeries = {{{86, 180, 233},
                                                   {216, 36, 0},
                                                   {144, 108, 108},
                                                   {255, 180, 144},
                                                   {0, 108, 144},
                                                   {255, 144, 0},
                                                   {180, 180, 180},
                                                   {144, 255, 108},
                                                   {108, 36, 255},
                                                   {108, 144, 72},
                                                   {255, 0, 180},
                                                   {180, 216, 255}}};

/// Returns the colour of the n-th of many things (processes, interrupts): kSeries, repeated.
constexpr Color series(size_t n) {
  return kSeries[n % kSeries.size()];
}

} // namespace palette

} // namespace ovnitrace
