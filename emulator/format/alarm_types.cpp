// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/alarm_types.h"

namespace ovnitrace::control {

namespace {

template <class Rows> std::string names_of(const Rows &rows) {
  std::string names;
  for (const auto &row : rows)
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
  return names_of(kEventNames);
}

std::string type_names() {
  return names_of(kAlarmTypes);
}

} // namespace ovnitrace::control
