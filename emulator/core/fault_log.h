// SPDX-License-Identifier: BSD-2-Clause
// What the replay finds impossible: reported up to a limit, counted always.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <set>
#include <string>

namespace ovnitrace {

class FaultLog {
public:
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  /// Reports the first `limit` faults to `sink`, which, like `catalog`, must outlive it.
  FaultLog(const Catalog &catalog, DiagnosticSink &sink, uint64_t limit)
      : catalog_(catalog), sink_(sink), limit_(limit) {}

  /// `what()` makes the message, only if it is reported.
  template <class F> void add(const Event &event, F &&what) {
    if (count_++ < limit_)
      warn(event, what());
  }
  uint64_t count() const { return count_; }

  /// A capture does not show that `thread` left its CPU: some kernels hide the switches of certain
  /// threads. A known limit and no fault, unless all faults are wanted: counted, and reported in
  /// one line by report_unseen().
  template <class F> void add_unseen_switch(const Event &event, uint32_t thread, F &&what) {
    if (limit_ == kUnlimited)
      return add(event, what);
    unseen_switches_++;
    hidden_.insert(thread);
  }
  /// Once, at the end.
  void report_unseen() const;

private:
  void warn(const Event &event, std::string what);

  const Catalog &catalog_;
  DiagnosticSink &sink_;
  uint64_t limit_;
  uint64_t count_ = 0;
  uint64_t unseen_switches_ = 0;
  std::set<uint32_t> hidden_; ///< threads whose switches were not seen
};

} // namespace ovnitrace
