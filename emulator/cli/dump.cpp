// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace dump: prints the events of a trace as text.
#include "emulator/base/error.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/run.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/cli/terminal_options.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/warnings.h"
#include "emulator/dump/dump_events.h"
#include "emulator/open/open_trace.h"

#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace {

namespace {

struct DumpArguments {
  std::vector<std::string> paths;
  bool json = false;
  CutArguments cut;
};

/// Returns whether standard output is a file. On a terminal, a bar would cross the lines, also
/// those of a command behind a pipe.
bool stdout_is_file() {
  struct stat status;
  return fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
}

int dump(const DumpArguments &arguments) {
  Warnings warnings;
  const Cut cut = cut_of(arguments.cut, arguments.paths.front());
  const std::unique_ptr<EventSource> source =
      open_trace(trace_inputs(arguments.paths), warnings, cut.from);
  // Events that lead to the states at the start of the trace are before it: only --from omits them.
  const uint64_t from = arguments.cut.from.kind == TraceTime::Kind::not_given
                            ? 0
                            : source->catalog().begin + cut.from;
  const ProgressBar progress(stdout_is_file(), cut.to);
  StdoutWriter out;
  dump_events(*source, cut, from, [&](const DumpLine &line, const Event &event) {
    char *const at = out.reserve(DumpLine::kMaxBytes);
    out.commit(arguments.json ? line.put_json(at, event) : line.put(at, event));
    return !out.gone();
  });
  out.flush();
  warnings.finish();
  return warnings.damage() && !out.gone() ? kExitFailure : 0;
}

} // namespace

void add_dump(App app) {
  const auto arguments = std::make_shared<DumpArguments>();
  const App command =
      add_unprivileged(app, "dump", "Print the events of a trace, one on each line");
  command.add_option("TRACE", arguments->paths, kSeveralTraces).required();
  add_cut_options(command, arguments->cut);
  add_terminal_options(command);
  command.add_flag(kJson, arguments->json, "Print a JSON object on each line, with times in ns");
  command.footer(R"(
A line has four columns and the details, separated by blanks. No column contains a blank:

  time     seconds from the start of the trace. Events with negative times set the states at
           the start; --from 0 leaves them out
  CPU      its number
  event    docs/format.md explains each
  thread   comm(tid), with _ for each blank of its name. A user event belongs to the thread that
           ran on the CPU
  details  key=value, as many as the event has, separated by blanks

'-' means not known. --pid, --tid and --comm remove EXT_holder, which says which thread held a CPU.
These options keep other events that are not about a thread. --json prints names unchanged.

The exit status is 1 if a part of the trace is damaged. The rest is still printed.

Examples:
  ovnitrace dump app-20250101-120000 | head
  ovnitrace dump --from 1.5s --to 1.6s --comm 'worker-*' app-20250101-120000
  ovnitrace dump app-20250101-120000 | awk '$3 == "task_epilogue"'
  ovnitrace dump --json app-20250101-120000 | jq -c 'select(.event == "task_epilogue").details')");
  command.callback([arguments] { return dump(*arguments); });
}

} // namespace ovnitrace
