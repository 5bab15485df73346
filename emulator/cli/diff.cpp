// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace diff: says what made some runs slower than others.
#include "emulator/base/error.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
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

struct Arguments {
  std::vector<std::string> a; ///< traces; without `b`, the second one is that of B
  std::vector<std::string> b;
  RunQuery query;
  std::vector<std::string> matches;
  std::vector<std::string> gates;
  bool json = false;
  std::string to;      ///< format; empty: the report
  size_t top = kLines; ///< of a table
};

Renames renames_of(const Arguments &arguments) {
  Renames renames;
  for (const std::string &match : arguments.matches)
    renames.push_back(parse_rename(match));
  return renames;
}

void write_folded(const Arguments &arguments, DiagnosticSink &sink, StdoutWriter &out) {
  FoldedDiff diff;
  Cut cut;
  cut.comms = arguments.query.comms;
  for (const std::vector<std::string> *side : {&arguments.a, &arguments.b})
    for (const std::string &trace : *side)
      diff.add(side == &arguments.b, *open_trace({{trace}}, sink), about_trace(trace), cut, sink,
               side == &arguments.a ? renames_of(arguments) : Renames());
  diff.lines([&](std::string_view line) {
    out.write(line);
    out.write("\n");
  });
}

/// Writes the report. Returns whether all gates were passed.
bool write_report(const Arguments &arguments, DiagnosticSink &sink, StdoutWriter &out) {
  std::vector<Gate> gates;
  for (const std::string &gate : arguments.gates)
    gates.push_back(parse_gate(gate));
  const Renames renames = renames_of(arguments);
  ComparedRuns runs;
  const auto add = [&](std::vector<RunTimes> &side, const std::string &trace, const Renames &with) {
    side.push_back(measure(trace, about_trace(trace), arguments.query, reopener(trace, sink, 0),
                           runs.names, with));
  };
  for (const std::string &trace : arguments.a)
    add(runs.a, trace, renames);
  for (const std::string &trace : arguments.b)
    add(runs.b, trace, {});
  const Comparison comparison = compare(runs);
  std::vector<GateResult> results;
  for (const Gate &gate : gates)
    results.push_back(check_gate(gate, runs));
  const DiffInput input{runs, comparison, results};
  if (arguments.json)
    write_diff_json(input, [&](std::string_view text) { out.write(text); });
  else
    out.write(diff_text(input, arguments.top, terminal_columns(STDOUT_FILENO)));
  return std::all_of(results.begin(), results.end(),
                     [](const GateResult &result) { return result.passed; });
}

int diff(Arguments arguments) {
  if (arguments.b.empty() && arguments.a.size() == 2) {
    arguments.b = {arguments.a.back()};
    arguments.a.pop_back();
  }
  if (arguments.b.empty())
    throw Error("give two traces, A B, or several runs of each, A1 A2 A3 -- B1 B2 B3", kExitUsage);
  if (!arguments.to.empty() &&
      (arguments.json || !arguments.gates.empty() || arguments.query.section))
    throw Error("--to folded takes no --json, --gate or --section", kExitUsage);
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
  const auto arguments = std::make_shared<Arguments>();
  const App command = add_unprivileged(app, "diff", "Say what made one run slower than another");
  command.usage("ovnitrace diff [OPTIONS] A B\n"
                "       ovnitrace diff [OPTIONS] A1 A2... -- B1 B2...");
  command
      .add_option(
          "TRACE", arguments->a,
          "Trace directories or FTrace files: A and B, or the runs of A (those of B follow --)")
      .required();
  command
      .add_option("--section", arguments->query.section,
                  "Compare the longest section of this number (docs/user-events.md)")
      .type_name("NUMBER");
  add_cut_list(command, kComm.names, "NAME", kTraceComms, arguments->query.comms,
               "Compare only threads with this name, as 'worker-*'. The critical path is that of "
               "the main thread if it has this name, otherwise of the thread that ran longest");
  command
      .add_option("--match", arguments->matches,
                  "Treat threads or processes named OLD in A as those named NEW in B; can be given "
                  "several times")
      .type_name("OLD=NEW")
      .allow_extra_args(false);
  command
      .add_option("--gate", arguments->gates,
                  "Exit with status 4 if a limit is exceeded, as in 'wait.p99<+10%' "
                  "(docs/diff.md#gates); can be given several times")
      .type_name("GATE")
      .allow_extra_args(false);
  command
      .add_option(kTop.names, arguments->top,
                  "Print at most N groups of threads, and N lines of each; 0: all (default: 10)")
      .type_name("N")
      .range(0, UINT32_MAX);
  command.add_flag(kJson.names, arguments->json, "Print an object of JSON, with times in ns");
  command
      .add_option(kTo.names, arguments->to,
                  "Write the stacks of both runs, for a differential flame graph. FORMAT is folded")
      .type_name("FORMAT")
      .one_of({"folded"});
  add_terminal_options(command);
  command.footer(R"(
The first lines list conditions that differ between the runs. The next sentence says how much slower
or faster B is, and how much of that each cause on the critical path explains. The tables show each
cause, and the time of each group of threads. Threads are matched by process and name. Numbers in
names may differ.

Five runs of each side are enough for a verdict. A change with ~ may be chance.

docs/diff.md explains the output. The exit status is 4 if a gate failed, and 1 if a part of a trace
is damaged.

Examples:
  ovnitrace diff before after
  ovnitrace diff a1 a2 a3 a4 a5 -- b1 b2 b3 b4 b5
  ovnitrace diff before after --section 7
  ovnitrace diff before after --gate 'wall<+5%' --gate 'wait.p99<+10%'
  ovnitrace diff before after --to folded | flamegraph.pl --countname ns > change.svg)");
  command.callback([arguments, after] {
    arguments->b = after;
    return diff(*arguments);
  });
}

} // namespace ovnitrace
