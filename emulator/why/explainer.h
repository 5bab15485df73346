// SPDX-License-Identifier: BSD-2-Clause
// Makes an Explanation from slices.
#pragma once

#include "emulator/slices/idle_watch.h"
#include "emulator/slices/slice.h"
#include "emulator/slices/spin_watch.h"
#include "emulator/slices/start_gate.h"
#include "emulator/why/block_ends.h"
#include "emulator/why/cpu_holders.h"
#include "emulator/why/explanation.h"
#include "emulator/why/latency_shares.h"
#include "emulator/why/lock_waits.h"
#include "emulator/why/longest.h"
#include "emulator/why/open_wait.h"
#include "emulator/why/preempted_wakers.h"
#include "emulator/why/priority_waits.h"
#include "emulator/why/tail_waits.h"
#include "emulator/why/trigger_hit.h"
#include "emulator/why/wait_times.h"

#include <map>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Makes an Explanation. Needs the slices of all threads from the start of the trace to the end of
/// the range, because holders of a CPU may be outside the cut. Memory grows with threads, CPUs, and
/// the different wakers and system calls of threads.
class Explainer final : public SliceSink, private CpuHolders::Taker {
public:
  /// REQUIRES: check_cut() accepts `cut`. `programs`: started_threads(), whose waits for
  /// the start of the capture are left out. `stacks`: to tell page faults apart; borrowed, may be
  /// null.
  Explainer(const Catalog &catalog, const Cut &cut, std::vector<uint32_t> programs,
            const Stacks *stacks = nullptr);

  void on_event(const Event &event, const System &system) override;
  void on_change(uint32_t thread, const StateChange &change, uint64_t time) override;
  void on_slice(const Slice &slice) override;
  void on_cpu(const CpuSpan &span) override;
  Explanation finish();

  /// Hands over who had each CPU, from the start of the trace to finish(). To be called before the
  /// first slice; `taker` outlives it.
  void take_turns(CpuHolders::TurnTaker &taker) { holders_.take_turns(taker); }
  /// Returns whether a slice is not explained: the program's wait for the start of the capture.
  bool leaves_out(const Slice &slice) const { return gate_.is_closed(slice); }
  /// Returns in what a thread was blocked last, and who woke it. To be called from a sink that gets
  /// the same slice after this one.
  std::pair<Block, Culprit> last_block(uint32_t thread) const {
    return {block_ends_.of(thread).block, block_ends_.of(thread).waker};
  }

  /// Returns what the last wait of a thread followed, and how long CPUs were idle during it, as
  /// last_block().
  const std::pair<WaitKind, IdleTimes> &last_wait(uint32_t thread) const {
    return last_wait_[thread];
  }

private:
  /// What the current event says.
  struct Now {
    uint32_t leaves = kNone;              ///< the thread that leaves its CPU
    uint8_t reason = kNotKnown;           ///< why
    Culprit next = {};                    ///< who gets it
    UnknownWhy hides = UnknownWhy::other; ///< why a thread becomes Unknown
  };

  WaitKind kind_of(uint32_t thread, ThreadState state, uint8_t reason) const;
  void start_region(const Event &event);
  void refill(uint32_t thread, const Thread &now, uint64_t time);
  void held(uint32_t thread, uint32_t cpu, WaitKind kind, const HolderSums &sums) override;
  void end_wait(const Slice &slice, const IdleElsewhere &idle);
  void end_block(const Slice &slice);
  void add_waits();
  void add_recorded(uint64_t until);
  void add_allowed(uint32_t thread);

  const Catalog &catalog_;
  Explanation all_;
  const uint64_t from_; ///< ns: start of the range
  CpuHolders holders_;
  WaitTimes times_;
  IdleWatch idle_;
  SpinWatch spins_;
  std::vector<uint8_t> allowed_;      ///< by CPU: whether threads might use it
  std::vector<uint8_t> says_allowed_; ///< by thread: `allowed_` has its CPUs
  BlockEnds block_ends_;
  LockWaits locks_;
  PreemptedWakers preempted_;
  PriorityWatch priorities_;
  LatencyShares shares_;
  Now now_;
  std::vector<OpenWait> open_;      ///< by thread
  std::vector<UnknownWhy> unknown_; ///< by thread: why it was last Unknown
  size_t seen_ = 0;                 ///< shown threads whose state is known
  uint64_t seen_since_ = 0;         ///< ns: since when there are any
  StartGate gate_;
  SumTable<BlockSum> blocks_;
  SumTable<WakeSum> wakes_;
  std::map<Block, LatencyHistogram> block_lengths_;
  Longest longest_waits_{Explanation::kMostWaits}, longest_blocks_{Explanation::kMostLines};
  Longest idle_waits_{Explanation::kMostLines,
                      [](const LongWait &wait) { return wait.idle.causes.total(); }};
  std::vector<std::pair<WaitKind, IdleTimes>> last_wait_; ///< by thread
  TailWaits tail_;
  TriggerHit hit_;
};

/// Explains a whole trace, without the waits of `programs` for their start (see Explainer). Throws
/// Error if check_cut() refuses the cut.
Explanation explain(EventSource &source, const Cut &cut, std::vector<uint32_t> programs = {},
                    const Stacks *stacks = nullptr);

} // namespace ovnitrace
