// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace export --to folded: writes where threads were off their CPUs, for flame graphs.
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/cli/export_formats.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/warnings.h"
#include "emulator/core/program_threads.h"
#include "emulator/folded/folded.h"
#include "emulator/open/open_trace.h"
#include "emulator/output/atomic_file.h"
#include "emulator/slices/slicer.h"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace ovnitrace {

int export_folded(const ExportArguments &arguments) {
  Warnings warnings;
  const ReadingProgress progress(!arguments.quiet, arguments.cut.to);
  const std::unique_ptr<EventSource> source =
      open_trace({{arguments.inputs.front()}}, warnings, arguments.cut.from);
  const Stacks stacks(source->catalog(), warnings);
  const TraceInfo about = about_trace(arguments.inputs.front());
  Folded folded(
      source->catalog(), stacks,
      {.per_thread = arguments.per_thread, .program = started_thread(about, source->catalog())});
  replay_slices(*source, arguments.cut, folded);
  warnings.finish();
  if (arguments.output == "-") {
    StdoutWriter out;
    folded.lines([&](std::string_view line) {
      out.write(line);
      out.write("\n");
    });
    out.flush();
    return warnings.damage() ? kExitFailure : 0;
  }
  AtomicFile file{OutputPlace(arguments.output)};
  uint64_t lines = 0;
  folded.lines([&](std::string_view line) {
    file.write(std::string(line) + "\n");
    lines++;
  });
  file.commit();
  if (folded.no_stack() && folded.no_stack() == folded.blocked())
    print("no stacks are known: record them with --stacks (docs/stacks.md)");
  if (!arguments.quiet)
    fmt::print("{}: {}, {} blocked and {} waiting for a CPU\n", arguments.output,
               human_count(lines, "stack", "stacks"), human_duration(folded.blocked()),
               human_duration(folded.waiting()));
  return warnings.damage() ? kExitFailure : 0;
}

} // namespace ovnitrace
