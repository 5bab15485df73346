// SPDX-License-Identifier: BSD-2-Clause
// Counts chunks: RecordingLimit before they are buffered, CountedOutput as they are written.
#pragma once

#include "user/chunk/chunk_destination.h"
#include "user/chunk/chunk_pool.h"
#include "user/chunk/event_count.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Stops tracing after a number of bytes (`--buffer stop:SIZE`; S.Ha.R.K.: STOP). It passes all
/// chunks on to another pool and calls `full` once, when `bytes` were given. Chunks that come until
/// tracing has stopped are passed on too.
class RecordingLimit final : public ChunkPool {
public:
  /// `pool` outlives it. `full` is called on the thread that calls give().
  RecordingLimit(ChunkPool &pool, uint64_t bytes, std::function<void()> full)
      : pool_(pool), left_(bytes), full_(std::move(full)) {}

  Chunk *borrow(uint32_t cpu) override { return pool_.borrow(cpu); }

  void give(Chunk *chunk) override {
    uint64_t bytes = chunk->records.size() * sizeof(ftrace_record);
    pool_.give(chunk);
    if (left_ == 0)
      return;
    left_ -= bytes < left_ ? bytes : left_;
    if (left_ == 0)
      full_();
  }

private:
  ChunkPool &pool_;
  uint64_t left_; ///< bytes
  std::function<void()> full_;
};

/// Passes chunks on and counts, for each CPU, the records that the destination took and those that
/// it did not take. trace.json reports both, so a reader notices a missing or shortened file.
class CountedOutput final : public ChunkDestination {
public:
  /// `output` outlives it.
  CountedOutput(ChunkDestination &output, uint32_t cpus)
      : output_(output), records_(cpus), losses_(cpus) {}

  size_t write(const Chunk &chunk) override {
    const size_t missing = output_.write(chunk);
    records_[chunk.cpu] += chunk.records.size() - missing;
    bytes_ += missing               ? (chunk.records.size() - missing) * sizeof(ftrace_record)
              : chunk.frame.empty() ? chunk.records.size() * sizeof(ftrace_record)
                                    : chunk.frame.size();
    if (missing)
      losses_[chunk.cpu].add(std::span(chunk.records).last(missing));
    return missing;
  }
  void finish() override { output_.finish(); }
  std::string error() const override { return output_.error(); }

  /// Returns about how many bytes the destination took so far. For any thread.
  uint64_t bytes() const { return bytes_; }

  /// Indexed by CPU. Only for the thread that writes, or after finish().
  const std::vector<uint64_t> &records() const { return records_; }
  const std::vector<EventLoss> &losses() const { return losses_; }

private:
  ChunkDestination &output_;
  std::vector<uint64_t> records_;
  std::vector<EventLoss> losses_;
  std::atomic<uint64_t> bytes_{0};
};

} // namespace ovnitrace
