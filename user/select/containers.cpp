// SPDX-License-Identifier: BSD-2-Clause
#include "user/select/containers.h"

#include "emulator/base/error.h"
#include "emulator/base/small_file.h"
#include "emulator/format/cgroup_names.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace ovnitrace {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kShortestId = 4, kShortestBareId = 12; // characters
constexpr size_t kLargestFile = 16 << 20;               // bytes

/// Returns the contents of a file as JSON; discarded if it cannot be read.
json parsed(const std::string &path) {
  std::string error;
  const auto text = read_small_file(path, kLargestFile, error);
  return text ? json::parse(*text, nullptr, false) : json(json::value_t::discarded);
}

/// Returns the id that a list of podman has for a name; empty: none.
std::string id_in(const json &list, const std::string &name) {
  for (const json &one : list.is_array() ? list : json::array()) {
    const json names = one.is_object() ? one.value("names", json::array()) : json::array();
    if (std::find(names.begin(), names.end(), json(name)) != names.end() && one.contains("id") &&
        one["id"].is_string())
      return one["id"];
  }
  return "";
}

/// Returns the id of a container of podman, from its lists; empty: it has none of this name.
std::string podman_id(const std::string &name, const std::string &var_lib) {
  for (const char *driver : {"overlay", "vfs", "btrfs", "zfs"})
    for (const char *kept : {"", "volatile-"}) // with `podman run --rm`
      if (const std::string id =
              id_in(parsed(fmt::format("{}/containers/storage/{}-containers/{}containers.json",
                                       var_lib, driver, kept)),
                    name);
          !id.empty())
        return id;
  return "";
}

/// Returns the id of a container of docker, from its files; empty: it has none of this name.
std::string docker_id(const std::string &name, const std::string &var_lib) {
  std::error_code gone;
  for (const auto &entry : fs::directory_iterator(var_lib + "/docker/containers", gone)) {
    const json about = parsed(entry.path() / "config.v2.json");
    if (about.is_object() && about.contains("Name") && about["Name"] == "/" + name)
      return entry.path().filename();
  }
  return "";
}

bool is_id(const std::string &text) {
  return text.size() >= kShortestId && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Returns a name as systemd writes it in the name of a unit.
std::string escaped(const std::string &name) {
  std::string text;
  for (const char c : name)
    text += isalnum(uint8_t(c)) || c == ':' || c == '_' || c == '.'
                ? std::string(1, c)
                : fmt::format("\\x{:02x}", uint8_t(c));
  return text;
}

} // namespace

CgroupChoice cgroup_of_container(const std::string &name, const std::string &var_lib) {
  if (name.empty() || name.find('/') != name.npos)
    throw UsageError("--container '{}' is no name or id of a container", name);
  CgroupChoice choice = {"--container " + name, {}};
  std::string id = docker_id(name, var_lib);
  if (id.empty())
    id = podman_id(name, var_lib);
  if (id.empty() && is_id(name))
    id = name;
  if (!id.empty())
    for (const ContainerPrefix &known : kContainerPrefixes)
      choice.names.push_back(make_cgroup_name(std::string(known.prefix) + id, true, true));
  if (id.size() >= kShortestBareId)
    choice.names.push_back(make_cgroup_name(id, true, true));
  for (const std::string &machine : {name, escaped(name)}) {
    for (const MachineAffixes &around : kMachineAffixes)
      choice.names.push_back(make_cgroup_name(
          fmt::format("{}{}{}", around.prefix, machine, around.suffix), true, false));
    if (escaped(name) == name)
      break;
  }
  return choice;
}

} // namespace ovnitrace
