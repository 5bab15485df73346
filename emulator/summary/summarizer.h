// SPDX-License-Identifier: BSD-2-Clause
// Makes a Summary from the stream of slices.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/input/source.h"
#include "emulator/slices/slice.h"
#include "emulator/summary/family_times.h"
#include "emulator/summary/frequency_times.h"
#include "emulator/summary/pair_table.h"
#include "emulator/summary/region_times.h"
#include "emulator/summary/summary.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Counts events, and adds up slices.
class Summarizer final : public SliceSink {
public:
  Summarizer(const Catalog &catalog, const Cut &cut);

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;
  void on_cpu(const CpuSpan &span) override;

  /// All. To be called once, after the last slice.
  Summary finish();

private:
  void leave_cpu(const Event &event);
  void lose(const Event &event);

  Summary summary_;
  std::vector<uint64_t> lost_somewhere_; ///< by CPU: events, as its file says
  PairTable preemptions_, wakeups_;
  FamilyTimes families_;
  FrequencyTimes frequencies_;
  RegionTimes regions_;
  const Catalog &catalog_;
};

/// Replays a trace for the summary of the part that the cut keeps. Throws Error for a cut that
/// check_cut() refuses. What the replay finds impossible is not reported: `convert` does that.
Summary summarize(EventSource &source, const Cut &cut = {});

} // namespace ovnitrace
