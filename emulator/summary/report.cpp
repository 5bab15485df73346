// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/report.h"

#include "emulator/base/clock.h"
#include "emulator/base/human.h"
#include "emulator/base/printable.h"
#include "emulator/base/short_line.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"
#include "emulator/summary/table_parts.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kKeyColumns = 10; ///< of what stands before a value

std::string command_line(const std::vector<std::string> &words) {
  std::string line;
  for (const std::string &word : words)
    line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string wall_time(const ReportInput &input) {
  if (input.info.to_wall_ns == 0)
    return "";
  constexpr int64_t kNsPerSecond = 1000000000;
  // No overflow: both are halved, and half a second more or less shows in no date.
  const time_t seconds =
      time_t((int64_t(input.catalog.begin / 2) + input.info.to_wall_ns / 2) / (kNsPerSecond / 2));
  return fmt::format("{:%Y-%m-%d %H:%M:%S %z}, ", local_time(seconds));
}

size_t threads_of(const ReportInput &input) {
  return size_t(std::count(input.summary.shown.begin(), input.summary.shown.end(), 1));
}

/// Returns what the capture was asked to record; empty if trace.json does not say.
std::string asked(const TraceInfo &info) {
  std::string text;
  const auto add = [&](const char *what, const std::string &value) {
    if (!value.empty())
      text += (text.empty() ? "" : ", ") + std::string(what) + value;
  };
  add("families ", info.families);
  add("buffer ", buffer_option(info));
  add("stacks ", info.stacks);
  add("as user ", info.user);
  add("", info.with_children ? "" : "--no-children");
  for (const std::string &filter : info.filters)
    add("", printable_line(filter));
  for (const std::string &chain : info.chains)
    add("--control ", printable_line(chain));
  add("", info.region_by_thread ? "--region thread" : "");
  return text;
}

/// Returns which threads were traced: of a program, of running processes, or of the whole machine.
std::string target(const TraceInfo &info) {
  if (info.attached_pids.empty() && info.command.empty() && !info.filters.empty())
    return "threads of the machine that pass the filters";
  if (info.attached_pids.empty())
    return info.all_threads || (info.command.empty() && !info.tracer.empty()) ? "the whole machine"
                                                                              : "";
  std::string pids;
  for (uint32_t pid : info.attached_pids)
    pids += (pids.empty() ? "" : ", ") + std::to_string(pid);
  return (info.attached_pids.size() > 1 ? "processes " : "process ") + pids;
}

/// Returns which part of the trace is summed up; empty for all of it.
std::string shown(const ReportInput &input) {
  const Summary &summary = input.summary;
  const Catalog &catalog = input.catalog;
  std::string text;
  if (summary.from != catalog.begin || summary.to != catalog.end)
    text = human_duration(summary.to - summary.from) + ", from " +
           human_duration(summary.from - catalog.begin) + " on";
  const size_t kept = threads_of(input);
  if (kept != summary.shown.size())
    text += (text.empty() ? "" : "; ") + human_count(kept) + " of " +
            human_count(summary.shown.size(), "thread", "threads");
  return text;
}

/// Returns what the user has typed, shortened to the columns that its key leaves.
std::string typed(const std::string &text, size_t columns) {
  return short_line(text, columns - std::min(columns, kKeyColumns));
}

std::string head(const ReportInput &input, size_t columns) {
  const TraceInfo &info = input.info;
  const Catalog &catalog = input.catalog;
  std::string host = info.host;
  for (const std::string &part : {info.kernel.empty() ? "" : "Linux " + info.kernel, info.machine,
                                  human_count(cpu_count(catalog), "CPU", "CPUs")})
    if (!part.empty())
      host += (host.empty() ? "" : ", ") + part;
  const std::pair<const char *, std::string> lines[] = {
      {"trace", input.path},
      {"host", host},
      {"command", typed(command_line(info.command), columns)},
      {"target", target(info)},
      {"asked", asked(info)},
      {"captured", wall_time(input) + "for " + human_duration(catalog.end - catalog.begin)},
      {"ended", info.ended},
      {"stacks", info.stack_counts.all ? info.stack_counts.text() : ""},
      {"tracer", info.tracer.empty() ? "" : "ovnitrace " + info.tracer},
      {"shown", shown(input)},
      {"regions",
       input.summary.recorded < input.summary.to - input.summary.from
           ? human_duration(input.summary.recorded) + ", to which times and percentages refer"
           : ""},
      {"contents", fmt::format("{}, {}, {}",
                               human_count(count_processes(input.catalog, input.summary.shown),
                                           "process", "processes"),
                               human_count(threads_of(input), "thread", "threads"),
                               human_count(input.summary.events, "event", "events"))},
      {"lost", lost_text(input.summary.lost, input.summary.lost_more,
                         human_count(input.summary.lost, "event", "events"))},
      {"forgotten", input.summary.forgotten
                        ? human_count(input.summary.forgotten, "event", "events") +
                              ", older than what the flight recorder keeps"
                        : ""},
  };
  std::string text;
  for (const auto &[key, value] : lines)
    if (!value.empty())
      text += fmt::format("{:<{}}{}\n", key, kKeyColumns,
                          columns == SIZE_MAX ? value
                                              : wrapped(value, columns, kKeyColumns, kKeyColumns));
  for (const HostInfo &of : catalog.hosts)
    for (const CaptureMark &mark : of.marks)
      if (mark.time_ns >= catalog.begin)
        text += fmt::format("{:<{}}{} at {}\n", "mark", kKeyColumns, mark.text,
                            human_duration(mark.time_ns - catalog.begin));
  return text;
}

/// What the columns of the tables of threads mean, by kSummedStates.
constexpr std::array kColumns = {
    "on a CPU; % is ",
    "could run, but lost its CPU, was throttled or yielded, and waits for one",
    "woken, and waits for a CPU; also a wait that began before the trace",
    "waits for something else than a CPU",
    "not seen: before its first event, outside filters, in a pause, after a loss",
};
static_assert(kColumns.size() == kSummedStates.size());

/// Explains the columns of the tables of threads, in a list of names and meanings. On a narrow
/// terminal, the meaning is below the name.
std::string states_text(const ReportInput &input, size_t columns) {
  const size_t indent = columns < 60 ? 2 : 21;
  std::string text = "\n";
  for (size_t n = 0; n < kColumns.size(); n++) {
    std::string head = state_head(kSummedStates[n]);
    std::replace(head.begin(), head.end(), '\n', ' ');
    const std::string meaning =
        std::string(kColumns[n]) + (kSummedStates[n] != ThreadState::Running ? ""
                                    : has_cpu_shares(input.catalog, input.summary)
                                        ? "the share of the time of all CPUs"
                                        : "its share of the life of the thread in "
                                          "the part shown");
    text += indent < head.size() + 2 ? head + '\n' + std::string(indent, ' ')
                                     : fmt::format("{:<{}}", head, indent);
    text += wrapped(meaning, columns, indent, indent) + '\n';
  }
  return text;
}

} // namespace

std::string text_report(const ReportInput &input, const ReportOptions &options) {
  std::string text = answer_text(input.answer, options.columns) + head(input, options.columns) +
                     tables(input, options);
  if (!input.catalog.threads.empty())
    text += states_text(input, options.columns);
  return text;
}

} // namespace ovnitrace
