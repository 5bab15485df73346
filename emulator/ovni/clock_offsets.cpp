// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/clock_offsets.h"

#include <cstdlib>
#include <sstream>

namespace ovnitrace::ovni {

namespace {

bool is_number(const std::string &text) {
  char *end;
  std::strtod(text.c_str(), &end);
  return !text.empty() && !*end;
}

} // namespace

ClockOffsets parse_clock_offsets(const std::string &text, std::vector<std::string> &problems) {
  constexpr double kLimit = 9.2e18; // ns that an int64 holds
  ClockOffsets offsets;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line); // the names of the columns
  for (size_t number = 2; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    std::istringstream fields(line);
    int64_t index;
    std::string host;
    double median;
    std::string mean, deviation; // not used; "nan" for a single sample
    const std::string where = "line " + std::to_string(number);
    if (!(fields >> index >> host >> median >> mean >> deviation) || !is_number(mean) ||
        !is_number(deviation))
      problems.push_back(where + " is not `index host median mean stdev`");
    else if (!(median > -kLimit && median < kLimit))
      problems.push_back(where + " has an offset out of range");
    else if (!offsets.emplace(host, int64_t(median)).second)
      problems.push_back(where + " has a second offset of " + host);
  }
  if (offsets.empty() && problems.empty())
    problems.push_back("it has no offset");
  return offsets;
}

int64_t clock_offset(const ClockOffsets &offsets, const std::string &loom) {
  const auto found = offsets.find(loom.substr(0, loom.find('.')));
  return found == offsets.end() ? 0 : found->second;
}

} // namespace ovnitrace::ovni
