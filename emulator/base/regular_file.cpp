// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/regular_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace ovnitrace {

namespace {

/// Where any of `rights` is needed, if there are any.
UniqueFd open_with(const std::string &path, mode_t rights) {
  UniqueFd place(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status;
  if (!place || fstat(place.get(), &status) != 0)
    return UniqueFd();
  if (!S_ISREG(status.st_mode)) {
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    return UniqueFd();
  }
  if (rights && !(status.st_mode & rights)) {
    errno = EACCES;
    return UniqueFd();
  }
  return UniqueFd(open(fmt::format("/proc/self/fd/{}", place.get()).c_str(),
                       O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

} // namespace

UniqueFd open_regular(const std::string &path) {
  return open_with(path, 0);
}

UniqueFd open_program(const std::string &path) {
  return open_with(path, S_IXUSR | S_IXGRP | S_IXOTH);
}

UniqueFd open_absolute(const std::string &path, struct stat &status) {
  UniqueFd file = path.starts_with('/') ? open_regular(path) : UniqueFd();
  return file && fstat(file.get(), &status) == 0 ? std::move(file) : UniqueFd();
}

} // namespace ovnitrace
