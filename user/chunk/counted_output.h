// SPDX-License-Identifier: BSD-2-Clause
// How many records became part of each CPU's file.
#pragma once

#include "user/chunk/chunk_output.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Passes chunks on and counts, by CPU, the records that the output took: trace.json tells them, so
/// that a reader knows when a file, or a part of one, is missing.
class CountedOutput final : public ChunkOutput {
public:
  /// `output` outlives it.
  CountedOutput(ChunkOutput &output, uint32_t cpus) : output_(output), records_(cpus) {}

  size_t write(const Chunk &chunk) override {
    const size_t missing = output_.write(chunk);
    records_[chunk.cpu] += chunk.records.size() - missing;
    return missing;
  }
  void finish() override { output_.finish(); }
  std::string error() const override { return output_.error(); }

  /// By CPU. For the thread that writes, or after finish().
  const std::vector<uint64_t> &records() const { return records_; }

private:
  ChunkOutput &output_;
  std::vector<uint64_t> records_;
};

} // namespace ovnitrace
