// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/alarm_types.h"

namespace ovnitrace::control {

namespace {

template <class Rows, class Accept> std::string names_of(const Rows &rows, Accept accept) {
  std::string names;
  for (const auto &row : rows)
    if (accept(row))
      names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

} // namespace

const AlarmType *find_type(std::string_view name) {
  for (const AlarmType &type : kAlarmTypes)
    if (type.name == name || (!type.alias.empty() && type.alias == name))
      return &type;
  return nullptr;
}

const AlarmType *type_of(control_type wanted) {
  for (const AlarmType &type : kAlarmTypes)
    if (type.type == wanted)
      return &type;
  return nullptr;
}

std::string event_names() {
  return names_of(kEventNames, [](const EventName &) { return true; });
}

std::string type_names() {
  return names_of(kAlarmTypes, [](const AlarmType &) { return true; });
}

std::string portable_type_names() {
  return names_of(kAlarmTypes, [](const AlarmType &type) { return !type.x86_only; });
}

} // namespace ovnitrace::control
