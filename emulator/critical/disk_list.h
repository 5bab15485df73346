// SPDX-License-Identifier: BSD-2-Clause
// Provides a list of records that may be longer than memory: old blocks are in a temporary file.
#pragma once

#include "emulator/base/temporary_file.h"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace ovnitrace {

/// A list of records of one size. Append, then read at any place; successive reads in either
/// direction are fast. Two blocks are in memory; a list of one block needs no file. Throws Error as
/// TemporaryFile does.
class DiskListBytes {
public:
  /// `block`: records in a block.
  DiskListBytes(size_t record_bytes, size_t block) : size_(record_bytes), block_(block) {}

  void append(const void *record);
  uint64_t count() const { return count_; }
  /// Returns record `n` < count(), valid until the next call.
  const void *at(uint64_t n);

private:
  void read(uint64_t block);

  size_t size_, block_; ///< bytes of a record, records of a block
  uint64_t count_ = 0, written_ = 0;
  std::vector<unsigned char> last_;     ///< the block that is being filled
  std::vector<unsigned char> read_;     ///< the block that was read last
  uint64_t read_from_ = UINT64_MAX / 2; ///< its first record; at first beyond all
  TemporaryFile file_;
};

/// A DiskListBytes of a trivially copyable type.
template <class Record> class DiskList {
  static_assert(std::is_trivially_copyable_v<Record>);

public:
  static constexpr size_t kBlock = (1 << 20) / sizeof(Record);

  explicit DiskList(size_t block = kBlock) : bytes_(sizeof(Record), block) {}

  void append(const Record &record) { bytes_.append(&record); }
  uint64_t count() const { return bytes_.count(); }
  /// Returns record `n` < count(), valid until the next call.
  const Record &at(uint64_t n) { return *static_cast<const Record *>(bytes_.at(n)); }

private:
  DiskListBytes bytes_;
};

} // namespace ovnitrace
