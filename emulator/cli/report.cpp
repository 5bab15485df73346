// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace report: writes a page for the browser.
#include "emulator/base/error.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/output_ending.h"
#include "emulator/cli/run.h"
#include "emulator/cli/run_report.h"
#include "emulator/cli/shared_options.h"

#include <memory>

namespace ovnitrace {

void add_report(App app) {
  struct ReportCommand {
    std::string trace;
    ReportArguments report;
    CutArguments cut;
  };
  const auto arguments = std::make_shared<ReportCommand>();
  ReportArguments &report = arguments->report;
  const App command =
      add_unprivileged(app, "report", "Write a trace as one HTML page for the browser");
  command.add_option("TRACE", arguments->trace, kOneTrace).required();
  command
      .add_option(
          kOutput, report.output,
          "File to write (default: report.html in the trace directory, TRACE.html for a file)")
      .type_name("FILE.html");
  add_force(command, report.force);
  command
      .add_option(
          "--max-size", report.most_bytes,
          "Largest size of the page, such as 20M. If a trace needs more, details are summed up "
          "(default: 64M)")
      .type_name("SIZE")
      .as_size();
  command.add_flag("--open", report.open,
                   "Open the page in the browser, as the user who called sudo");
  command.add_flag(kQuiet, report.quiet, "Print no summary, only warnings about the trace");
  add_cut_options(command, arguments->cut);
  command
      .add_option("--against", report.against.trace,
                  "Show another run of the program on the same page, as B, and what made B slower "
                  "or faster (docs/report.md#compare-two-runs)")
      .type_name("TRACE");
  command
      .add_option(
          "--align", report.against.mark,
          "With --against: align both runs at the mark with this text (default: at the longest "
          "section of --section, or at the start)")
      .type_name("MARK");
  add_path_options(command, report.path, "Show this critical path first");
  command.footer(R"(
The page needs no network, no server and no other file. It shows the states of each thread on a
timeline, and why each state started and ended (docs/report.md). If a trace does not fit into
--max-size, the threads that waited longest for a CPU keep all detail. For the others, short states
are summed up, and the page says so.

The exit status is 1 if a part of the trace is damaged. The rest is still shown.

Examples:
  ovnitrace report app-20250101-120000 --open
  ovnitrace report app-20250101-120000 -o /tmp/app.html --from 1.5s --to 2s
  ovnitrace report before --against after -o change.html
  sudo ovnitrace --report -- ./app)");
  command.callback([arguments] {
    check_ending(arguments->report.output, {".html", ".htm"},
                 "a report is HTML: give a name that ends in .html; a browser prints it as PDF");
    check_is_no_stdout(arguments->report.output, "a report is a file for the browser: name it");
    if (arguments->report.against.trace.empty() && !arguments->report.against.mark.empty())
      throw UsageError("--align needs --against TRACE");
    check_section(arguments->report.path);
    if (!arguments->report.against.trace.empty() && arguments->report.path.query.tid)
      throw UsageError("--against shows the critical paths of both programs: leave out the TID of "
                       "--critical-path");
    arguments->report.cut = cut_of(arguments->cut, arguments->trace);
    arguments->report.why_command = why_command(arguments->trace, arguments->cut);
    return run_report(arguments->trace, arguments->report);
  });
}

} // namespace ovnitrace
