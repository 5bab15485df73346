// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/commands.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "emulator/cli/measure_runs.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/warnings.h"
#include "user/cli/checked_options.h"
#include "user/cli/number_option.h"
#include "user/cli/repeated_capture.h"
#include "user/cli/scratch_directory.h"
#include "user/cli/stat_output.h"
#include "user/launch/signals.h"

#include <memory>
#include <string>
#include <vector>

namespace ovnitrace {

namespace {

struct StatArguments {
  RecordArguments record;
  uint32_t repeat = 0; ///< 0: once, with a summary
  std::string against; ///< another command; empty: none
  std::vector<std::string> matches;
  StatOutput output;
};

/// Measures all runs at the end: only root can record.
int stat_repeated(const StatArguments &arguments) {
  RecordOptions options = checked(arguments.record);
  if (options.command.empty())
    throw UsageError("-r repeats a program: name it after --");
  std::vector<std::vector<std::string>> commands = {options.command};
  if (!arguments.against.empty())
    commands.push_back(words_of(arguments.against));
  check_output(arguments.output);
  ScratchDirectory scratch("/var/tmp"); // on a disk, as traces may be large
  options.quiet = true;
  options.directory = scratch.path();
  ComparedTraces traces{.a = {}, .b = {}, .matches = arguments.matches};
  const int status = record_alternately(options, commands, arguments.repeat, traces);
  drop_privileges();
  scratch.remove_on_signal();
  Warnings warnings;
  const ProgressBar progress;
  print_runs(measure_runs(traces, {}, warnings), arguments.output);
  warnings.finish();
  return status;
}

int stat(const StatArguments &arguments) {
  if (arguments.repeat)
    return stat_repeated(arguments);
  RecordOptions options = checked(arguments.record);
  check_output(arguments.output);
  ScratchDirectory scratch("/var/tmp"); // on a disk, as a trace may be large
  options.directory = scratch.path() + "/trace";
  options.quiet = true;
  const RecordResult result = record(options);
  drop_privileges();
  scratch.remove_on_signal();
  end_on_signals();
  const ProgressBar progress;
  try {
    print_summary(options.directory, arguments.output);
  } catch (const Error &error) { // what is missing may be the reason
    print_text(error.what());
    if (!result.missing.empty())
      print_text(result.missing);
    return result.exit_status ? result.exit_status : error.status();
  }
  if (!result.missing.empty())
    print_text(result.missing);
  return result.exit_status;
}

} // namespace

void add_stat(App app, const std::vector<std::string> &command) {
  const auto arguments = std::make_shared<StatArguments>();
  arguments->record.options.command = command;
  const App stat_app = app.add_subcommand("stat", "Run a program and print only a summary");
  stat_app.usage("ovnitrace stat [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
                 "       ovnitrace stat [OPTIONS] -a|-p PID");
  stat_app
      .add_option(kOutput, arguments->output.file,
                  "Write the summary into this file; - is standard output (default: standard "
                  "error)")
      .type_name("FILE");
  stat_app
      .add_option("-r,--repeat", arguments->repeat,
                  "Run the program N times, and print the median and the spread of its times")
      .type_name("N")
      .range(1, 1000);
  stat_app
      .add_option(
          "--against", arguments->against,
          "With -r: run this command line (B) alternately with the program (A), and say which "
          "is faster, and why (docs/diff.md)")
      .type_name("COMMAND")
      .check([](const std::string &text) { return text.empty() ? "the command is empty" : ""; })
      .needs("--repeat");
  add_match(stat_app, arguments->matches).needs("--against");
  add_force(stat_app, arguments->output.force);
  stat_app.add_flag(
      kQuiet, arguments->record.options.quiet,
      "Print only the summary and warnings; do not list the processes that -p NAME found");
  add_number(stat_app, kTop, arguments->output.top, 1, 1'000'000,
             "Print at most N threads, those that ran longest (default: 10)");
  add_capture_options(stat_app, arguments->record);
  add_stack_options(stat_app, arguments->record);
  add_user_option(stat_app, arguments->record.options);
  stat_app.add_flag(
      kJson, arguments->output.json,
      "Print an object of JSON, as `ovnitrace info --json` does (docs/info.md). With -r, it is "
      "the object of docs/stat.md; with --against, that of docs/diff.md");
  stat_app.footer(R"(
Prints the summary when the program ends; without a program, at Ctrl-C or after -d. Two sentences
say where the time went. Tables show the time of all threads in each state, switches, preemptions,
migrations, wakeup latencies, and the threads that ran longest. Event families and stacks have
tables of their own. The exit status is the program's.

While the program runs, the trace is in TMPDIR or /var/tmp. It takes 1 to 3 bytes for each event. It
is removed at the end, unless ovnitrace is killed. With -r, all traces are removed after the last
run, and the exit status is that of the first run that failed.

Examples:
  sudo ovnitrace stat -- ./app
  sudo ovnitrace stat -p 1234 -d 10
  sudo ovnitrace stat -p nginx -d 1m
  sudo ovnitrace stat --json -o machine.json -a -d 1
  sudo ovnitrace stat -r 10 -- ./app
  sudo ovnitrace stat -r 10 --against './app --new' -- ./app --old)");
  stat_app.callback([arguments] { return stat(*arguments); });
}

} // namespace ovnitrace
