// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/plot/svg_fill.h"

#include "emulator/base/palette.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr Color kWhite{255, 255, 255}, kBlack{0, 0, 0};

Color mix(Color a, Color b, double part) {
  const auto one = [&](uint8_t x, uint8_t y) {
    return uint8_t(std::lround(x * (1 - part) + y * part));
  };
  return {one(a.red, b.red), one(a.green, b.green), one(a.blue, b.blue)};
}

/// Returns a colour for white paper. The palette is for a black background, so dark colours become
/// light.
Color on_paper(ShownState state) {
  switch (state) {
  case ShownState::unknown:
    return kWhite;
  case ShownState::paused:
    return mix(palette::kBlocked, kWhite, 0.74);
  case ShownState::dead:
    return mix(kWhite, kBlack, 0.07);
  default:
    return info_of(state).color;
  }
}

/// A pattern of marks on the colour of a state.
struct Marks {
  int size;         ///< of the square that is repeated, in pixels
  const char *path; ///< in it
};

constexpr Marks kMarks[] = {{}, // by Pattern
                            {6, "M-1 7L7 -1M-1 1L1 -1M5 7L7 5"},
                            {4, "M1 0V4"},
                            {4, "M0 1H4"},
                            {6, "M2.4 3H3.6"}};

std::string pattern(std::string_view id, Color ground, Color marks, const Marks &of) {
  return fmt::format("<pattern id=\"{0}\" width=\"{1}\" height=\"{1}\" "
                     "patternUnits=\"userSpaceOnUse\"><rect width=\"{1}\" height=\"{1}\" "
                     "fill=\"{2}\"/><path d=\"{3}\" stroke=\"{4}\" stroke-width=\"1.2\"/>"
                     "</pattern>\n",
                     id, of.size, css(ground), of.path, css(marks));
}

} // namespace

std::string fill_patterns() {
  std::string all = pattern("dark", kWhite, palette::kAlarm, {4, "M-1 5L5 -1M-1 1L1 -1M3 5L5 3"});
  for (const StateInfo &state : kStateTable)
    if (state.pattern != Pattern::none) {
      const Color ground = on_paper(state.state);
      all += pattern(state.name, ground, mix(ground, kBlack, 0.4), kMarks[size_t(state.pattern)]);
    }
  return all;
}

std::string fill_of(ShownState state) {
  return info_of(state).pattern == Pattern::none ? css(on_paper(state))
                                                 : fmt::format("url(#{})", info_of(state).name);
}

} // namespace ovnitrace
