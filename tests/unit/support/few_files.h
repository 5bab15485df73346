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

/// Lets this process open only so many files more, until it raises its limit.
inline void lower_file_limit(rlim_t more) {
  const int lowest = dup(STDERR_FILENO);
  close(lowest);
  rlimit few = {};
  getrlimit(RLIMIT_NOFILE, &few);
  few.rlim_cur = rlim_t(lowest) + more;
  setrlimit(RLIMIT_NOFILE, &few);
}

/// Lets this process open only so many files more.
inline void limit_files(rlim_t more) {
  lower_file_limit(more);
  rlimit few = {};
  getrlimit(RLIMIT_NOFILE, &few);
  few.rlim_max = few.rlim_cur;
  setrlimit(RLIMIT_NOFILE, &few);
}

} // namespace ovnitrace::test
