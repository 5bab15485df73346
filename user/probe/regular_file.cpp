#include "user/probe/regular_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>

namespace ovnitrace {

UniqueFd open_regular(const std::string &path) {
  UniqueFd place(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status;
  if (!place || fstat(place.get(), &status) != 0)
    return UniqueFd();
  if (!S_ISREG(status.st_mode)) {
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    return UniqueFd();
  }
  return UniqueFd(open(fmt::format("/proc/self/fd/{}", place.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

} // namespace ovnitrace
