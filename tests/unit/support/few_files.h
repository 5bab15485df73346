// SPDX-License-Identifier: BSD-2-Clause
// A process that can open only a few files more.
#pragma once

#include <filesystem>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>

namespace ovnitrace::test {

/// Returns how many files are open.
inline size_t open_files() {
  namespace fs = std::filesystem;
  return size_t(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

/// Lets this process open only so many files more.
inline void limit_files(rlim_t more) {
  const int lowest = dup(STDERR_FILENO);
  close(lowest);
  const rlimit few = {rlim_t(lowest) + more, rlim_t(lowest) + more};
  setrlimit(RLIMIT_NOFILE, &few);
}

} // namespace ovnitrace::test
