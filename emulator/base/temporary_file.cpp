// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/temporary_file.h"

#include "emulator/base/error.h"
#include "emulator/base/whole_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ovnitrace {

namespace {

std::string directory() {
  const char *place = std::getenv("TMPDIR");
  return place && *place ? place : "/var/tmp"; // which is no memory
}

[[noreturn]] void fail(const char *what) {
  throw Error(std::string("cannot ") + what + " a temporary file in " + directory() + ": " +
              std::strerror(errno) + "; name another place with TMPDIR");
}

UniqueFd unnamed_file() {
  const std::string place = directory();
  UniqueFd file(open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600));
  if (file)
    return file;
  std::string name = place + "/ovnitrace-XXXXXX"; // the file system has no such files
  file = UniqueFd(mkostemp(name.data(), O_CLOEXEC));
  if (!file)
    fail("make");
  unlink(name.c_str());
  return file;
}

} // namespace

void TemporaryFile::append(const void *bytes, size_t size) {
  if (!file_)
    file_ = unnamed_file();
  if (write_all(file_.get(), {static_cast<const char *>(bytes), size}) != size)
    fail("write");
  size_ += size;
}

void TemporaryFile::read(uint64_t offset, void *bytes, size_t size) const {
  if (read_at(file_.get(), offset, bytes, size) == size)
    return;
  if (errno == 0)
    errno = EIO; // somebody has cut it
  fail("read");
}

} // namespace ovnitrace
