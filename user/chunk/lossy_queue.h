// SPDX-License-Identifier: BSD-2-Clause
// Chunks to an output that may stall, by a thread of its own.
#pragma once

#include "user/chunk/chunk_output.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ovnitrace {

/// Linked chunks (JTN) as ChunkQueue has them, but those who fill chunks never wait: a chunk that
/// finds `waiting` others before it is dropped. In the place of what was dropped on a CPU comes, as
/// soon as there is room, a blackout with the number of its events; later chunks of that CPU are
/// numbered anew, so that numbers still follow one another.
class LossyQueue final : public ChunkStore {
public:
  /// `output` outlives it. `cpus`: how many fill chunks at once. Memory: at most
  /// (cpus + waiting) × chunk_records × 16 bytes, taken when they are needed.
  LossyQueue(ChunkOutput &output, uint32_t cpus, size_t waiting, size_t chunk_records);
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
  /// What the thread writes next: what is missing, then a chunk; one of them may not be there.
  struct Item {
    std::optional<Chunk> gap;
    Chunk *chunk = nullptr;
  };
  void add_chunk();
  bool has_room();
  void run();
  void drop(const Chunk &chunk);
  void renumber(Chunk &chunk) const;
  std::optional<Chunk> take_gap(uint32_t cpu);

  ChunkOutput &output_;
  const size_t waiting_, chunk_records_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  mutable std::mutex mutex_;
  std::vector<Chunk *> free_;
  std::deque<Item> full_;
  size_t under_way_ = 0;         ///< chunks in full_, and the one that is being written
  std::vector<Gap> gaps_;        ///< by CPU
  std::vector<uint32_t> shifts_; ///< by CPU: how much its numbers are less than its chunks say
  std::condition_variable given_;
  bool closing_ = false;
  uint64_t not_taken_ = 0; ///< records that the output did not take
  EventLoss dropped_;
  std::thread thread_;
};

} // namespace ovnitrace
