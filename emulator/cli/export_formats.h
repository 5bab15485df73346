// SPDX-License-Identifier: BSD-2-Clause
// Lists the formats that `ovnitrace export` can write. A format is a row of the table and a file
// that writes it.
#pragma once

#include "emulator/cli/path_options.h"
#include "emulator/core/cut.h"

#include <string>
#include <vector>

namespace ovnitrace {

struct ExportArguments {
  std::vector<std::string> inputs; ///< paths of traces, at least one
  std::string output;              ///< path
  Cut cut = {};                    ///< only for formats that take a cut
  PathArguments path = {};         ///< only for formats that take a path
  bool force = false;              ///< replace an output that exists
  bool quiet = false;              ///< print only warnings
  bool per_thread = false;         ///< folded: each process and thread separately
};

/// Writes a format and prints what was written. Returns the exit status: 0, or 1 if a part of the
/// trace is damaged, which is reported. Throws Error.
int export_ovni(const ExportArguments &arguments);
int export_sqlite(const ExportArguments &arguments);
int export_csv(const ExportArguments &arguments);
int export_perfetto(const ExportArguments &arguments);
int export_folded(const ExportArguments &arguments);
int export_pprof(const ExportArguments &arguments);
int export_speedscope(const ExportArguments &arguments);

struct ExportFormat {
  const char *word;   ///< value of `--to`
  const char *what;   ///< what it writes, for --help
  const char *suffix; ///< of an output that is named after the first input
  int (*write)(const ExportArguments &arguments);
  bool takes_cut;  ///< takes one trace, and a cut of it
  bool takes_path; ///< shows a critical path
  /// The files of a format that writes a directory, as fnmatch() takes them with FNM_EXTMATCH.
  const char *entries = nullptr;
};

inline constexpr ExportFormat kExportFormats[] = {
    {"ovni", "the streams of an ovni trace, for ovniemu", ".ovni", export_ovni, false, false,
     "@(loom.*|clock-offsets.txt)"},
    {"sqlite", "a database of threads, slices, wakeups and events", ".sqlite", export_sqlite, true,
     false},
    {"csv", "the same tables as CSV files", ".csv", export_csv, true, false, "@(*.csv|views.sql)"},
    {"perfetto", "for ui.perfetto.dev and trace_processor", ".pftrace", export_perfetto, true,
     true},
    {"folded", "stacks of blocked and waiting threads and their times, for flame graphs", ".folded",
     export_folded, true, false},
    {"pprof", "the same times with their causes, for go tool pprof", ".pb.gz", export_pprof, true,
     false},
    {"speedscope", "the same times, a profile for each thread", ".speedscope.json",
     export_speedscope, true, false},
};

} // namespace ovnitrace
