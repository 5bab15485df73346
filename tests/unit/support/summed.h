// SPDX-License-Identifier: BSD-2-Clause
// A trace that was written for a test, added up.
#pragma once

#include "emulator/open/open_trace.h"
#include "emulator/summary/summarizer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/trace_builder.h"

#include <stdexcept>
#include <string>

namespace ovnitrace::test {

/// The sums of a trace, by its threads.
struct Summed {
  Catalog catalog;
  Summary summary;

  /// The first thread with this tid.
  const ThreadSummary &thread(uint32_t tid) const {
    for (size_t i = 0; i < catalog.threads.size(); i++)
      if (catalog.threads[i].tid == tid)
        return summary.threads[i];
    throw std::runtime_error("no such thread");
  }
};

/// Writes `trace`, which lies at `path`, and adds it up.
inline Summed sum_up(TraceBuilder &trace, const std::string &path, const Cut &cut = {}) {
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{path}}, sink);
  return {source->catalog(), summarize(*source, cut)};
}

} // namespace ovnitrace::test
