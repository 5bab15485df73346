// SPDX-License-Identifier: BSD-2-Clause
// Chunks as a capture writes them, and a place where they go.
#pragma once

#include "tests/unit/support/trace_builder.h"
#include "user/chunk/chunk_destination.h"

#include <map>
#include <string>
#include <vector>

namespace ovnitrace::test {

/// Chunk `number` of a CPU: one thread that is dispatched at `time`, `events` times, 1 ns apart.
inline Chunk event_chunk(uint16_t cpu, uint32_t number, uint64_t time, unsigned events,
                         uint16_t last = FTrace_EVT_next_chunk) {
  ChunkBuilder builder(cpu);
  builder.records().clear();
  builder.at(time).record(FTrace_EVT_cycles_per_msec, 0, 1000000);
  builder.record(FTrace_EXT_format, FTRACE_EXT_VERSION).record(FTrace_EXT_chunk, cpu, number);
  builder.record(FTrace_EVT_numevents);
  if (number == 0)
    builder.record_at(1, FTrace_EVT_trace_start, 0, 1000000);
  builder.id(1, 100, 100, "t");
  for (unsigned n = 0; n < events; n++)
    builder.at(time + n).dispatch(1);
  builder.record(last, 0, number + 1);
  return {cpu, builder.records()};
}

/// Fills a borrowed chunk and gives it.
inline void give(ChunkPool &sink, const Chunk &content) {
  Chunk *chunk = sink.borrow(content.cpu);
  chunk->records.assign(content.records.begin(), content.records.end());
  sink.give(chunk);
}

/// Keeps what it is given, up to `room` records; after that it fails.
class CollectingOutput final : public ChunkDestination {
public:
  explicit CollectingOutput(size_t room = SIZE_MAX) : room_(room) {}
  size_t write(const Chunk &chunk) override {
    if (chunk.records.size() > room_) {
      room_ = 0;
      error_ = "no room";
      return chunk.records.size();
    }
    room_ -= chunk.records.size();
    std::vector<ftrace_record> &to = files[chunk.cpu];
    to.insert(to.end(), chunk.records.begin(), chunk.records.end());
    return 0;
  }
  void finish() override { finished++; }
  std::string error() const override { return error_; }

  /// How many records of a code a CPU has.
  size_t count(uint16_t cpu, uint16_t code) const {
    size_t found = 0;
    if (auto at = files.find(cpu); at != files.end())
      for (const ftrace_record &record : at->second)
        found += record.code == code;
    return found;
  }

  std::map<uint16_t, std::vector<ftrace_record>> files;
  int finished = 0;

private:
  size_t room_;
  std::string error_;
};

} // namespace ovnitrace::test
