// SPDX-License-Identifier: BSD-2-Clause
#include "user/select/cgroup_tree.h"

#include "emulator/base/error.h"
#include "emulator/format/cgroup_names.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace ovnitrace {

namespace {

namespace fs = std::filesystem;

constexpr ino_t kInitialCgroupNamespace = 0xEFFFFFFB; // PROC_CGROUP_INIT_INO, proc_ns.h

/// Returns the number of the hierarchy of version 1 whose mount has these options: a controller, or
/// name=….
std::optional<uint32_t> hierarchy_of(const std::string &options, const std::string &cgroups) {
  for (const CgroupPlace &at : cgroup_places(cgroups))
    if (!at.controllers.empty() &&
        has_word(options, at.controllers.substr(0, at.controllers.find(','))))
      return at.hierarchy;
  return std::nullopt;
}

bool has_name(const std::string &path, const cgroup_name &name) {
  const std::string_view all = path;
  const std::string_view part = name.anywhere ? all.substr(all.rfind('/') + 1) : all;
  const std::string_view text(name.text, name.length);
  return name.open ? part.starts_with(text) : part == text;
}

/// Appends the cgroups of a hierarchy that have one of the names. One that is in another one that
/// was found adds nothing. A cgroup may vanish at any time.
void find_in(const CgroupMount &mount, const CgroupChoice &choice, const std::string &path,
             uint32_t level, std::vector<FoundCgroup> &found) {
  for (const cgroup_name &name : choice.names) {
    const bool here = name.hierarchy == SELECT_ANY_HIERARCHY || name.hierarchy == mount.hierarchy;
    struct stat status;
    if (!here || !has_name(path.empty() ? "/" : path, name) ||
        stat((mount.place + path).c_str(), &status) != 0)
      continue;
    found.push_back({{status.st_ino, mount.hierarchy, level}, path.empty() ? "/" : path});
    return;
  }
  std::error_code gone;
  for (fs::directory_iterator at(mount.place + path, gone), end; !gone && at != end;
       at.increment(gone))
    if (at->is_directory(gone) && !at->is_symlink(gone))
      find_in(mount, choice, path + "/" + at->path().filename().string(), level + 1, found);
}

} // namespace

bool has_word(const std::string &list, const std::string &word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

std::vector<CgroupTree> cgroup_trees(const std::string &mounts) {
  std::vector<CgroupTree> found;
  std::ifstream file(mounts);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string skip, type;
    CgroupTree tree;
    words >> skip >> skip >> skip >> tree.root >> tree.place;
    while (words >> skip && skip != "-")
      ;
    words >> type >> skip >> tree.options;
    tree.version = type == "cgroup2" ? 2 : 1;
    if (type == "cgroup2" || type == "cgroup")
      found.push_back(std::move(tree));
  }
  return found;
}

std::vector<CgroupPlace> cgroup_places(const std::string &cgroups) {
  std::vector<CgroupPlace> found;
  std::ifstream file(cgroups);
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second != std::string::npos)
      found.push_back({uint32_t(std::strtoul(line.c_str(), nullptr, 10)),
                       line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return found;
}

std::vector<CgroupMount> cgroup_mounts(const std::string &mounts, const std::string &cgroups) {
  std::vector<CgroupMount> found;
  for (const CgroupTree &tree : cgroup_trees(mounts))
    if (tree.root != "/")
      continue;
    else if (tree.version == 2)
      found.insert(found.begin(), {tree.place, 0});
    else if (const auto hierarchy = hierarchy_of(tree.options, cgroups))
      found.push_back({tree.place, *hierarchy});
  return found;
}

uint32_t old_hierarchy(const std::string &cgroups) {
  return hierarchy_of("name=systemd", cgroups).value_or(hierarchy_of("cpu", cgroups).value_or(0));
}

bool in_cgroup_namespace(const std::string &file) {
  struct stat status;
  return stat(file.c_str(), &status) == 0 && status.st_ino != kInitialCgroupNamespace;
}

cgroup_name make_cgroup_name(std::string_view text, bool anywhere, bool open, uint32_t hierarchy) {
  cgroup_name name = {};
  if (text.size() >= sizeof name.text)
    throw UsageError("the name of a cgroup is too long: {} bytes, and {} is the limit", text.size(),
                     sizeof name.text - 1);
  name.hierarchy = hierarchy;
  name.anywhere = anywhere;
  name.open = open;
  name.length = uint32_t(text.size());
  text.copy(name.text, text.size());
  return name;
}

CgroupChoice cgroup_at(const std::string &path, const std::vector<CgroupMount> &mounts) {
  if (path.empty())
    throw UsageError("--cgroup needs a path, such as /sys/fs/cgroup/system.slice");
  std::string normal = fs::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/'))
    normal.pop_back();
  const CgroupMount *of = nullptr;
  for (const CgroupMount &mount : mounts)
    if ((normal == mount.place || normal.starts_with(mount.place + "/")) &&
        (!of || mount.place.size() > of->place.size()))
      of = &mount;
  std::string below = of ? normal.substr(of->place.size()) : normal;
  if (!below.starts_with('/'))
    below.insert(0, "/");
  return {"--cgroup " + path,
          {make_cgroup_name(below, false, false, of ? of->hierarchy : SELECT_ANY_HIERARCHY)}};
}

CgroupChoice cgroup_of_unit(const std::string &name) {
  if (name.empty() || name.find('/') != name.npos)
    throw UsageError("--unit '{}' is no name of a unit of systemd, such as nginx.service", name);
  return {"--unit " + name,
          {make_cgroup_name(is_unit(name) ? name : name + ".service", true, false)}};
}

std::vector<FoundCgroup> find_cgroups(const CgroupChoice &choice,
                                      const std::vector<CgroupMount> &mounts) {
  std::vector<FoundCgroup> found;
  for (const CgroupMount &mount : mounts) {
    find_in(mount, choice, "", 0, found);
    if (!found.empty())
      break;
  }
  return found;
}

} // namespace ovnitrace
