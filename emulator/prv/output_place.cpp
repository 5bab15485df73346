// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/output_place.h"

#include "emulator/base/error.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace ovnitrace {

namespace {

UniqueFd open_directory(int parent, const std::string &name, const std::string &path, int flags) {
  UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
  struct stat status;
  if (!fd && fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(status.st_mode))
    throw Error("cannot write to the directory " + path +
                ": it is a symbolic link, which is not followed; remove it or choose another place "
                "with -o");
  if (!fd)
    throw Error("cannot open the directory " + path + ": " + strerror(errno) +
                "; choose another place with -o");
  return fd;
}

} // namespace

OutputDirectory::OutputDirectory(std::string path, Link link) : path_(std::move(path)) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error)
    throw Error("cannot make the directory " + path_ + ": " + error.message());
  fd_ = open_directory(AT_FDCWD, path_, path_, link == Link::refuse ? O_NOFOLLOW : 0);
}

OutputDirectory OutputDirectory::below(const std::string &name) const {
  const std::string path = path_ + "/" + name;
  if (mkdirat(fd_.get(), name.c_str(), 0777) != 0 && errno != EEXIST)
    throw Error("cannot make the directory " + path + ": " + strerror(errno));
  return {path, open_directory(fd_.get(), name, path, O_NOFOLLOW)};
}

} // namespace ovnitrace
