// SPDX-License-Identifier: BSD-2-Clause
// Says which CPUs a capture recorded, by its options -C and --no-cpu.
#pragma once

#include "emulator/input/trace_info.h"

#include <cstdint>

namespace ovnitrace {

/// Returns whether the capture was to record only some CPUs.
bool chose_cpus(const TraceInfo &info);
/// Returns whether the capture was to record this CPU.
bool records_cpu(const TraceInfo &info, uint32_t cpu);

} // namespace ovnitrace
