// SPDX-License-Identifier: BSD-2-Clause
// Says how long CPUs were idle while threads waited.
#pragma once

#include "emulator/slices/idle_causes.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ovnitrace {

/// Returns lines: of `known` ns of waiting, how long a CPU was idle, and why the thread did not run
/// there. Empty if nothing is known. Lines have at most so many columns, see wrapped().
std::string idle_text(uint64_t known, const IdleTimes &idle, size_t columns);

/// Returns {"known_ns", "in_flight_ns", …}; null if nothing is known.
nlohmann::ordered_json idle_json(uint64_t known, const IdleTimes &idle);

} // namespace ovnitrace
