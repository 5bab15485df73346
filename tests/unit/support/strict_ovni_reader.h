// SPDX-License-Identifier: BSD-2-Clause
// Reads an ovni trace by an independent version of ovniemu's rules. It checks which event is legal
// in which state, and that no two running threads are on a physical CPU, in any order of the events
// of one instant.
#pragma once

#include "emulator/ovni/ovni_source.h"
#include "tests/unit/support/collecting_sink.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::test {

struct Span {
  uint64_t from, to; ///< both ends included
  uint32_t thread;
};

/// What an ovni trace says, and everything in it that ovniemu would refuse.
struct StrictReader {
  struct State {
    char state = 'u'; // unknown, running, paused, dead, cooling, warming by their first letters
    int32_t cpu = -2;
    uint64_t since = 0;
  };
  std::vector<std::string> refused;
  std::vector<std::map<uint64_t, std::pair<char, int32_t>>> timeline; // after each instant
  std::map<std::pair<uint32_t, int32_t>, std::vector<Span>> spans;    // by (host, CPU)
  Catalog catalog;

  explicit StrictReader(const std::string &path) {
    CollectingSink sink;
    auto source = ovni::open_ovni_trace(path, "", sink);
    for (const Diagnostic &d : sink.reported)
      refused.push_back(d.file + ": " + d.what);
    catalog = source->catalog();
    threads.resize(catalog.threads.size());
    timeline.resize(threads.size());
    for (Event event; source->next(event);)
      take(event);
    for (uint32_t i = 0; i < threads.size(); ++i)
      if (threads[i].state != 'd')
        refused.push_back("thread " + std::to_string(i) + " is not dead");
    for (auto &[cpu, list] : spans) {
      std::sort(list.begin(), list.end(),
                [](const Span &a, const Span &b) { return a.from < b.from; });
      for (size_t i = 1; i < list.size(); ++i)
        if (list[i - 1].to >= list[i].from && list[i - 1].thread != list[i].thread)
          refused.push_back("two threads on CPU " + std::to_string(cpu.second) + " at " +
                            std::to_string(list[i].from));
    }
  }

  void take(const Event &event) {
    State &now = threads[event.thread];
    const auto i32 = [&](size_t at) {
      int32_t value = -99;
      if (at + 4 <= event.payload_size)
        std::memcpy(&value, event.payload + at, 4);
      return value;
    };
    const std::string mcv{char(event.kind >> 16), char(event.kind >> 8), char(event.kind)};
    static const std::map<std::string, std::pair<std::string, char>> rules{
        {"OHx", {"ud", 'r'}}, {"OHp", {"rc", 'p'}}, {"OHr", {"pw", 'r'}},
        {"OHc", {"r", 'c'}},  {"OHw", {"p", 'w'}},  {"OHe", {"rc", 'd'}}};
    State next = now;
    std::string allowed = "udrpcw";
    if (const auto rule = rules.find(mcv); rule != rules.end()) {
      allowed = rule->second.first;
      next.state = rule->second.second;
      if (mcv == "OHx")
        next.cpu = i32(0);
      else if (mcv == "OHe")
        next.cpu = -2;
    } else if (mcv == "OAs") {
      allowed = "rcw";
      next.cpu = i32(0);
    } else if (mcv == "OAr") {
      allowed = "rpcw";
      next.cpu = i32(0);
      if (event.peer != event.thread)
        refused.push_back("OAr of another thread");
      if (next.cpu == now.cpu)
        refused.push_back("OAr to the same CPU");
    } else if (mcv[1] != 'U' && mcv[1] != 'F') {
      refused.push_back("event " + mcv);
    }
    if (allowed.find(now.state) == allowed.npos)
      refused.push_back(mcv + " of thread " + std::to_string(event.thread) + " in state " +
                        now.state);
    if (now.state == 'r' && now.cpu >= 0 && (next.state != 'r' || next.cpu != now.cpu))
      spans[{catalog.threads[event.thread].host, now.cpu}].push_back(
          {now.since, event.time, event.thread});
    if (next.state == 'r' && (now.state != 'r' || next.cpu != now.cpu))
      next.since = event.time;
    now = next;
    timeline[event.thread][event.time] = {now.state, now.cpu};
  }

  char state_at(uint32_t thread, uint64_t time) const {
    const auto after = timeline[thread].upper_bound(time);
    return after == timeline[thread].begin() ? 'u' : std::prev(after)->second.first;
  }
  int32_t cpu_at(uint32_t thread, uint64_t time) const {
    const auto after = timeline[thread].upper_bound(time);
    return after == timeline[thread].begin() ? -2 : std::prev(after)->second.second;
  }

  std::vector<State> threads;
};

} // namespace ovnitrace::test
