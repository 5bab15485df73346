// SPDX-License-Identifier: BSD-2-Clause
// Chunks to an output that may stall, by threads of their own.
#pragma once

#include "user/chunk/chunk_line.h"

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// Linked chunks (JTN) as ChunkQueue has them, but those who fill chunks never wait: a chunk that
/// finds `waiting` others before it is dropped. In the place of what was dropped on a CPU comes, as
/// soon as there is room, a blackout with the number of its events; later chunks of that CPU are
/// numbered anew, so that numbers still follow one another.
class LossyQueue final : public ChunkStore {
public:
  /// `output` outlives it. `cpus`: how many fill chunks at once. Memory: at most
  /// (cpus + waiting) × chunk_records × 16 bytes, taken when they are needed, and what they are
  /// compressed to.
  LossyQueue(ChunkOutput &output, uint32_t cpus, size_t waiting, size_t chunk_records,
             const LineCompression &compression = {});
  ~LossyQueue() override;

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

  ChunkOutput &output_;
  const size_t waiting_, chunk_records_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  mutable std::mutex mutex_;
  std::vector<Chunk *> free_;
  std::list<Chunk> gap_chunks_;  ///< in the line, in the place of what was dropped
  size_t under_way_ = 0;         ///< chunks in the line, without those
  std::vector<Gap> gaps_;        ///< by CPU
  std::vector<uint32_t> shifts_; ///< by CPU: how much its numbers are less than its chunks say
  uint64_t not_taken_ = 0;       ///< records that the output did not take
  EventLoss dropped_;
  ChunkLine line_; ///< last: its threads use the others
};

} // namespace ovnitrace
