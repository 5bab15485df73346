// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/models/priority_labels.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

std::vector<ValueLabel> priority_labels() {
  std::vector<ValueLabel> labels = {{FTRACE_PRIO_BIAS - 1, "Deadline"}};
  for (int priority = 0; priority < 99; priority++)
    labels.push_back({priority + FTRACE_PRIO_BIAS, fmt::format("Real time {}", 99 - priority)});
  for (int priority = 100; priority < 140; priority++)
    labels.push_back({priority + FTRACE_PRIO_BIAS, fmt::format("Nice {}", priority - 120)});
  return labels;
}

} // namespace ovnitrace
