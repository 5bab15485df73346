// SPDX-License-Identifier: BSD-2-Clause
// Merges the events of all files of all hosts by time.
#pragma once

#include "emulator/input/chunk_file.h"
#include "emulator/input/cut_plan.h"
#include "emulator/input/host_input.h"
#include "emulator/input/source.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace ovnitrace {

/// An EventSource over opened chunk files. Events from before trace_start (a snapshot was being
/// taken) keep their own times, which are before the start. The constructor finds the threads and
/// CPUs of all hosts and throws Error as make_catalog() does. Events are read as they are asked
/// for.
class MergedTrace final : public EventSource {
public:
  /// `sink` must outlive it. `from`: ns from the start of the trace. Earlier events that do not
  /// affect the states of threads at `from` may be skipped.
  MergedTrace(std::vector<HostInput> hosts, DiagnosticSink &sink, uint64_t from = 0);

  const Catalog &catalog() const override { return catalog_; }
  bool next(Event &event) override;

private:
  /// Time in the high bits, rank of the file in the low 32, so one comparison orders two heads.
  using Key = unsigned __int128;
  static constexpr Key kDone = ~Key(0);

  /// Decides which parts of the files to read.
  void plan();
  bool is_left_out(const Event &event) const {
    return event.time < from_ && event.thread != kNone && event.time < since_[event.thread] &&
           event.kind < 256 && is_scheduling(uint8_t(event.kind));
  }
  /// The next events of a file. Several are read at once because their data is mostly in no cache:
  /// with many files, reading several takes hardly longer than one. Reading stops after a fault,
  /// which is reported when its place is reached.
  struct Head final : DiagnosticSink {
    void report(const Diagnostic &diagnostic) override {
      constexpr size_t kMost = 16; // a file can be nothing but damage
      if (found.size() < kMost)
        found.push_back(diagnostic);
      else
        found.back().more++;
      found_at = count;
    }
    std::array<Event, 16> events;
    uint32_t at = 0, count = 0;
    std::vector<Diagnostic> found;
    /// The faults belong before this event, or after them all; kNone: no faults.
    uint32_t found_at = kNone;
  };
  void report_found(Head &head);
  /// Moves to the next event of a file and returns its key.
  Key advance(uint32_t rank);
  /// Plays all matches below a node for the first time; returns the winner.
  Key play(uint32_t node);

  std::vector<HostInput> hosts_;
  uint64_t from_; ///< ns; 0: all events matter
  CutPlanner planner_;
  Catalog catalog_;
  std::vector<uint64_t> since_;    ///< by thread: scheduling events before this time do not matter
  std::vector<HostTables> tables_; ///< by host
  std::vector<Head> heads_;        ///< by rank
  std::vector<std::unique_ptr<ChunkFile>> files_; ///< by rank: by CPU number, then file order
  Key winner_ = kDone;                            ///< the smallest key of all heads
  /// Tournament tree: node n holds the key that lost there. Its children are 2n and 2n + 1.
  std::vector<Key> losers_;
};

} // namespace ovnitrace
