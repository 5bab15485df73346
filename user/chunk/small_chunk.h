// SPDX-License-Identifier: BSD-2-Clause
// Makes small chunks that are put between other chunks and say what is missing there.
#pragma once

#include "user/chunk/chunk_pool.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// An event of a small chunk. The events are in the order of their times.
struct SmallEvent {
  uint64_t time; ///< ns
  uint16_t code;
  uint16_t par1 = 0;
  uint32_t par2 = 0;
};

/// Returns a chunk of these events, at least one, with the header of docs/format.md. It ends with
/// next_chunk unless the last event is trace_stop.
Chunk small_chunk(uint32_t cpu, uint32_t number, const std::vector<SmallEvent> &events);

} // namespace ovnitrace
