// SPDX-License-Identifier: BSD-2-Clause
// Makes an Explanation from the stream of slices.
#pragma once

#include "emulator/slices/idle_watch.h"
#include "emulator/slices/interrupts.h"
#include "emulator/slices/slice.h"
#include "emulator/why/cpu_holders.h"
#include "emulator/why/explanation.h"
#include "emulator/why/lock_waits.h"
#include "emulator/why/longest.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// Wants the slices of all threads, from the start of the trace to the end of the range: who ran
/// while a thread of the cut waited need not be of the cut. Memory depends on threads, CPUs, and
/// the different causes that threads have.
class Explainer final : public SliceSink, private CpuHolders::Taker {
public:
  /// `cut` is one that check_cut() accepts.
  Explainer(const Catalog &catalog, const Cut &cut);

  void on_event(const Event &event, const System &system) override;
  void on_change(uint32_t thread, const StateChange &change, uint64_t time) override;
  void on_slice(const Slice &slice) override;
  Explanation finish();

private:
  struct Woken {
    Who waker = {};
    Block block = {}; ///< in what it was blocked
    uint32_t stack = kNone;
  };
  struct OpenWait {
    WaitKind kind = WaitKind::not_known;
    std::vector<Story::Part> holders; ///< of the wait so far
    bool more = false;
  };
  struct BlockKey {
    uint32_t thread, block, stack, waker;
    bool operator==(const BlockKey &) const = default;
  };
  struct HashBlock {
    size_t operator()(const BlockKey &key) const;
  };
  struct Time {
    uint64_t ns = 0, count = 0;
  };
  struct Wakes {
    uint64_t count = 0, late = 0, late_max = 0;
  };
  /// What the event that is being replayed says.
  struct Now {
    uint32_t leaves = kNone;    ///< the thread that leaves its CPU
    uint8_t reason = kNotKnown; ///< why
    Who next = {};              ///< who gets it
    uint32_t wakes_up = kNone;  ///< the thread that is woken
    Who waker = {};             ///< by whom
  };

  Who waker_of(const Event &event) const;
  void held(uint32_t thread, Who holder, uint64_t start, uint64_t end) override;
  void end_wait(const Slice &slice, const IdleElsewhere &idle);
  void end_block(const Slice &slice);

  const Catalog &catalog_;
  Explanation all_;
  const uint64_t from_; ///< ns: of the range
  CpuHolders holders_;
  IdleWatch idle_;
  ServedInterrupts served_;
  LockWaits locks_;
  Now now_;
  std::vector<OpenWait> open_; ///< by thread
  std::vector<Woken> woken_;   ///< by thread: how its last block ended
  std::unordered_map<uint64_t, std::array<uint64_t, kWaitKinds>> waits_; ///< thread, Who
  std::unordered_map<BlockKey, Time, HashBlock> blocks_;
  std::unordered_map<uint64_t, Wakes> wakes_; ///< thread, Who
  std::map<Block, LatencyHistogram> block_lengths_;
  Longest longest_waits_, longest_blocks_;
};

/// Explains a whole trace. Throws Error for a cut that check_cut() refuses.
Explanation explain(EventSource &source, const Cut &cut);

} // namespace ovnitrace
