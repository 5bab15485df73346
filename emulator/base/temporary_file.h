// SPDX-License-Identifier: BSD-2-Clause
// A file for what does not fit into memory.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// It is in TMPDIR or /var/tmp and has no name, so that it is gone with this object. It is made by
/// the first write. Throws Error where it cannot be made, written or read.
class TemporaryFile {
public:
  /// Writes at the end.
  void append(const void *bytes, size_t size);
  /// Reads bytes that were written.
  void read(uint64_t offset, void *bytes, size_t size) const;
  uint64_t size() const { return size_; } ///< bytes

private:
  UniqueFd file_;
  uint64_t size_ = 0;
};

} // namespace ovnitrace
