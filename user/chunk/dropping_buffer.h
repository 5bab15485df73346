// SPDX-License-Identifier: BSD-2-Clause
// Sends chunks over a network that may stall. The reader never waits: chunks are dropped.
#pragma once

#include "user/chunk/chunk_pipeline.h"
#include "user/chunk/inheriting_mutex.h"

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// Linked chunks (JTN) like those of WaitingBuffer. If `waiting` chunks wait already, the next one
/// is dropped. As soon as there is room, a blackout with the number of dropped events is written in
/// its place. Later chunks of that CPU are renumbered, so their numbers stay consecutive.
class DroppingBuffer final : public CaptureBuffer {
public:
  /// `output` outlives it. `cpus`: how many chunks are filled at once. Allocates at most
  /// (cpus + waiting) × chunk_records × 16 bytes, when they are needed, and their compressed form.
  DroppingBuffer(ChunkDestination &output, uint32_t cpus, size_t waiting, size_t chunk_records,
                 const PipelineCompression &compression = {});
  ~DroppingBuffer() override;

  Chunk *borrow(uint32_t cpu) override;
  void give(Chunk *chunk) override;
  void close() override;
  std::string error() const override;
  uint64_t records_dropped() const override;
  EventLoss dropped() const override;

private:
  /// What was dropped on a CPU since the last chunk that was not.
  struct Gap {
    uint64_t begin = 0, end = 0; ///< ns
    uint64_t events = 0;
    uint32_t chunks = 0; ///< 0: no gap
    uint32_t number = 0; ///< of the first, as it is sent
    bool last = false;   ///< trace_stop was among them
  };
  void add_chunk();
  bool has_room();
  void add_gap(uint32_t cpu);
  void take_back(Chunk *chunk, size_t missing);
  void drop(const Chunk &chunk);
  void renumber(Chunk &chunk) const;
  std::optional<Chunk> take_gap(uint32_t cpu);

  ChunkDestination &output_;
  const size_t waiting_, chunk_records_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  mutable InheritingMutex mutex_;
  std::vector<Chunk *> free_;
  std::list<Chunk> gap_chunks_;  ///< in the line, in the place of what was dropped
  size_t under_way_ = 0;         ///< chunks in the line, without those
  std::vector<Gap> gaps_;        ///< by CPU
  std::vector<uint32_t> shifts_; ///< by CPU: how much its numbers are less than its chunks say
  uint64_t not_taken_ = 0;       ///< records that the output did not take
  EventLoss dropped_;
  ChunkPipeline line_; ///< last: its threads use the others
};

} // namespace ovnitrace
