// SPDX-License-Identifier: BSD-2-Clause
// Says how long CPUs were idle while threads waited.
#pragma once

#include "emulator/slices/idle_causes.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ovnitrace {

/// Returns lines: of `known` ns of waiting, how long a CPU was idle, and why the thread did not run
/// there. Empty if nothing is known.
std::string idle_text(uint64_t known, const IdleTimes &idle);

/// Returns {"known_ns", "in_flight_ns", …}; null if nothing is known.
nlohmann::ordered_json idle_json(uint64_t known, const IdleTimes &idle);

} // namespace ovnitrace
