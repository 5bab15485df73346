// SPDX-License-Identifier: BSD-2-Clause
// Keeps the last chunks of each CPU in memory.
#pragma once

#include "user/chunk/chunk_destination.h"
#include "user/chunk/forgotten_states.h"
#include "user/chunk/inheriting_mutex.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// Keeps the last chunks of each CPU, as many as their bytes allow, and evicts the oldest (cyclic
/// chunks, CYC). It never waits for a disk. What it keeps is a trace of its own.
///
/// If something was evicted, that trace begins 1 ns before the first event that any CPU has kept,
/// without trace_start. A blackout goes from there to the first event that this CPU has kept. It
/// has the number of evicted events and, inside it, the states of threads.
class FlightRecorder final : public CaptureBuffer {
public:
  /// `output` outlives it and takes what is kept at close(). Memory: `bytes_per_cpu` for each CPU
  /// that has events, a chunk that it fills, and ForgottenStates; while a save goes on, what it has
  /// not written yet.
  FlightRecorder(ChunkDestination &output, uint32_t cpus, uint64_t bytes_per_cpu,
                 size_t chunk_records);

  /// Calls `triggered`, on the thread that gives, when a chunk has an event of one of these codes.
  /// It returns whether there will be a save; if not, it is not called again. The next call comes
  /// only after a save that has the event, or after rearm(). Call this before the first chunk is
  /// borrowed.
  void set_triggers(std::vector<uint16_t> codes, std::function<bool()> triggered);
  /// Allows the next trigger: there will be no save for the last one.
  void rearm() { trigger_waits_ = false; }

  Chunk *borrow(uint32_t cpu) override;
  void give(Chunk *chunk) override;

  /// Evicts chunks whose events are all older than `time` (ns), except the newest of each CPU.
  void forget_before(uint64_t time);

  /// Writes what is kept now, ended by trace_stop at `end` (ns), while recording goes on. Returns
  /// how many records `output` did not take.
  uint64_t save(ChunkDestination &output, uint64_t end);

  void close() override;
  std::string error() const override { return output_.error(); }
  uint64_t records_dropped() const override { return records_dropped_; }
  uint64_t events_forgotten() { return sum(&History::events_forgotten); }
  uint64_t bytes_kept() { return sum(&History::bytes); }

private:
  /// What is kept of one CPU.
  struct History {
    std::deque<std::shared_ptr<const Chunk>> chunks; ///< oldest first
    uint64_t bytes = 0;
    uint64_t events_forgotten = 0;
    bool forgot = false;
  };
  /// Returns the sum of a member over all CPUs.
  uint64_t sum(uint64_t History::*member);
  void forget_oldest(History &history);
  static ForgottenStates::Chunks kept_in(const std::vector<History> &histories);
  void look_for_trigger(const Chunk &chunk);
  uint64_t write(ChunkDestination &output, std::optional<uint64_t> end);

  ChunkDestination &output_;
  const uint64_t bytes_per_cpu_;
  const size_t chunk_records_;
  std::vector<Chunk> filling_; ///< by CPU
  InheritingMutex mutex_;
  std::vector<History> histories_; ///< by CPU
  ForgottenStates states_;
  std::vector<uint16_t> triggers_; ///< codes; empty: none, or no longer
  std::function<bool()> triggered_;
  std::atomic<bool> trigger_waits_{false}; ///< for a save
  uint64_t records_dropped_ = 0;
  bool closed_ = false;
};

} // namespace ovnitrace
