// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/small_chunk.h"

#include "emulator/format/chunk_header.h"

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
  const ChunkHeader header = {uint16_t(cpu), number, begin,
                              uint32_t(ChunkHeader::kRecords + events.size() + !stops)};
  for (const ftrace_record &record : header.encode())
    chunk.records.push_back(record);
  for (const SmallEvent &event : events)
    put(event);
  if (!stops)
    put({end, FTrace_EVT_next_chunk, 0, number + 1});
  return chunk;
}

} // namespace ovnitrace
