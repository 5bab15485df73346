// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/idle_text.h"

#include "emulator/base/human.h"
#include "emulator/base/short_line.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {

std::string idle_text(uint64_t known, const IdleTimes &idle, size_t columns) {
  constexpr size_t kIndent = 12;
  if (!known)
    return "";
  std::string text =
      wrapped(fmt::format("A CPU was idle for {} of {} of waiting for which it is known ({}){}",
                          human_duration(idle.total()), human_duration(known),
                          human_percent(idle.total(), known), idle.total() ? ":" : "."),
              columns) +
      '\n';
  for (size_t n = 0; n < kIdleCauses.size(); n++)
    if (idle.ns[n])
      text +=
          fmt::format("  {:>8}  {}\n", human_duration(idle.ns[n]),
                      wrapped(fmt::format("{}: {}", kIdleCauses[n].name, kIdleCauses[n].meaning),
                              columns, kIndent, kIndent));
  return text;
}

nlohmann::ordered_json idle_json(uint64_t known, const IdleTimes &idle) {
  if (!known)
    return {};
  nlohmann::ordered_json json = {{"known_ns", known}};
  for (size_t n = 0; n < kIdleCauses.size(); n++)
    json[std::string(kIdleCauses[n].word) + "_ns"] = idle.ns[n];
  return json;
}

} // namespace ovnitrace
