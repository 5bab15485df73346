// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/spill.h"

#include "emulator/base/error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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

void SpillBytes::append(const void *record) {
  if (last_.size() == size_ * block_)
    write_block();
  const auto *bytes = static_cast<const unsigned char *>(record);
  last_.insert(last_.end(), bytes, bytes + size_);
  count_++;
}

void SpillBytes::write_block() {
  if (!file_)
    file_ = unnamed_file();
  for (size_t done = 0; done < last_.size();) {
    const ssize_t wrote = write(file_.get(), last_.data() + done, last_.size() - done);
    if (wrote < 0 && errno != EINTR)
      fail("write");
    done += wrote > 0 ? size_t(wrote) : 0;
  }
  written_ += block_;
  last_.clear();
}

const void *SpillBytes::at(uint64_t n) {
  if (n >= written_)
    return last_.data() + (n - written_) * size_;
  const uint64_t block = n / block_;
  if (block != read_block_) {
    read_.resize(size_ * block_);
    for (size_t done = 0; done < read_.size();) {
      const ssize_t got = pread(file_.get(), read_.data() + done, read_.size() - done,
                                off_t(block * read_.size() + done));
      if (got == 0)
        errno = EIO; // somebody has cut it
      if (got == 0 || (got < 0 && errno != EINTR))
        fail("read");
      done += got > 0 ? size_t(got) : 0;
    }
    read_block_ = block;
  }
  return read_.data() + (n % block_) * size_;
}

} // namespace ovnitrace
