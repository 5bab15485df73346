// SPDX-License-Identifier: BSD-2-Clause
// What the walk back through a trace must know of it.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/critical/path.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// A slice, as far as a path needs it; of no thread it is a time in which none of the trace is
/// known to have run on a CPU.
struct HistoryRecord {
  uint64_t start, end; ///< ns on the clock of the trace
  uint32_t thread, cpu;
  Peer waker; ///< who ended a blocked one; of a Warming one, who started it
  /// Of no thread: who got the CPU when one of the trace left it. Of one that a kernel worker woke:
  /// who queued the work item; tid 0: an interrupt.
  Peer next;
  uint64_t since;  ///< ns: when that was, 0 not known; of one that spins: since when it does
  uint32_t device; ///< the block device that ended a blocked one (dev_t), kNone: none is known
  uint16_t call, interrupt;
  ThreadState state;
  uint8_t reason, context; ///< as Slice has them; context: of the wakeup
  bool sleeps;             ///< the call in which it is blocked waits for a time and nothing else
  bool woken;  ///< a wakeup ended it: a blocked one, or the time before a new thread's first
  bool worker; ///< and a kernel worker made it
  /// It yielded before and after a short run, or waits for a CPU between two such runs.
  bool spins;
};

/// The longest section of a number.
struct FoundSection {
  uint32_t thread = kNone;
  uint64_t from = 0, to = 0; ///< ns on the clock of the trace
};

/// Writes the slices down, in the order in which they end.
class HistoryRecorder final : public SliceSink {
public:
  /// Borrows both. `kept`: 1 by thread whose sections count.
  HistoryRecorder(const Catalog &catalog, const PathQuery &query, std::vector<uint8_t> kept);

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;
  void on_change(uint32_t thread, const StateChange &change, uint64_t time) override;
  /// To be called once, after the last slice, with the end of the range.
  void finish(uint64_t time);

  DiskList<HistoryRecord> &slices() { return slices_; }
  /// The thread that ran longest, of those in `kept` (1 by index) and of those that have not ended
  /// where there is one; kNone: none ran.
  uint32_t longest_running(const std::vector<uint8_t> &kept) const;
  /// When a thread ended, ns; UINT64_MAX: it has not.
  uint64_t ended_at(uint32_t thread) const { return ended_[thread]; }
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

  /// Who queued the work item in which a thread is woken next.
  struct Work {
    bool is = false;
    Peer queuer = {};
    uint64_t queued = 0; ///< ns
  };
  struct Spin {
    uint64_t since = 0;
    bool yielded = false; ///< its last slice ended with a yield, or followed one
    bool spins = false;   ///< and the run before that did, too
  };

  bool is_worker(const Peer &waker, uint32_t woken) const;
  void note_spin(HistoryRecord &record, uint64_t length);
  void leave(uint32_t cpu, uint64_t time);
  void end_left(uint32_t cpu, uint64_t time);
  void hold(const Event &event, const System &system);
  void forget_holders(uint32_t host, uint64_t time);
  bool says_holders(uint32_t cpu) const;
  void section_event(const Event &event, const System &system);

  const Catalog &catalog_;
  const PathQuery &query_;
  DiskList<HistoryRecord> slices_;
  ServedInterrupts served_;
  Event wakeup_ = {}; ///< the event now, if it is a wakeup
  uint16_t wakeup_interrupt_ = kNoInterrupt;
  uint32_t wakeup_device_ = kNone;
  std::map<uint32_t, OpenSection> open_; ///< by thread
  FoundSection found_;
  std::vector<Left> left_;                  ///< by CPU
  std::vector<uint64_t> ran_;               ///< by thread, ns
  std::vector<uint64_t> ended_;             ///< by thread, ns; UINT64_MAX: it has not
  std::vector<uint8_t> kept_;               ///< by thread: whether its sections count
  std::unordered_map<uint32_t, Work> work_; ///< by thread: of its next wakeup
  Work wakeup_work_ = {};                   ///< of the event now
  std::vector<Spin> spins_;                 ///< by thread
};

} // namespace ovnitrace
