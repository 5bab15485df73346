// SPDX-License-Identifier: BSD-2-Clause
// Writes where threads were off their CPUs for speedscope: a profile for each thread, as JSON.
#pragma once

#include "emulator/base/json_stream.h"
#include "emulator/off_cpu/off_cpu_times.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Writes a profile for each name that a thread had, in the order of threads, with one sample for
/// each stack. Returns the number of profiles. `times` must be per thread. `title`: of the file.
uint64_t write_speedscope(const OffCpuTimes &times, const std::string &title,
                          const JsonStream::Write &write);

} // namespace ovnitrace
