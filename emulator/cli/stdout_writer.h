// SPDX-License-Identifier: BSD-2-Clause
// Standard output for large texts.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace ovnitrace {

/// Buffers standard output. When whoever reads it has gone away, as `| head` does, that is no
/// failure: gone() says so and the rest is dropped. Any other failure to write throws Error.
class StdoutWriter {
public:
  StdoutWriter();

  /// Where the next `size` bytes (at most kMaxReserve) go; then commit() says where they ended.
  char *reserve(size_t size) {
    if (size_t(buffer_.get() + kBytes - at_) < size)
      flush();
    return at_;
  }
  void commit(char *end) { at_ = end; }
  void write(std::string_view text);

  /// Writes what is buffered; to be called at the end.
  void flush();
  bool gone() const { return gone_; }

  static constexpr size_t kMaxReserve = 4096;

private:
  static constexpr size_t kBytes = 1 << 16;
  std::unique_ptr<char[]> buffer_;
  char *at_;
  bool gone_ = false;
};

} // namespace ovnitrace
