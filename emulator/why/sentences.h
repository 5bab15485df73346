// SPDX-License-Identifier: BSD-2-Clause
// Answers "why was it slow?" in two sentences, with what to try. `why`, `info`, `stat` and the page
// of `report` open with the answer.
#pragma once

#include "emulator/input/trace_info.h"
#include "emulator/summary/answer.h"
#include "emulator/why/explanation.h"

#include <string>

namespace ovnitrace {

/// Returns the answer for the threads and the range of `why`. Percentages are of the lives of all
/// its threads together. If these are all threads of a machine, percentages are of the time of its
/// CPUs.
/// `command`: prints this explanation, for the advice.
Answer answer_of(const TraceInfo &info, const Catalog &catalog, const Explanation &why,
                 const std::string &command = "ovnitrace why");

} // namespace ovnitrace
