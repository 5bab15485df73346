// SPDX-License-Identifier: BSD-2-Clause
// Measures at which frequencies CPUs ran (family power).
#pragma once

#include "emulator/core/system.h"
#include "emulator/format/event.h"
#include "emulator/summary/summary.h"

#include <vector>

namespace ovnitrace {

/// Weighs frequencies by their durations. Does not count the time before a CPU's first event in the
/// range, nor the time after events were lost: the frequency is not known then.
class FrequencyTimes {
public:
  /// Borrows the summary, to which it adds.
  FrequencyTimes(Summary &summary, size_t cpus) : summary_(summary), now_(cpus) {}

  void event(const Event &event, const System &system);
  /// Ends the times at the end of the range.
  void finish();

private:
  struct Now {
    uint32_t khz = 0; ///< 0: not known
    uint64_t since = 0;
  };
  void lose(const Event &event, const System &system);
  void set(uint32_t cpu, uint32_t khz, uint64_t time);

  Summary &summary_;
  std::vector<Now> now_; ///< by CPU
};

} // namespace ovnitrace
