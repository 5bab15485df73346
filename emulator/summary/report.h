// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace info` tells of a trace, as text and as JSON.
#pragma once

#include "emulator/input/source.h"
#include "emulator/input/trace_dir.h"
#include "emulator/summary/summary.h"

#include <string>

namespace ovnitrace {

/// All that a report is made from; borrowed.
struct ReportInput {
  const std::string &path;
  const TraceInfo &info;
  const Catalog &catalog;
  const Summary &summary;
};

/// For people: what the trace is, then a table of its threads, those that ran longest first, and
/// one of its CPUs.
std::string text_report(const ReportInput &input);

/// The same for programs: one object, times in ns. Keys are never renamed.
std::string json_report(const ReportInput &input);

/// Indices of threads, those that were Running longest first, then by row.
std::vector<uint32_t> by_running_time(const Summary &summary);

} // namespace ovnitrace
