// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace why: says where the time of threads went, and who is to blame.
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/cut_options.h"
#include "emulator/cli/path_options.h"
#include "emulator/cli/progress_bar.h"
#include "emulator/cli/run.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/cli/terminal.h"
#include "emulator/cli/terminal_options.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/cli/warnings.h"
#include "emulator/core/program_threads.h"
#include "emulator/open/open_trace.h"
#include "emulator/why/explainer.h"
#include "emulator/why/path_report.h"
#include "emulator/why/slowest.h"
#include "emulator/why/why_report.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

namespace ovnitrace {

namespace {

struct WhyArguments {
  std::string trace;
  bool json = false;
  bool latency = false;
  bool all_threads = false; ///< of the machine, not only of the program
  CutArguments given_cut;
  Cut cut; ///< known when the trace is
  PathArguments path;
  WhyOptions options;
  uint32_t slowest = 0; ///< number of sections to explain; 0: the whole part
};

constexpr size_t kPathLines = 20;

WhyBy by_word(const std::string &word) {
  return word == "process"  ? WhyBy::process
         : word == "name"   ? WhyBy::name
         : word == "cgroup" ? WhyBy::cgroup
                            : WhyBy::thread;
}

/// Returns only the tables of the path: the rest answers another question.
std::string path_only(const WhyArguments &arguments, const TraceInfo &about, DiagnosticSink &sink) {
  const std::unique_ptr<EventSource> source = open_trace({{arguments.trace}}, sink);
  std::optional<CriticalPath> path = wanted_path(arguments.path, about, arguments.cut, *source);
  return path_text(*path, source->catalog(), arguments.options.top.value_or(kPathLines),
                   arguments.options.by == WhyBy::name, arguments.options.columns);
}

/// Returns a note that threads outside the program are not explained.
std::string left_out_text(const Catalog &catalog, const Cut &given, const Cut &used) {
  const auto kept = [&](const Cut &cut) {
    const std::vector<uint8_t> threads = kept_threads(cut, catalog);
    return uint64_t(std::count(threads.begin(), threads.end(), uint8_t(1)));
  };
  const uint64_t others = kept(given) - kept(used);
  return others ? fmt::format("\n{} of the machine {} left out: --all-threads explains all.\n",
                              human_count(others, "thread", "threads"), others == 1 ? "is" : "are")
                : "";
}

void write_all(const WhyArguments &arguments, const TraceInfo &about, DiagnosticSink &sink,
               StdoutWriter &out) {
  const auto open = reopener(arguments.trace, sink, 0);
  std::unique_ptr<EventSource> source = open();
  std::optional<CriticalPath> path = wanted_path(arguments.path, about, arguments.cut, *source);
  if (path)
    source = open();
  const Catalog &catalog = source->catalog();
  const Cut cut =
      arguments.all_threads ? arguments.cut : cut_to_program(arguments.cut, about, catalog);
  const Stacks stacks(catalog, sink);
  const Explanation explanation = explain(*source, cut, started_threads(catalog), &stacks);
  const WhyInput input{arguments.trace,
                       about,
                       source->catalog(),
                       stacks,
                       explanation,
                       path ? &*path : nullptr,
                       why_command(arguments.trace, arguments.given_cut)};
  if (arguments.json)
    write_why_json(input, [&](std::string_view text) { out.write(text); });
  else
    out.write(with_headings(why_text(input, arguments.options)) +
              left_out_text(catalog, arguments.cut, cut));
}

void write_slowest(const WhyArguments &arguments, const TraceInfo &about, DiagnosticSink &sink,
                   StdoutWriter &out) {
  const SlowestInput input = {.path = arguments.trace,
                              .info = about,
                              .cut = arguments.cut,
                              .number = *arguments.path.query.section,
                              .most = arguments.slowest,
                              .open = reopener(arguments.trace, sink, 0),
                              .columns = arguments.options.columns};
  out.write(arguments.json ? slowest_json(input).dump(1) + '\n'
                           : with_headings(slowest_text(input)));
}

int why(WhyArguments arguments) {
  if (arguments.json && arguments.options.brief)
    throw UsageError("--brief does not go with --json: the JSON has the short answer as `answer`");
  if (arguments.path.wanted &&
      (arguments.options.by == WhyBy::process || arguments.options.by == WhyBy::cgroup))
    throw UsageError("--critical-path takes --by thread or --by name");
  if (arguments.path.query.section && !arguments.path.wanted && !arguments.slowest)
    throw UsageError("--section needs --critical-path or --slowest N");
  Warnings warnings;
  const ProgressBar progress;
  if (arguments.latency)
    arguments.options.sort = "latency";
  arguments.cut = cut_of(arguments.given_cut, arguments.trace);
  arguments.options.columns = table_columns(STDOUT_FILENO);
  const TraceInfo about = about_trace(arguments.trace);
  StdoutWriter out;
  if (arguments.slowest)
    write_slowest(arguments, about, warnings, out);
  else if (arguments.path.wanted && !arguments.json)
    out.write(with_headings(path_only(arguments, about, warnings)));
  else
    write_all(arguments, about, warnings, out);
  out.flush();
  warnings.finish();
  return warnings.damage() && !out.gone() ? kExitFailure : 0;
}

} // namespace

void add_why(App app) {
  const auto arguments = std::make_shared<WhyArguments>();
  const App command =
      add_unprivileged(app, "why", "Explain why threads did not run, and who is to blame");
  command.add_option("TRACE", arguments->trace, kOneTrace).required();
  add_cut_options(command, arguments->given_cut);
  command.add_flag(
      "--all-threads", arguments->all_threads,
      "For a trace of `-a -- PROGRAM`: explain all threads, not only those of the program. "
      "For other traces, this is the default");
  command
      .add_flag("--brief", arguments->options.brief,
                "Print only the answer, without the tree and the tables")
      .default_if([arguments] { return !arguments->json; });
  command
      .add_option(kTop, arguments->options.top,
                  "Print at most N lines of a table; 0: all (default: 5 for each part of the tree, "
                  "20 with --critical-path, 10 for other tables)")
      .type_name("N")
      .check(wrong_number_of_lines);
  command
      .add_option(
          "--depth", arguments->options.depth,
          "If the trace has stacks: name N functions of each stack, the one that blocked and "
          "its callers (default: 1). --json has all of them")
      .type_name("N")
      .range(1, 1000);
  command
      .add_option("--sort", arguments->options.sort,
                  fmt::format("Sort the table of threads by this, the largest first: {} (default: "
                              "waiting)",
                              fmt::join(why_sort_words(), ", ")))
      .type_name("COLUMN")
      .one_of(why_sort_words())
      .default_if(is_among(why_sort_words()));
  command
      .add_flag(
          "--latency", arguments->latency,
          "Add the latency share to the table of threads, and sort by it. It is how much a thread "
          "adds to the elapsed time: while n threads run at once, each adds 1/n of that time")
      .excludes(command.get_option("--sort"));
  command
      .add_option_function<std::string>(
          "--by", [arguments](const std::string &word) { arguments->options.by = by_word(word); },
          "In the table of threads, print one line for each thread (default), process, name or "
          "cgroup (container, unit of systemd or path). With cgroup, the line also divides the "
          "waiting by cause. With --critical-path: thread or name")
      .type_name("WHAT")
      .one_of({"thread", "process", "name", "cgroup"})
      .default_if([arguments](const std::string &word) {
        return !arguments->path.wanted || word == "thread" || word == "name";
      });
  add_terminal_options(command);
  add_path_options(command, arguments->path, "Print the critical path");
  command.get_option("--section").default_if([arguments] {
    return arguments->path.wanted || arguments->slowest != 0;
  });
  command
      .add_option(
          "--slowest", arguments->slowest,
          "With --section NUMBER: explain the N longest sections with this number, one by one")
      .type_name("N")
      .range(1, 1000)
      .needs("--section");
  for (const char *option : {"--brief", "--sort", "--top", "--by", "--latency"})
    command.get_option(option).excludes(command.get_option("--slowest"));
  for (const char *option : {"--brief", "--sort", "--latency"})
    command.get_option(option).excludes(command.get_option("--critical-path"));
  command.get_option("--critical-path").default_if([arguments] {
    return arguments->options.by != WhyBy::process && arguments->options.by != WhyBy::cgroup;
  });
  command.add_flag(kJson, arguments->json, "Print an object of JSON, with times in ns")
      .default_if([arguments] { return !arguments->options.brief; });
  command.footer(R"(
Prints first the answer and, if the numbers allow it, what to try. A tree shows where the time of
the threads went: running; waiting for a CPU, by the thread that ran there; blocked, by system call
and by waker. Then come the longest waits, and which thread wakes which.
With --critical-path, only the path is printed; --json prints the path and the rest.

docs/why.md explains the output, and docs/critical-path.md explains the path.

The exit status is 1 if a part of the trace is damaged. The rest is still explained.

Examples:
  ovnitrace why app-20250101-120000
  ovnitrace why app-20250101-120000 --comm 'worker-*' --from 1.5s --to 2s
  ovnitrace why app-20250101-120000 --by cgroup
  ovnitrace why app-20250101-120000 --critical-path --to 1.5s
  ovnitrace why app-20250101-120000 --latency --by name
  ovnitrace why app-20250101-120000 --slowest 3 --section 7
  ovnitrace why --json app-20250101-120000 | jq '.threads[0].waiting')");
  command.callback([arguments] { return why(*arguments); });
}

} // namespace ovnitrace
