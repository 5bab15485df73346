// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/trigger.h"

#include "emulator/base/error.h"
#include "emulator/format/code_kind.h"
#include "emulator/format/code_table.h"
#include "emulator/format/event_names.h"
#include "user/bpf/trigger_capture.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace {

/// Returns whether a user waits for events of this code, and a capture can have them: what is left
/// out are the tracer's own records, and what only S.Ha.R.K. logs.
bool is_trigger(uint16_t code) {
  switch (code) {
  case FTrace_EVT_ipoint:
  case FTrace_EVT_data_pointer:
  case FTrace_EVT_task_begin_cycle:
  case FTrace_EVT_task_end_cycle:
  case FTrace_EVT_task_schedule:
  case FTrace_EVT_task_timer:
  case FTrace_EVT_task_disable:
  case FTrace_EVT_task_wcet_violation:
  case FTrace_EVT_mutex_unlock_misprint:
    return false;
  }
  const std::string_view name = event_name(code);
  return event_count(kCodeKinds[code]) == 1 && !name.starts_with("EXT_") &&
         !name.starts_with("filter_") && capturing_family(code) != FTRACE_FAMILY_TRACE &&
         families_that_can_be().has(capturing_family(code));
}

/// Returns a line for the kinds, and one for the events of each family.
std::string list_of_triggers(FamilySet families) {
  std::string text;
  for (const TriggerKindName &kind : kTriggerKinds)
    text += fmt::format("{}{}", text.empty() ? "\n  " : ", ", kind.form);
  text += "\n  region_stop (with --control)";
  for (const FamilyInfo &family : kFamilies) {
    std::string names;
    for (uint16_t code = 1; code <= FTRACE_CODE_MASK; code++)
      if (is_trigger(code) && capturing_family(code) == uint32_t(family.number))
        names += fmt::format("{}{}", names.empty() ? "\n  " : ", ", event_name(code));
    text += names;
    if (!names.empty() && !families.has(family.number))
      text += fmt::format(" (with --filter +{})", family.option);
  }
  return text;
}

} // namespace

uint16_t trigger_code(const std::string &name, FamilySet families) {
  uint16_t code = 1;
  while (code <= FTRACE_CODE_MASK &&
         !(event_count(kCodeKinds[code]) == 1 && event_name(code) == name))
    code++;
  if (code > FTRACE_CODE_MASK)
    throw UsageError("--trigger {}: there is no such trigger. There are:{}", name,
                     list_of_triggers(families));
  const uint32_t family = capturing_family(code);
  if (family == FTRACE_FAMILY_TRACE || !find_family(family) || families.has(family))
    return code;
  // No event of this family would ever come.
  const std::string missing = to_string(FamilySet(1u << family));
  throw UsageError(
      missing == "none"
          ? fmt::format("--trigger {}: such events are in files of S.Ha.R.K. only", name)
          : fmt::format("--trigger {}: its family is not captured: add --filter +{}", name,
                        missing));
}

std::string trigger_names() {
  std::string names = "region_stop";
  for (const TriggerKindName &kind : kTriggerKinds)
    names += fmt::format(",{}:", kind.name);
  for (uint16_t code = 1; code <= FTRACE_CODE_MASK; code++)
    if (is_trigger(code))
      names += fmt::format(",{}", event_name(code));
  return names;
}

} // namespace ovnitrace
