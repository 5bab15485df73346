// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/file_limit.h"

#include <algorithm>
#include <optional>
#include <sys/resource.h>

namespace ovnitrace {

namespace {

std::optional<rlimit> original;

} // namespace

void raise_file_limit(size_t files) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return;
  const rlim_t needed = limit.rlim_cur + files;
  rlimit raised = {needed, std::max(limit.rlim_max, needed)};
  if (setrlimit(RLIMIT_NOFILE, &raised) != 0) { // only root may raise the hard limit
    raised = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0)
      return;
  }
  if (!original)
    original = limit;
}

void restore_file_limit() {
  if (original)
    setrlimit(RLIMIT_NOFILE, &*original);
  original.reset();
}

} // namespace ovnitrace
