// SPDX-License-Identifier: BSD-2-Clause
// Holds what the threads did in the last interval of a capture that goes on.
#pragma once

#include "emulator/input/source.h"
#include "emulator/input/trace_info.h"
#include "emulator/why/answered_summary.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ovnitrace {

/// What `ovnitrace top` shows at one time.
struct TopPart {
  std::string place; ///< the trace directory that it was read from
  TraceInfo info;
  std::unique_ptr<EventSource> source; ///< its catalog names the threads
  AnsweredSummary sums;                ///< of the interval

  const Catalog &catalog() const { return source->catalog(); }
  /// Returns the length of the interval, ns.
  uint64_t length() const { return sums.summary.to - sums.summary.from; }
};

/// Reads the trace in a directory, and sums up [`from`, `to`], ns on the clock of the trace. States
/// and waits begin before `from` if the trace does. Reports faults to `sink`. Throws Error.
TopPart read_top_part(const std::string &directory, uint64_t from, uint64_t to,
                      DiagnosticSink &sink);

/// Returns the text of `why` about one thread in [from, to] of a part's trace, as lines of at most
/// `columns`. Throws Error if the trace has no such thread.
std::string explain_thread(const TopPart &part, uint32_t tid, size_t columns);

} // namespace ovnitrace
