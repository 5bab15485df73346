// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/stat_cli.h"

#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "emulator/cli/warnings.h"
#include "emulator/input/trace_dir.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"
#include "user/cli/record_options.h"
#include "user/launch/scratch_directory.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdio>
#include <memory>

namespace ovnitrace {

namespace {

constexpr size_t kTop = 10; ///< threads in the table

struct Arguments {
  RecordArguments record;
  bool json = false;
};

void print_summary(const std::string &directory, bool json) {
  Warnings warnings;
  const std::unique_ptr<EventSource> source = open_trace({{directory}}, warnings);
  NoDiagnostics reported_already;
  const TraceInfo about = read_trace_info(directory, reported_already);
  const Summary summary = summarize(*source, {});
  const std::string nowhere; // the trace is not kept
  const ReportInput input{nowhere, about, source->catalog(), summary};
  const std::string text = json ? json_report(input) : '\n' + totals(input, kTop);
  std::fwrite(text.data(), 1, text.size(), stderr);
  warnings.finish();
}

int stat(const Arguments &arguments) {
  RecordOptions options = checked(arguments.record);
  const ScratchDirectory scratch;
  options.directory = scratch.path() + "/trace";
  options.quiet = true;
  const RecordResult result = record(options);
  drop_privileges();
  print_summary(options.directory, arguments.json);
  if (!result.missing.empty())
    print_text(result.missing);
  return result.exit_status;
}

} // namespace

void add_stat(CLI::App &app, const std::vector<std::string> &command) {
  const auto arguments = std::make_shared<Arguments>();
  arguments->record.options.command = command;
  CLI::App *stat_app = app.add_subcommand("stat", "Run a program and print only a summary");
  add_capture_options(*stat_app, arguments->record.options);
  stat_app->add_flag("--json", arguments->json,
                     "Print the object of `ovnitrace info --json` (docs/info.md)");
  stat_app->footer(R"(
Prints on stderr, when the program has ended: the time of all threads in each state, switches,
preemptions, migrations and wakeup latencies, then the threads that ran longest. The exit status is
the program's. The trace is in TMPDIR, or /var/tmp, while the program runs, about 16 bytes an event;
it is removed at the end, whatever ends ovnitrace.

Examples:
  sudo ovnitrace stat -- ./app
  sudo ovnitrace stat -p 1234 -d 10
  sudo ovnitrace stat --json -a -d 1 2>machine.json)");
  stat_app->callback([arguments] {
    if (const int status = stat(*arguments))
      throw CLI::RuntimeError(status);
  });
}

} // namespace ovnitrace
