// SPDX-License-Identifier: BSD-2-Clause
// Connects the reader to the target of a capture with the buffer that --buffer asks for.
#pragma once

#include "user/chunk/chunk_meters.h"
#include "user/chunk/chunk_pipeline.h"
#include "user/chunk/flight_recorder.h"
#include "user/chunk/trace_target.h"
#include "user/record/record.h"
#include "user/record/trace_json.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace ovnitrace {

/// Lends the chunks of the first pool. The second one, which copies what it is given, sees them
/// before.
class TeePool final : public ChunkPool {
public:
  /// Both outlive it.
  TeePool(ChunkPool &first, FlightRecorder &second) : first_(first), second_(second) {}

  Chunk *borrow(uint32_t cpu) override { return first_.borrow(cpu); }
  void give(Chunk *chunk) override {
    second_.give(chunk);
    first_.give(chunk);
  }

private:
  ChunkPool &first_;
  FlightRecorder &second_;
};

/// Returns the ns in which a collector must take what waits for it at the end: a minute plus a
/// second per MiB.
uint64_t sending_time(const RecordOptions &options, size_t cpus);
/// Returns how chunks are compressed on their way to the target. At most half of the spare chunks
/// wait for the compressor.
PipelineCompression compression_of(const RecordOptions &options);

/// Owns the buffer and the counters around it.
class CaptureStorage {
public:
  /// `target` outlives it. `triggered`: as for FlightRecorder::set_triggers(). `full` is called
  /// when all that --buffer allows is recorded, on the thread that gives.
  CaptureStorage(const RecordOptions &options, TraceTarget &target, uint32_t cpus,
                 std::function<bool()> triggered, std::function<void()> full);

  ChunkPool &sink() { return tee_ ? *tee_ : limit_ ? static_cast<ChunkPool &>(*limit_) : *store_; }
  FlightRecorder *flight() { return flight_; } ///< null if --buffer asks for no flight recorder
  /// Keeps the same events for a live view, which decides for how long. REQUIRES: options.live
  FlightRecorder &recent() { return *recent_; }
  /// Returns about how many bytes were written or sent; of a flight recorder: are kept in memory.
  uint64_t bytes() { return flight_ ? flight_->bytes_kept() : output_.bytes(); }
  /// Writes all chunks to the target. Only describe() may follow.
  void close() { store_->close(); }
  /// Puts into `trace` what was written, dropped and lost. Call it after close().
  void describe(TraceDescription &trace) const;

private:
  CountedOutput output_;
  std::unique_ptr<CaptureBuffer> store_;
  FlightRecorder *flight_ = nullptr;    ///< store_, if it is one
  std::optional<RecordingLimit> limit_; ///< in front of store_
  std::optional<FlightRecorder> recent_;
  std::optional<TeePool> tee_; ///< in front of store_ and recent_
};

} // namespace ovnitrace
