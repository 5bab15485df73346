// SPDX-License-Identifier: BSD-2-Clause
// Makes a summary and the answer that opens its report, in one replay.
#pragma once

#include "emulator/slices/slice.h"
#include "emulator/summary/summary.h"
#include "emulator/why/sentences.h"

namespace ovnitrace {

struct AnsweredSummary {
  Summary summary;
  Explanation why; ///< of the program, if all threads of the machine were recorded with it
  Answer answer;
};

/// Takes from `why` the times that reports leave out (outside the regions of --control, and at the
/// start gate), and how long CPUs were idle while threads waited. REQUIRES: both are of the same
/// range of one trace.
void add_explained(Summary &summary, const Explanation &why);

/// Replays a trace for both. `source` must have all events from the start of the trace. Throws
/// Error if check_cut() refuses the cut.
/// `more`, if not null, gets the slices of all threads from the start of the trace to the cut's
/// end. `command`: prints this explanation, for the advice.
AnsweredSummary summarize_and_answer(EventSource &source, const TraceInfo &info, const Cut &cut,
                                     SliceSink *more = nullptr,
                                     const std::string &command = "ovnitrace why");

} // namespace ovnitrace
