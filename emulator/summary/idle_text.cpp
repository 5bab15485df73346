// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/idle_text.h"

#include "emulator/base/human.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {

std::string idle_text(uint64_t known, const IdleTimes &idle) {
  if (!known)
    return "";
  std::string text = fmt::format("A CPU was idle for {} of {} of waiting ({}){}\n",
                                 human_duration(idle.total()), human_duration(known),
                                 human_percent(idle.total(), known), idle.total() ? ":" : ".");
  for (size_t n = 0; n < kIdleCauses.size(); n++)
    if (idle.ns[n])
      text += fmt::format("  {:>8}  {}: {}\n", human_duration(idle.ns[n]), kIdleCauses[n].name,
                          kIdleCauses[n].meaning);
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
