// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace dump: the events of a trace as text.
#include "emulator/base/error.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/run.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/cli/warnings.h"
#include "emulator/dump/callers.h"
#include "emulator/dump/dump_line.h"
#include "emulator/input/open.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <memory>

namespace ovnitrace {

namespace {

void dump(const std::string &path) {
  Warnings warnings;
  const std::unique_ptr<EventSource> source = open_trace({{path}}, warnings);
  const DumpLine line(source->catalog());
  StdoutWriter out;
  Callers callers(source->catalog());
  for (Event event; !out.gone() && source->next(event);) {
    callers.find(event);
    if (has_happened(event))
      out.commit(line.put(out.reserve(DumpLine::kMaxBytes), event));
  }
  out.flush();
  warnings.finish();
  if (warnings.damage() && !out.gone())
    throw CLI::RuntimeError(kExitFailure);
}

} // namespace

void add_dump(CLI::App &app) {
  const auto path = std::make_shared<std::string>();
  CLI::App *command = add_unprivileged(app, "dump", "Print the events of a trace, one a line");
  command->add_option("TRACE", *path, "The directory of the trace, or an FTrace file")->required();
  command->footer(R"(
Columns, separated by spaces: seconds since the begin of the trace (negative of what happened before it
and made the states at its begin), number of the CPU, event, thread as 'comm (tid)', details as key=value.
What is not known is '-'. The thread of what a program logs itself is the one that runs on that CPU.
docs/format.md says what each event means.

The exit status is 1 if a part of the trace is damaged; all the rest is printed.

Examples:
  ovnitrace dump app-20250101-120000 | head
  ovnitrace dump app-20250101-120000 | awk '$3 == "task_epilogue"')");
  command->callback([path] { dump(*path); });
}

} // namespace ovnitrace
