// SPDX-License-Identifier: BSD-2-Clause
// Provides a temporary file for data that do not fit into memory.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ovnitrace {

/// A file without a name in TMPDIR or /var/tmp, which disappears with this object. The first write
/// creates it. Throws Error if it cannot be created, written or read.
class TemporaryFile {
public:
  /// Writes at the end.
  void append(const void *bytes, size_t size);
  /// Reads bytes that were written before.
  void read(uint64_t offset, void *bytes, size_t size) const;
  /// Gives the file away, which has what was written; invalid if nothing was.
  UniqueFd release() { return std::move(file_); }
  uint64_t size() const { return size_; } ///< bytes

private:
  UniqueFd file_;
  uint64_t size_ = 0;
};

} // namespace ovnitrace
