// SPDX-License-Identifier: BSD-2-Clause
// Describes a scheduling transition, with its whole time.
#pragma once

#include <ovnitrace/capture.h>

#include <cstdint>

namespace ovnitrace {

/// What a sched_record says.
struct SchedTransition {
  uint64_t time = 0; ///< ns, CLOCK_MONOTONIC
  uint64_t word = 0; ///< SCHED_WORD
  uint16_t call = 0; ///< enum ftrace_call of a switch in which the first thread is blocked
};

/// Returns the whole time, ns, of sched_record::when: the one nearest to `now`, which may be 39
/// hours away to either side.
constexpr uint64_t time_of(uint64_t when, uint64_t now) {
  const uint64_t ahead = (when >> SCHED_TIME_SHIFT << SCHED_TIME_SHIFT) - (now << SCHED_TIME_SHIFT);
  return now + uint64_t(int64_t(ahead) >> SCHED_TIME_SHIFT);
}

constexpr SchedTransition transition_of(const sched_record &record, uint64_t now) {
  return {time_of(record.when, now), record.word, uint16_t(record.when)};
}

} // namespace ovnitrace
