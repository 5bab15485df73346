// SPDX-License-Identifier: BSD-2-Clause
// Measures the facts that the rules of advice need, such as how long threads waited behind others.
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
