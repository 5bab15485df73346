// SPDX-License-Identifier: BSD-2-Clause
// Remembers what evicted chunks said last about each thread.
#pragma once

#include "emulator/format/thread_identity.h"
#include "emulator/format/thread_state.h"
#include "user/chunk/small_chunk.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// Keeps the last state of each thread from the chunks that a flight recorder evicts. What the
/// recorder keeps can then start with the threads' real states. Memory: some 200 bytes for each tid
/// that was seen. A copy is independent.
class ForgottenStates {
public:
  using Chunks = std::vector<std::shared_ptr<const Chunk>>;

  explicit ForgottenStates(uint32_t cpus) : cpus_(cpus) {}

  /// Takes an evicted chunk. Chunks of one CPU come in their order.
  void fold(const Chunk &chunk);

  /// Replaces the evicted chunks of a CPU: what they said last about each thread.
  struct Remembered {
    /// In order of time: identities, and an EXT_state at the time from which on all events of the
    /// thread are kept. A thread has none if it has ended, or if something may have been lost since
    /// its last event.
    std::vector<std::vector<SmallEvent>> states;
    std::vector<std::vector<ftrace_blackout>> unfinished; ///< blackouts that have not ended
  };
  /// Returns what to write before the `kept` chunks. `begin` (ns) is older than all their events.
  /// REQUIRES: something was evicted.
  Remembered remembered(uint64_t begin, const Chunks &kept) const;

private:
  class Fold;
  static constexpr unsigned kPlaceShift = 48;

  /// When something happened, in the order in which a reader merges: by time, by CPU, as in the
  /// file. {}: never.
  struct Moment {
    uint64_t time = 0;  ///< ns
    uint64_t place = 0; ///< CPU << kPlaceShift | position among all that were folded
    auto operator<=>(const Moment &) const = default;
    uint32_t cpu() const { return uint32_t(place >> kPlaceShift); }
  };
  /// A thread as its last event of each kind describes it, wherever that was logged.
  struct Thread : ThreadIdentity {
    uint16_t cpu = FTRACE_SNAPSHOT_NO_CPU; ///< since `placed`
    uint16_t moved_to = 0;
    Moment placed; ///< put into a state: created, got or left a CPU
    Moment woken, moved;
    Moment refilled;                          ///< a throttled one may run again
    ThreadState state = ThreadState::Unknown; ///< since `placed`
    uint8_t reason = 0;
    uint16_t call = FTRACE_CALL_UNKNOWN; ///< enum ftrace_call
    bool snapshot = false;               ///< `placed` is only what a snapshot said
    uint8_t held_back = 0;               ///< since `woken`: why it may not run

    Moment newest() const { return std::max({placed, woken, moved}); }
    /// Unless a later event has said so already.
    void place(const Moment &at, ThreadState to, uint16_t on, uint32_t why,
               uint16_t in = FTRACE_CALL_UNKNOWN);
  };
  struct Cpu {
    uint8_t blackouts = 0;   ///< that have not ended yet, a bit for each ftrace_blackout
    uint64_t dark_until = 0; ///< ns: end of the last in which transitions were lost
    bool forgot = false;
  };
  struct Last {
    Moment at;
    ThreadState state = ThreadState::Unknown;
    uint16_t cpu = FTRACE_SNAPSHOT_NO_CPU;
    uint8_t reason = 0;
    uint16_t call = FTRACE_CALL_UNKNOWN;
  };

  /// Returns whether no transition was lost since then, neither one of this CPU nor one whose CPU
  /// is not known.
  bool is_lit(uint32_t cpu, const Moment &since) const;
  bool is_known(const Moment &since) const;
  std::optional<Last> last_of(const Thread &thread, uint64_t begin) const;
  std::vector<Thread> never_forgotten(const Chunks &kept) const;

  std::vector<Cpu> cpus_;
  std::unordered_map<uint32_t, Thread> threads_; ///< by tid, the latest that had it
  bool blind_ = false;  ///< there was no memory for a thread: nothing is known
  uint64_t folded_ = 0; ///< records
};

} // namespace ovnitrace
