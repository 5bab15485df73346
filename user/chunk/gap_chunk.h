// SPDX-License-Identifier: BSD-2-Clause
// Makes the first chunks of a trace that lacks older ones.
#pragma once

#include "user/chunk/forgotten_states.h"
#include "user/chunk/small_chunk.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// What a CPU lacks.
struct Gap {
  uint32_t cpu = 0;
  uint32_t number = 0;         ///< of the chunk
  uint64_t begin = 0, end = 0; ///< ns: the blackout
  uint64_t events = 0;         ///< that it lacks
};

/// Makes a blackout (FTRACE_BLACKOUT_FORGOTTEN) with the states of threads in it. Then the
/// blackouts begin anew that have not ended.
inline Chunk gap_chunk(const Gap &gap, const std::vector<SmallEvent> &states,
                       const std::vector<ftrace_blackout> &unfinished) {
  std::vector<SmallEvent> events = {
      {gap.begin, FTrace_EVT_blackout_start, FTRACE_BLACKOUT_FORGOTTEN}};
  events.insert(events.end(), states.begin(), states.end());
  events.push_back({gap.end, FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FORGOTTEN,
                    uint32_t(std::min<uint64_t>(gap.events, UINT32_MAX))});
  for (const ftrace_blackout what : unfinished)
    events.push_back({gap.end, FTrace_EVT_blackout_start, uint16_t(what)});
  return small_chunk(gap.cpu, gap.number, events);
}

/// Returns a chunk without its trace_start: time 0 of the trace is its first event then.
inline Chunk without_start(const Chunk &chunk) {
  Chunk copy{.cpu = chunk.cpu, .records = chunk.records};
  for (ftrace_record &record : copy.records)
    if (record.code == FTrace_EVT_trace_start)
      record.code = FTrace_EVT_empty;
  return copy;
}

} // namespace ovnitrace
