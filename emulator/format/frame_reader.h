// SPDX-License-Identifier: BSD-2-Clause
// Decompresses a file of zstd frames. The file may contain anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct ZSTD_DCtx_s;

namespace ovnitrace {

/// Reads the contents of all frames of a file as one stream of bytes. Memory is bounded: a frame
/// whose window is larger than kFrameWindowLog is refused. A damaged frame is a fault, and reading
/// goes on at the next frame.
class FrameReader {
public:
  /// The start of a frame in bytes: `offset` in the contents, `place` in the file.
  struct Start {
    uint64_t offset, place;
  };

  /// Returns whether a file starts with a frame.
  static bool is_at_start(int fd);

  /// Borrows `fd`, a file of `size` bytes. Moves its file offset, but reads with pread.
  FrameReader(int fd, uint64_t size);

  /// Reads up to `size` bytes and returns how many. Fewer only at a fault or at the end.
  size_t read(char *to, size_t size);

  /// Returns what was wrong in the last read(), once; empty if nothing was. At a fault, the next
  /// bytes do not continue the last ones.
  std::string take_fault();

  /// Returns the frames that started in the last read().
  const std::vector<Start> &starts() const { return starts_; }
  /// Continues with the frame that starts there.
  void seek(const Start &frame);

private:
  struct Free {
    void operator()(ZSTD_DCtx_s *context) const;
  };
  void add_start(const Start &frame);
  bool refill();
  void skip_hole();
  void fail(const std::string &why);
  void find_frame();
  uint64_t position() const { return offset_ - (end_ - at_); }

  const int fd_;
  const uint64_t size_;
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::vector<char> input_;
  size_t at_ = 0, end_ = 0; ///< the part of input_ that is not decoded yet
  uint64_t offset_ = 0;     ///< of the next read from the file
  uint64_t given_ = 0;      ///< of the next byte of read(), in the contents
  std::vector<Start> starts_;
  bool inside_ = false;    ///< between the start and the end of a frame
  bool searching_ = false; ///< for the next frame, after a fault
  unsigned faults_ = 0;
  std::string fault_;
};

} // namespace ovnitrace
