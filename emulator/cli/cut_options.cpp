// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/cut_options.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"
#include "emulator/cli/shared_options.h"
#include "emulator/cli/trace_inputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace ovnitrace {

namespace {

void add_time(App command, const std::string &name, TraceTime &time, const std::string &what) {
  const auto set = [name, &time](const std::string &text) {
    if (!parse_trace_time(text, time))
      refuse_value(name.substr(0, name.find(',')) + ": " + "'" + text + "' is no time: write " +
                   kTimeForms);
  };
  command.add_option_function<std::string>(name, set, what)
      .type_name("TIME")
      .values(kTraceMarks)
      .group(kCutGroup);
}

bool needs_trace(const TraceTime &time) {
  return time.is_wall() || time.kind == TraceTime::Kind::of_mark;
}

/// Returns where `time` is, ns from the start of the trace at `path`. `catalog`: of the trace, if
/// needs_trace().
uint64_t place(const TraceTime &time, const char *option, const std::string &path,
               const Catalog *catalog) {
  if (!needs_trace(time))
    return time.ns;
  if (time.kind == TraceTime::Kind::of_mark) {
    const uint64_t at = mark_time(*catalog, time.mark(), path);
    return at - std::min(at, catalog->begin);
  }
  const int64_t to_wall = about_trace(path).to_wall_ns;
  if (to_wall == 0)
    throw UsageError(path +
                     " does not say when it was recorded: give a time from its start, as 1.5s");
  return since_start(time, option,
                     {int64_t(catalog->begin) + to_wall, int64_t(catalog->end) + to_wall});
}

} // namespace

std::string why_command(const std::string &trace, const CutArguments &arguments) {
  std::string words = "ovnitrace why " + shell_word(trace);
  const auto add = [&](const char *option, const std::string &text) {
    if (!text.empty())
      words += ' ' + std::string(option) + ' ' + shell_word(text);
  };
  add("--from", arguments.from.text);
  add("--to", arguments.to.text);
  add("--pid", fmt::format("{}", fmt::join(arguments.cut.pids, ",")));
  add("--tid", fmt::format("{}", fmt::join(arguments.cut.tids, ",")));
  add("--comm", fmt::format("{}", fmt::join(arguments.cut.comms, ",")));
  return words;
}

void add_cut_options(App command, CutArguments &arguments, bool with_end) {
  add_time(
      command, kFrom, arguments.from,
      "Start of the part: a time since the start of the trace (1.5s, 200ms, 30us, 100ns, 2m; a "
      "number alone is in seconds), a time of day (14:03:07.5), seconds since 1970 "
      "(@1732345678), or a mark (mark:ready, mark:ready-5ms)");
  if (with_end)
    add_time(command, kTo, arguments.to, "End of the part, given as for --from");
  add_cut_list(command, kPid, "PID", kTracePids, arguments.cut.pids,
               "Only threads of these processes, such as 12,34");
  add_cut_list(command, kTid, "TID", kTraceTids, arguments.cut.tids,
               "Only these threads, such as 12,34");
  add_cut_list(command, kComm, "NAME", kTraceComms, arguments.cut.comms,
               "Only threads of these names; * and ? as in a shell");
}

Cut cut_of(const CutArguments &arguments, const std::vector<TraceInput> &inputs) {
  Cut cut = arguments.cut;
  const std::string &path = inputs.front().path;
  std::unique_ptr<EventSource> source;
  NoDiagnostics reported_later;
  if (needs_trace(arguments.from) || needs_trace(arguments.to))
    source = open_trace(inputs, reported_later);
  const Catalog *catalog = source ? &source->catalog() : nullptr;
  if (arguments.from.kind != TraceTime::Kind::not_given)
    cut.from = place(arguments.from, "--from", path, catalog);
  if (arguments.to.kind != TraceTime::Kind::not_given)
    cut.to = place(arguments.to, "--to", path, catalog);
  return cut;
}

Cut cut_of(const CutArguments &arguments, const std::string &trace) {
  return cut_of(arguments, std::vector<TraceInput>{{trace}});
}

} // namespace ovnitrace
