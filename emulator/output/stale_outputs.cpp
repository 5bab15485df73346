// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/output/stale_outputs.h"

#include "emulator/base/error.h"
#include "emulator/base/unique_fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>

namespace ovnitrace {

namespace {

/// Returns the parent with its slash; empty for the current directory.
std::string parent_of(const std::string &path) {
  return path.substr(0, path.rfind('/') + 1); // npos + 1 is 0
}

bool is_temporary(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         std::all_of(name.begin() + ptrdiff_t(prefix.size()), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

bool is_locked(int fd) {
  return flock(fd, LOCK_EX | LOCK_NB) != 0; // without locks on this file system: keep it
}

/// Removes a file if it is stale. `parent` is the directory of `name`.
void remove_if_stale(int parent, const char *name) {
  const UniqueFd fd(openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!fd || fstat(fd.get(), &status) != 0 || status.st_uid != geteuid() || is_locked(fd.get()))
    return;
  if (S_ISREG(status.st_mode)) {
    unlinkat(parent, name, 0);
  } else if (S_ISDIR(status.st_mode)) {
    std::error_code ignored;
    std::filesystem::remove_all("/proc/self/fd/" + std::to_string(parent) + "/" + name, ignored);
  }
}

} // namespace

std::string temporary_prefix(const std::string &path) {
  const std::string parent = parent_of(path);
  return parent + "." + path.substr(parent.size()) + ".tmp-";
}

void lock_output(int fd, const std::string &path) {
  struct stat status;
  const bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (taken || fstat(fd, &status) != 0 || status.st_nlink == 0)
    throw Error("another process is writing " + path +
                "; wait for it, or choose another place with -o");
}

void remove_stale(int directory, const std::string &prefix) {
  const std::string parent = parent_of(prefix);
  const UniqueFd place(
      openat(directory, parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int copy = place ? openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  const std::unique_ptr<DIR, int (*)(DIR *)> stream(copy < 0 ? nullptr : fdopendir(copy), closedir);
  while (const dirent *entry = stream ? readdir(stream.get()) : nullptr)
    if (is_temporary(entry->d_name, std::string_view(prefix).substr(parent.size())))
      remove_if_stale(place.get(), entry->d_name);
}

} // namespace ovnitrace
