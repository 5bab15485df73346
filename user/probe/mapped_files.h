// SPDX-License-Identifier: BSD-2-Clause
// Finds the files of the code that a process has loaded.
#pragma once

#include "emulator/base/unique_fd.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ovnitrace {

/// Code that a process has mapped: a line of /proc/PID/maps (proc_pid_maps(5)).
struct CodeMapping {
  uint64_t start = 0, end = 0; ///< addresses
  uint64_t offset = 0;         ///< in the file
  uint64_t inode = 0;
  dev_t device = 0;
  std::string path; ///< as the process sees it; empty or a name in brackets: no file
};

/// Calls `take` for each executable mapping, in the order of addresses. Does nothing without the
/// right to read the maps of the process.
void each_code_mapping(uint32_t pid, const std::function<void(const CodeMapping &)> &take);

struct MappedFile {
  std::string path; ///< as the process sees it
  UniqueFd fd;
  uint64_t address = 0; ///< of its first executable mapping
  uint64_t offset = 0;  ///< of that mapping in the file
  uint64_t length = 0;  ///< of that mapping, bytes
};

/// Returns the files of the executable mappings, each once; none without the right to read them.
/// These are the files that the process really uses, even if other files have replaced them or they
/// are in another mount namespace.
std::vector<MappedFile> mapped_files(uint32_t pid);

} // namespace ovnitrace
