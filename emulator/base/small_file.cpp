// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/small_file.h"

#include "emulator/base/unique_fd.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace ovnitrace {

std::optional<std::string> read_small_file(const std::string &path, size_t limit,
                                           std::string &error, Links links) {
  // O_NONBLOCK: a FIFO under this name must not hang the reader.
  const int no_links = links == Links::refuse ? O_NOFOLLOW : 0;
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | no_links));
  struct stat st;
  if (!file || fstat(file.get(), &st) != 0) {
    error = "cannot be opened: " + open_failure(errno);
    return std::nullopt;
  }
  if (!S_ISREG(st.st_mode) || uint64_t(st.st_size) > limit) {
    error = "is no regular file of at most " + std::to_string(limit) + " bytes";
    return std::nullopt;
  }
  std::string text(size_t(st.st_size), '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    filled += size_t(got);
  }
  text.resize(filled);
  return text;
}

std::string open_failure(int error) {
  return error == ELOOP ? "it is a symbolic link, which is not followed" : std::strerror(error);
}

} // namespace ovnitrace
