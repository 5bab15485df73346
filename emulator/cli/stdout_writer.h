// SPDX-License-Identifier: BSD-2-Clause
// Writes large texts to standard output.
#pragma once

#include "emulator/cli/pager.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace ovnitrace {

/// Buffers standard output, which a Pager shows on a terminal. If the reader has closed the
/// pipe, as `| head` does, gone() says so and further output is dropped. Other failures throw
/// Error.
class StdoutWriter {
public:
  StdoutWriter();

  /// Returns where to write the next `size` bytes (at most kMaxReserve). commit() must follow.
  char *reserve(size_t size) {
    if (size_t(buffer_.get() + kBytes - at_) < size)
      drain();
    return at_;
  }
  void commit(char *end) { at_ = end; }
  void write(std::string_view text);

  /// Writes what is buffered and waits for the pager. To be called at the end.
  void flush();
  bool gone() const { return gone_; }

  static constexpr size_t kMaxReserve = 4096;

private:
  void drain();

  static constexpr size_t kBytes = 1 << 16;
  std::unique_ptr<char[]> buffer_;
  char *at_;
  std::optional<Pager> pager_; ///< started when there is something to show
  bool gone_ = false;
};

} // namespace ovnitrace
