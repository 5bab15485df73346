// SPDX-License-Identifier: BSD-2-Clause
// A chunk as a zstd frame.
#pragma once

#include <ovnitrace/ftrace_record.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;

namespace ovnitrace {

inline constexpr int kLeastLevel = 1, kMostLevel = 19;
/// Frames that are as large as what is in them, at the speed of a copy.
inline constexpr int kStoredLevel = -(1 << 17);

/// What a reader of frames needs at most, as 2^n bytes: no frame of ours refers further back.
inline constexpr int kFrameWindowLog = 21;

/// Compresses chunk by chunk. Each becomes a frame of its own, with its size and a checksum, so
/// that each can be read alone.
class FrameCompressor {
public:
  /// `level`: kLeastLevel (fast) to kMostLevel (small), or kStoredLevel.
  explicit FrameCompressor(int level);

  /// The frame of these bytes, valid until the next call. Throws Error if there is no memory.
  std::span<const char> compress(const void *bytes, size_t size);
  /// The same of a chunk, with differences in place of its times if it is a whole one.
  std::span<const char> compress_chunk(std::span<const ftrace_record> chunk);

private:
  struct Free {
    void operator()(ZSTD_CCtx_s *context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::vector<char> frame_;
  std::vector<ftrace_record> differences_;
};

} // namespace ovnitrace
