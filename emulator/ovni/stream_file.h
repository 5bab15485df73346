// SPDX-License-Identifier: BSD-2-Clause
// One stream.obs read from its beginning to its end through a buffer of fixed size.
#pragma once

#include "emulator/ovni/stream_format.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace::ovni {

/// One event as it stands in the file.
struct StreamEvent {
  uint64_t offset = 0; ///< bytes from the start of the file
  uint64_t time = 0;   ///< ns on the clock of the writer
  uint32_t mcv = 0;    ///< ovnitrace::mcv() of its letters
  uint8_t flags = 0;
  const uint8_t *payload = nullptr; ///< in the buffer of the file: valid until the next read
  uint32_t payload_size = 0; ///< bytes at payload; of a jumbo event at most kJumboKept are kept
};

/// The file is opened for each refill of the buffer and closed again, so that a trace of thousands
/// of threads needs one descriptor at a time. A file that shrinks meanwhile ends early.
class StreamFile {
public:
  static constexpr size_t kBufferMin = 4096;
  static constexpr size_t kJumboKept = 1024; ///< bytes of a jumbo payload, its size field included

  enum class Status {
    event,     ///< there is one more event
    end,       ///< the last event ended where the file does
    truncated, ///< the file ends inside an event, or cannot be read further
    damaged,   ///< what stands at position() cannot be an event
  };

  /// `path` is only kept. `buffer_size` in bytes, at least kBufferMin.
  StreamFile(std::string path, size_t buffer_size);

  /// Opens and checks the header and goes to the first event. Empty when all is well, otherwise why
  /// the file cannot be read as a stream.
  std::string start();

  /// The next event. After anything but Status::event there is none.
  Status read(StreamEvent &event);

  /// Offset of the next byte to parse.
  uint64_t position() const { return base_ + cursor_; }
  uint64_t size() const { return size_; }
  /// Reads no byte from `offset` on: the part before it is known to be good.
  void set_end(uint64_t offset) { size_ = offset; }
  /// Gives the buffer back; start() takes it again.
  void release();

private:
  bool fill(size_t bytes);
  void skip_to(uint64_t offset);

  std::string path_;
  size_t buffer_size_;
  std::vector<uint8_t> buffer_;
  uint64_t size_ = UINT64_MAX; ///< of the file, or where set_end() said
  uint64_t base_ = 0;          ///< file offset of buffer_[0]
  size_t cursor_ = 0;          ///< next byte to parse in buffer_
  size_t filled_ = 0;          ///< bytes of buffer_ that hold data
};

} // namespace ovnitrace::ovni
