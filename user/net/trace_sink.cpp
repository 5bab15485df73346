// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/trace_sink.h"

#include <algorithm>

namespace ovnitrace {

std::string safe_name(std::string_view name) {
  constexpr size_t kLongest = 100;
  std::string safe(name.substr(0, kLongest));
  std::replace_if(
      safe.begin(), safe.end(),
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '.' || c == '_' || c == '-' || c == '+');
      },
      '_');
  if (safe.empty())
    return "trace";
  if (safe[0] == '.' || safe[0] == '-') // hidden, or an option for whoever names it
    safe[0] = '_';
  return safe;
}

} // namespace ovnitrace
