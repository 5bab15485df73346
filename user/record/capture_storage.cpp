// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/capture_storage.h"

#include "user/chunk/linked_chunks.h"

#include <utility>

namespace ovnitrace {

uint64_t sending_time(const RecordOptions &options, size_t cpus) {
  constexpr uint64_t kSecond = 1'000'000'000, kLeast = 60 * kSecond;
  const uint64_t waiting = options.buffer.kind == BufferKind::kJtn
                               ? (cpus + options.spare_chunks) * options.chunk_bytes
                               : cpus * options.buffer.bytes;
  return kLeast + (waiting >> 20) * kSecond;
}

PipelineCompression compression_of(const RecordOptions &options) {
  return {.level = options.compress_level, .waits = options.spare_chunks / 2};
}

CaptureStorage::CaptureStorage(const RecordOptions &options, TraceTarget &target, uint32_t cpus,
                               std::function<bool()> triggered, std::function<void()> full)
    : output_(target.output(), cpus) {
  const size_t chunk_records = options.chunk_bytes / sizeof(ftrace_record);
  if (options.buffer.kind == BufferKind::kCyc) {
    auto flight =
        std::make_unique<FlightRecorder>(output_, cpus, options.buffer.bytes, chunk_records);
    flight_ = flight.get();
    flight_->set_triggers(options.trigger_events, std::move(triggered));
    store_ = std::move(flight);
    if (options.live) {
      recent_.emplace(output_, cpus, options.buffer.bytes, chunk_records);
      tee_.emplace(*store_, *recent_);
    }
    return;
  }
  store_ = std::make_unique<LinkedChunks>(
      output_, target.may_stall() ? LinkedChunks::kDrop : LinkedChunks::kWait, cpus,
      options.spare_chunks, chunk_records, compression_of(options));
  if (options.buffer.kind == BufferKind::kStop)
    limit_.emplace(*store_, options.buffer.bytes, std::move(full));
}

void CaptureStorage::describe(TraceDescription &trace) const {
  trace.written = output_.records();
  trace.not_written = output_.losses();
  trace.dropped = store_->dropped();
  trace.forgotten = flight_ ? flight_->events_forgotten() : 0;
  trace.records_dropped = store_->records_dropped();
  trace.write_error = store_->error();
}

} // namespace ovnitrace
