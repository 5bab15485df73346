// SPDX-License-Identifier: BSD-2-Clause
// Makes the stream of slices while a trace is replayed.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/core/state_observer.h"
#include "emulator/slices/slice.h"

#include <span>
#include <vector>

namespace ovnitrace {

/// Watches a replay. Memory depends on threads and CPUs; nothing is allocated per event.
class Slicer final : public StateObserver {
public:
  /// Borrows all three. `cut` is one that check_cut() accepts.
  Slicer(const System &system, const Cut &cut, SliceSink &sink);

  /// An event that the replay is about to handle; it must live until that is done. False after the
  /// end of the range: the event is not to be handled.
  bool event(const Event &event);
  void on_change(uint32_t thread, const StateChange &change) override;
  /// Ends all slices at the end of the range. To be called once.
  void finish();

private:
  struct OpenCpu {
    uint32_t running = 0; ///< threads that are shown
    uint64_t busy_since = 0, dark_since = 0;
    bool dark = false, counted = true;
  };

  /// The last stack that an event of a thread named. It belongs to what the thread does at that
  /// very time.
  struct SeenStack {
    uint64_t time = 0; ///< ns
    uint32_t number = kNone;
    uint32_t at(uint64_t now) const { return now == time ? number : kNone; }
  };
  struct SeenStacks {
    SeenStack own, wakers;
  };

  void note_stack(const Event &event);
  void refill(uint32_t thread);
  void end_slice(Slice &open, uint64_t time, ThreadState then, bool seen);
  void start_slice(Slice &open, uint64_t time, ThreadState state, uint32_t cpu, bool seen);
  void run(uint32_t cpu, int more);
  void blackout(const Event &event);
  void put_cpu(CpuSpan::What what, uint32_t cpu, uint64_t since, bool counted);
  bool in_range(uint64_t time) const { return time >= range_.from && time <= range_.to; }

  const System &system_;
  SliceSink &sink_;
  TimeRange range_;
  uint64_t events_from_; ///< ns
  std::vector<uint8_t> kept_;
  std::vector<Slice> open_;        ///< by thread; start is not cut off
  std::vector<SeenStacks> stacks_; ///< by thread; empty until there is one
  std::vector<OpenCpu> cpus_;
  const Event *event_ = nullptr;
  uint64_t now_ = 0;
};

/// Who takes the slices of which part of a trace; both borrowed.
struct SliceView {
  const Cut &cut;
  SliceSink &sink;
};

/// Replays a trace once for the slices of each view; all cuts end at the same time. What the replay
/// finds impossible is not reported: `convert` does that. Throws Error for a cut that check_cut()
/// refuses.
void replay_slices(EventSource &source, std::span<const SliceView> views);
/// The same for one view.
void replay_slices(EventSource &source, const Cut &cut, SliceSink &sink);

} // namespace ovnitrace
