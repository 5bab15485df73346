// SPDX-License-Identifier: BSD-2-Clause
// How many records became part of each CPU's file, and what did not.
#pragma once

#include "user/chunk/chunk_output.h"
#include "user/chunk/event_count.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Passes chunks on and counts, by CPU, the records that the output took and what it did not take:
/// trace.json has both, so that a reader knows when a file, or a part of one, is missing, and what
/// was in it.
class CountedOutput final : public ChunkOutput {
public:
  /// `output` outlives it.
  CountedOutput(ChunkOutput &output, uint32_t cpus)
      : output_(output), records_(cpus), losses_(cpus) {}

  size_t write(const Chunk &chunk) override {
    const size_t missing = output_.write(chunk);
    records_[chunk.cpu] += chunk.records.size() - missing;
    if (missing)
      losses_[chunk.cpu].add(std::span(chunk.records).last(missing));
    return missing;
  }
  void finish() override { output_.finish(); }
  std::string error() const override { return output_.error(); }

  /// By CPU. For the thread that writes, or after finish().
  const std::vector<uint64_t> &records() const { return records_; }
  const std::vector<EventLoss> &losses() const { return losses_; }

private:
  ChunkOutput &output_;
  std::vector<uint64_t> records_;
  std::vector<EventLoss> losses_;
};

} // namespace ovnitrace
