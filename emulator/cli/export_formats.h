// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace export` can write. A format is a row of the table and a file that writes it.
#pragma once

#include "emulator/core/cut.h"

#include <string>
#include <vector>

namespace ovnitrace {

struct ExportArguments {
  std::vector<std::string> inputs; ///< paths of traces, one at least
  std::string output;              ///< path; empty: the format names it after the first input
  Cut cut = {};                    ///< only for formats that take one
};

/// The first input with a suffix, for an output that the command line does not name.
std::string beside_input(const ExportArguments &arguments, const char *suffix);

/// Each writes one format and prints what it wrote. Returns the exit status: 0, or 1 where a part
/// of the trace is damaged, which is reported. Throws Error.
int export_ovni(const ExportArguments &arguments);
int export_sqlite(const ExportArguments &arguments);
int export_csv(const ExportArguments &arguments);
int export_perfetto(const ExportArguments &arguments);

struct ExportFormat {
  const char *word; ///< as `--to` takes it
  const char *what; ///< what is written, and its default name, for --help
  int (*write)(const ExportArguments &arguments);
  bool takes_cut;
};

inline constexpr ExportFormat kExportFormats[] = {
    {"ovni", "the streams of an ovni trace, for ovniemu, into the directory TRACE.ovni",
     export_ovni, false},
    {"sqlite", "tables of threads, slices, wakeups and events, as the database TRACE.sqlite",
     export_sqlite, true},
    {"csv", "the same tables as CSV files, in the directory TRACE.csv", export_csv, true},
    {"perfetto", "for ui.perfetto.dev and trace_processor, into the file TRACE.pftrace",
     export_perfetto, true},
};

} // namespace ovnitrace
