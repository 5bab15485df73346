// SPDX-License-Identifier: BSD-2-Clause
// Owns a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace ovnitrace {

/// Closes its descriptor when it is destroyed. -1 means that it owns nothing.
class UniqueFd {
public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd &operator=(UniqueFd &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0)
      close(fd_);
  }

  int get() const { return fd_; }
  /// Returns the descriptor, which it owns no longer.
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

private:
  int fd_;
};

} // namespace ovnitrace
