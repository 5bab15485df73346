// SPDX-License-Identifier: BSD-2-Clause
// Measures what the rules of advice ask: how long threads waited, and behind whom.
#pragma once

#include "emulator/input/trace_info.h"
#include "emulator/why/advice.h"
#include "emulator/why/explanation.h"

#include <string>

namespace ovnitrace {

/// Returns the input of the rules of advice. `name`: of the program.
AdviceFacts advice_facts(const TraceInfo &info, const Catalog &catalog, const Explanation &why,
                         const std::string &name);

} // namespace ovnitrace
