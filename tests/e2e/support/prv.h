// SPDX-License-Identifier: BSD-2-Clause
// Paraver files, read as Paraver does.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ovnitrace::test {

struct PrvEvent {
  uint64_t time = 0; ///< ns
  size_t row = 0;    ///< from 0
  uint32_t type = 0;
  int64_t value = 0;
};

/// A .prv with its .row and .pcf. Reading malformed files fails the test.
struct Prv {
  uint64_t length = 0;          ///< of the header, ns
  std::vector<PrvEvent> events; ///< in the order of the file
  size_t arrows = 0;            ///< communication records
  std::vector<std::string> rows;
  std::set<uint32_t> types; ///< that the .pcf declares
};

/// `name` is "thread" or "cpu".
Prv read_prv(const std::string &directory, const std::string &name);

/// Replays two traces of one capture together: at each instant, after all that happens then,
/// calls `see`.
struct Instant {
  uint64_t time;
  const std::vector<std::map<uint32_t, int64_t>> &threads; ///< by row: type → value, 0 left out
  const std::vector<std::map<uint32_t, int64_t>> &cpus;
};
template <typename See> void replay(const Prv &thread, const Prv &cpu, See see) {
  std::vector<std::map<uint32_t, int64_t>> threads(thread.rows.size()), cpus(cpu.rows.size());
  size_t t = 0, c = 0;
  while (t < thread.events.size() || c < cpu.events.size()) {
    uint64_t now = UINT64_MAX;
    if (t < thread.events.size())
      now = thread.events[t].time;
    if (c < cpu.events.size() && cpu.events[c].time < now)
      now = cpu.events[c].time;
    for (; t < thread.events.size() && thread.events[t].time == now; t++)
      threads.at(thread.events[t].row)[thread.events[t].type] = thread.events[t].value;
    for (; c < cpu.events.size() && cpu.events[c].time == now; c++)
      cpus.at(cpu.events[c].row)[cpu.events[c].type] = cpu.events[c].value;
    see(Instant{now, threads, cpus});
  }
}

inline int64_t value_of(const std::map<uint32_t, int64_t> &row, uint32_t type) {
  const auto found = row.find(type);
  return found == row.end() ? 0 : found->second;
}

// docs of the model: PRV types and values.
enum { kThreadTid = 2, kThreadState = 4, kThreadCpu = 6, kCpuTid = 2, kCpuRunning = 3 };
enum { kUnknown, kRunning, kPaused, kDead, kCooling, kWarming };

/// Fails the test unless a conversion is sound: order, labels, no error state, at most one Running
/// thread on a CPU, and two traces that agree.
void expect_sound(const Prv &thread, const Prv &cpu);

} // namespace ovnitrace::test
