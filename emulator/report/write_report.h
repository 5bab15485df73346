// SPDX-License-Identifier: BSD-2-Clause
// Writes a trace as one HTML page that needs nothing else.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/output/output_place.h"
#include "emulator/summary/report.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace ovnitrace {

struct CriticalPath;

inline constexpr uint64_t kDefaultPageBytes = 64 << 20;

struct WriteReportOptions {
  OutputPlace place;
  uint64_t most_bytes = kDefaultPageBytes; ///< of the page
  Cut cut = {};
  CriticalPath *path = nullptr; ///< borrowed: one to draw, of the times of the cut
  Answer answer = {};           ///< that the page opens with
};

struct WriteReportResult {
  uint64_t bytes = 0; ///< of the page
  uint64_t slices = 0, events = 0;
  uint64_t threads = 0, coarse_threads = 0; ///< the latter without all of their detail
  uint64_t grain = 0;                       ///< ns, of those
  bool path_left_out = false;               ///< it has too many segments
};

/// `path` and `info` say what the trace is. `open` is called for each pass over the trace, from its
/// start on: two, as who had a CPU is found out first, and more where all detail is too much for a
/// page of most_bytes. Then the threads that waited longest for a CPU keep theirs, and of the
/// others short slices are summed up. Memory depends on the threads, the CPUs and most_bytes.
/// Throws Error; then nothing is left at its place.
WriteReportResult write_report(const std::string &path, const TraceInfo &info,
                               const std::function<std::unique_ptr<EventSource>()> &open,
                               const WriteReportOptions &options);

} // namespace ovnitrace
