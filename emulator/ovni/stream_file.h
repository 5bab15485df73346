// SPDX-License-Identifier: BSD-2-Clause
// Reads one stream.obs from start to end through a buffer of fixed size.
#pragma once

#include "emulator/ovni/stream_format.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace::ovni {

/// An event as in the file.
struct StreamEvent {
  uint64_t offset = 0; ///< bytes from the start of the file
  uint64_t time = 0;   ///< ns on the clock of the writer
  uint32_t mcv = 0;    ///< ovnitrace::mcv() of its letters
  uint8_t flags = 0;
  const uint8_t *payload = nullptr; ///< in the buffer of the file, valid until the next read
  uint32_t payload_size = 0;        ///< bytes at payload; at most kJumboKept of a jumbo event
};

/// Reads a stream. Opens the file for each refill of the buffer and closes it again, so that a
/// trace of thousands of threads needs one descriptor. A file that shrinks meanwhile ends early.
class StreamFile {
public:
  static constexpr size_t kBufferMin = 4096;
  static constexpr size_t kJumboKept = 1024; ///< bytes of a jumbo payload, with its size field

  enum class Status {
    event,     ///< an event was read
    end,       ///< the last event ended at the end of the file
    truncated, ///< the file ends inside an event, or cannot be read on
    damaged,   ///< the bytes at position() are not an event
  };

  /// Only keeps `path`. `buffer_size` in bytes, at least kBufferMin.
  StreamFile(std::string path, size_t buffer_size);

  /// Opens the file, checks the header and moves to the first event. Returns why the file is not a
  /// readable stream; empty if it is.
  std::string start();

  /// Reads the next event. Nothing follows after any result but Status::event.
  Status read(StreamEvent &event);

  /// Returns the offset of the next byte to parse.
  uint64_t position() const { return base_ + cursor_; }
  uint64_t size() const { return size_; }
  /// Ends the stream at `offset`: the part before it is known to be good.
  void set_end(uint64_t offset) { size_ = offset; }
  /// Frees the buffer; start() allocates it again.
  void release();

private:
  bool fill(size_t bytes);
  void skip_to(uint64_t offset);

  std::string path_;
  size_t buffer_size_;
  std::vector<uint8_t> buffer_;
  uint64_t size_ = UINT64_MAX; ///< end of the file, or of set_end()
  uint64_t base_ = 0;          ///< file offset of buffer_[0]
  size_t cursor_ = 0;          ///< next byte to parse in buffer_
  size_t filled_ = 0;          ///< bytes of buffer_ that hold data
};

} // namespace ovnitrace::ovni
