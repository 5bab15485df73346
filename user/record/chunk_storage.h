// SPDX-License-Identifier: BSD-2-Clause
// How chunks get from the reader to the target of a capture: as --buffer says.
#pragma once

#include "user/chunk/chunk_meters.h"
#include "user/chunk/flight_recorder.h"
#include "user/chunk/trace_target.h"
#include "user/record/record.h"
#include "user/record/trace_json.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace ovnitrace {

class ChunkStorage {
public:
  /// `target` outlives it. `save` is called when the trigger of a flight recorder comes, `full`
  /// when all that --buffer allows is recorded; both on the thread that gives.
  ChunkStorage(const RecordOptions &options, TraceTarget &target, uint32_t cpus,
               std::function<void()> save, std::function<void()> full);

  ChunkSink &sink() { return limit_ ? static_cast<ChunkSink &>(*limit_) : *store_; }
  FlightRecorder *flight() { return flight_; } ///< null if it is none
  /// Brings all that was given to the target. Nothing may follow.
  void close() { store_->close(); }
  /// After close(): what became of all that was given.
  void describe(TraceDescription &trace) const;

private:
  CountedOutput output_;
  std::unique_ptr<ChunkStore> store_;
  FlightRecorder *flight_ = nullptr;    ///< store_, if it is one
  std::optional<RecordingLimit> limit_; ///< in front of store_
};

} // namespace ovnitrace
