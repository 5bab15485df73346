// SPDX-License-Identifier: BSD-2-Clause
#include "user/probe/mapped_files.h"

#include "emulator/base/regular_file.h"
#include "user/probe/probe.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <set>
#include <utility>

namespace ovnitrace {

namespace {

/// Opens the mapped file itself (/proc/PID/map_files) or, without the permission, the file of that
/// name in the root directory of the process.
UniqueFd open_mapped(uint32_t pid, const CodeMapping &mapping) {
  // The range of a line is padded with zeros, and that of the link is not.
  if (UniqueFd fd = open_regular(
          fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, mapping.start, mapping.end)))
    return fd;
  const UniqueFd root(
      open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat status = {};
  return root ? open_inside(root.get(), mapping.path, status) : UniqueFd();
}

} // namespace

void each_code_mapping(uint32_t pid, const std::function<void(const CodeMapping &)> &take) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    CodeMapping mapping;
    unsigned major = 0, minor = 0;
    char rights[5] = {};
    int path = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
                    &mapping.start, &mapping.end, rights, &mapping.offset, &major, &minor,
                    &mapping.inode, &path) < 7 ||
        rights[2] != 'x' || !path)
      continue;
    mapping.device = makedev(major, minor);
    mapping.path = line.substr(size_t(path));
    take(mapping);
  }
}

std::vector<MappedFile> mapped_files(uint32_t pid) {
  std::vector<MappedFile> files;
  std::set<std::pair<dev_t, uint64_t>> seen;
  each_code_mapping(pid, [&](const CodeMapping &mapping) {
    if (files.size() == kMostProbedFiles || !mapping.path.starts_with('/') ||
        !seen.emplace(mapping.device, mapping.inode).second)
      return;
    if (UniqueFd fd = open_mapped(pid, mapping))
      files.push_back({mapping.path, std::move(fd), mapping.start, mapping.offset,
                       mapping.end - mapping.start});
  });
  return files;
}

} // namespace ovnitrace
