// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace export: a trace to the format of another tool.
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/run.h"
#include "emulator/cli/warnings.h"
#include "emulator/convert/convert.h"
#include "emulator/export/export_trace.h"
#include "emulator/open/open_trace.h"
#include "emulator/ovni/stream_dir.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace ovnitrace {

namespace {

struct Arguments {
  std::string format;
  std::vector<std::string> inputs;
  std::string directory;
};

/// What the trace has and ovni's does not.
void print_differences(const ovni::ExportResult &result) {
  const auto print_count = [](uint64_t count, const char *what) {
    if (count)
      print("{} {} (docs/ovni.md)", count, what);
  };
  print_count(result.counts.unnamed, "threads left out: ovni has no tid or pid 0");
  print_count(result.counts.renamed, "threads got another tid: theirs was used twice");
  print_count(result.counts.conflicts,
              "times a second thread ran on a CPU: shown on the virtual CPU");
  print_count(result.counts.gaps, "times a thread became unknown: shown as dead and flushing");
}

void export_command(const Arguments &arguments) {
  const std::string &first = arguments.inputs.front();
  if (ovni::is_stream_dir(first))
    throw Error(first + " is an ovni trace already", kExitUsage);
  std::string directory = arguments.directory;
  if (directory.empty())
    directory = first.substr(0, first.find_last_not_of('/') + 1) + ".ovni";

  Warnings warnings(kFaultsReported);
  std::vector<TraceInput> inputs;
  for (const std::string &path : arguments.inputs)
    inputs.push_back({path, 0});
  const std::unique_ptr<EventSource> source = open_trace(inputs, warnings);

  ovni::ExportResult result;
  {
    ProgressBar bar;
    std::function<void(const EventSource &, uint64_t)> progress;
    if (bar.shown())
      progress = [&](const EventSource &s, uint64_t events) { bar.update(s, events); };
    result = ovni::export_trace(*source, directory, warnings, kFaultsReported, progress);
  }
  warnings.finish();
  print_differences(result);
  fmt::print("{}: {} of {}\n", directory, human_count(result.counts.events, "event", "events"),
             human_count(result.streams, "thread", "threads"));
  if (warnings.damage() > std::min(result.faults, kFaultsReported))
    throw CLI::RuntimeError(kExitFailure);
}

} // namespace

void add_export(CLI::App &app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App *command =
      add_unprivileged(app, "export", "Write a trace in the format of another tool");
  command->add_option("--to", arguments->format, "The format: ovni")
      ->required()
      ->check(CLI::IsMember({"ovni"}));
  command->add_option("TRACE", arguments->inputs, "Trace directories; each host becomes a loom")
      ->required();
  command
      ->add_option("-o,--output", arguments->directory,
                   "Directory to make; default: TRACE.ovni. It must not exist")
      ->type_name("DIR");
  command->footer(R"(
Writes the states and CPUs of the threads as the streams of an ovni trace, for ovniemu and the other
tools of ovni. docs/ovni.md says what such a trace cannot say.

The exit status is 1 if a part of the trace is damaged; all the rest is exported.

Examples:
  ovnitrace export --to ovni app-20250101-120000
  ovniemu app-20250101-120000.ovni)");
  command->callback([arguments] { export_command(*arguments); });
}

} // namespace ovnitrace
