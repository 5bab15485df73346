// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace why: where the time of threads went, and who is to blame.
#include "emulator/base/error.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/path_options.h"
#include "emulator/cli/run.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/warnings.h"
#include "emulator/open/open_trace.h"
#include "emulator/why/explainer.h"
#include "emulator/why/path_report.h"
#include "emulator/why/why_report.h"

#include <memory>
#include <string>
#include <string_view>

namespace ovnitrace {

namespace {

struct Arguments {
  std::string trace;
  bool json = false;
  Cut cut;
  PathArguments path;
};

constexpr size_t kPathLines = 20;

/// The table of the path alone: the rest is another question.
std::string path_only(const Arguments &arguments, const TraceInfo &about, DiagnosticSink &sink) {
  const std::unique_ptr<EventSource> source = open_trace({{arguments.trace}}, sink);
  std::optional<CriticalPath> path = wanted_path(arguments.path, about, arguments.cut, *source);
  return path_text(*path, source->catalog(), kPathLines);
}

void write_all(const Arguments &arguments, const TraceInfo &about, DiagnosticSink &sink,
               StdoutWriter &out) {
  const auto open = reopener(arguments.trace, sink, 0);
  std::unique_ptr<EventSource> source = open();
  std::optional<CriticalPath> path = wanted_path(arguments.path, about, arguments.cut, *source);
  if (path)
    source = open();
  const Explanation explanation = explain(*source, arguments.cut);
  const Stacks stacks(source->catalog(), sink);
  const WhyInput input{arguments.trace, about,       source->catalog(),
                       stacks,          explanation, path ? &*path : nullptr};
  if (arguments.json)
    write_why_json(input, [&](std::string_view text) { out.write(text); });
  else
    out.write(why_text(input));
}

int why(const Arguments &arguments) {
  Warnings warnings;
  const TraceInfo about = about_trace(arguments.trace);
  StdoutWriter out;
  if (arguments.path.wanted && !arguments.json)
    out.write(path_only(arguments, about, warnings));
  else
    write_all(arguments, about, warnings, out);
  out.flush();
  warnings.finish();
  return warnings.damage() && !out.gone() ? kExitFailure : 0;
}

} // namespace

void add_why(CLI::App &app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App *command =
      add_unprivileged(app, "why", "Explain why threads did not run, and who is to blame");
  command->add_option("TRACE", arguments->trace, "The directory of the trace, or an FTrace file")
      ->required();
  add_cut_options(*command, arguments->cut);
  add_path_options(*command, arguments->path, "Print the critical path");
  command->add_flag("--json", arguments->json, "Print all of it for programs, times in ns");
  command->footer(R"(
Where the time of the threads went, as a tree: running; waiting for a CPU, by who had it; blocked,
by system call and by who woke it. Then the longest waits, each in one line, and who wakes whom.
docs/why.md has the details. With --critical-path only a table of the path (docs/critical-path.md),
and with --json all of it; of very many who had the CPU of one thread, it has those with most time.

The exit status is 1 if a part of the trace is damaged; all the rest is explained.

Examples:
  ovnitrace why app-20250101-120000
  ovnitrace why app-20250101-120000 --comm 'worker-*' --from 1.5s --to 2s
  ovnitrace why app-20250101-120000 --critical-path --to 1.5s
  ovnitrace why --json app-20250101-120000 | jq '.threads[0].waiting')");
  command->callback([arguments] {
    if (const int status = why(*arguments))
      throw CLI::RuntimeError(status);
  });
}

} // namespace ovnitrace
