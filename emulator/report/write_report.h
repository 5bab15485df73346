// SPDX-License-Identifier: BSD-2-Clause
// Writes a trace as one self-contained HTML page.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/output/output_place.h"
#include "emulator/summary/report.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace ovnitrace {

struct Against;
struct CriticalPath;
class Stacks;

inline constexpr uint64_t kDefaultPageBytes = 64 << 20;

struct WriteReportOptions {
  OutputPlace place;
  uint64_t most_bytes = kDefaultPageBytes; ///< of the page
  Cut cut = {};
  /// To draw, for the times of the cut: the first one is shown, a menu has the others.
  std::span<CriticalPath> paths = {};
  Answer answer = {};               ///< with which the page opens
  const Stacks *stacks = nullptr;   ///< of the trace; borrowed, may be null
  const Against *against = nullptr; ///< the trace is two runs; borrowed, may be null
};

struct WriteReportResult {
  uint64_t bytes = 0; ///< of the page
  uint64_t slices = 0, events = 0;
  uint64_t threads = 0, coarse_threads = 0; ///< coarse: without all of their detail
  uint64_t grain = 0;                       ///< least ns of a slice of those
  bool path_left_out = false;               ///< the first one has too many segments
};

/// Writes the page. Paths are left out from the one on that does not fit into an eighth of the
/// page. `path` and `info` say what the trace is. `open` is called for each pass over
/// the trace, from its start: one for who had CPUs, and one for the slices. If these do not fit
/// most_bytes, more passes follow: threads that waited longest for a CPU keep their detail, and
/// short slices of the others are summed up. Memory grows with threads, CPUs and most_bytes. Throws
/// Error and leaves nothing behind.
WriteReportResult write_report(const std::string &path, const TraceInfo &info,
                               const std::function<std::unique_ptr<EventSource>()> &open,
                               const WriteReportOptions &options);

} // namespace ovnitrace
