// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace export --to sqlite and --to csv: writes a trace as tables.
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/cli/export_formats.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/warnings.h"
#include "emulator/open/open_trace.h"
#include "emulator/tables/csv_files.h"
#include "emulator/tables/sqlite_file.h"
#include "emulator/tables/trace_tables.h"

#include <fmt/format.h>

#include <memory>

namespace ovnitrace {

namespace {

template <class Sink> int export_tables(const ExportArguments &arguments) {
  Warnings warnings;
  const std::unique_ptr<EventSource> source =
      open_trace({{arguments.inputs.front()}}, warnings, arguments.cut.from);
  Sink sink(arguments.output);
  const ProgressBar progress(!arguments.quiet, arguments.cut.to);
  const TableRows rows = put_tables(*source, arguments.cut, sink);
  sink.finish();
  warnings.finish();
  const auto count = [&](TableId table, const char *one, const char *many) {
    return human_count(rows[size_t(table)], one, many);
  };
  if (!arguments.quiet)
    fmt::print(
        "{}: {}, {}, {}, {}\n", arguments.output, count(TableId::thread, "thread", "threads"),
        count(TableId::slice, "slice", "slices"), count(TableId::wakeup, "wakeup", "wakeups"),
        count(TableId::event, "event", "events"));
  return warnings.damage() ? kExitFailure : 0;
}

} // namespace

int export_sqlite(const ExportArguments &arguments) {
  return export_tables<SqliteFile>(arguments);
}

int export_csv(const ExportArguments &arguments) {
  return export_tables<CsvFiles>(arguments);
}

} // namespace ovnitrace
