// SPDX-License-Identifier: BSD-2-Clause
// What the walk back through a trace must know of it.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/critical/path.h"

#include <map>
#include <vector>

namespace ovnitrace {

/// A slice, as far as a path needs it; of no thread it is a time in which none of the trace is
/// known to have run on a CPU.
struct Past {
  uint64_t start, end; ///< ns on the clock of the trace
  uint32_t thread, cpu;
  Peer waker; ///< who ended a blocked one; of a Warming one, who started it
  Peer next;  ///< of no thread: who got the CPU when one of the trace left it
  uint16_t call, interrupt;
  ThreadState state;
  uint8_t reason, context; ///< as Slice has them; context: of the wakeup
  bool sleeps;             ///< the call in which it is blocked waits for a time and nothing else
  bool woken; ///< a wakeup ended it: a blocked one, or the time before a new thread's first
};

/// The longest section of a number.
struct FoundSection {
  uint32_t thread = kNone;
  uint64_t from = 0, to = 0; ///< ns on the clock of the trace
};

/// Writes the slices down, in the order in which they end.
class PastRecorder final : public SliceSink {
public:
  /// Borrows both.
  PastRecorder(const Catalog &catalog, const PathQuery &query);

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;
  void on_change(uint32_t thread, const StateChange &change, uint64_t time) override;
  /// To be called once, after the last slice, with the end of the range.
  void finish(uint64_t time);

  Spill<Past> &slices() { return slices_; }
  /// The thread that ran longest, of those that have not ended where there is one; kNone: none ran.
  uint32_t longest_running() const;
  const FoundSection &section() const { return found_; }

private:
  struct OpenSection {
    uint64_t since, depth; ///< depth: how many of the number are open, one in another
  };

  /// A CPU since a thread of the trace has left it.
  struct Left {
    bool is = false;
    uint64_t since = 0; ///< ns
    Peer next = {};     ///< who got it, where that is no thread of the trace
  };

  void leave(uint32_t cpu, uint64_t time);
  void end_left(uint32_t cpu, uint64_t time);
  void section_event(const Event &event, const System &system);

  const Catalog &catalog_;
  const PathQuery &query_;
  Spill<Past> slices_;
  ServedInterrupts served_;
  Event wakeup_ = {}; ///< the event now, if it is a wakeup
  uint16_t wakeup_interrupt_ = kNoInterrupt;
  std::map<uint32_t, OpenSection> open_; ///< by thread
  FoundSection found_;
  std::vector<Left> left_;     ///< by CPU
  std::vector<uint64_t> ran_;  ///< by thread, ns
  std::vector<uint8_t> ended_; ///< by thread
};

} // namespace ovnitrace
