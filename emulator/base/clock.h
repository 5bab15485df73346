// SPDX-License-Identifier: BSD-2-Clause
// Reads the clock of a capture, and the local time.
#pragma once

#include <cstdint>
#include <ctime>

namespace ovnitrace {

inline uint64_t clock_ns(clockid_t id) {
  timespec now;
  clock_gettime(id, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

/// Returns ns on CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns().
inline uint64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

/// Returns the ns from the capture's clock to wall time (CLOCK_REALTIME).
inline int64_t offset_to_wall_ns() {
  uint64_t before = monotonic_ns(), wall = clock_ns(CLOCK_REALTIME), after = monotonic_ns();
  return int64_t(wall - (before + (after - before) / 2));
}

/// Returns the local date and time of seconds since 1970. (fmt::localtime() is gone in fmt 12.)
inline tm local_time(time_t seconds) {
  tm local{};
  localtime_r(&seconds, &local);
  return local;
}

} // namespace ovnitrace
