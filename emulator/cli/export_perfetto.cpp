// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace export --to perfetto: writes a trace for ui.perfetto.dev and trace_processor.
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/messages.h"
#include "emulator/cli/export_formats.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/warnings.h"
#include "emulator/perfetto/write_perfetto.h"

#include <fmt/format.h>

namespace ovnitrace {

int export_perfetto(const ExportArguments &arguments) {
  const std::string &input = arguments.inputs.front();
  const std::string &path = arguments.output;
  Warnings warnings;
  const ProgressBar progress(!arguments.quiet, arguments.cut.to);
  const auto open = reopener(input, warnings, needed_from(arguments.path, arguments.cut));
  const TraceInfo info = about_trace(input);
  std::optional<CriticalPath> critical = wanted_path(arguments.path, info, arguments.cut, open);
  const std::unique_ptr<EventSource> source = open();
  const Stacks stacks(source->catalog(), warnings);
  const perfetto::WriteResult result = perfetto::write_perfetto(
      *source, info, arguments.cut, path, critical ? &*critical : nullptr, &stacks);
  warnings.finish();
  if (result.sched.without_cpu)
    print("{} on no CPU: left out (docs/perfetto.md)",
          human_count(result.sched.without_cpu, "run is", "runs are"));
  if (result.sched.doubled)
    print("{} on a CPU where another thread ran: cut short or left out (docs/perfetto.md)",
          human_count(result.sched.doubled, "run is", "runs are"));
  if (!arguments.quiet)
    fmt::print("{}: {}, {} and {} of {} in {:.1f} MiB\n", path,
               human_count(result.sched.runs, "run", "runs"),
               human_count(result.sched.wakeups, "wakeup", "wakeups"),
               human_count(result.track_events, "event", "events"),
               human_count(result.threads, "thread", "threads"), double(result.bytes) / (1 << 20));
  return warnings.damage() ? kExitFailure : 0;
}

} // namespace ovnitrace
