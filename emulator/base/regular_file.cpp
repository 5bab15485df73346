// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/regular_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ovnitrace {

namespace {

/// Opens a `place` (O_PATH) that is a regular file. Any of `rights` is needed, if there are any.
UniqueFd open_place(const UniqueFd &place, mode_t rights) {
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

UniqueFd open_with(const std::string &path, mode_t rights) {
  return open_place(UniqueFd(open(path.c_str(), O_PATH | O_CLOEXEC)), rights);
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

UniqueFd open_inside(int root, const std::string &path, struct stat &status) {
  if (!path.starts_with('/'))
    return UniqueFd();
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const UniqueFd place(int(syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how))));
  UniqueFd file = open_place(place, 0);
  return file && fstat(file.get(), &status) == 0 ? std::move(file) : UniqueFd();
}

} // namespace ovnitrace
