// SPDX-License-Identifier: BSD-2-Clause
// Records what the walk back through a trace needs to know.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/critical/path.h"
#include "emulator/slices/long_sections.h"
#include "emulator/slices/spin_watch.h"
#include "emulator/slices/start_gate.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// A slice, reduced to what a path needs. Without a thread: a time in which no thread of the trace
/// is known to have run on a CPU.
struct HistoryRecord {
  uint64_t start = 0, end = 0; ///< ns on the clock of the trace
  /// `cpu` of a wait: where it ended; of a move: where the thread waited before.
  uint32_t thread = kNone, cpu = 0;
  /// Who ended a blocked slice, or started a Warming one. For a dead main thread: the thread whose
  /// execve took its place.
  Peer waker = {};
  /// A time without a thread: who got the CPU when a thread of the trace left it. A thread that a
  /// kernel worker woke: who queued the work item; tid 0 means an interrupt.
  Peer next = {};
  /// ns: when the work item was queued, 0 not known; of a spinning thread: since when it spins.
  uint64_t since = 0;
  /// ns, of a wait or a move: since when the thread waited on `cpu`; 0: always
  uint64_t on_cpu_since = 0;
  uint32_t device = kNone; ///< that ended a blocked slice (dev_t); kNone: none is known
  uint16_t call = 0, interrupt = kNoInterrupt;
  ThreadState state = {};
  uint8_t reason = 0, context = 0; ///< as in Slice; context: of the wakeup
  bool timer = false;              ///< a timer ended a blocked slice, if no interrupt is known
  /// A wakeup ended it: a block, or the time before a new thread's first wakeup.
  bool woken = false;
  bool worker = false; ///< a kernel worker made that wakeup
  /// The end of a spin, which started at `since`: a run that ends with a yield, or the wait after
  /// it.
  bool spins = false;
  /// No slice: a waiting thread was put into the run queue of another CPU. `start` and `end` are
  /// the time of that.
  bool moved = false;
};

/// Writes down all slices, in the order of their ends.
class HistoryRecorder final : public SliceSink {
public:
  /// Borrows the catalog. `kept`: by thread, 1 if its sections count.
  HistoryRecorder(const Catalog &catalog, const PathQuery &query, std::vector<uint8_t> kept);

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;
  void on_change(uint32_t thread, const StateChange &change, uint64_t time) override;
  /// Ends the recording. To be called once, after the last slice, with the end of the range.
  void finish(uint64_t time);

  DiskList<HistoryRecord> &slices() { return slices_; }
  /// Returns the thread that ran longest among those in `kept` (1 by index); threads that have not
  /// ended are preferred. kNone if none ran.
  uint32_t longest_running(const std::vector<uint8_t> &kept) const;
  /// Returns the threads in `kept` (1 by index) that ran, the longest running first.
  std::vector<uint32_t> by_running(const std::vector<uint8_t> &kept) const;
  /// Returns how long a thread ran, ns.
  uint64_t ran(uint32_t thread) const { return ran_[thread]; }
  /// Returns when a thread ended, ns; UINT64_MAX if it has not.
  uint64_t ended_at(uint32_t thread) const { return ended_[thread]; }
  /// Returns when the program of a host started, ns; 0 if that is not known.
  uint64_t started(uint32_t host) const { return gate_.opened(host); }
  /// Returns the longest section of the number that the query names. kNone is its thread if there
  /// was no section.
  LongSection section() const;

private:
  /// A CPU that a thread of the trace has left.
  struct Left {
    bool is = false;
    uint64_t since = 0; ///< ns
    Peer next = {};     ///< who got it, if not a thread of the trace
  };

  /// Who queued the work item that wakes a thread next.
  struct Work {
    bool is = false;
    Peer queuer = {};
    uint64_t queued = 0; ///< ns
  };

  bool is_worker(const Peer &waker, uint32_t woken) const;
  void note_move(uint32_t thread, const StateChange &change, uint64_t time);
  void leave(uint32_t cpu, uint64_t time);
  void end_left(uint32_t cpu, uint64_t time);
  void hold(const Event &event, const System &system);
  void forget_holders(uint32_t host, uint64_t time);
  bool says_holders(uint32_t cpu) const;

  const Catalog &catalog_;
  DiskList<HistoryRecord> slices_;
  ServedInterrupts served_;
  Event wakeup_ = {}; ///< the current event, if it is a wakeup
  uint16_t wakeup_interrupt_ = kNoInterrupt;
  uint32_t wakeup_device_ = kNone;
  /// A thread that waits, and was moved: to which CPU, and when; 0: it was there all the time.
  struct Moved {
    uint32_t cpu;
    uint64_t time; ///< ns
  };
  std::unordered_map<uint32_t, Moved> moved_; ///< by thread
  std::optional<LongSections> sections_;      ///< if the query names a number
  std::vector<Left> left_;                    ///< by CPU
  std::vector<uint64_t> ran_;                 ///< by thread, ns
  std::vector<uint64_t> ended_;               ///< by thread, ns; UINT64_MAX: not ended
  StartGate gate_;
  std::unordered_map<uint32_t, Work> work_; ///< by thread: for its next wakeup
  Work wakeup_work_ = {};                   ///< for the current event
  SpinWatch spins_;
  uint32_t yields_ = kNone; ///< the thread that the current event is a yield of
  /// The thread that goes on in the place of its dead main thread, by the current execve.
  uint32_t executes_ = kNone;
};

} // namespace ovnitrace
