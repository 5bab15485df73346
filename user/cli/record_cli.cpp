// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/commands.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/identity.h"
#include "emulator/base/json_stream.h"
#include "emulator/base/messages.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/run_conversion.h"
#include "emulator/cli/run_report.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/format/thread_identity.h"
#include "user/cli/checked_options.h"
#include "user/cli/no_region.h"
#include "user/launch/signals.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>

namespace ovnitrace {

namespace {

/// What the one-step command makes of what it recorded.
struct Outputs {
  ConvertOptions convert;
  bool report = false, open = false; ///< the page for the browser
  bool convert_it = true;            ///< to Paraver
};

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

/// Checks the options of outputs. With --send, nothing is converted here.
void check_outputs(const RecordOptions &options, const Outputs &outputs) {
  const ConvertOptions &conversion = outputs.convert;
  if (!outputs.convert_it &&
      (conversion.gzip || !conversion.model_files.empty() || !conversion.cut.comms.empty()))
    throw UsageError("--gzip, --model and --draw are for the files of Paraver, which --no-convert "
                     "does not write");
  const bool any = !outputs.convert_it || conversion.gzip || !conversion.model_files.empty() ||
                   !conversion.cut.comms.empty() || outputs.report || outputs.open;
  if (any && !options.send.empty())
    throw UsageError("--gzip, --model, --draw, --report, --open and --no-convert do not go with "
                     "--send, which converts nothing: give them to `ovnitrace convert` and "
                     "`ovnitrace report` where the trace is collected");
  if (conversion.model_files.empty())
    return;
  const EffectiveIdentity as_user(calling_user());
  try {
    check_models(conversion.model_files); // known before the program runs
  } catch (const Error &error) {
    throw UsageError("--model: {}", error.what());
  }
}

/// Prints how large the files for Paraver will be, within a factor of two, before they are written.
void print_size(const std::string &directory, uint64_t events, bool gzip) {
  constexpr uint64_t kBytesOfAnEvent = 100, kZippedBytes = 10;
  uint64_t trace = 0;
  std::error_code ignored;
  for (const auto &file : std::filesystem::directory_iterator(directory, ignored))
    if (file.is_regular_file(ignored))
      trace += file.file_size(ignored);
  print("files for Paraver: about {} beside a trace of {} (--no-convert leaves them out)",
        human_bytes(events * (gzip ? kZippedBytes : kBytesOfAnEvent)), human_bytes(trace));
}

/// Writes the page. The conversion has already reported what is damaged in the trace.
void write_report_of(const std::string &directory, const Outputs &outputs, bool quiet) {
  ReportArguments report;
  report.why_command = why_command(directory, {});
  report.cut = outputs.convert.cut;
  report.open = outputs.open;
  report.quiet = true;
  run_report(directory, report);
  if (!quiet)
    print("{}open {}/report.html in a browser", outputs.convert_it ? "or " : "", directory);
}

void print_uses(const std::string &directory) {
  print("see it with `ovnitrace info {0}` or `ovnitrace report {0} --open`; for Paraver, "
        "`ovnitrace convert {0}`",
        directory);
}

/// Converts a recording. A failure does not affect the trace on disk. Returns the exit status: 0,
/// or 1 after a message on stderr.
int convert_recording(const RecordResult &result, Outputs outputs, bool quiet) {
  const std::string &directory = result.directory;
  end_on_signals();
  if (access(directory.c_str(), F_OK) != 0) {
    print_text(
        fmt::format("there is nothing to convert: {} is gone, somebody has removed it", directory));
    return kExitFailure;
  }
  outputs.convert.directory = directory;
  try {
    drop_privileges();
    if (!outputs.convert_it) {
      if (outputs.report || outputs.open)
        write_report_of(directory, outputs, quiet);
      else if (!quiet)
        print_uses(directory);
      return 0;
    }
    if (!quiet)
      print_size(directory, result.events, outputs.convert.gzip);
    const auto output = quiet ? ConversionOutput::nothing : ConversionOutput::progress;
    const int status = run_conversion({{directory, 0}}, outputs.convert, output);
    if (!quiet)
      print("open {0}/thread.prv or {0}/cpu.prv in Paraver, then a timeline of {0}/cfg", directory);
    if (outputs.report || outputs.open)
      write_report_of(directory, outputs, quiet);
    else if (!quiet)
      print("or see it in a browser: ovnitrace report {} --open", directory);
    return status;
  } catch (const Error &error) {
    print_text(error.what());
    print("the trace is recorded; try `{}`",
          conversion_command("", {{directory, 0}}, outputs.convert));
    return error.status();
  }
}

/// Returns the exit status. The last line says what is missing in the trace, even with --quiet.
int end_recording(const RecordResult &result, int converted) {
  if (!result.missing.empty())
    print_text(result.missing);
  return result.exit_status ? result.exit_status : converted;
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

/// Prints what --dry-run finds, as a table or as an object of JSON.
void print_threads(const std::vector<listed_thread> &threads, bool json) {
  StdoutWriter out;
  if (json) {
    JsonStream object([&out](std::string_view text) { out.write(text); });
    object.member("schema", kJsonSchema);
    object.start_array("threads");
    for (const listed_thread &thread : threads)
      object.element(
          {{"tid", thread.tid}, {"pid", thread.pid}, {"name", ThreadName(thread.comm).text()}});
    object.end_array();
    object.end();
  } else {
    out.write(fmt::format("{:>8} {:>8} NAME\n", "PID", "TID"));
    for (const listed_thread &thread : threads)
      out.write(
          fmt::format("{:>8} {:>8} {}\n", thread.pid, thread.tid, ThreadName(thread.comm).text()));
    out.write(human_count(threads.size(), "thread", "threads") + " would be recorded now\n");
  }
  out.flush();
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
                   "       ovnitrace record [OPTIONS] -a|-p PID [-- PROGRAM]\n"
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
