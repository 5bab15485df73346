// SPDX-License-Identifier: BSD-2-Clause
// Chunks are counted on their way: before they are stored, and as they are written.
#pragma once

#include "user/chunk/chunk_output.h"
#include "user/chunk/chunk_sink.h"
#include "user/chunk/event_count.h"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A chunk that stops tracing when it is full (STOP), of any number of linked ones: passes
/// everything on to another sink, and calls `full` once when `bytes` were given. What is given
/// after that, until the tracing has stopped, is passed on too: nothing that was captured is thrown
/// away.
class RecordingLimit final : public ChunkSink {
public:
  /// `sink` outlives it. `full` is called on the thread that gives.
  RecordingLimit(ChunkSink &sink, uint64_t bytes, std::function<void()> full)
      : sink_(sink), left_(bytes), full_(std::move(full)) {}

  Chunk *borrow(uint32_t cpu) override { return sink_.borrow(cpu); }

  void give(Chunk *chunk) override {
    uint64_t bytes = chunk->records.size() * sizeof(ftrace_record);
    sink_.give(chunk);
    if (left_ == 0)
      return;
    left_ -= bytes < left_ ? bytes : left_;
    if (left_ == 0)
      full_();
  }

private:
  ChunkSink &sink_;
  uint64_t left_; ///< bytes
  std::function<void()> full_;
};

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
