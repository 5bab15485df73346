// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace export --to ovni: writes a capture as ovni streams.
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/cli/export_formats.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/warnings.h"
#include "emulator/convert/convert.h"
#include "emulator/open/open_trace.h"
#include "emulator/ovni/stream_dir.h"
#include "emulator/ovni_export/export_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ovnitrace {

namespace {

/// Prints what the capture has and ovni streams cannot hold.
void print_differences(const ovni::ExportResult &result) {
  const auto print_count = [](uint64_t count, const char *one, const char *many, const char *what) {
    if (count)
      print("{} {} (docs/ovni.md)", human_count(count, one, many), what);
  };
  print_count(result.counts.unnamed, "thread", "threads", "left out: ovni has no tid or pid 0");
  print_count(result.counts.renamed, "thread", "threads",
              "got another tid, because two had the same");
  print_count(result.counts.conflicts, "time", "times",
              "a second thread ran on a CPU: shown on the virtual CPU");
  print_count(result.counts.gaps, "time", "times",
              "a thread became unknown: shown as dead and flushing");
}

} // namespace

int export_ovni(const ExportArguments &arguments) {
  if (ovni::is_stream_dir(arguments.inputs.front()))
    throw UsageError(arguments.inputs.front() + " is an ovni trace already");
  const std::string &directory = arguments.output;
  Warnings warnings(kFaultsReported);
  std::vector<TraceInput> inputs;
  for (const std::string &path : arguments.inputs)
    inputs.push_back({path, 0});
  const std::unique_ptr<EventSource> source = open_trace(inputs, warnings);

  const ProgressBar progress(!arguments.quiet);
  const ovni::ExportResult result =
      ovni::export_trace(*source, directory, warnings, kFaultsReported);
  warnings.finish();
  print_differences(result);
  if (!arguments.quiet)
    fmt::print("{}: {} of {}\n", directory, human_count(result.counts.events, "event", "events"),
               human_count(result.streams, "thread", "threads"));
  return warnings.damage() > std::min(result.faults, kFaultsReported) ? kExitFailure : 0;
}

} // namespace ovnitrace
