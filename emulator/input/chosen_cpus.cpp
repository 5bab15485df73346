// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/chosen_cpus.h"

#include "emulator/base/comma_list.h"
#include "emulator/base/to_number.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace ovnitrace {

namespace {

// As TraceInfo::filters has the options.
constexpr std::string_view kCpus = "--cpu ", kNoCpus = "--no-cpu ";

/// Returns whether a CPU is in a list such as "0-3,8".
bool is_in_list(const std::string &list, uint32_t cpu) {
  for (const std::string &word : comma_list(list)) {
    const auto [begin, end] = range_ends(word);
    const auto first = to_number<uint32_t>(begin), last = to_number<uint32_t>(end);
    if (first && last && *first <= cpu && cpu <= *last)
      return true;
  }
  return false;
}

} // namespace

bool chose_cpus(const TraceInfo &info) {
  return std::any_of(info.filters.begin(), info.filters.end(), [](const std::string &filter) {
    return filter.starts_with(kCpus) || filter.starts_with(kNoCpus);
  });
}

bool records_cpu(const TraceInfo &info, uint32_t cpu) {
  bool any = false, chosen = false;
  for (const std::string &filter : info.filters)
    if (filter.starts_with(kNoCpus)) {
      if (is_in_list(filter.substr(kNoCpus.size()), cpu))
        return false;
    } else if (filter.starts_with(kCpus)) {
      any = true;
      chosen |= is_in_list(filter.substr(kCpus.size()), cpu);
    }
  return !any || chosen;
}

} // namespace ovnitrace
