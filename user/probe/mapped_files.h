// SPDX-License-Identifier: BSD-2-Clause
// Finds the files of the code that a process has loaded.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

struct MappedFile {
  std::string path; ///< as the process sees it
  UniqueFd fd;
  uint64_t address = 0; ///< where the first of its code is mapped
  uint64_t offset = 0;  ///< of that in the file
  uint64_t length = 0;  ///< of that mapping, bytes
};

/// Returns the files that a process has mapped to execute, each once; none without the right to
/// look. These are the files that it really has, even if they have been replaced or are in another
/// mount namespace.
std::vector<MappedFile> mapped_files(uint32_t pid);

} // namespace ovnitrace
