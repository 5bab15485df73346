// SPDX-License-Identifier: BSD-2-Clause
// Writes a large file in threads of its own, which compress and write, so that the caller waits
// only if they are slower.
#pragma once

#include "emulator/output/output_place.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace ovnitrace {

/// A file with a header of fixed size, which close() may rewrite. It has a temporary name beside
/// the final one until close(), and is removed if it is destroyed before. Memory is a few fixed
/// buffers. A failed write is thrown as Error by the next call.
class OutputFile {
public:
  enum class Format { plain, gzip };

  /// Replaces what is at `place`, as AtomicFile does.
  OutputFile(const OutputPlace &place, std::string_view header, Format format);
  ~OutputFile();

  static constexpr size_t kMostReserve = 4096; ///< bytes

  /// Returns where to write the next `size` bytes (at most kMostReserve). commit() must follow.
  char *reserve(size_t size) {
    if (size_t(end_ - at_) < size)
      next_buffer();
    return at_;
  }
  void commit(char *end) { at_ = end; }

  /// Writes everything, replaces the header with one of the same size, and gives the file its name.
  void close(std::string_view header);

private:
  class Worker;
  void next_buffer();

  char *at_ = nullptr;
  char *end_ = nullptr;
  std::unique_ptr<Worker> worker_;
};

} // namespace ovnitrace
