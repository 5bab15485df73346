// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/after_recording.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/run_conversion.h"
#include "emulator/cli/run_report.h"
#include "user/launch/signals.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace ovnitrace {

namespace {

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

} // namespace

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

void print_uses(const std::string &directory) {
  print("see it with `ovnitrace info {0}` or `ovnitrace report {0} --open`; for Paraver, "
        "`ovnitrace convert {0}`",
        directory);
}

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

int end_recording(const RecordResult &result, int converted) {
  if (!result.missing.empty())
    print_text(result.missing);
  return result.exit_status ? result.exit_status : converted;
}

} // namespace ovnitrace
