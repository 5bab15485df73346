// SPDX-License-Identifier: BSD-2-Clause
// What several fuzzers need.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace ovnitrace {

/// Ends the run as a finding unless `truth` holds.
inline void require(bool truth) {
  if (!truth)
    std::abort();
}

/// Returns the path of a directory in memory, the same for each call. The end of the run removes
/// it.
inline const std::string &memory_directory() {
  struct Directory {
    Directory() { require(mkdtemp(path.data())); }
    ~Directory() {
      std::error_code failed;
      std::filesystem::remove_all(path, failed);
    }
    std::string path = "/dev/shm/ovnitrace-fuzz-XXXXXX";
  };
  static const Directory directory;
  return directory.path;
}

} // namespace ovnitrace
