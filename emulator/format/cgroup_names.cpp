// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/cgroup_names.h"

#include <algorithm>
#include <cstddef>

namespace ovnitrace {

namespace {

constexpr size_t kIdLength = 64, kShownLength = 12, kUidLength = 36; // characters

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Returns the container of a part of a path; empty if it is not one.
std::string container_of(std::string_view part) {
  for (const MachineAffixes &around : kMachineAffixes)
    if (part.starts_with(around.prefix) && part.ends_with(around.suffix) &&
        part.size() > around.prefix.size() + around.suffix.size())
      return std::string(part.substr(around.prefix.size(),
                                     part.size() - around.prefix.size() - around.suffix.size()));
  if (part.ends_with(".scope"))
    part.remove_suffix(std::string_view(".scope").size());
  std::string manager = "container ";
  for (const ContainerPrefix &known : kContainerPrefixes)
    if (part.starts_with(known.prefix)) {
      part.remove_prefix(known.prefix.size());
      manager = std::string(known.manager) + " ";
      break;
    }
  return part.size() == kIdLength && is_hex(part)
             ? manager + std::string(part.substr(0, kShownLength))
             : "";
}

/// Returns the uid of the pod of a part, as in "kubepods-burstable-podUID.slice" and "podUID";
/// empty if it is not one.
std::string pod_of(std::string_view part) {
  if (part.ends_with(kSliceType))
    part.remove_suffix(kSliceType.size());
  if (part.starts_with("kubepods-"))
    part.remove_prefix(std::min(part.rfind("-pod") + 1, part.size()));
  if (!part.starts_with("pod"))
    return "";
  std::string uid(part.substr(3));
  std::replace(uid.begin(), uid.end(), '_', '-');
  return uid.size() == kUidLength && uid.find_first_not_of("0123456789abcdef-") == uid.npos ? uid
                                                                                            : "";
}

} // namespace

bool is_unit(std::string_view name) {
  return std::any_of(std::begin(kUnitTypes), std::end(kUnitTypes),
                     [&](std::string_view type) { return name.ends_with(type) && name != type; });
}

Cgroup describe_cgroup(const std::string &path) {
  Cgroup cgroup = {.path = path, .unit = {}, .container = {}, .pod = {}};
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (is_unit(part) &&
        (!part.ends_with(kSliceType) || cgroup.unit.empty() || cgroup.unit.ends_with(kSliceType)))
      cgroup.unit = part;
    if (cgroup.container.empty())
      cgroup.container = container_of(part);
    if (cgroup.pod.empty())
      cgroup.pod = pod_of(part);
  }
  return cgroup;
}

} // namespace ovnitrace
