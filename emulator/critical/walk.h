// SPDX-License-Identifier: BSD-2-Clause
// Walks back through a recorded history, from each wakeup to the thread that made it.
#pragma once

#include "emulator/critical/path_history.h"
#include "emulator/critical/spin_groups.h"

#include <vector>

namespace ovnitrace {

/// The end of a path: the end of a time of a thread.
struct PathRoot {
  uint32_t thread;   ///< index into Catalog::threads
  uint64_t from, to; ///< ns on the clock of the trace
};

/// Finds the segments of a path, the last one first. Memory grows with threads and CPUs.
class Walk {
public:
  /// Borrows all three. `history`: as HistoryRecorder has written it. For a display, the walk is
  /// number `number` of `walks`, from 0.
  Walk(DiskList<HistoryRecord> &history, const Catalog &catalog, DiskList<PathSegment> &segments,
       size_t number, size_t walks);

  /// Walks the whole path. To be called once.
  void from(const PathRoot &root);

private:
  /// A thread that is responsible back to the floor, and then woke the thread below it in the
  /// stack, which was blocked since the floor.
  struct Frame {
    uint32_t thread;
    uint64_t floor; ///< ns
  };
  /// A time in which a thread had a CPU.
  struct Held {
    Peer peer = {};
    uint64_t start = 0; ///< ns
  };

  void take();
  void take_slice(const HistoryRecord &slice);
  void show_progress() const;
  void take_back_to(uint64_t time);
  void step();
  void step_waiting(const HistoryRecord &wait);
  void step_spinning(const HistoryRecord &spin);
  void step_blocked(const HistoryRecord &block);
  void step_worker(const HistoryRecord &block);
  void step_unowned(const HistoryRecord &block, uint64_t floor);
  void step_unborn(const HistoryRecord &first);
  bool follow(const HistoryRecord &woken, uint64_t floor);
  void push(uint32_t thread, uint64_t floor);
  void put(uint64_t from, PathSegment what);

  SpinGroups group_;
  DiskList<HistoryRecord> &history_;
  uint64_t left_;                 ///< slices that were not read yet
  std::vector<HistoryRecord> at_; ///< by thread: the slice that was read last, its earliest so far
  std::vector<Held> held_;        ///< by CPU: read last
  /// The threads on the path. Each is there once: a thread below the top is blocked while those
  /// above it run.
  std::vector<Frame> stack_;
  uint64_t end_ = 0; ///< ns: of the path
  uint64_t now_ = 0; ///< ns; all slices that end at or after this time are read
  DiskList<PathSegment> &segments_;
  PathSegment last_;            ///< not written yet
  const double number_, walks_; ///< for show_progress()
};

} // namespace ovnitrace
