// SPDX-License-Identifier: BSD-2-Clause
// Writes chunks to a disk, or sends them over a network that may stall.
#pragma once

#include "user/chunk/chunk_pipeline.h"
#include "user/chunk/inheriting_mutex.h"

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// S.Ha.R.K.'s linked chunks (JTN): chunks circulate between the reader, which fills them, and a
/// ChunkPipeline, which writes them. Counts records that the destination refuses.
class LinkedChunks final : public CaptureBuffer {
public:
  /// What happens to a chunk that finds `waiting` others in the pipeline.
  enum WhenFull {
    kWait, ///< it is kept, and borrow() waits until a chunk comes back
    /// It is dropped. As soon as there is room, a blackout with the number of dropped events is
    /// written in its place. Later chunks of that CPU are renumbered, so their numbers stay
    /// consecutive.
    kDrop,
  };

  /// `output` outlives it. `cpus`: how many chunks are filled at once; the numbers of CPUs are
  /// below it. Allocates at most
  /// (cpus + waiting) × chunk_records × 16 bytes, when they are needed, and their compressed form.
  LinkedChunks(ChunkDestination &output, WhenFull when_full, uint32_t cpus, size_t waiting,
               size_t chunk_records, const PipelineCompression &compression = {});
  ~LinkedChunks() override;

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
  const WhenFull when_full_;
  const size_t waiting_, chunk_records_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  mutable InheritingMutex mutex_;
  std::condition_variable returned_;
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
