// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace export: writes the format of another tool.
#include "emulator/base/error.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/export_formats.h"
#include "emulator/cli/output_ending.h"
#include "emulator/cli/run.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/trace_inputs.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <filesystem>
#include <memory>
#include <string>

namespace ovnitrace {

namespace {

struct ExportCommand {
  std::string format; ///< empty: not given
  CutArguments cut;
  ExportArguments write; ///< without the cut
};

const ExportFormat *find_format(const std::string &word) {
  for (const ExportFormat &format : kExportFormats)
    if (word == format.word)
      return &format;
  return nullptr;
}

std::string format_words() {
  std::string words;
  for (const ExportFormat &format : kExportFormats)
    words += (words.empty() ? "" : ", ") + std::string(format.word);
  return words;
}

/// Takes a value of --to, which is given twice to export a part: a format, and the end of the part.
/// No format looks like a time. Returns what is wrong with the value, or nothing.
std::string take_to(const std::string &word, ExportCommand &arguments) {
  TraceTime time;
  const bool is_time = parse_trace_time(word, time);
  if (is_time && arguments.cut.to.kind == TraceTime::Kind::not_given)
    arguments.cut.to = time;
  else if (find_format(word) && arguments.format.empty())
    arguments.format = word;
  else if (is_time || find_format(word))
    return fmt::format("'{}' is one {} too many", word, is_time ? "time" : "format");
  else
    return fmt::format("'{}' is neither a format nor a time: formats are {}", word, format_words());
  return {};
}

/// Returns the formats, one in a line, for --help.
std::string list_of_formats() {
  std::string lines;
  for (const ExportFormat &format : kExportFormats)
    lines += fmt::format("  {:<10} {}; TRACE{}\n", format.word, format.what, format.suffix);
  return lines;
}

/// Empties a directory, if nothing is in it but an earlier export: names that match `entries`.
void empty_export(const std::string &directory, const char *entries) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (!fs::is_directory(directory, none))
    return;
  std::vector<fs::path> old;
  for (const auto &entry : fs::directory_iterator(directory))
    if (fnmatch(entries, entry.path().filename().c_str(), FNM_EXTMATCH) == 0)
      old.push_back(entry.path());
    else
      throw Error("{} is not replaced: it has files that are not from an export, as {}; choose "
                  "another with -o",
                  directory, entry.path().filename().string());
  for (const fs::path &path : old)
    fs::remove_all(path);
}

int run_export(const ExportCommand &arguments) {
  if (arguments.format.empty() && find_format(arguments.write.inputs.front()))
    throw UsageError("--to FORMAT is required: write `ovnitrace export --to {}`",
                     arguments.write.inputs.front());
  if (arguments.format.empty())
    throw UsageError("--to FORMAT is required: `ovnitrace export --help` lists the formats");
  const ExportFormat &format = *find_format(arguments.format);
  ExportArguments write = arguments.write;
  if (arguments.cut.cuts() && !format.takes_cut)
    throw UsageError("export --to {} writes the whole trace: it takes no --from, --to TIME, --pid, "
                     "--tid or --comm",
                     format.word);
  check_section(write.path);
  if (write.path.wanted && !format.takes_path)
    throw UsageError(
        "export --to {} cannot show a critical path: use --to perfetto or `ovnitrace convert`",
        format.word);
  if (write.per_thread && format.write != export_folded)
    throw UsageError("--per-thread needs --to folded");
  if (write.inputs.size() > 1 && format.takes_cut)
    throw UsageError("export --to {} takes one trace: tids of different hosts have nothing to do "
                     "with each other. Export each trace by itself",
                     format.word);
  if (format.write != export_folded)
    check_is_no_stdout(write.output, "only --to folded can write to standard output: name a file");
  write.cut = cut_of(arguments.cut, write.inputs.front());
  if (write.output.empty())
    write.output = nameable(write.inputs.front()) + format.suffix;
  if (write.force && format.entries)
    empty_export(write.output, format.entries);
  require_free(write.output, write.force);
  return format.write(write);
}

} // namespace

void add_export(App app) {
  const auto arguments = std::make_shared<ExportCommand>();
  const App command =
      add_unprivileged(app, "export", "Write a trace in the format of another tool");
  command.usage("ovnitrace export --to FORMAT [OPTIONS] TRACE...");
  const auto set = [arguments](const std::vector<std::string> &words) {
    for (const std::string &word : words)
      if (const std::string wrong = take_to(word, *arguments); !wrong.empty())
        refuse_value("--to: " + wrong);
  };
  command
      .add_option_function<std::vector<std::string>>(
          kTo, set,
          "The format, one of those below. Give --to a second time to say where the part of the "
          "trace ends, as in --to sqlite --from 1.5s --to 2s")
      .type_name("FORMAT")
      .values(format_words())
      .allow_extra_args(false);
  command.add_option("TRACE", arguments->write.inputs, kOneTrace).required();
  command
      .add_option(kOutput, arguments->write.output,
                  "File or directory to write (default: TRACE with the suffix of the format)")
      .type_name("PATH");
  add_force(command, arguments->write.force);
  command.add_flag(kQuiet, arguments->write.quiet,
                   "Print no progress and no summary, only warnings about the trace");
  add_cut_options(command, arguments->cut, false);
  add_path_options(command, arguments->write.path,
                   "With --to perfetto: add a track of the critical path");
  command.get_option("--critical-path").default_if([arguments] {
    const ExportFormat *format = find_format(arguments->format);
    return format && format->takes_path;
  });
  command.add_flag("--per-thread", arguments->write.per_thread,
                   "With --to folded: keep threads and processes with equal names apart, and add "
                   "their ids (default: sum up those with equal names)");
  command.footer("\nFormats:\n" + list_of_formats() + R"(
docs/perfetto.md, docs/ovni.md and docs/stacks.md (folded, pprof, speedscope) explain the formats.
docs/sql.md has the tables of sqlite and csv, with example queries. --to folded -o - writes to
standard output. --to ovni takes several traces, and exports only whole traces. Each trace becomes
one loom (host) of ovni.

The exit status is 1 if a part of the trace is damaged. The rest is still exported.

Examples:
  ovnitrace export --to perfetto app-20250101-120000
  ovnitrace export --to perfetto app-20250101-120000 -o part.pftrace --from 1.5s --to 2s
  ovnitrace export --to ovni app-20250101-120000
  ovniemu app-20250101-120000.ovni
  ovnitrace export --to sqlite app-20250101-120000
  sqlite3 -box app-20250101-120000.sqlite 'SELECT * FROM latency ORDER BY ns DESC LIMIT 5'
  ovnitrace export --to folded app-20250101-120000 -o - | flamegraph.pl --countname ns > app.svg
  ovnitrace export --to pprof app-20250101-120000
  go tool pprof -top -tagfocus cause=futex app-20250101-120000.pb.gz)");
  command.callback([arguments] { return run_export(*arguments); });
}

} // namespace ovnitrace
