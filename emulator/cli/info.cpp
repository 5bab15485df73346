// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace info: says what a trace is, and what its threads and CPUs did.
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
#include "emulator/input/trace_info.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"
#include "emulator/summary/report.h"
#include "emulator/why/answered_summary.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <memory>

namespace ovnitrace {

namespace {

struct InfoArguments {
  std::vector<std::string> paths;
  bool json = false;
  CutArguments cut;
  ReportOptions report{.top = 20};
};

/// Returns a line of help for each counter.
std::string counter_help() {
  std::string text;
  for (const CounterInfo &counter : kCounters)
    text += fmt::format("  {:<18}  how often it {}\n", upper_case(counter.name), counter.meaning);
  return text;
}

int info(const InfoArguments &arguments) {
  Warnings warnings;
  const ProgressBar progress;
  const Cut cut = cut_of(arguments.cut, arguments.paths.front());
  const std::unique_ptr<EventSource> source = open_trace(trace_inputs(arguments.paths), warnings);
  const std::string names = fmt::format("{}", fmt::join(arguments.paths, " "));
  const TraceInfo about = arguments.paths.size() == 1 ? about_trace(names) : TraceInfo();
  const AnsweredSummary answered = summarize_and_answer(
      *source, about, cut, nullptr, why_command(arguments.paths.front(), arguments.cut));
  ReportOptions options = arguments.report;
  options.columns = table_columns(STDOUT_FILENO);
  const ReportInput input{names, about, source->catalog(), answered.summary, answered.answer};
  StdoutWriter out;
  if (arguments.json)
    write_json_report(input, options, [&](std::string_view text) { out.write(text); });
  else
    out.write(with_headings(text_report(input, options)));
  out.flush();
  warnings.finish();
  return warnings.damage() && !out.gone() ? kExitFailure : 0;
}

} // namespace

void add_info(App app) {
  const auto arguments = std::make_shared<InfoArguments>();
  const App command =
      add_unprivileged(app, "info", "Print how a trace was recorded, and what its threads did");
  command.add_option("TRACE", arguments->paths, kSeveralTraces).required();
  add_cut_options(command, arguments->cut);
  command
      .add_option("--sort", arguments->report.sort,
                  fmt::format("Sort threads, processes and names by this, the largest first: {} "
                              "(default: running)",
                              fmt::join(sort_words(), ", ")))
      .type_name("COLUMN")
      .one_of(sort_words())
      .default_if(is_among(sort_words()));
  command
      .add_option(kTop, arguments->report.top,
                  "Print at most N lines of a table, and one with the sum of the rest; 0: all "
                  "(default: 20)")
      .type_name("N")
      .check(wrong_number_of_lines);
  add_terminal_options(command);
  command.add_flag(kJson, arguments->json, "Print an object of JSON, with times in ns");
  command.footer(fmt::format(R"(
The first tables show, for each thread:

  RUNNING to UNKNOWN  its time in each state, in the first table. UNKNOWN: the trace does not say
                      what the thread did, before its first event or after events were lost
  %                   RUNNING as a share of the thread's life between --from and --to
{}  p50, p99, MAX       how long it waited for a CPU after a wakeup. p50 and p99 are within 1/64 of
                      the true value, MAX is exact
  AT                  when its longest wait ended, in seconds from the start of the trace

More tables show these times by process and by name. Others show the CPUs, which thread preempted
which, which woke which, and what else was recorded. docs/info.md explains all tables.

The exit status is 1 if a part of the trace is damaged. The rest is still printed.

Examples:
  ovnitrace info app-20250101-120000
  ovnitrace info --sort latency --top 5 --from 1.5s --to 2s app-20250101-120000
  ovnitrace info --json app-20250101-120000 | jq '.threads[0].time_ns')",
                             counter_help()));
  command.callback([arguments] { return info(*arguments); });
}

} // namespace ovnitrace
