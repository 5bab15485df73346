// SPDX-License-Identifier: BSD-2-Clause
// Makes slices while a trace is replayed.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/core/state_observer.h"
#include "emulator/slices/slice.h"

#include <span>
#include <vector>

namespace ovnitrace {

/// Makes slices of a replay. Memory grows with threads and CPUs; events allocate nothing.
class Slicer final : public StateObserver, public ThreadObserver {
public:
  /// Borrows all three. REQUIRES: check_cut() accepts `cut`.
  Slicer(const System &system, const Cut &cut, SliceSink &sink);

  /// Takes an event before the replay handles it. The event must live until it is handled. Returns
  /// false after the end of the range: the event must not be handled.
  bool event(const Event &event);
  void on_change(uint32_t thread, const StateChange &change) override;
  void on_born(uint32_t thread) override;
  /// With a cut by names, the thread is shown, or no longer shown, from now on.
  void on_named(uint32_t thread) override;
  void on_ended(uint32_t thread) override { sink_.on_ended(thread); }
  /// Ends all slices at the end of the range. To be called once.
  void finish();

private:
  struct OpenCpu {
    uint32_t running = 0; ///< shown threads
    uint64_t busy_since = 0, dark_since = 0;
    bool dark = false, counted = true;
  };

  /// The last stack that an event of a thread named. It belongs to what the thread does at this
  /// time.
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

  void add_thread();

  const System &system_;
  const Cut &cut_;
  SliceSink &sink_;
  TimeRange range_;
  uint64_t events_from_; ///< ns
  std::vector<uint8_t> kept_;
  std::vector<Slice> open_;        ///< by thread; start is not cut off by the range
  std::vector<SeenStacks> stacks_; ///< by thread; empty until the first one
  std::vector<OpenCpu> cpus_;
  const Event *event_ = nullptr;
  uint64_t now_ = 0;
};

/// A part of a trace, and the sink for its slices. Borrows both.
struct SliceView {
  const Cut &cut;
  SliceSink &sink;
};

/// Replays a trace once and passes its slices to each view. All cuts must end at the same time.
/// Faults of the replay are not reported: `convert` does that. Throws Error if check_cut() refuses
/// a cut.
void replay_slices(EventSource &source, std::span<const SliceView> views);
/// Does the same for one view.
void replay_slices(EventSource &source, const Cut &cut, SliceSink &sink);

} // namespace ovnitrace
