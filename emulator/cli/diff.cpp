// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace diff: says what made some runs slower than others.
#include "emulator/base/error.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/measure_runs.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/run.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/cli/terminal.h"
#include "emulator/cli/terminal_options.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/warnings.h"
#include "emulator/diff/diff_report.h"
#include "emulator/diff/folded_diff.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

namespace {

constexpr int kExitGate = 4; ///< a gate has failed
constexpr size_t kLines = 10;

struct DiffArguments {
  ComparedTraces traces; ///< without `b`, the second one of `a` is that of B
  RunQuery query;
  std::vector<std::string> gates;
  bool json = false;
  std::string to;      ///< format; empty: the report
  size_t top = kLines; ///< of a table
};

void write_folded(const DiffArguments &arguments, DiagnosticSink &sink, StdoutWriter &out) {
  const ComparedTraces &traces = arguments.traces;
  const Renames renames = renames_of(traces);
  FoldedDiff diff;
  Cut cut;
  cut.comms = arguments.query.comms;
  for (const std::vector<std::string> *side : {&traces.a, &traces.b})
    for (const std::string &trace : *side)
      diff.add(side == &traces.b, *open_trace({{trace}}, sink), cut, sink,
               side == &traces.a ? renames : Renames());
  diff.lines([&](std::string_view line) {
    out.write(line);
    out.write("\n");
  });
}

/// Writes the report. Returns whether all gates were passed.
bool write_report(const DiffArguments &arguments, DiagnosticSink &sink, StdoutWriter &out) {
  std::vector<Gate> gates;
  for (const std::string &gate : arguments.gates)
    gates.push_back(parse_gate(gate));
  const ComparedRuns runs = measure_runs(arguments.traces, arguments.query, sink);
  const Comparison comparison = compare(runs);
  std::vector<GateResult> results;
  for (const Gate &gate : gates)
    results.push_back(check_gate(gate, runs));
  const DiffInput input{runs, comparison, results};
  if (arguments.json)
    write_diff_json(input, [&](std::string_view text) { out.write(text); });
  else
    out.write(diff_text(input, arguments.top, table_columns(STDOUT_FILENO)));
  return std::all_of(results.begin(), results.end(),
                     [](const GateResult &result) { return result.passed; });
}

int diff(DiffArguments arguments) {
  ComparedTraces &traces = arguments.traces;
  if (traces.b.empty() && traces.a.size() == 2) {
    traces.b = {traces.a.back()};
    traces.a.pop_back();
  }
  if (traces.b.empty())
    throw UsageError("give two traces, A B, or several runs of each, A1 A2 A3 -- B1 B2 B3");
  if (!arguments.to.empty() &&
      (arguments.json || !arguments.gates.empty() || arguments.query.section))
    throw UsageError("--to folded takes no --json, --gate or --section");
  const ProgressBar progress;
  Warnings warnings;
  StdoutWriter out;
  bool passed = true;
  if (arguments.to.empty())
    passed = write_report(arguments, warnings, out);
  else
    write_folded(arguments, warnings, out);
  out.flush();
  warnings.finish();
  if (!passed)
    return kExitGate;
  return warnings.damage() && !out.gone() ? kExitFailure : 0;
}

} // namespace

void add_diff(App app, const std::vector<std::string> &after) {
  const auto arguments = std::make_shared<DiffArguments>();
  const App command = add_unprivileged(app, "diff", "Say what made one run slower than another");
  command.usage("ovnitrace diff [OPTIONS] A B\n"
                "       ovnitrace diff [OPTIONS] A1 A2... -- B1 B2...");
  command
      .add_option(
          "TRACE", arguments->traces.a,
          "Trace directories or files of the S.Ha.R.K. tracer: A and B, or the runs of A (those of "
          "B follow --)")
      .required();
  command
      .add_option("--section", arguments->query.section,
                  "Compare the longest section of this number (docs/user-events.md)")
      .type_name("NUMBER");
  add_cut_list(
      command, kComm, "NAME", kTraceComms, arguments->query.comms,
      "Compare only threads with this name, such as 'worker-*'. The critical path is that of "
      "the main thread if it has this name, otherwise of the thread that ran longest");
  add_match(command, arguments->traces.matches);
  command
      .add_option("--gate", arguments->gates,
                  "Exit with status 4 if a limit is exceeded, as in 'wait.p99<+10%' "
                  "(docs/diff.md#gates); can be given several times")
      .type_name("GATE")
      .allow_extra_args(false);
  command
      .add_option(kTop, arguments->top,
                  "Print at most N groups of threads, and N lines of each; 0: all (default: 10)")
      .type_name("N")
      .range(0, UINT32_MAX);
  command.add_flag(kJson, arguments->json, "Print an object of JSON, with times in ns");
  command
      .add_option(
          kTo, arguments->to,
          "Write the stacks of both runs, for a differential flame graph. The only FORMAT is "
          "the word folded")
      .type_name("FORMAT")
      .one_of({"folded"});
  add_terminal_options(command);
  command.footer(R"(
The first lines list conditions that differ between the runs. The next sentence says how much slower
or faster B is, and how much of that each cause on the critical path explains. The tables show each
cause, and the time of each group of threads. Threads are matched by the names of the process
and of the thread. Digits in these names may differ.

Five runs of each side are enough for a verdict. A change marked with ~ may be due to chance.

docs/diff.md explains the output. The exit status is 4 if a gate failed, and 1 if a part of a trace
is damaged.

Examples:
  ovnitrace diff before after
  ovnitrace diff a1 a2 a3 a4 a5 -- b1 b2 b3 b4 b5
  ovnitrace diff before after --section 7
  ovnitrace diff before after --gate 'wall<+5%' --gate 'wait.p99<+10%'
  ovnitrace diff before after --to folded | flamegraph.pl --countname ns > change.svg)");
  command.callback([arguments, after] {
    arguments->traces.b = after;
    return diff(*arguments);
  });
}

} // namespace ovnitrace
