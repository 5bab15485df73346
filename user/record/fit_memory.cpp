// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/fit_memory.h"

#include "emulator/base/error.h"
#include "user/select/cgroup_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

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
  for (std::string name, unit; file >> name >> number && std::getline(file, unit);)
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

// Measured, as the most that a cgroup was charged: the kernel's types while BPF programs are
// loaded, the programs and their maps, this process.
constexpr double kMiB = 1 << 20, kAlways = 112 * kMiB, kControl = 48 * kMiB, kStacks = 100 * kMiB,
                 kTracepoints = 56 * kMiB;                        // bytes
constexpr uint64_t kLeastRing = 64 << 10, kLeastChunk = 16 << 10; // bytes

/// A part of what a capture needs, and the option that makes it smaller.
struct Part {
  const char *option;
  double bytes; ///< a size that is given can be any number of 64 bits, for each CPU
};

std::vector<Part> parts_of(const RecordOptions &options, double cpus) {
  const bool last = options.buffer.kind == BufferKind::kCyc;
  return {
      {"always", kAlways},
      {"for --control", options.control.empty() ? 0 : kControl},
      {"for --stacks", options.stacks ? kStacks : 0},
      {"for --filter", (options.families & families_of_tracepoints()).bits() ? kTracepoints : 0},
      {"for --ring-size", cpus * double(options.ring_bytes)},
      {last ? "for --buffer" : "for --chunks and --chunk-size",
       last ? cpus * double(options.buffer.bytes)
            : (cpus + double(options.spare_chunks)) * double(options.chunk_bytes)}};
}

double sum_of(const std::vector<Part> &parts) {
  double sum = 0;
  for (const Part &part : parts)
    sum += part.bytes;
  return sum;
}

/// Returns "246 MiB of memory (112 always, 100 for --stacks, …)".
std::string text_of(const std::vector<Part> &parts) {
  std::vector<std::string> texts;
  for (const Part &part : parts)
    if (part.bytes > 0)
      texts.push_back(fmt::format("{:.0f} {}", std::ceil(part.bytes / kMiB), part.option));
  return fmt::format("{:.0f} MiB of memory ({})", std::ceil(sum_of(parts) / kMiB),
                     fmt::join(texts, ", "));
}

/// Halves a size that the user did not give. Returns whether it could.
bool halve(uint64_t &size, uint64_t given, uint64_t least) {
  if (given || size <= least)
    return false;
  size /= 2;
  return true;
}

} // namespace

uint64_t memory_left(const MemoryFiles &files) {
  const uint64_t available = count_in(files.machine, "MemAvailable:"), // KiB
      swap = count_in(files.machine, "SwapFree:");
  uint64_t least = available ? (available + swap) << 10 : std::numeric_limits<uint64_t>::max();
  for (const CgroupTree &tree : cgroup_trees(files.mounts)) {
    const Version *version = version_of(tree);
    std::string path = version ? cgroup_of(files.cgroups, version) : "";
    if (tree.root != "/" && path.starts_with(tree.root))
      path.erase(0, tree.root.size()); // of a container: its own cgroup is mounted
    while (version) {
      least = std::min(least, left_in(tree.place + path, *version).value_or(least));
      const size_t parent = path.rfind('/');
      if (path == "/" || parent == std::string::npos)
        break;
      path.resize(parent);
    }
  }
  return least;
}

void fit_memory(RecordOptions &options, const RecordOptions &given, unsigned cpus, uint64_t left) {
  while (sum_of(parts_of(options, cpus)) > double(left)) {
    const bool smaller_ring = halve(options.ring_bytes, given.ring_bytes, kLeastRing),
               smaller_chunk = options.buffer.kind != BufferKind::kCyc &&
                               halve(options.chunk_bytes, given.chunk_bytes, kLeastChunk);
    if (!smaller_ring && !smaller_chunk)
      throw Error("this capture needs about {}, and the machine or its memory cgroup leaves {} "
                  "MiB: give it more, or change one of these options",
                  text_of(parts_of(options, cpus)), left >> 20);
  }
}

} // namespace ovnitrace
