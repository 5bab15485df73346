// SPDX-License-Identifier: BSD-2-Clause
// Makes the output of `ovnitrace info` and `ovnitrace stat`, as text and as JSON.
#pragma once

#include "emulator/base/json_stream.h"
#include "emulator/core/cut.h"
#include "emulator/input/source.h"
#include "emulator/input/trace_info.h"
#include "emulator/summary/answer.h"
#include "emulator/summary/summary.h"

#include <cstddef>
#include <string>

namespace ovnitrace {

inline const Answer kNoAnswer;

/// Everything that a report is made from; borrowed.
struct ReportInput {
  const std::string &path;
  const TraceInfo &info;
  const Catalog &catalog;
  const Summary &summary;
  const Answer &answer = kNoAnswer; ///< with which it opens
};

struct ReportOptions {
  std::string sort = "running"; ///< one of sort_words()
  size_t top = 0;               ///< most lines of a table, and one for the rest; 0: all
  bool one_line = false;        ///< JSON in one line
  size_t columns = 100;         ///< width of a line of a table
};

/// Returns text: the answer, what the trace is, its tables, and what the states mean.
std::string text_report(const ReportInput &input, const ReportOptions &options = {});

/// Returns a JSON object. Times are ns. Keys are never renamed. It is complete, whatever `top` is.
std::string json_report(const ReportInput &input, const ReportOptions &options = {});
/// Writes the same piece by piece while it is made.
void write_json_report(const ReportInput &input, const ReportOptions &options,
                       const JsonStream::Write &write);

/// Returns only the tables.
std::string tables(const ReportInput &input, const ReportOptions &options);

/// Returns the tables of families that --filter adds: waits for mutexes, interrupts, idle states,
/// sections.
std::string family_tables(const ReportInput &input, const ReportOptions &options);

/// Returns the output of `ovnitrace stat`: the answer, totals in a few lines, and a table of the
/// threads that ran longest.
std::string totals(const ReportInput &input, const ReportOptions &options);

} // namespace ovnitrace
