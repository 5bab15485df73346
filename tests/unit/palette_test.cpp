// SPDX-License-Identifier: BSD-2-Clause
// The colours, as people with each kind of colour vision see them: CIE L*a*b* of each colour. The
// method of Machado, Oliveira and Fernandes (2009) gives the colours for people who lack one kind
// of cone.
#include "emulator/format/state_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

namespace ovnitrace {

void PrintTo(Color color, std::ostream *out) {
  *out << int(color.red) << "," << int(color.green) << "," << int(color.blue);
}

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

Vector times(const Matrix &m, const Vector &v) {
  Vector product{};
  for (size_t row = 0; row < 3; row++)
    for (size_t column = 0; column < 3; column++)
      product[row] += m[row][column] * v[column];
  return product;
}

Vector linear(Color color) {
  auto part = [](uint8_t value) {
    const double c = value / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return {part(color.red), part(color.green), part(color.blue)};
}

Vector lab(const Vector &rgb) {
  constexpr Matrix kToXyz = {{{0.4124564, 0.3575761, 0.1804375},
                              {0.2126729, 0.7151522, 0.0721750},
                              {0.0193339, 0.1191920, 0.9503041}}};
  const Vector xyz = times(kToXyz, rgb), white = times(kToXyz, {1, 1, 1});
  Vector f{};
  for (size_t n = 0; n < 3; n++) {
    const double t = xyz[n] / white[n];
    f[n] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

constexpr std::array<Matrix, 4> kEyes = {{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868},
      {0.114503, 0.786281, 0.099216},
      {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968},
      {0.280085, 0.672501, 0.047413},
      {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779},
      {-0.078411, 0.930809, 0.147602},
      {0.004733, 0.691367, 0.303900}}},
}};

double lightness(Color color) {
  return lab(linear(color))[0];
}

/// To the eyes that see the least difference.
double distance(Color a, Color b) {
  double least = 1e9;
  for (const Matrix &eyes : kEyes) {
    Vector seen[2];
    for (size_t n = 0; n < 2; n++) {
      seen[n] = times(eyes, linear(n ? b : a));
      for (double &part : seen[n])
        part = std::clamp(part, 0.0, 1.0);
      seen[n] = lab(seen[n]);
    }
    least = std::min(least, std::hypot(seen[0][0] - seen[1][0], seen[0][1] - seen[1][1],
                                       seen[0][2] - seen[1][2]));
  }
  return least;
}

constexpr Color kArrows{255, 255, 0}; // Paraver's

TEST(Palette, NormalEyesSeeBlackAndWhiteAHundredApart) {
  EXPECT_NEAR(distance({0, 0, 0}, {255, 255, 255}), 100, 0.5);
  EXPECT_LT(distance({120, 150, 0}, {190, 120, 0}), 20) << "red and green, to deuteranopes";
}

TEST(Palette, StatesOfThreadsDifferWithAnyColourVisionAndWithNone) {
  std::vector<Color> states;
  for (const StateInfo &state : kStateTable)
    if (state.state != ShownState::throttled)
      states.push_back(state.color);
  for (size_t a = 0; a < states.size(); a++)
    for (size_t b = a + 1; b < states.size(); b++) {
      EXPECT_GE(std::abs(lightness(states[a]) - lightness(states[b])), 10) << a << " " << b;
      EXPECT_GE(distance(states[a], states[b]), states[a] == palette::kNothing ? 10 : 20)
          << a << " " << b;
    }
}

TEST(Palette, MarksBesideStatesLookLikeNoState) {
  for (const StateInfo &state : kStateTable)
    for (Color other : {palette::kBad, palette::kAlarm, kArrows}) {
      const bool together = state.state != ShownState::throttled || other != kArrows;
      EXPECT_GE(distance(state.color, other), together ? 25 : 15) << state.name;
    }
}

TEST(Palette, ADeadThreadIsNearlyTheBackgroundColour) {
  EXPECT_LT(lightness(palette::kGone), 15);
  EXPECT_GT(lightness(palette::kGone), 5);
}

TEST(Palette, TheSeriesDiffersAndIsSeenOnBlack) {
  const auto &series = palette::kSeries;
  for (size_t a = 0; a < series.size(); a++) {
    EXPECT_GE(lightness(series[a]), 40) << a;
    for (size_t b = a + 1; b < series.size(); b++)
      EXPECT_GE(distance(series[a], series[b]), b < 4 ? 30 : 15) << a << " " << b;
  }
}

TEST(Palette, TheSeriesRepeats) {
  EXPECT_EQ(palette::series(0), (Color{86, 180, 233}));
  EXPECT_EQ(palette::series(11), (Color{180, 216, 255}));
  EXPECT_EQ(palette::series(12), palette::series(0));
  EXPECT_EQ(palette::series(1001), palette::series(5)); // 1001 = 83 · 12 + 5
}

} // namespace
} // namespace ovnitrace
