// SPDX-License-Identifier: BSD-2-Clause
// Walks back through a trace, from a wakeup to who made it.
#pragma once

#include "emulator/critical/path_history.h"
#include "emulator/critical/spin_groups.h"

#include <vector>

namespace ovnitrace {

/// Where a path starts: at the end of a time of a thread.
struct PathRoot {
  uint32_t thread;   ///< index into Catalog::threads
  uint64_t from, to; ///< ns on the clock of the trace
  bool guessed;      ///< the thread
};

/// The segments of the path, the last one first. Memory depends on threads and CPUs.
class Walk {
public:
  /// `history` as HistoryRecorder has written it. Borrows all three.
  Walk(DiskList<HistoryRecord> &history, const Catalog &catalog, DiskList<PathSegment> &segments);

  /// To be called once.
  void from(const PathRoot &root);

private:
  /// A thread that is responsible back to the floor. The one below it in the stack was blocked
  /// since then, and this one woke it.
  struct Frame {
    uint32_t thread;
    uint64_t floor; ///< ns
  };
  /// Who had a CPU.
  struct Held {
    Peer who = {};
    uint64_t start = 0, end = 0; ///< ns
  };

  void take();
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
  uint64_t left_; ///< slices that were not read yet
  std::vector<HistoryRecord>
      at_;                 ///< by thread: the slice that was read last: the earliest of those
  std::vector<Held> held_; ///< by CPU: who was read last
  /// A thread is there once: one below the top was blocked over all that is above it.
  std::vector<Frame> stack_;
  uint64_t now_ = 0; ///< ns; all slices that end then or later are read
  DiskList<PathSegment> &segments_;
  PathSegment last_; ///< not written yet
};

} // namespace ovnitrace
