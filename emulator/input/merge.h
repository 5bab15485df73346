// SPDX-License-Identifier: BSD-2-Clause
// The events of all files of all hosts, merged by time.
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

/// An EventSource over opened chunk files. What was logged before trace_start (while a snapshot was
/// taken) comes with its own time, which is before the start. Threads and CPUs of all hosts are
/// learnt when it is made (it throws Error as make_catalog does); then events are read as they are
/// asked for.
class MergedTrace final : public EventSource {
public:
  /// `sink` must outlive it. `from`, ns from the start of the trace: what does not matter to the
  /// states of threads from then on is left out, where that is known.
  MergedTrace(std::vector<HostInput> hosts, DiagnosticSink &sink, uint64_t from = 0);

  const Catalog &catalog() const override { return catalog_; }
  bool next(Event &event) override;

private:
  /// Time in the high bits, the file's rank among those of equal time in the low 32, so that one
  /// comparison orders two heads.
  using Key = unsigned __int128;
  static constexpr Key kDone = ~Key(0);

  /// Which parts of the files must be read.
  void plan();
  bool is_left_out(const Event &event) const {
    return event.time < from_ && event.thread != kNone && event.time < since_[event.thread] &&
           is_scheduling(uint8_t(event.kind));
  }
  /// The next events of a file. Several are read at once, as that takes the processor hardly longer
  /// than one: what each needs is mostly in no cache, where there are many files. None is read
  /// after something wrong, which is reported when its place is reached.
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
    uint32_t found_at = kNone; ///< before which of the events, or after them all; kNone: nothing
  };
  void report_found(Head &head);
  /// Goes to the next event of a file.
  Key advance(uint32_t rank);
  /// Plays all matches below a node for the first time; returns the winner.
  Key play(uint32_t node);

  std::vector<HostInput> hosts_;
  uint64_t from_; ///< ns; 0: all events matter
  CutPlanner planner_;
  Catalog catalog_;
  std::vector<uint64_t> since_;                   ///< by thread: events before it do not matter
  std::vector<HostTables> tables_;                ///< by host
  std::vector<Head> heads_;                       ///< by rank
  std::vector<std::unique_ptr<ChunkFile>> files_; ///< by rank: by CPU number, then file order
  Key winner_ = kDone;                            ///< the least of all heads
  std::vector<Key> losers_; ///< tournament tree: node n has its losing key, 2n and 2n + 1 below it
};

} // namespace ovnitrace
