// SPDX-License-Identifier: BSD-2-Clause
// Counts what the replay finds impossible, and reports it up to a limit.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <set>
#include <string>

namespace ovnitrace {

class FaultLog {
public:
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  /// Reports the first `limit` faults to `sink`. `sink` and `catalog` must outlive it.
  FaultLog(const Catalog &catalog, DiagnosticSink &sink, uint64_t limit)
      : catalog_(catalog), sink_(sink), limit_(limit) {}

  /// Counts a fault. `what()` makes the message; it is called only if the fault is reported. One
  /// before the trace begins does not count: these events only make the states at the start, and
  /// not every program of the capture is attached yet.
  template <class F> void add(const Event &event, F &&what) {
    if (event.time >= catalog_.begin && count_++ < limit_)
      warn(event, what());
  }
  uint64_t count() const { return count_; }

  /// Counts a switch of `thread` that the capture does not show: some kernels hide the switches of
  /// certain threads. A known limit, so not a fault unless all faults are wanted; report_unseen()
  /// reports all in one line.
  template <class F> void add_unseen_switch(const Event &event, uint32_t thread, F &&what) {
    if (event.time < catalog_.begin || limit_ == kUnlimited)
      return add(event, what);
    unseen_switches_++;
    hidden_.insert(thread);
  }
  /// Reports the unseen switches. To be called once, at the end.
  void report_unseen() const;

private:
  void warn(const Event &event, std::string what);

  const Catalog &catalog_;
  DiagnosticSink &sink_;
  uint64_t limit_;
  uint64_t count_ = 0;
  uint64_t unseen_switches_ = 0;
  std::set<uint32_t> hidden_; ///< threads with unseen switches
};

} // namespace ovnitrace
