// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace export: a trace to the format of another tool.
#include "emulator/base/error.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/export_formats.h"
#include "emulator/cli/help_formatter.h"
#include "emulator/cli/run.h"
#include "emulator/cli/time_option.h"
#include "emulator/cli/trace_inputs.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>

namespace ovnitrace {

namespace {

struct Arguments {
  std::string format;
  ExportArguments write;
};

const ExportFormat *find_format(const std::string &word) {
  for (const ExportFormat &format : kExportFormats)
    if (word == format.word)
      return &format;
  return nullptr;
}

std::string check_format(const std::string &word) {
  if (find_format(word))
    return {};
  std::string words;
  for (const ExportFormat &format : kExportFormats)
    words += (words.empty() ? "" : ", ") + std::string(format.word);
  uint64_t ns = 0;
  return fmt::format("'{}' is no format: it is one of {}{}", word, words,
                     parse_time(word, ns) ? "; a part of the trace ends with --until " + word : "");
}

/// The formats, one a line, as --help prints them.
std::string list_of_formats() {
  std::string lines;
  for (const ExportFormat &format : kExportFormats)
    lines += fmt::format("  {:<9} {}; TRACE{}\n", format.word, format.what, format.suffix);
  return lines;
}

int run_export(const Arguments &arguments) {
  const ExportFormat &format = *find_format(arguments.format);
  ExportArguments write = arguments.write;
  if (write.cut.cuts() && !format.takes_cut)
    throw Error(fmt::format("export --to {} writes the whole trace: it takes no --from, --until, "
                            "--pid, --tid or --comm",
                            format.word),
                kExitUsage);
  if (write.path.wanted && !format.takes_path)
    throw Error(fmt::format("export --to {} has no place for a critical path: --to perfetto has "
                            "one, and so has `ovnitrace convert`",
                            format.word),
                kExitUsage);
  if (write.per_thread && format.write != export_folded)
    throw Error("--per-thread goes with --to folded", kExitUsage);
  if (write.inputs.size() > 1 && format.takes_cut)
    throw Error(fmt::format("export --to {} takes one trace: tids of different hosts have nothing "
                            "to do with each other. Export each trace by itself",
                            format.word),
                kExitUsage);
  if (write.output.empty())
    write.output = nameable(write.inputs.front()) + format.suffix;
  return format.write(write);
}

} // namespace

void add_export(CLI::App &app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App *command =
      add_unprivileged(app, "export", "Write a trace in the format of another tool");
  command->formatter(
      std::make_shared<HelpFormatter>("ovnitrace export --to FORMAT [OPTIONS] TRACE..."));
  command->add_option("--to", arguments->format, "The format, one of those below")
      ->required()
      ->type_name("FORMAT")
      ->check(check_format);
  command
      ->add_option("TRACE", arguments->write.inputs,
                   "The directory of the trace, or an FTrace file")
      ->required();
  command
      ->add_option("-o,--output", arguments->write.output,
                   "What to write (default: TRACE with the suffix of the format)")
      ->type_name("PATH");
  add_cut_options(*command, arguments->write.cut, "--until");
  add_path_options(*command, arguments->write.path,
                   "With --to perfetto: add a track of the critical path");
  command->add_flag("--per-thread", arguments->write.per_thread,
                    "With --to folded: each process and thread by itself, with its id, and not "
                    "those of one name together");
  command->footer("\nFormats:\n" + list_of_formats() + R"(
docs/perfetto.md, docs/ovni.md and docs/stacks.md (folded) say what each of them shows; docs/sql.md
has the tables of sqlite and csv, and questions to ask them. For folded, -o - is standard output.
--to ovni takes several traces, each of which becomes a loom, and no cut.

The exit status is 1 if a part of the trace is damaged; all the rest is exported.

Examples:
  ovnitrace export --to perfetto app-20250101-120000
  ovnitrace export --to perfetto app-20250101-120000 -o part.pftrace --from 1.5s --until 2s
  ovnitrace export --to ovni app-20250101-120000
  ovniemu app-20250101-120000.ovni
  ovnitrace export --to sqlite app-20250101-120000
  sqlite3 -box app-20250101-120000.sqlite 'SELECT * FROM latency ORDER BY ns DESC LIMIT 5'
  ovnitrace export --to folded app-20250101-120000 -o - | flamegraph.pl --countname ns > app.svg)");
  command->callback([arguments] {
    if (const int status = run_export(*arguments))
      throw CLI::RuntimeError(status);
  });
}

} // namespace ovnitrace
