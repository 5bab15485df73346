// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/human.h"

#include <fmt/format.h>

namespace ovnitrace {

std::string human_duration(uint64_t ns) {
  struct Unit {
    uint64_t ns;
    const char *name;
  };
  constexpr Unit units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
  if (ns == 0)
    return "0";
  for (const Unit &unit : units)
    if (ns >= unit.ns) {
      // Whole digits are exact; decimals are as many as make four digits.
      const double value = double(ns) / double(unit.ns);
      return fmt::format("{:.{}f} {}", value, value < 10 ? 3 : value < 100 ? 2 : 1, unit.name);
    }
  return fmt::format("{} ns", ns);
}

std::string human_count(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, 1, ',');
  return digits;
}

std::string human_count(uint64_t count, const char *one, const char *many) {
  return human_count(count) + ' ' + (count == 1 ? one : many);
}

std::string human_bytes(uint64_t bytes) {
  if (bytes < 100'000)
    return fmt::format("{} kB", (bytes + 500) / 1000);
  const uint64_t tenths = (bytes + 50'000) / 100'000;
  return tenths < 100 ? fmt::format("{}.{} MB", tenths / 10, tenths % 10)
                      : human_count((tenths + 5) / 10) + " MB";
}

std::string human_percent(uint64_t part, uint64_t whole) {
  return whole ? fmt::format("{:.1f} %", 100.0 * double(part) / double(whole)) : "-";
}

std::string name_and_number(const std::string &name, const char *otherwise, uint64_t number) {
  return name.empty() ? fmt::format("{} {}", otherwise, number)
                      : fmt::format("{} ({})", name, number);
}

} // namespace ovnitrace
