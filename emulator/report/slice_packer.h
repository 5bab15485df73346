// SPDX-License-Identifier: BSD-2-Clause
// Packs the stream of slices.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/report/packed_trace.h"
#include "emulator/slices/shown_state.h"
#include "emulator/slices/slice.h"

#include <map>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// How much of a trace is packed.
struct PackPlan {
  std::vector<uint8_t> coarse; ///< by thread: 1: short slices of it become mixed ones. Empty: none
  uint64_t grain = 0;          ///< ns that those last at least
  uint64_t most_bytes = UINT64_MAX; ///< beyond this nothing more is kept
};

class SlicePacker final : public SliceSink {
public:
  /// `catalog` must outlive it. `cut` is one that check_cut() accepts.
  SlicePacker(const Catalog &catalog, const Cut &cut, PackPlan plan);

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;
  void on_cpu(const CpuSpan &span) override;

  /// Whether there was more than PackPlan::most_bytes: then finish() is not all.
  bool overflown() const { return bytes_ > plan_.most_bytes; }
  /// To be called once, after the last slice.
  PackedTrace finish();

private:
  /// What the next slice of a thread must know.
  struct Before {
    Slice slice;
    uint32_t cpu = 0; ///< 1 + index
    uint64_t mixed_ns = 0;
    std::array<uint64_t, kShownStates> mix{};
  };

  void put(const Slice &slice);
  void put_start(PackedThread &to, const Slice &slice, const Slice &before);
  uint64_t call_number(const Slice &slice);
  void put_cpu(PackedThread &to, Before &before, uint32_t cpu);
  void mix(Before &before, const Slice &slice);
  void put_mix(uint32_t thread);
  void add_load(size_t row, uint64_t start, uint64_t end);

  const Catalog &catalog_;
  TimeRange range_;
  PackPlan plan_;
  PackedTrace trace_;
  PeerNumbers peers_;
  std::map<std::string_view, uint64_t> calls_; ///< numbers of those that are in the trace
  std::vector<Before> before_;                 ///< by thread
  uint64_t step_;                              ///< ns of a step of the load
  uint64_t last_event_;                        ///< ns on the clock of the trace
  uint64_t bytes_ = 0;                         ///< about
};

} // namespace ovnitrace
