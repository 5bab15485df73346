// SPDX-License-Identifier: BSD-2-Clause
// A trace in which anything happens to a few threads, legal or not.
#pragma once

#include "tests/unit/support/trace_builder.h"

#include <cstdint>
#include <random>

namespace ovnitrace::test {

/// Makes events of five threads of two processes on three CPUs, from 100 ns on. Returns the end of
/// the trace, ns. `birth_of_3`: of the third thread, ns; 0: before the capture.
inline uint64_t random_schedule(TraceBuilder &trace, std::mt19937 &random, uint64_t birth_of_3 = 0,
                                int events = 80) {
  constexpr uint16_t kThreads = 5, kCpus = 3;
  uint64_t time = 100;
  for (uint16_t cpu = 0; cpu < kCpus; cpu++) {
    auto &chunk = trace.cpu(cpu).at(time).start();
    for (uint16_t i = 1; i <= kThreads; i++)
      chunk.id(i, i, 1 + i % 2, "thread", i == 3 ? birth_of_3 : 0);
  }
  for (int i = 0; i < events; i++) {
    auto &chunk = trace.cpu(uint16_t(random() % kCpus)).at(time += random() % 30);
    const uint16_t thread = uint16_t(1 + random() % kThreads);
    switch (random() % 9) {
    case 0:
    case 1:
      chunk.dispatch(thread);
      break;
    case 2:
      chunk.epilogue(thread);
      break;
    case 3:
      chunk.sleep(thread);
      break;
    case 4:
      chunk.activate(thread);
      break;
    case 5:
      chunk.migrate(thread, random() % kCpus);
      break;
    case 6:
      chunk.snapshot(thread, random() % 6, random() % kCpus);
      break;
    case 7:
      random() % 4 ? chunk.end(thread) : chunk.blackout_start();
      break;
    case 8:
      chunk.blackout_end(1);
      break;
    }
  }
  for (uint16_t cpu = 0; cpu < kCpus; cpu++)
    trace.cpu(cpu).at(time).stop();
  return time;
}

} // namespace ovnitrace::test
