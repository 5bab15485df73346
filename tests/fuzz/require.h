// SPDX-License-Identifier: BSD-2-Clause
// What several fuzzers need.
#pragma once

#include <cstdlib>
#include <string>

namespace ovnitrace {

/// Ends the run as a finding unless `truth` holds.
inline void require(bool truth) {
  if (!truth)
    std::abort();
}

/// Makes a directory in memory, and returns its path. To be called once a run: nobody removes it.
inline std::string make_memory_directory() {
  std::string name = "/dev/shm/ovnitrace-fuzz-XXXXXX";
  require(mkdtemp(name.data()));
  return name;
}

} // namespace ovnitrace
