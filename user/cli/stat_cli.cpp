// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/stat_cli.h"

#include "emulator/base/error.h"
#include "emulator/base/identity.h"
#include "emulator/base/messages.h"
#include "emulator/cli/help_formatter.h"
#include "emulator/cli/warnings.h"
#include "emulator/input/trace_dir.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"
#include "user/cli/record_options.h"
#include "user/launch/signals.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>

namespace ovnitrace {

namespace {

constexpr size_t kTop = 10; ///< threads in the table

struct Arguments {
  RecordArguments record;
  bool json = false;
};

/// A directory in TMPDIR, or in /var/tmp, which is no memory, that is removed at the end. Only the
/// user who called sudo can look into it.
class ScratchDirectory {
public:
  /// For a process with one thread, as the destructor. Throws Error.
  ScratchDirectory() {
    const EffectiveIdentity as_owner(calling_user());
    const char *place = std::getenv("TMPDIR");
    path_ = std::string(place && *place ? place : "/var/tmp") + "/ovnitrace-XXXXXX";
    if (!mkdtemp(path_.data()))
      throw Error("cannot make a directory for the trace as " + path_ + ": " +
                  std::strerror(errno) + "; name another place with TMPDIR");
  }
  ~ScratchDirectory() {
    try {
      const EffectiveIdentity as_owner(calling_user());
      std::filesystem::remove_all(path_);
    } catch (const std::exception &error) {
      print_text(std::string("cannot remove the trace: ") + error.what());
    }
  }
  ScratchDirectory(const ScratchDirectory &) = delete;
  ScratchDirectory &operator=(const ScratchDirectory &) = delete;

  const std::string &path() const { return path_; }

private:
  std::string path_;
};

void print_summary(const std::string &directory, bool json) {
  Warnings warnings;
  const std::unique_ptr<EventSource> source = open_trace({{directory}}, warnings);
  NoDiagnostics reported_already;
  const TraceInfo about = read_trace_info(directory, reported_already);
  const Summary summary = summarize(*source, {});
  const std::string nowhere; // the trace is not kept
  const ReportInput input{nowhere, about, source->catalog(), summary};
  const std::string text = json ? json_report(input) : '\n' + totals(input, kTop);
  std::fwrite(text.data(), 1, text.size(), stderr);
  warnings.finish();
}

int stat(const Arguments &arguments) {
  RecordOptions options = checked(arguments.record);
  const ScratchDirectory scratch;
  options.directory = scratch.path() + "/trace";
  options.quiet = true;
  const RecordResult result = record(options);
  end_on_signals();
  drop_privileges();
  print_summary(options.directory, arguments.json);
  if (!result.missing.empty())
    print_text(result.missing);
  return result.exit_status;
}

} // namespace

void add_stat(CLI::App &app, const std::vector<std::string> &command) {
  const auto arguments = std::make_shared<Arguments>();
  arguments->record.options.command = command;
  CLI::App *stat_app = app.add_subcommand("stat", "Run a program and print only a summary");
  stat_app->formatter(
      std::make_shared<HelpFormatter>("ovnitrace stat [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
                                      "       ovnitrace stat [OPTIONS] -a|-p PID"));
  add_capture_options(*stat_app, arguments->record.options);
  stat_app->add_flag("--json", arguments->json,
                     "Print the object of `ovnitrace info --json` (docs/info.md)");
  stat_app->footer(R"(
Prints on stderr, when the program has ended, or at Ctrl-C where there is none: the time of all
threads in each state, switches, preemptions, migrations and wakeup latencies, then the threads that
ran longest. The exit status is the program's. While it runs the trace is in TMPDIR, or /var/tmp, 1
to 3 bytes an event; it is removed at the end, and stays there if ovnitrace is killed.

Examples:
  sudo ovnitrace stat -- ./app
  sudo ovnitrace stat -p 1234 -d 10
  sudo ovnitrace stat --json -a -d 1 2>machine.json)");
  stat_app->callback([arguments] {
    if (const int status = stat(*arguments))
      throw CLI::RuntimeError(status);
  });
}

} // namespace ovnitrace
