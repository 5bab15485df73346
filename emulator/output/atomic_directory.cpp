// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/output/atomic_directory.h"

#include "emulator/base/error.h"
#include "emulator/output/stale_outputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace ovnitrace {

namespace {

[[noreturn]] void fail(const std::string &doing) {
  throw Error("cannot " + doing + ": " + std::strerror(errno) + "; choose another place with -o");
}

/// Throws Error unless a directory can take the name `path` in the end.
void check_free(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (fs::exists(status) && !(fs::is_directory(status) && fs::is_empty(path, ignored)))
    throw Error(path + " exists already; remove it or name another directory with -o");
  if (const std::string name = fs::path(path).filename(); name == "." || name == "..")
    throw Error("cannot replace the directory " + path + " from inside; name a new one with -o");
}

} // namespace

AtomicDirectory::AtomicDirectory(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/')
    path_.pop_back();
  check_free(path_);
  const std::string prefix = temporary_prefix(path_);
  remove_stale(AT_FDCWD, prefix);
  std::string name = prefix + "XXXXXX";
  if (!mkdtemp(name.data()))
    fail("make the directory " + path_);
  try {
    fd_ = UniqueFd(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    struct stat status;
    if (!fd_ || fstat(fd_.get(), &status) != 0)
      fail("open the directory " + name);
    errno = EPERM; // the owner of the parent directory has put another one in its place
    if (status.st_uid != geteuid() || fchmod(fd_.get(), 0755) != 0)
      fail("use the directory " + name);
    lock_output(fd_.get(), path_);
  } catch (...) {
    rmdir(name.c_str());
    throw;
  }
  temporary_ = name;
}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!temporary_.empty())
    std::filesystem::remove_all(temporary_, ignored);
}

void AtomicDirectory::commit() {
  if (rename(temporary_.c_str(), path_.c_str()) != 0)
    fail("rename " + temporary_ + " to " + path_);
  temporary_.clear();
}

} // namespace ovnitrace
