// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace ovnitrace {

namespace {

/// What the two versions call their files and counts.
struct Version {
  const char *limit, *used, *cache, *shared; ///< shared: of the cache, in tmpfs and the like
};
constexpr Version kV1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache",
                         "total_shmem"};
constexpr Version kV2 = {"memory.max", "memory.current", "file", "shmem"};

/// A hierarchy of cgroups that counts memory: where it is mounted, and which of its cgroups that
/// is.
struct Mount {
  const Version *version = nullptr;
  std::string root, place;
};

bool has_word(const std::string &list, const std::string &word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// Parses a line of /proc/PID/mountinfo (proc_pid_mountinfo(5)).
Mount mount_of(const std::string &line) {
  std::istringstream words(line);
  std::string skip, type, options;
  Mount mount;
  words >> skip >> skip >> skip >> mount.root >> mount.place;
  while (words >> skip && skip != "-")
    ;
  words >> type >> skip >> options;
  if (type == "cgroup2")
    mount.version = &kV2;
  else if (type == "cgroup" && has_word(options, "memory"))
    mount.version = &kV1;
  return mount;
}

/// Returns the path of the process's cgroup in that hierarchy; empty: it is in none.
std::string cgroup_of(const std::string &cgroups, const Version *version) {
  std::ifstream file(cgroups);
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == &kV2 ? controllers.empty() : has_word(controllers, "memory"))
      return line.substr(second + 1);
  }
  return "";
}

std::optional<uint64_t> number_in(const std::string &path) {
  uint64_t number = 0;
  if (std::ifstream file(path); file >> number)
    return number;
  return std::nullopt; // "max", or it is not there
}

uint64_t count_in(const std::string &path, const std::string &wanted) {
  std::ifstream file(path);
  uint64_t number = 0;
  for (std::string name; file >> name >> number;)
    if (name == wanted)
      return number;
  return 0;
}

std::optional<uint64_t> left_in(const std::string &directory, const Version &version) {
  const auto limit = number_in(directory + "/" + version.limit);
  const auto used = number_in(directory + "/" + version.used);
  constexpr uint64_t kNone = 1ull << 62; // v1 has a huge number in place of "max"
  if (!limit || !used || *limit >= kNone)
    return std::nullopt;
  const std::string counts = directory + "/memory.stat";
  const uint64_t cache = std::min(*used, count_in(counts, version.cache)),
                 shared = std::min(cache, count_in(counts, version.shared));
  return *limit - std::min(*limit, *used - (cache - shared));
}

} // namespace

std::optional<uint64_t> memory_left(const std::string &cgroups, const std::string &mounts) {
  std::optional<uint64_t> least;
  std::ifstream file(mounts);
  for (std::string line; std::getline(file, line);) {
    const Mount mount = mount_of(line);
    std::string path = mount.version ? cgroup_of(cgroups, mount.version) : "";
    if (mount.root != "/" && path.starts_with(mount.root))
      path.erase(0, mount.root.size()); // of a container: its own cgroup is mounted
    while (mount.version) {
      if (const auto left = left_in(mount.place + path, *mount.version))
        least = std::min(*left, least.value_or(std::numeric_limits<uint64_t>::max()));
      const size_t parent = path.rfind('/');
      if (path == "/" || parent == std::string::npos)
        break;
      path.resize(parent);
    }
  }
  return least;
}

} // namespace ovnitrace
