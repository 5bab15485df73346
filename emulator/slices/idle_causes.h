// SPDX-License-Identifier: BSD-2-Clause
// Says why a thread waited while a CPU was idle.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace ovnitrace {

/// A time has the first cause that fits.
enum class IdleCause : uint8_t {
  in_flight, ///< the CPU on which the thread waits is idle: it has not yet taken the thread
  scheduler, ///< another CPU is idle that the thread may use, and its own one is not
  affinity,  ///< only CPUs are idle that it may not use
};

struct IdleCauseInfo {
  std::string_view word;    ///< in JSON, before "_ns"
  std::string_view name;    ///< for people
  std::string_view meaning; ///< "5 ms" + this
};

/// By IdleCause.
inline constexpr std::array<IdleCauseInfo, 3> kIdleCauses = {{
    {"in_flight", "wakeup in flight", "its own CPU was idle, and had not yet taken the thread"},
    {"scheduler", "scheduler", "another CPU was idle that the thread may use"},
    {"affinity", "affinity", "only CPUs were idle that the thread may not use"},
}};

/// ns by IdleCause.
struct IdleTimes {
  std::array<uint64_t, kIdleCauses.size()> ns{};

  uint64_t &operator[](IdleCause cause) { return ns[size_t(cause)]; }
  uint64_t operator[](IdleCause cause) const { return ns[size_t(cause)]; }
  uint64_t total() const { return std::accumulate(ns.begin(), ns.end(), uint64_t(0)); }
  void add(const IdleTimes &other) {
    for (size_t n = 0; n < ns.size(); n++)
      ns[n] += other.ns[n];
  }
  bool operator==(const IdleTimes &) const = default;
};

} // namespace ovnitrace
