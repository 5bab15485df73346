// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/plot/axis.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace {

constexpr uint64_t kMostSteps = 10'000; // from the origin: numbers of at most five digits

struct TickUnit {
  uint64_t ns;
  const char *name;
};
constexpr TickUnit kUnits[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}};

/// Returns 1, 2 or 5 times a power of ten.
uint64_t round_step(uint64_t length, size_t most) {
  for (uint64_t power = 1;; power *= 10)
    for (const uint64_t factor : {1, 2, 5})
      if (length / (factor * power) < most || power >= 1'000'000'000'000'000'000)
        return factor * power;
}

const TickUnit &unit_of(uint64_t length) {
  for (const TickUnit &unit : kUnits)
    if (length >= unit.ns)
      return unit;
  return kUnits[3];
}

/// Returns a time in a unit, with as many decimals as the step has.
std::string number(uint64_t ns, const TickUnit &unit, uint64_t step) {
  int decimals = 0;
  for (uint64_t part = unit.ns; part > 1 && step % part != 0; part /= 10)
    decimals++;
  uint64_t scale = unit.ns;
  for (int n = 0; n < decimals; n++)
    scale /= 10;
  if (!decimals)
    return std::to_string(ns / unit.ns);
  return fmt::format("{}.{:0{}}", ns / unit.ns, ns % unit.ns / scale, decimals);
}

} // namespace

Axis make_axis(uint64_t from, uint64_t to, size_t most) {
  const uint64_t length = to - from, step = round_step(length, most);
  const TickUnit &unit = unit_of(length);
  uint64_t origin = 0;
  Axis axis;
  axis.title = fmt::format("time from the start of the trace ({})", unit.name);
  if (from / step > kMostSteps) {
    origin = from / step * step;
    axis.title = fmt::format("time from {} s on ({})", number(origin, kUnits[0], step), unit.name);
  }
  for (uint64_t at = (from + step - 1) / step * step; at >= from && at <= to; at += step)
    axis.marks.push_back({at, number(at - origin, unit, step)}); // at < from: it went around
  return axis;
}

} // namespace ovnitrace
