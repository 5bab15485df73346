// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/small_chunk.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

Chunk small_chunk(uint32_t cpu, uint32_t number, const std::vector<SmallEvent> &events) {
  Chunk chunk;
  chunk.cpu = cpu;
  auto put = [&](const SmallEvent &event) {
    ftrace_record_set(&chunk.records.emplace_back(), event.code, event.par1, event.time,
                      event.par2);
  };
  uint64_t begin = events.front().time, end = events.back().time;
  bool stops = events.back().code == FTrace_EVT_trace_stop;
  put({begin, FTrace_EVT_cycles_per_msec, 0, 1'000'000});
  put({begin, FTrace_EXT_format, FTRACE_EXT_VERSION});
  put({begin, FTrace_EXT_chunk, uint16_t(cpu), number});
  put({begin, FTrace_EVT_numevents, 0, uint32_t(4 + events.size() + !stops)});
  for (const SmallEvent &event : events)
    put(event);
  if (!stops)
    put({end, FTrace_EVT_next_chunk, 0, number + 1});
  return chunk;
}

} // namespace ovnitrace
