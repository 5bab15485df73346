// SPDX-License-Identifier: BSD-2-Clause
// Compresses a chunk to a zstd frame.
#pragma once

#include <ovnitrace/ftrace_record.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;

namespace ovnitrace {

inline constexpr int kLeastLevel = 1, kMostLevel = 19;
/// A level for frames that only copy their contents: as large as these, and as fast as a copy.
inline constexpr int kStoredLevel = -(1 << 17);

/// The largest window of a frame, as 2^n bytes: no frame of ours refers further back.
inline constexpr int kFrameWindowLog = 21;

/// Compresses chunks. Each becomes a frame of its own, with its size and a checksum, and can be
/// decompressed alone.
class FrameCompressor {
public:
  /// `level`: kLeastLevel (fast) to kMostLevel (small), or kStoredLevel.
  explicit FrameCompressor(int level);

  /// Returns the frame of these bytes, valid until the next call. Throws Error if there is no
  /// memory.
  std::span<const char> compress(const void *bytes, size_t size);
  /// Does the same for a chunk. A whole chunk is compressed with differences in place of its times.
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
