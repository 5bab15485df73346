// SPDX-License-Identifier: BSD-2-Clause
// Makes labels of a channel from the names of values in records, of interrupts and priorities.
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

/// Returns the label of an interrupt, by parameter 1 of interrupt_start.
inline std::string interrupt_name(uint16_t par1) {
  for (const ValueName &vector : kVectorNames)
    if (par1 == (FTRACE_INTERRUPT_VECTOR | vector.value))
      return std::string(vector.label);
  for (const ValueName &soft : kSoftirqNames)
    if (par1 == (FTRACE_INTERRUPT_SOFT | soft.value))
      return std::string(soft.label);
  return par1 < 256 ? fmt::format("IRQ {}", par1) : fmt::format("interrupt {:#x}", par1);
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
