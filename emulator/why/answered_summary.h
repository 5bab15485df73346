// SPDX-License-Identifier: BSD-2-Clause
// A summary with the answer that it opens with, of one replay.
#pragma once

#include "emulator/summary/summary.h"
#include "emulator/why/sentences.h"

namespace ovnitrace {

struct AnsweredSummary {
  Summary summary;
  Explanation why; ///< of the program, where all threads of the machine were recorded with it
  Answer answer;
};

/// Replays a trace for both. The source must have all events from the start of the trace on. Throws
/// Error for a cut that check_cut() refuses.
AnsweredSummary summarize_and_answer(EventSource &source, const TraceInfo &info, const Cut &cut);

} // namespace ovnitrace
