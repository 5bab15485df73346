// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/report.h"

#include "emulator/base/human.h"
#include "emulator/core/model.h"
#include "emulator/summary/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

/// As it could be typed into a shell.
std::string command_line(const std::vector<std::string> &arguments) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-+=./:,@%^";
  std::string line;
  for (const std::string &argument : arguments) {
    line += line.empty() ? "" : " ";
    if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) {
      line += argument;
      continue;
    }
    line += '\'';
    for (char c : argument)
      line += c == '\'' ? "'\\''" : uint8_t(c) < 0x20 ? "?" : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::string wall_time(const ReportInput &input) {
  if (input.info.to_wall_ns == 0)
    return "";
  constexpr int64_t kNsPerSecond = 1000000000;
  // No overflow: both are halved, and half a second more or less shows in no date.
  const time_t seconds =
      time_t((int64_t(input.catalog.begin / 2) + input.info.to_wall_ns / 2) / (kNsPerSecond / 2));
  tm local;
  char text[64];
  if (!localtime_r(&seconds, &local) ||
      !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &local))
    return "";
  return std::string(text) + ", ";
}

size_t processes_of(const Catalog &catalog) {
  std::set<std::pair<uint32_t, uint32_t>> processes;
  for (const ThreadInfo &thread : catalog.threads)
    processes.emplace(thread.node, thread.pid);
  return processes.size();
}

/// How many events were lost, as far as it is known.
std::string lost_text(uint64_t lost, bool more, const std::string &counted) {
  return !more ? counted : lost ? "not known, at least " + counted : "not known";
}

std::string head(const ReportInput &input) {
  const TraceInfo &info = input.info;
  const Catalog &catalog = input.catalog;
  std::string host = info.host;
  for (const std::string &part : {info.kernel.empty() ? "" : "Linux " + info.kernel, info.machine,
                                  human_count(catalog.cpus.size(), "CPU", "CPUs")})
    if (!part.empty())
      host += (host.empty() ? "" : ", ") + part;
  const std::pair<const char *, std::string> lines[] = {
      {"trace", input.path},
      {"host", host},
      {"command", command_line(info.command)},
      {"captured", wall_time(input) + "for " + human_duration(catalog.end - catalog.begin)},
      {"ended", info.ended},
      {"tracer", info.tracer.empty() ? "" : "ovnitrace " + info.tracer},
      {"contents",
       fmt::format("{}, {}, {}", human_count(processes_of(catalog), "process", "processes"),
                   human_count(catalog.threads.size(), "thread", "threads"),
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
      text += fmt::format("{:<10}{}\n", key, value);
  return text;
}

std::string pid_text(uint32_t pid) {
  return pid ? std::to_string(pid) : "-";
}

std::string times_table(const ReportInput &input) {
  Table table({"THREAD", "PID", "RUNNING", "%", "COOLING", "%", "WARMING", "%", "PAUSED", "%",
               "UNKNOWN", "%"});
  for (uint32_t index : by_running_time(input.summary)) {
    const ThreadInfo &thread = input.catalog.threads[index];
    const ThreadSummary &summary = input.summary.threads[index];
    Table::Row row{thread_name(input.catalog, index), pid_text(thread.pid)};
    for (ThreadState state : {ThreadState::Running, ThreadState::Cooling, ThreadState::Warming,
                              ThreadState::Paused, ThreadState::Unknown}) {
      const uint64_t time = summary.time[size_t(state)];
      row.push_back(human_duration(time));
      row.push_back(human_percent(time, summary.alive()));
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string counts_table(const ReportInput &input) {
  Table table({"THREAD", "SWITCHES", "PREEMPTED", "YIELDED", "VOLUNTARY", "WAKEUPS", "MIGRATIONS",
               "LATENCY p50", "p99", "max"});
  for (uint32_t index : by_running_time(input.summary)) {
    const ThreadSummary &summary = input.summary.threads[index];
    const LatencyHistogram &latency = summary.latency;
    const auto shown = [&](uint64_t ns) { return latency.count() ? human_duration(ns) : "-"; };
    table.add({thread_name(input.catalog, index), human_count(summary.switches()),
               human_count(summary.preempted), human_count(summary.yielded),
               human_count(summary.voluntary), human_count(summary.wakeups),
               human_count(summary.migrations), shown(latency.percentile(50)),
               shown(latency.percentile(99)), shown(latency.max())});
  }
  return table.text();
}

std::string cpus_table(const ReportInput &input) {
  const Catalog &catalog = input.catalog;
  Table table({"CPU", "BUSY", "%", "UNKNOWN", "%", "SWITCHES", "LOST"});
  for (size_t i = 0; i < catalog.cpus.size(); i++) {
    const CpuInfo &cpu = catalog.cpus[i];
    const CpuSummary &summary = input.summary.cpus[i];
    std::string name = fmt::format("CPU {}", cpu.index);
    if (catalog.nodes.size() > 1)
      name = catalog.nodes[cpu.node].name + " " + name;
    table.add(
        {name, human_duration(summary.busy),
         human_percent(summary.busy, catalog.end - catalog.begin), human_duration(summary.unknown),
         human_percent(summary.unknown, catalog.end - catalog.begin), human_count(summary.switches),
         lost_text(summary.lost, summary.lost_more, human_count(summary.lost))});
  }
  return table.text();
}

} // namespace

std::vector<uint32_t> by_running_time(const Summary &summary) {
  std::vector<uint32_t> order(summary.threads.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return summary.threads[a].running() > summary.threads[b].running();
  });
  return order;
}

std::string text_report(const ReportInput &input) {
  std::string text = head(input);
  if (!input.catalog.threads.empty())
    text += '\n' + times_table(input) + '\n' + counts_table(input);
  if (!input.catalog.cpus.empty())
    text += '\n' + cpus_table(input);
  return text;
}

} // namespace ovnitrace
