// SPDX-License-Identifier: BSD-2-Clause
// Notes what a comparison needs of a run, and what neither `why` nor the critical path keeps.
#pragma once

#include "emulator/slices/slice.h"
#include "emulator/summary/latency_histogram.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Collects the lengths of waits, and whose events were lost.
class RunWatch final : public SliceSink {
public:
  explicit RunWatch(size_t threads) : waits_(threads), lost_(threads) {}

  void on_event(const Event &event, const System &system) override;
  void on_change(uint32_t thread, const StateChange &change, uint64_t time) override;
  void on_slice(const Slice &slice) override;

  /// Returns how long a thread waited for a CPU each time, of waits that were seen whole.
  const LatencyHistogram &waits(uint32_t thread) const { return waits_[thread]; }
  /// Returns whether events of a thread were lost.
  bool lost(uint32_t thread) const { return lost_[thread]; }

private:
  std::vector<LatencyHistogram> waits_; ///< by thread
  std::vector<uint8_t> lost_;           ///< by thread
  bool losing_ = false;                 ///< the current event starts a blackout
};

} // namespace ovnitrace
