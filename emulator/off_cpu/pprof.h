// SPDX-License-Identifier: BSD-2-Clause
// Writes where threads were off their CPUs for pprof: a compressed protocol buffer.
#pragma once

#include "emulator/off_cpu/off_cpu_times.h"
#include "emulator/output/output_place.h"

#include <cstdint>

namespace ovnitrace {

struct PprofRange {
  int64_t wall_ns = 0;      ///< since 1970, when the profile starts; 0: not known
  uint64_t duration_ns = 0; ///< of the profile
};

/// Writes a profile with one sample for each thread, stack and cause. Returns the number of
/// samples. `times` must be per thread. Throws Error.
uint64_t write_pprof(const OffCpuTimes &times, const PprofRange &range, const OutputPlace &place);

} // namespace ovnitrace
