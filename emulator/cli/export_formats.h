// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace export` can write. A format is a row of the table and a file that writes it.
#pragma once

#include "emulator/cli/path_options.h"
#include "emulator/core/cut.h"

#include <string>
#include <vector>

namespace ovnitrace {

struct ExportArguments {
  std::vector<std::string> inputs; ///< paths of traces, one at least
  std::string output;              ///< path
  Cut cut = {};                    ///< only for formats that take one
  PathArguments path = {};         ///< the same
  bool per_thread = false;         ///< folded: each process and thread by itself
};

/// Each writes one format and prints what it wrote. Returns the exit status: 0, or 1 where a part
/// of the trace is damaged, which is reported. Throws Error.
int export_ovni(const ExportArguments &arguments);
int export_sqlite(const ExportArguments &arguments);
int export_csv(const ExportArguments &arguments);
int export_perfetto(const ExportArguments &arguments);
int export_folded(const ExportArguments &arguments);

struct ExportFormat {
  const char *word;   ///< as `--to` takes it
  const char *what;   ///< what is written, for --help
  const char *suffix; ///< of an output that is named after the first input
  int (*write)(const ExportArguments &arguments);
  bool takes_cut;  ///< it takes one trace, and a cut of it
  bool takes_path; ///< it shows a critical path
};

inline constexpr ExportFormat kExportFormats[] = {
    {"ovni", "the streams of an ovni trace, for ovniemu", ".ovni", export_ovni, false, false},
    {"sqlite", "a database of threads, slices, wakeups and events", ".sqlite", export_sqlite, true,
     false},
    {"csv", "the same tables as CSV files", ".csv", export_csv, true, false},
    {"perfetto", "for ui.perfetto.dev and trace_processor", ".pftrace", export_perfetto, true,
     true},
    {"folded", "stacks of blocked threads and their times, for flame graphs", ".folded",
     export_folded, true, false},
};

} // namespace ovnitrace
