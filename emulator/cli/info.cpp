// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace info: what a trace is and what its threads and CPUs did.
#include "emulator/base/error.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/run.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/cli/warnings.h"
#include "emulator/input/open.h"
#include "emulator/input/trace_dir.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <memory>

namespace ovnitrace {

namespace {

struct Arguments {
  std::string path;
  bool json = false;
};

void info(const Arguments &arguments) {
  Warnings warnings;
  const std::unique_ptr<EventSource> source = open_trace({{arguments.path}}, warnings);
  TraceInfo about;
  if (is_trace_dir(arguments.path)) {
    NoDiagnostics told_already; // by open_trace
    about = read_trace_info(arguments.path, told_already);
  }
  const Summary summary = summarize(*source);
  const ReportInput input{arguments.path, about, source->catalog(), summary};
  StdoutWriter out;
  out.write(arguments.json ? json_report(input) : text_report(input));
  out.flush();
  warnings.finish();
  if (warnings.damage() && !out.gone())
    throw CLI::RuntimeError(kExitFailure);
}

} // namespace

void add_info(CLI::App &app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App *command = add_unprivileged(app, "info", "Tell what a trace is and sum up its threads");
  command->add_option("TRACE", arguments->path, "The directory of the trace, or an FTrace file")
      ->required();
  command->add_flag("--json", arguments->json, "Print it for programs, times in ns");
  command->footer(R"(
Threads are listed by the time that they were Running. Of each: its time in each state, how it left
its CPU (PREEMPTED and YIELDED while runnable, VOLUNTARY to wait or to end), how often it was woken
and put on another CPU, and how long it waited from woken to Running. UNKNOWN is what was not seen:
before its first event, and after events were lost. Of each CPU: the time in which a thread of the
trace ran on it, and that in which its events were lost or are missing. How many were LOST is not known where
records are missing. The % of a thread is of its own life during the capture, that of a CPU of the whole
capture. Of LATENCY, p50 and p99 are within 1/64 (1.6 %) of the true value; max is exact.

The exit status is 1 if a part of the trace is damaged; all the rest is summed up.

Examples:
  ovnitrace info app-20250101-120000
  ovnitrace info --json app-20250101-120000 | jq '.threads[0].time_ns')");
  command->callback([arguments] { info(*arguments); });
}

} // namespace ovnitrace
