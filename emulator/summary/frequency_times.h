// SPDX-License-Identifier: BSD-2-Clause
// At which frequencies CPUs ran (family power).
#pragma once

#include "emulator/core/system.h"
#include "emulator/format/event.h"
#include "emulator/summary/summary.h"

#include <vector>

namespace ovnitrace {

/// Weighs frequencies by how long each lasted. What a CPU ran at before its first event in the
/// range, and after events were lost, is not known and does not count.
class FrequencyTimes {
public:
  /// Borrows the summary, which it adds to.
  FrequencyTimes(Summary &summary, size_t cpus) : summary_(summary), now_(cpus) {}

  void event(const Event &event, const System &system);
  /// Ends what holds at the end of the range.
  void finish();

private:
  struct Now {
    uint32_t khz = 0; ///< 0: not known
    uint64_t since = 0;
  };
  void set(uint32_t cpu, uint32_t khz, uint64_t time);

  Summary &summary_;
  std::vector<Now> now_; ///< by CPU
};

} // namespace ovnitrace
