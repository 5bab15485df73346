// SPDX-License-Identifier: BSD-2-Clause
#include "user/select/memory_limit.h"

#include "user/select/cgroup_tree.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace ovnitrace {

namespace {

/// What the two versions call their files and counts.
struct Version {
  const char *limit, *used, *cache, *shared; ///< shared: of the cache, in tmpfs and the like
};
constexpr Version kV1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache",
                         "total_shmem"};
constexpr Version kV2 = {"memory.max", "memory.current", "file", "shmem"};

/// Returns what a hierarchy calls them; nullptr if it does not count memory.
const Version *version_of(const CgroupTree &tree) {
  if (tree.version == 2)
    return &kV2;
  return has_word(tree.options, "memory") ? &kV1 : nullptr;
}

/// Returns the path of the process's cgroup in that hierarchy; empty: it is in none.
std::string cgroup_of(const std::string &cgroups, const Version *version) {
  for (const CgroupPlace &at : cgroup_places(cgroups))
    if (version == &kV2 ? at.controllers.empty() : has_word(at.controllers, "memory"))
      return at.path;
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
  for (const CgroupTree &tree : cgroup_trees(mounts)) {
    const Version *version = version_of(tree);
    std::string path = version ? cgroup_of(cgroups, version) : "";
    if (tree.root != "/" && path.starts_with(tree.root))
      path.erase(0, tree.root.size()); // of a container: its own cgroup is mounted
    while (version) {
      if (const auto left = left_in(tree.place + path, *version))
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
