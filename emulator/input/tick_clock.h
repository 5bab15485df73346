// SPDX-License-Identifier: BSD-2-Clause
// Converts the ticks of a chunk to ns on the clock of the trace.
#pragma once

#include <cstdint>

namespace ovnitrace {

/// The clock of a chunk: its rate from `cycles_per_msec`, and the clock offset of its host.
class TickClock {
public:
  explicit TickClock(int64_t offset_ns = 0) : offset_(offset_ns) {}

  /// Sets the ticks per ms, above 0. The default is 1000000: ticks of 1 ns.
  void set_rate(uint32_t ticks_per_ms) { rate_ = ticks_per_ms; }

  /// Converts exactly, rounded down to whole ns and clamped to 0 … 2^63 - 1.
  uint64_t ns(uint64_t ticks) const {
    if (rate_ == kNsPerMs && offset_ == 0 && ticks <= kMax) [[likely]]
      return ticks;
    // Below 2^64 * 2^20, so 128 bits hold it.
    const __int128 time =
        __int128(static_cast<unsigned __int128>(ticks) * kNsPerMs / rate_) + offset_;
    return time < 0 ? 0 : time > __int128(kMax) ? kMax : uint64_t(time);
  }

private:
  static constexpr uint32_t kNsPerMs = 1000000;
  static constexpr uint64_t kMax = INT64_MAX;
  uint32_t rate_ = kNsPerMs;
  int64_t offset_;
};

} // namespace ovnitrace
