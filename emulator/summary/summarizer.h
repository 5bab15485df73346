// SPDX-License-Identifier: BSD-2-Clause
// Makes a Summary from slices.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/input/source.h"
#include "emulator/slices/slice.h"
#include "emulator/slices/start_gate.h"
#include "emulator/summary/family_times.h"
#include "emulator/summary/frequency_times.h"
#include "emulator/summary/pair_table.h"
#include "emulator/summary/region_times.h"
#include "emulator/summary/summary.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Counts events and sums up slices.
class Summarizer final : public SliceSink {
public:
  Summarizer(const Catalog &catalog, const Cut &cut);

  void on_event(const Event &event, const System &system) override;
  void on_slice(const Slice &slice) override;
  void on_cpu(const CpuSpan &span) override;

  /// Returns the summary. To be called once, after the last slice.
  Summary finish();

private:
  void leave_cpu(const Event &event);
  void arrive(const Event &event, const System &system);
  void count(PairTable &pairs, uint32_t thread, Peer peer, uint64_t time) const;
  void lose(const Event &event);

  Summary summary_;
  /// Where a thread last ran or was put; kNone: not known.
  struct LastCpu {
    uint32_t cpu = kNone;
    uint64_t region_events = 0; ///< as region_events_ was then
  };
  std::vector<LastCpu> last_cpu_; ///< by thread
  uint64_t region_events_ = 0;    ///< seen so far
  /// By CPU: events lost anywhere on the machine, as its file says.
  std::vector<uint64_t> lost_somewhere_;
  PairTable preemptions_, wakeups_;
  FamilyTimes families_;
  FrequencyTimes frequencies_;
  RegionTimes regions_;
  StartGate gate_;
  const Catalog &catalog_;
};

/// Replays a trace and sums up the part that the cut keeps. Faults of the replay are not reported:
/// `convert` does that. Throws Error if check_cut() refuses the cut.
Summary summarize(EventSource &source, const Cut &cut = {});

} // namespace ovnitrace
