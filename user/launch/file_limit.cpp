#include "user/launch/file_limit.h"

#include <algorithm>
#include <optional>
#include <sys/resource.h>

namespace ovnitrace {

namespace {

constexpr rlim_t kOthers = 64; // programs, links, maps, standard streams

std::optional<rlimit> original;

} // namespace

void raise_file_limit(uint32_t cpus) {
  rlimit limit;
  rlim_t needed = 2 * rlim_t(cpus) + kOthers;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
    return;
  rlimit raised = {needed, std::max(limit.rlim_max, needed)};
  if (setrlimit(RLIMIT_NOFILE, &raised) != 0) { // only root may raise the hard limit
    raised = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0)
      return;
  }
  original = limit;
}

void restore_file_limit() {
  if (original)
    setrlimit(RLIMIT_NOFILE, &*original);
}

} // namespace ovnitrace
