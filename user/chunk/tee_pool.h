// SPDX-License-Identifier: BSD-2-Clause
// Gives each chunk to two pools.
#pragma once

#include "user/chunk/flight_recorder.h"

namespace ovnitrace {

/// Lends the chunks of the first pool. The second one, which copies what it is given, sees them
/// before.
class TeePool final : public ChunkPool {
public:
  /// Both outlive it.
  TeePool(ChunkPool &first, FlightRecorder &second) : first_(first), second_(second) {}

  Chunk *borrow(uint32_t cpu) override { return first_.borrow(cpu); }
  void give(Chunk *chunk) override {
    second_.give(chunk);
    first_.give(chunk);
  }

private:
  ChunkPool &first_;
  FlightRecorder &second_;
};

} // namespace ovnitrace
