// SPDX-License-Identifier: BSD-2-Clause
// Measures how long threads waited for a CPU, by the priorities that they and the threads which ran
// there had at that time.
#pragma once

#include "emulator/core/system.h"
#include "emulator/input/source.h"
#include "emulator/why/culprit.h"
#include "emulator/why/wait_kind.h"

#include <ovnitrace/ftrace_codes.h>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ovnitrace {

constexpr bool is_real_time(ftrace_class of) {
  return of == FTRACE_CLASS_REAL_TIME || of == FTRACE_CLASS_DEADLINE;
}

/// Returns whether a holder is a thread of another program, traced or not. `shown`: by thread.
inline bool is_of_other_program(Culprit holder, const std::vector<uint8_t> &shown) {
  return holder.kind() == Culprit::Kind::thread ? !shown[holder.number()]
                                                : holder.kind() == Culprit::Kind::untraced;
}

/// Times in ns. Only those for which the trace says the priorities.
struct PriorityWaits {
  /// A thread of another program, behind which threads waited.
  struct Holder {
    Culprit culprit = {};
    uint32_t host = 0;
    uint64_t normal = 0, real_time = 0; ///< by its class; real_time: or SCHED_DEADLINE
  };
  std::vector<Holder> holders = {}; ///< by number; some are empty
  // Behind threads of other programs:
  uint64_t behind_lower = 0;             ///< real-time threads behind normal ones
  uint64_t preempted_lower = 0;          ///< of that: they had not slept before
  std::array<uint64_t, 20> as_nice = {}; ///< by nice value above 0, behind no real-time thread
  uint64_t throttled_real_time = 0;      ///< real-time threads that were throttled
};

/// Follows with which priority each thread last got a CPU. Memory grows with threads and holders.
class PriorityWatch {
public:
  /// Borrows both. `shown`: by thread; the others are of other programs.
  PriorityWatch(const Catalog &catalog, const std::vector<uint8_t> &shown);

  /// Takes each event, before the changes that it makes.
  void event(const Event &event, const System &system);
  /// Adds the part of a wait for which a holder ran. To be called at the end of the wait. `number`:
  /// of the holder and its host.
  void held(uint32_t thread, WaitKind kind, uint32_t number, Culprit holder, uint32_t host,
            uint64_t ns);
  bool is_real_time(uint32_t thread) const { return ovnitrace::is_real_time(classes_[thread]); }
  PriorityWaits take() { return std::move(sums_); }

private:
  ftrace_class class_of(Culprit holder, uint32_t host) const;

  const std::vector<uint8_t> &shown_;
  std::vector<ftrace_class> classes_;                ///< by thread
  std::vector<int8_t> nice_;                         ///< by thread; 0 in other classes
  std::unordered_map<uint64_t, ftrace_class> peers_; ///< not traced: by host and tid
  PriorityWaits sums_;
};

} // namespace ovnitrace
