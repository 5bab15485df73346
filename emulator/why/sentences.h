// SPDX-License-Identifier: BSD-2-Clause
// The answer to "why was it slow?" in two sentences, with what to try: `why`, `info`, `stat` and
// the page for the browser open with it.
#pragma once

#include "emulator/input/trace_dir.h"
#include "emulator/summary/answer.h"
#include "emulator/why/advice.h"
#include "emulator/why/explanation.h"

#include <string>

namespace ovnitrace {

/// Makes the answer for the threads and the range of `why`. Percentages are of the lives of all its
/// threads together; where these are all threads of a machine, of the time of its CPUs.
Answer answer_of(const TraceInfo &info, const Catalog &catalog, const Explanation &why);

/// Returns what the rules of advice look at. `name`: of the program.
AdviceFacts advice_facts(const TraceInfo &info, const Catalog &catalog, const Explanation &why,
                         const std::string &name);

} // namespace ovnitrace
