// SPDX-License-Identifier: BSD-2-Clause
// Makes labels of a channel from the names of values in records, and of priorities.
#pragma once

#include "emulator/core/channel_def.h"
#include "emulator/format/value_names.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

#include <string>
#include <vector>

namespace ovnitrace {

/// Returns labels for the values of records + `offset`.
inline std::vector<ValueLabel> value_labels(ValueNames names, int64_t offset = 0) {
  std::vector<ValueLabel> labels;
  for (const ValueName &entry : names)
    labels.push_back({int64_t(entry.value) + offset, std::string(entry.label)});
  return labels;
}

/// Returns labels for the kernel's priority + FTRACE_PRIO_BIAS, as task_dispatch has it.
inline std::vector<ValueLabel> priority_labels() {
  std::vector<ValueLabel> labels = {{FTRACE_PRIO_BIAS - 1, "Deadline"}};
  for (int priority = 0; priority < 99; priority++)
    labels.push_back({priority + FTRACE_PRIO_BIAS, fmt::format("Real time {}", 99 - priority)});
  for (int priority = 100; priority < 140; priority++)
    labels.push_back({priority + FTRACE_PRIO_BIAS, fmt::format("Nice {}", priority - 120)});
  return labels;
}

} // namespace ovnitrace
