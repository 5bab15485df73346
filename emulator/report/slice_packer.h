// SPDX-License-Identifier: BSD-2-Clause
// Packs slices for the page.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/input/stacks.h"
#include "emulator/report/packed_trace.h"
#include "emulator/slices/shown_state.h"
#include "emulator/slices/slice.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace ovnitrace {

/// How much of a trace to pack.
struct PackPlan {
  std::vector<uint8_t> coarse; ///< by thread, 1: short slices become mixed ones; empty: none do
  uint64_t grain = 0;          ///< least ns of a mixed slice
  uint64_t most_bytes = UINT64_MAX; ///< nothing beyond is kept
};

class SlicePacker final : public SliceSink {
public:
  /// `catalog` and `stacks`, which may be null, must outlive it. REQUIRES: check_cut() accepts
  /// `cut`.
  SlicePacker(const Catalog &catalog, const Cut &cut, PackPlan plan,
              const Stacks *stacks = nullptr);

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;
  void on_cpu(const CpuSpan &span) override;

  /// Returns whether there was more than PackPlan::most_bytes; finish() is incomplete then.
  bool overflown() const { return bytes_ > plan_.most_bytes; }
  /// Returns the packed trace. To be called once, after the last slice.
  PackedTrace finish();

private:
  /// What the next slice of a thread needs to know.
  struct Before {
    Slice slice;
    uint32_t cpu = 0; ///< 1 + index
    uint64_t mixed_ns = 0;
    std::array<uint64_t, kShownStates> mix{};
  };

  void put(const Slice &slice);
  void put_start(PackedThread &to, const Slice &slice, const Slice &before);
  uint64_t call_number(const Slice &slice);
  uint64_t number_of(std::string_view call, std::string place);
  std::string place_of(const Slice &slice) const;
  void put_cpu(PackedThread &to, Before &before, uint32_t cpu);
  void mix(Before &before, const Slice &slice);
  void put_mix(uint32_t thread);
  void add_load(size_t row, uint64_t start, uint64_t end);

  const Catalog &catalog_;
  TimeRange range_;
  PackPlan plan_;
  PackedTrace trace_;
  PeerNumbers peers_;
  const Stacks *stacks_;
  std::map<std::pair<std::string_view, std::string>, uint64_t> calls_; ///< numbers of PackedTrace
  /// The same by host, number of the stack, and call.
  std::map<std::tuple<uint32_t, uint32_t, uint16_t>, uint64_t> known_calls_;
  std::vector<Before> before_; ///< by thread
  uint64_t step_;              ///< ns of a step of the load
  uint64_t last_event_;        ///< ns on the clock of the trace
  uint64_t bytes_ = 0;         ///< approximate
};

} // namespace ovnitrace
