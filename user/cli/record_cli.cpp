// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/commands.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "emulator/cli/shared_options.h"
#include "user/cli/after_recording.h"
#include "user/cli/checked_options.h"
#include "user/cli/no_region.h"
#include "user/cli/thread_list.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace ovnitrace {

namespace {

/// Adds the options of outputs. `ovnitrace convert` and `ovnitrace report` have more.
void add_output_options(App app, Outputs &outputs) {
  const OptionGroup group(app, "After the recording");
  ConvertOptions &options = outputs.convert;
  app.add_flag(
      "--no-convert", [&outputs](int64_t) { outputs.convert_it = false; },
      "Write no files for Paraver. They take about 100 bytes for each event; the trace takes 1 "
      "to 3 bytes");
  app.add_flag("--report", outputs.report,
               "Write report.html too, a page for the browser (docs/report.md)");
  app.add_flag("--open", outputs.open,
               "Write report.html, and open it as the user who called sudo");
  app.add_flag("--gzip", options.gzip, "Write thread.prv.gz and cpu.prv.gz");
  app.add_option("--model", options.model_files,
                 "Also show user events as timelines that this file defines (docs/models.md)")
      .type_name("FILE")
      .allow_extra_args(false);
  app.add_option("--draw", options.cut.comms,
                 "Show only threads of these names in the timelines; * and ? as in a shell. The "
                 "trace keeps all that was recorded")
      .type_name("NAME")
      .delimiter(',')
      .allow_extra_args(false);
}

/// Refuses options that have no effect with this command.
void check_places(App app, const std::vector<std::string> &command) {
  const std::string name = app.named_subcommand();
  if (name.empty())
    return;
  const std::string given = app.first_given_option();
  if (!given.empty())
    throw UsageError("{0} comes before `{1}`: options go after it, as in `ovnitrace {1} {0} …`",
                     given, name);
  if (!command.empty() && name != kTracesCommand &&
      !std::count(std::begin(kProgramCommands), std::end(kProgramCommands), name))
    throw UsageError("`{}` runs no program, and here is one after --: {}", name, command.front());
}

} // namespace

void add_trace(App app, const std::vector<std::string> &command) {
  auto arguments = std::make_shared<RecordArguments>();
  auto outputs = std::make_shared<Outputs>();
  arguments->options.command = command;
  add_record_options(app, *arguments);
  add_output_options(app, *outputs);
  app.parse_complete_callback([app, command] { check_places(app, command); });
  app.callback([app, arguments, outputs] {
    if (!app.named_subcommand().empty())
      return 0;
    RecordOptions options = checked(*arguments);
    options.opens_browser = outputs->open;
    check_outputs(options, *outputs);
    if (!options.selection.comms.empty() && !options.quiet)
      print("--comm records only threads of these names; to record all threads and draw only "
            "some, as --comm did before, use --draw");
    RecordResult result = record(options);
    int converted = 0;
    if (result.no_region)
      print_text(no_region_text(options.control, options.command));
    else if (options.send.empty())
      converted = convert_recording(result, *outputs, options.quiet);
    return end_recording(result, converted);
  });
}

void add_record(App app, const std::vector<std::string> &command) {
  auto arguments = std::make_shared<RecordArguments>();
  arguments->options.command = command;
  const App record_app = app.add_subcommand(
      "record",
      "Record without a conversion. You can convert the trace later, on any machine, without root");
  record_app.usage("ovnitrace record [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
                   "       ovnitrace record [OPTIONS] -a [-- PROGRAM]\n"
                   "       ovnitrace record [OPTIONS] -p PID\n"
                   "       ovnitrace record [OPTIONS] FILTER    threads of the whole machine that "
                   "pass the filter");
  add_record_options(record_app, *arguments);
  record_app.add_flag("--dry-run", arguments->dry_run,
                      "Print the threads that would be recorded now, and record nothing");
  record_app.add_flag(kJson, arguments->json, "With --dry-run: print an object of JSON")
      .default_if([arguments] { return arguments->dry_run; });
  record_app.footer(
      "Examples:\n"
      "  sudo ovnitrace record -o run1 -- ./app    then: ovnitrace info run1\n"
      "  sudo ovnitrace record -a -d 10 -o run2    the whole machine for ten seconds\n"
      "  sudo ovnitrace record --container web     a container, with what it starts, until Ctrl-C\n"
      "  sudo ovnitrace record --unit nginx --no-comm 'ssl*' --dry-run");
  record_app.callback([arguments] {
    const RecordOptions options = checked(*arguments);
    if (arguments->dry_run) {
      const std::vector<listed_thread> threads = list_threads(options);
      drop_privileges(); // for the pager
      print_threads(threads, arguments->json);
      return 0;
    }
    const RecordResult result = record(options);
    if (result.no_region)
      print_text(no_region_text(options.control, options.command));
    if (!options.quiet && options.send.empty() && !result.no_region)
      print_uses(result.directory);
    return end_recording(result, 0);
  });
}

} // namespace ovnitrace
