// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace info` says of a trace, as text and as JSON.
#pragma once

#include "emulator/base/json_stream.h"
#include "emulator/core/cut.h"
#include "emulator/input/source.h"
#include "emulator/input/trace_dir.h"
#include "emulator/summary/answer.h"
#include "emulator/summary/summary.h"

#include <cstddef>
#include <string>

namespace ovnitrace {

inline const Answer kNoAnswer;

/// All that a report is made from; borrowed.
struct ReportInput {
  const std::string &path;
  const TraceInfo &info;
  const Catalog &catalog;
  const Summary &summary;
  const Answer &answer = kNoAnswer; ///< that it opens with
};

struct ReportOptions {
  std::string sort = "running"; ///< one of sort_words()
  size_t top = 0;               ///< lines of a table at most, the rest is one more; 0: all
  bool one_line = false;        ///< of JSON
  size_t columns = 100;         ///< that a line of a table may have
};

/// For people: the answer, what the trace is, then its tables, then what the states mean.
std::string text_report(const ReportInput &input, const ReportOptions &options = {});

/// For programs: one object, times in ns. Keys are never renamed. It has everything, whatever the
/// top.
std::string json_report(const ReportInput &input, const ReportOptions &options = {});
/// The same, written while it is made.
void write_json_report(const ReportInput &input, const ReportOptions &options,
                       const JsonStream::Write &write);

/// The tables alone.
std::string tables(const ReportInput &input, const ReportOptions &options);

/// Those of families that --filter adds: waits for mutexes, interrupts, idle states, sections.
std::string family_tables(const ReportInput &input, const ReportOptions &options);

/// What it all comes to in a few lines, as `ovnitrace stat` prints it, and a table of the threads
/// that ran longest. Opens with the answer.
std::string totals(const ReportInput &input, const ReportOptions &options);

} // namespace ovnitrace
