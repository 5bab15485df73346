// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/output/output_place.h"

#include "emulator/base/error.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

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

std::vector<std::string> names_in(int directory, const std::string &what) {
  const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // the stream closes it
  std::unique_ptr<DIR, int (*)(DIR *)> stream(fd < 0 ? nullptr : fdopendir(fd), closedir);
  if (!stream)
    throw Error("cannot list " + what + ": " + strerror(errno));
  std::vector<std::string> names;
  while (const dirent *entry = readdir(stream.get()))
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      names.push_back(entry->d_name);
  return names;
}

std::string OutputDirectory::start_of(const std::string &name, size_t most) const {
  UniqueFd fd(openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return {};
  std::string text(most, '\0');
  const ssize_t size = read(fd.get(), text.data(), text.size());
  text.resize(size > 0 ? size_t(size) : 0);
  return text;
}

void OutputDirectory::remove(const std::string &name) const {
  if (unlinkat(fd_.get(), name.c_str(), 0) != 0 && errno != ENOENT)
    throw Error("cannot remove " + path_ + "/" + name +
                ", which an earlier conversion has left: " + strerror(errno));
}

} // namespace ovnitrace
