// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/measure_runs.h"

#include "emulator/cli/trace_inputs.h"
#include "emulator/core/program_threads.h"

#include <filesystem>
#include <optional>
#include <set>
#include <utility>

namespace ovnitrace {

namespace {

/// The program that all runs of a side ran, and the names in its first run.
struct Program {
  std::string name;            ///< empty: none, or not known
  std::set<std::string> names; ///< folded
};

std::string file_name(const std::string &path) {
  return std::filesystem::path(path).filename().string();
}

/// Returns the names of the files that all runs of a side ran: the program, and what its process
/// executed last, as `taskset` does. Empty: none, or several ones.
std::string files_of(const std::vector<std::string> &traces) {
  std::set<std::string> files;
  for (const std::string &trace : traces) {
    const TraceInfo info = about_trace(trace);
    std::string last;
    for (const CommandLine &line : info.command_lines)
      if (line.pid == info.program_pid)
        last = file_name(line.text.substr(0, line.text.find(' ')));
    files.insert(info.command.empty() ? "" : file_name(info.command.front()) + " " + last);
  }
  return files.size() == 1 ? *files.begin() : "";
}

Program program_of(const std::string &trace) {
  NoDiagnostics reported_when_measured;
  const std::unique_ptr<EventSource> source = open_trace({{trace}}, reported_when_measured);
  const Catalog &catalog = source->catalog();
  Program program;
  for (const ThreadInfo &thread : catalog.threads)
    program.names.insert(fold_digits(thread.name));
  if (const std::vector<uint32_t> mains = started_threads(catalog); !mains.empty())
    program.name = catalog.threads[mains.front()].name;
  return program;
}

/// Returns the programs of A and B if they are matched: the files differ, and no thread of one has
/// the name of the other.
std::optional<std::pair<Program, Program>> matched_programs(const ComparedTraces &traces) {
  const std::string files_a = files_of(traces.a), files_b = files_of(traces.b);
  if (files_a.empty() || files_b.empty() || files_a == files_b)
    return {};
  const Program a = program_of(traces.a.front()), b = program_of(traces.b.front());
  if (a.name.empty() || b.name.empty() || a.names.contains(fold_digits(b.name)) ||
      b.names.contains(fold_digits(a.name)))
    return {};
  return std::pair(a, b);
}

Renames renames_of(const ComparedTraces &traces,
                   const std::optional<std::pair<Program, Program>> &programs) {
  Renames renames;
  for (const std::string &match : traces.matches)
    renames.push_back(parse_rename(match));
  if (programs)
    renames.emplace_back(fold_digits(programs->first.name), fold_digits(programs->second.name));
  return renames;
}

} // namespace

Option add_match(App command, std::vector<std::string> &matches) {
  return command
      .add_option("--match", matches,
                  "Treat threads or processes named OLD in A as those named NEW in B; can be given "
                  "several times")
      .type_name("OLD=NEW")
      .allow_extra_args(false);
}

Renames renames_of(const ComparedTraces &traces) {
  return renames_of(traces, matched_programs(traces));
}

ComparedRuns measure_runs(const ComparedTraces &traces, const RunQuery &query,
                          DiagnosticSink &sink) {
  const auto programs = matched_programs(traces);
  const Renames renames = renames_of(traces, programs);
  ComparedRuns runs;
  if (programs)
    runs.programs = {{programs->first.name, programs->second.name}};
  const auto measure_run = [&](const std::string &trace, const Renames &with) {
    return measure(trace, about_trace(trace), query, reopener(trace, sink, 0), runs.names, with);
  };
  for (const std::string &trace : traces.a)
    runs.a.push_back(measure_run(trace, renames));
  for (const std::string &trace : traces.b)
    runs.b.push_back(measure_run(trace, {}));
  return runs;
}

} // namespace ovnitrace
