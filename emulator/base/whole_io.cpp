// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/whole_io.h"

#include <unistd.h>

#include <cerrno>

namespace ovnitrace {

size_t write_all(int file, std::string_view bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = write(file, bytes.data() + done, bytes.size() - done);
    if (wrote == 0)
      errno = ENOSPC;
    if (wrote == 0 || (wrote < 0 && errno != EINTR))
      break;
    done += wrote > 0 ? size_t(wrote) : 0;
  }
  return done;
}

size_t read_at(int file, uint64_t offset, void *bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got =
        pread(file, static_cast<char *>(bytes) + done, size - done, off_t(offset + done));
    if (got == 0)
      errno = 0;
    if (got == 0 || (got < 0 && errno != EINTR))
      break;
    done += got > 0 ? size_t(got) : 0;
  }
  return done;
}

} // namespace ovnitrace
