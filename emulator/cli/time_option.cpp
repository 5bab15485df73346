// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/time_option.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace ovnitrace {

bool parse_time(const std::string &text, uint64_t &ns) {
  static constexpr struct {
    std::string_view name;
    double ns;
  } kUnits[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                {"ns", 1}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
  double number;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0))
    return false;
  std::string_view unit(end, size_t(text.data() + text.size() - end));
  for (const auto &known : kUnits)
    if (unit == known.name) {
      double value = std::round(number * known.ns);
      if (value >= 9e18)
        return false;
      ns = uint64_t(value);
      return true;
    }
  return false;
}

} // namespace ovnitrace
