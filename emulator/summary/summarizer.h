// SPDX-License-Identifier: BSD-2-Clause
// Makes a Summary while a trace is replayed.
#pragma once

#include "emulator/core/state_observer.h"
#include "emulator/input/source.h"
#include "emulator/summary/summary.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Counts events, and adds up the states that the replay finds them to lead to.
class Summarizer final : public StateObserver {
public:
  explicit Summarizer(const Catalog &catalog);

  /// An event that the replay is about to handle.
  void event(const Event &event);
  void on_change(uint32_t thread, const StateChange &change) override;

  /// All, up to the end of the trace. To be called once.
  Summary finish();

private:
  void begin_blackout(const Event &event);
  void end_blackout(uint32_t cpu);
  void lose(const Event &event);
  void add_time(uint32_t thread);
  void stop_running(uint32_t cpu);
  void start_running(uint32_t cpu);

  static constexpr uint64_t kLight = UINT64_MAX; ///< not in a blackout

  struct ThreadNow {
    ThreadState state = ThreadState::Unknown;
    uint64_t since = 0; ///< ns
    bool woken = false; ///< Warming, and it was seen since when
  };
  struct CpuNow {
    uint32_t running = 0;
    uint64_t since = 0;           ///< ns, of the first of those that are running
    uint64_t lost_somewhere = 0;  ///< events, as its file tells
    uint64_t dark_since = kLight; ///< ns
  };

  Summary summary_;
  std::vector<ThreadNow> threads_;
  std::vector<CpuNow> cpus_;
  uint64_t begin_, end_; ///< ns
  uint64_t now_;         ///< ns
  bool shown_ = true;    ///< the event is not before the begin
  bool is_told_ = false; ///< the event only tells a state
};

/// Replays a whole trace for its summary. What the replay finds impossible is not told: `convert`
/// does that.
Summary summarize(EventSource &source);

} // namespace ovnitrace
