// SPDX-License-Identifier: BSD-2-Clause
// Reads a file of zstd frames, whatever its bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct ZSTD_DCtx_s;

namespace ovnitrace {

/// The bytes that the frames of a file hold, one frame after another. Memory is bounded, whatever
/// size a frame claims: a frame that refers further back than kFrameWindowLog allows is refused. A
/// frame that is damaged is a fault; reading goes on at the next one.
class FrameReader {
public:
  /// Where a frame starts: what it holds, and it itself in the file. Bytes.
  struct Start {
    uint64_t offset, place;
  };

  /// Whether a file starts with a frame.
  static bool is_at_start(int fd);

  /// Borrows `fd`, a file of `size` bytes, and reads it with pread.
  FrameReader(int fd, uint64_t size);

  /// Up to `size` bytes; fewer only at a fault or, without one, at the end.
  size_t read(char *to, size_t size);

  /// What was wrong in the last read(), once; empty: nothing. What was read before it and what
  /// follows are not in one piece.
  std::string take_fault();

  /// The frames that started in the last read().
  const std::vector<Start> &starts() const { return starts_; }
  /// Goes on with the frame that starts there.
  void seek(const Start &frame);

private:
  struct Free {
    void operator()(ZSTD_DCtx_s *context) const;
  };
  void add_start(const Start &frame);
  bool refill();
  void fail(const std::string &why);
  void find_frame();
  uint64_t position() const { return offset_ - (end_ - at_); }

  const int fd_;
  const uint64_t size_;
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::vector<char> input_;
  size_t at_ = 0, end_ = 0; ///< what of input_ is not decoded yet
  uint64_t offset_ = 0;     ///< of what is read next
  uint64_t given_ = 0;      ///< offset of what read() gives next, of all that the frames hold
  std::vector<Start> starts_;
  bool inside_ = false;    ///< a frame has begun and not ended
  bool searching_ = false; ///< for the next frame, after a fault
  unsigned faults_ = 0;
  std::string fault_;
};

} // namespace ovnitrace
