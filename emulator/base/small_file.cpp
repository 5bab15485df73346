// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/small_file.h"

#include "emulator/base/error.h"
#include "emulator/base/whole_io.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace ovnitrace {

namespace {

[[noreturn]] void fail(const std::string &path) {
  throw Error("cannot read " + path + ": " + std::strerror(errno));
}

} // namespace

UniqueFd open_small_file(const std::string &path, uint64_t limit, std::string &error, Links links) {
  // O_NONBLOCK: a FIFO under this name must not hang the reader.
  const int no_links = links == Links::refuse ? O_NOFOLLOW : 0;
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | no_links));
  struct stat st;
  if (!file && !is_machine_failure(errno)) {
    error = "cannot be opened: " + open_failure(errno);
    return file;
  }
  if (!file || fstat(file.get(), &st) != 0)
    fail(path);
  if (S_ISREG(st.st_mode) && uint64_t(st.st_size) <= limit)
    return file;
  error = "is no regular file of at most " + std::to_string(limit) + " bytes";
  return UniqueFd();
}

size_t read_whole(int file, uint64_t offset, char *bytes, size_t size, const std::string &path) {
  const size_t filled = read_at(file, offset, bytes, size);
  if (filled < size && errno != 0)
    fail(path);
  return filled;
}

std::optional<std::string> read_small_file(const std::string &path, size_t limit,
                                           std::string &error, Links links) {
  const UniqueFd file = open_small_file(path, limit, error, links);
  struct stat st;
  if (!file || fstat(file.get(), &st) != 0)
    return std::nullopt;
  std::string text(size_t(st.st_size), '\0');
  text.resize(read_whole(file.get(), 0, text.data(), text.size(), path));
  return text;
}

std::string open_failure(int error) {
  return error == ELOOP ? "it is a symbolic link, which is not followed" : std::strerror(error);
}

} // namespace ovnitrace
