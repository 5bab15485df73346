// SPDX-License-Identifier: BSD-2-Clause
// Writes chunks to the files of a trace directory.
#pragma once

#include "emulator/format/chunk_frame.h"
#include "emulator/format/codec.h"
#include "user/chunk/chunk_destination.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ovnitrace {

/// Appends each CPU's chunks to `cpuNNNN.ftr`, or compressed to `cpuNNNN.ftr.zst`. Files are made
/// when their first chunk comes. After a failed write (a full disk) the file is cut back to whole
/// records, a compressed one to whole chunks.
class ChunkFiles final : public ChunkDestination {
public:
  /// `directory_fd` stays the caller's. `level`: of zstd, 0 for plain files.
  ChunkFiles(int directory_fd, uint32_t cpus, int level = 0);
  ~ChunkFiles() override;
  ChunkFiles(const ChunkFiles &) = delete;
  ChunkFiles &operator=(const ChunkFiles &) = delete;

  size_t write(const Chunk &chunk) override;
  void finish() override;
  std::string error() const override { return error_; }

  uint64_t bytes(uint32_t cpu) const { return files_[cpu].size; } ///< of a file

  static std::string file_name(uint32_t cpu, Codec codec = Codec::none);

private:
  struct File {
    int fd = -1; ///< not made yet
    uint64_t size = 0;
  };
  bool open(uint32_t cpu);
  bool append(uint32_t cpu, std::span<const char> bytes);
  size_t write_plain(const Chunk &chunk);
  size_t write_compressed(const Chunk &chunk);
  void fail(uint32_t cpu, int error);

  const int directory_fd_;
  std::optional<FrameCompressor> compressor_; ///< of compressed files
  const Codec codec_;
  std::vector<File> files_; ///< by CPU
  std::string error_;
};

} // namespace ovnitrace
