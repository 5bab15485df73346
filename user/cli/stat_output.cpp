// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/stat_output.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/terminal.h"
#include "emulator/cli/warnings.h"
#include "emulator/diff/diff_report.h"
#include "emulator/diff/repeat_report.h"
#include "emulator/input/trace_info.h"
#include "emulator/open/open_trace.h"
#include "emulator/output/atomic_file.h"
#include "emulator/summary/report.h"
#include "emulator/why/answered_summary.h"
#include "emulator/why/why_report.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace ovnitrace {

namespace {

void write_out(const std::string &text, const std::string &output) {
  if (!output.empty() && output != "-")
    return write_text_file(OutputPlace(output), text);
  std::FILE *const file = output.empty() ? stderr : stdout;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0)
    throw Error("cannot write to standard {}: {}", output.empty() ? "error" : "output",
                std::strerror(errno));
}

/// Returns the columns of where the summary goes.
size_t columns_of(const std::string &output) {
  return table_columns(output.empty() ? STDERR_FILENO : output == "-" ? STDOUT_FILENO : -1);
}

/// Takes the commands, which differ because the user asked for it, out of the conditions. Returns
/// them as the first lines of the text.
std::string take_commands(Comparison &comparison) {
  std::string text;
  std::erase_if(comparison.conditions, [&](const Difference &one) {
    if (one.what != "command")
      return false;
    text = fmt::format("A: {}\nB: {}\n\n", one.a, one.b);
    return true;
  });
  return text;
}

} // namespace

void check_output(const StatOutput &output) {
  if (output.file.empty() || output.file == "-")
    return;
  const EffectiveIdentity as_owner(calling_user());
  require_free(output.file, output.force);
  const AtomicFile could_be_made{OutputPlace(output.file)};
}

void print_summary(const std::string &directory, const StatOutput &output) {
  Warnings warnings;
  const std::unique_ptr<EventSource> source = open_trace({{directory}}, warnings);
  NoDiagnostics reported_already;
  const TraceInfo about = read_trace_info(directory, reported_already);
  const AnsweredSummary answered = summarize_and_answer(*source, about, {});
  const std::string nowhere; // the trace is not kept
  const Catalog &catalog = source->catalog();
  const ReportInput input{nowhere, about, catalog, answered.summary, answered.answer};
  ReportOptions options{.top = output.top};
  options.columns = columns_of(output.file);
  std::string text = output.json ? json_report(input, options) : totals(input, options);
  if (!output.json) {
    text += family_tables(input, options);
    if (!about.stacks.empty()) {
      const Stacks stacks(catalog, reported_already);
      text += '\n' + blocked_text({nowhere, about, catalog, stacks, answered.why}, output.top,
                                  options.columns);
    }
    if (output.file.empty())
      text.insert(0, 1, '\n'); // after what the program has printed
  }
  write_out(text, output.file);
  warnings.finish();
}

void print_runs(const ComparedRuns &runs, const StatOutput &output) {
  const size_t columns = columns_of(output.file);
  std::string text;
  const auto take = [&](std::string_view part) { text += part; };
  if (runs.b.empty() && output.json)
    write_repeat_json(runs.a, runs.names, take);
  else if (runs.b.empty())
    text = repeat_text(runs.a, runs.names, columns);
  else {
    Comparison comparison = compare(runs);
    if (!output.json)
      text = take_commands(comparison);
    const std::vector<GateResult> no_gates;
    const DiffInput input{runs, comparison, no_gates};
    if (output.json)
      write_diff_json(input, take);
    else
      text += diff_text(input, output.top, columns);
  }
  if (output.file.empty() && !output.json)
    text.insert(0, 1, '\n'); // after what the program has printed
  write_out(text, output.file);
}

} // namespace ovnitrace
