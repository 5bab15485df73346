// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/mapped_files.h"

#include "emulator/base/regular_file.h"
#include "user/probe/probe.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace ovnitrace {

namespace {

constexpr size_t kMostLines = 1 << 18; // vm.max_map_count is 65530 by default

/// A line of /proc/PID/maps: proc_pid_maps(5).
struct Mapping {
  std::string range, rights, offset, device, inode, path;
};

Mapping parse(const std::string &line) {
  Mapping mapping;
  std::istringstream words(line);
  words >> mapping.range >> mapping.rights >> mapping.offset >> mapping.device >> mapping.inode >>
      std::ws;
  std::getline(words, mapping.path);
  return mapping;
}

/// Opens the mapped file itself (/proc/PID/map_files) or, without the permission, the file of that
/// name in the root directory of the process.
UniqueFd open_mapped(uint32_t pid, const Mapping &mapping, uint64_t start, uint64_t end) {
  // The range of a line is padded with zeros, and that of the link is not.
  if (UniqueFd fd = open_regular(fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, start, end)))
    return fd;
  const UniqueFd root(
      open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat status = {};
  return root ? open_inside(root.get(), mapping.path, status) : UniqueFd();
}

} // namespace

std::vector<MappedFile> mapped_files(uint32_t pid) {
  std::vector<MappedFile> files;
  std::set<std::string> seen;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::string line;
  for (size_t n = 0; n < kMostLines && files.size() < kMostProbedFiles && std::getline(maps, line);
       n++) {
    const Mapping mapping = parse(line);
    if (mapping.rights.find('x') == std::string::npos || !mapping.path.starts_with('/') ||
        !seen.insert(mapping.device + " " + mapping.inode).second)
      continue;
    char *dash = nullptr;
    const uint64_t start = std::strtoull(mapping.range.c_str(), &dash, 16);
    const uint64_t end = *dash ? std::strtoull(dash + 1, nullptr, 16) : start;
    if (UniqueFd fd = open_mapped(pid, mapping, start, end))
      files.push_back({mapping.path, std::move(fd), start,
                       std::strtoull(mapping.offset.c_str(), nullptr, 16), end - start});
  }
  return files;
}

} // namespace ovnitrace
