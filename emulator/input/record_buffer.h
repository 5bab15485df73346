// SPDX-License-Identifier: BSD-2-Clause
// Reads a file of FTrace records in blocks, so that memory does not depend on its size.
#pragma once

#include "emulator/format/chunk_times.h"
#include "emulator/format/frame_reader.h"
#include "emulator/input/host_input.h"

#include <ovnitrace/ftrace_record.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace ovnitrace {

/// The whole records of a file, block by block, read with pread so that several buffers can share a
/// descriptor. A file with differences (docs/format.md) is returned with times. Holes of a sparse
/// file, which would be empty records, are skipped, except for the first block of each.
class RecordBuffer {
public:
  /// Borrows `fd`, a file of `size` bytes; later growth is not read. A block has at most
  /// `block_records` records. `compressed`: the file is of zstd frames.
  RecordBuffer(int fd, uint64_t size, size_t block_records, Codec codec = Codec::none);

  /// Keeps differences: another tracer's file has none, whatever its records look like.
  void keep_differences() { keeps_differences_ = true; }
  /// Reads only these parts of the file. `parts` must outlive it. To be called before next_block().
  void only(const std::vector<FilePart> &parts) { parts_ = parts; }

  /// Returns the next block, valid until the next call; empty at the end or after an error.
  std::span<const ftrace_record> next_block();

  /// Returns whether a part of the file was skipped before the last block.
  bool jumped() const { return jumped_; }
  /// Returns the frames that start in the last block, nullptr for a plain file.
  const std::vector<FrameReader::Start> *frames() const {
    return frames_ ? &frames_->starts() : nullptr;
  }
  /// Returns the byte offset of the first record of the last block, in the plain file.
  uint64_t block_offset() const { return block_offset_; }
  /// Returns, at the end, the bytes of an incomplete last record.
  unsigned tail() const { return tail_; }
  /// Returns errno of the read that failed, 0 if none did.
  int error() const { return error_; }
  /// Returns the fault of a compressed file between the last block and the next, once; empty if
  /// there was no fault.
  std::string take_fault() { return std::exchange(fault_, {}); }

private:
  void next_part();
  void skip_hole();
  size_t read(char *to, size_t bytes);
  size_t read_plain(char *to, size_t bytes);

  int fd_;
  uint64_t size_;
  uint64_t offset_ = 0;             ///< of the next block
  std::span<const FilePart> parts_; ///< parts left to read; empty for the whole file
  bool jumped_ = false;
  uint64_t block_offset_ = 0;
  std::optional<FrameReader> frames_; ///< of a compressed file
  TimeRestorer times_;
  bool keeps_differences_ = false;
  unsigned tail_ = 0;
  std::string fault_;
  size_t capacity_;
  std::unique_ptr<ftrace_record[]> records_;
  int error_ = 0;
};

} // namespace ovnitrace
