// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/run_conversion.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/base/printable.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/warnings.h"
#include "emulator/format/event_names.h"
#include "emulator/ovni/model_names.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

namespace ovnitrace {

namespace {

/// Reports events that no model takes. Every FTrace event has a model; some events of ovni streams
/// have none.
void print_untaken(const ConvertResult &result, bool lint) {
  std::map<char, uint64_t> models;
  for (const auto &[kind, count] : result.untaken) {
    if (kind == kNone)
      print("{} of more kinds that no model takes", human_count(count, "event", "events"));
    else
      models[char(kind >> 16)] += count;
  }
  for (const auto &[model, count] : models)
    print("{} not {}", ovni::events_of_model(model, count), lint ? "checked" : "converted");
}

void print_written(const ConvertOptions &options, const ConvertResult &result,
                   std::chrono::duration<double> took) {
  const char *suffix = options.gzip ? ".gz" : "";
  print("{}: thread.prv{} ({}), cpu.prv{} ({}) and cfg/: {} in {}; converted in {:.1f} s",
        options.directory, suffix, human_count(result.thread_rows, "row", "rows"), suffix,
        human_count(result.cpu_rows, "row", "rows"), human_count(result.events, "event", "events"),
        human_duration(result.length), took.count());
}

} // namespace

std::string conversion_command(const std::string &flags, const std::vector<TraceInput> &inputs,
                               const ConvertOptions &options) {
  std::string command = "ovnitrace convert" + flags;
  for (const std::string &file : options.model_files)
    command += " --model " + shell_word(file);
  for (const std::string &name : options.cut.comms)
    command += " --comm " + shell_word(name);
  if (options.gzip)
    command += " --gzip";
  if (inputs.front().path != options.directory)
    command += " -o " + shell_word(options.directory);
  for (const TraceInput &input : inputs)
    command += " " + shell_word(input.path);
  return command;
}

int run_conversion(const std::vector<TraceInput> &inputs, const ConvertOptions &options,
                   ConversionOutput output) {
  const auto begin = std::chrono::steady_clock::now();
  Warnings warnings(options.lint ? UINT64_MAX : kFaultsReported);
  // Events before the cut may matter to a user's model, or break a rule.
  const bool needs_all = options.lint || !options.model_files.empty();
  std::unique_ptr<EventSource> source =
      open_trace(inputs, warnings, needs_all ? 0 : options.cut.from);

  const ProgressBar progress(output != ConversionOutput::nothing, options.cut.to);
  const ConvertResult result = convert(*source, options, warnings);
  warnings.finish();
  if (output == ConversionOutput::all)
    print_written(options, result, std::chrono::steady_clock::now() - begin);
  print_untaken(result, options.lint);
  uint64_t reported = options.lint ? result.faults : std::min(result.faults, kFaultsReported);
  if (result.faults > reported)
    print("{} impossible events in all; `{}` lists them", result.faults,
          conversion_command(" --lint", inputs, options));
  bool damaged = warnings.damage() > reported;
  if (damaged || (options.lint && result.faults))
    return kExitFailure;
  return options.lint && !result.untaken.empty() ? kExitIncomplete : 0;
}

} // namespace ovnitrace
