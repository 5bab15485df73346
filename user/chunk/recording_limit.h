// SPDX-License-Identifier: BSD-2-Clause
// Tells when so much is recorded.
#pragma once

#include "user/chunk/chunk_sink.h"

#include <cstdint>
#include <functional>
#include <utility>

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

} // namespace ovnitrace
