// SPDX-License-Identifier: BSD-2-Clause
// Recognizes the time in which a started program waits until ovnitrace lets it run.
#pragma once

#include "emulator/input/source.h"
#include "emulator/slices/slice.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A program that ovnitrace starts blocks in its main thread before its first execve, until the
/// capture is ready. ovnitrace creates and wakes that thread, so it causes these wakeup latencies.
class StartGate {
public:
  /// `programs`: indices of the main threads of the programs that ovnitrace started. `catalog`
  /// outlives it.
  StartGate(const Catalog &catalog, std::vector<uint32_t> programs)
      : catalog_(catalog), programs_(std::move(programs)) {}

  /// Takes each event of the replay, before the slices that it ends. The gate stays open in a trace
  /// without the thread's creation, which may lack its execve too.
  void event(const Event &event) {
    if (event.kind == FTrace_EVT_blackout_start)
      std::erase_if(waiting_, [&](uint32_t thread) {
        return event.cpu == kNone || catalog_.cpus[event.cpu].host == catalog_.threads[thread].host;
      });
    else if (event.kind == FTrace_EVT_task_create && has(programs_, event.thread))
      waiting_.push_back(event.thread);
    else if (event.kind == FTrace_EXT_exec && std::erase(waiting_, event.thread))
      opened_.push_back({catalog_.threads[event.thread].host, event.time});
  }
  /// Returns whether the thread is blocked at the gate in this slice, or was just woken before it.
  bool is_closed(const Slice &slice) const {
    return is_before(slice.thread) &&
           (is_blocked(slice.state) || slice.state == ThreadState::Warming);
  }
  /// Returns whether the thread is that of a program which has not started yet.
  bool is_before(uint32_t thread) const { return has(waiting_, thread); }
  /// Returns when the program of a host started, ns; 0 if it has not, or if that is not known.
  uint64_t opened(uint32_t host) const {
    for (const Opened &one : opened_)
      if (one.host == host)
        return one.time;
    return 0;
  }

private:
  struct Opened {
    uint32_t host;
    uint64_t time; ///< ns
  };
  static bool has(const std::vector<uint32_t> &threads, uint32_t thread) {
    return std::find(threads.begin(), threads.end(), thread) != threads.end();
  }

  const Catalog &catalog_;
  std::vector<uint32_t> programs_;
  std::vector<uint32_t> waiting_; ///< programs whose gate is closed
  std::vector<Opened> opened_;
};

} // namespace ovnitrace
