// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/input/chosen_cpus.h"
#include "emulator/input/command_lines.h"
#include "emulator/summary/idle_text.h"
#include "emulator/summary/names.h"
#include "emulator/summary/table_parts.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

class Tables : private TableParts {
public:
  Tables(const ReportInput &input, const ReportOptions &options) : TableParts(input, options) {}

  std::string text() {
    const std::vector<Line> threads = thread_lines();
    const std::vector<Line> processes = lines_of(by_process(catalog_, summary_, options_.sort));
    const std::vector<Line> names = lines_of(by_name(catalog_, summary_, options_.sort));
    if (!threads.empty()) {
      put("", times("THREAD", "PID", threads));
      put("", counts(threads));
      put("How long threads waited from woken to running; AT is when the longest wait ended",
          latencies(threads));
    }
    ThreadSummary all;
    for (const Line &line : threads)
      all.add(line.sum);
    if (all.found_waiting)
      text_ += '\n' +
               wrapped(fmt::format("Of WOKEN, {}: threads that waited already when their recording "
                                   "began. Whether they were woken or preempted is not known.",
                                   human_duration(all.found_waiting)),
                       options_.columns) +
               '\n';
    if (all.idle_known)
      text_ += '\n' + idle_text(all.idle_known, all.idle, options_.columns);
    if (processes.size() > 1)
      put("", times("PROCESS", "THREADS", processes));
    if (names.size() > 1 && names.size() < threads.size())
      put("", times("NAME", "THREADS", names));
    put("", cgroup_table());
    put("What the processes executed last", command_line_table());
    put("Who got the CPU of a thread that was preempted",
        pairs({"THREAD", "PREEMPTED BY", "TIMES"}, summary_.preemptions));
    put("Off the CPU while throttled: no CPU quota or SCHED_DEADLINE budget was left",
        throttling(threads));
    put("Who woke a thread; AN INTERRUPT: no thread did, as for a timer or a packet",
        pairs({"THREAD", "WOKEN BY", "TIMES"}, summary_.wakeups));
    text_ += family_tables(input_, options_);
    const bool any = !catalog_.threads.empty() ||
                     std::any_of(summary_.cpus.begin(), summary_.cpus.end(), says_something);
    if (!catalog_.cpus.empty() && any)
      put("", cpus());
    return std::move(text_);
  }

private:
  Table times(const char *what, const char *second, const std::vector<Line> &lines) const {
    Table::Row head{what, second};
    for (ThreadState state : kSummedStates) {
      head.push_back(state_head(state));
      if (state == ThreadState::Running)
        head.push_back("%");
    }
    Table table(std::move(head));
    put_lines(lines, [&](const Line &line) {
      Table::Row row{line.name, line.second};
      for (ThreadState state : kSummedStates) {
        row.push_back(human_duration(line.sum.reported(state)));
        if (state == ThreadState::Running)
          row.push_back(share_text(line.sum));
      }
      table.add(std::move(row));
    });
    return table;
  }

  Table counts(const std::vector<Line> &lines) const {
    const auto is_shown = [&](const CounterInfo &counter) {
      return !counter.if_any || std::any_of(lines.begin(), lines.end(), [&](const Line &line) {
        return line.sum.*counter.count > 0;
      });
    };
    std::vector<CounterInfo> shown;
    std::copy_if(kCounters.begin(), kCounters.end(), std::back_inserter(shown), is_shown);
    Table::Row head{"THREAD", "SWITCHES"};
    for (const CounterInfo &counter : shown)
      head.push_back(upper_case(counter.name));
    Table table(std::move(head));
    put_lines(lines, [&](const Line &line) {
      Table::Row row{line.name, human_count(line.sum.switches())};
      for (const CounterInfo &counter : shown)
        row.push_back(human_count(line.sum.*counter.count));
      table.add(std::move(row));
    });
    return table;
  }

  Table latencies(const std::vector<Line> &lines) const {
    Table table({"THREAD", "WAITS", "p50", "p99", "MAX", "AT"});
    put_lines(lines, [&](const Line &line) {
      const LatencyHistogram &latency = line.sum.latency;
      if (!latency.count()) {
        table.add({line.name, "0", "-", "-", "-", "-"});
        return;
      }
      table.add({line.name, human_count(latency.count()), human_duration(latency.percentile(50)),
                 human_duration(latency.percentile(99)), human_duration(latency.max()),
                 at_text(line.sum.latency_max_at)});
    });
    return table;
  }

  Table pairs(Table::Row head, const std::vector<PairCount> &all) const {
    Table table(std::move(head), 2);
    uint64_t rest = 0, lines = 0;
    for (const PairCount &pair : all) {
      if (is_full(lines)) {
        rest += pair.count;
        continue;
      }
      lines++;
      table.add({thread_text(pair.thread), peer_text(pair), human_count(pair.count)});
    }
    if (rest)
      table.add({others(all.size() - lines), "", human_count(rest)});
    return table;
  }

  std::string peer_text(const PairCount &pair) const {
    if (pair.peer == kNone && pair.tid == kNone)
      return "AN INTERRUPT";
    if (pair.peer == kNone && pair.tid == 0)
      return "the idle task";
    const uint32_t tid = pair.peer == kNone ? pair.tid : catalog_.threads[pair.peer].tid;
    return name_and_number(short_name(peer_name(catalog_, pair)), "thread", tid);
  }

  /// Lists the command line of each process that the cut keeps, in row order. Empty if there is
  /// only the program, whose command line is at the top already.
  Table command_line_table() const {
    Table table({"PROCESS", "COMMAND LINE"}, 2);
    const std::vector<std::string_view> lines = command_lines(catalog_);
    std::set<std::tuple<uint32_t, uint32_t, std::string_view>> shown; // host, pid, text
    for (size_t t = 0; t < lines.size(); t++) {
      const uint32_t pid = catalog_.threads[t].pid;
      if (!summary_.shown[t] || lines[t].empty() ||
          !shown.emplace(catalog_.threads[t].host, pid, lines[t]).second)
        continue;
      if (!is_full(shown.size() - 1))
        table.add({std::to_string(pid), std::string(lines[t])});
    }
    if (is_full(shown.size()) && shown.size() > options_.top)
      table.add({others(shown.size() - options_.top), ""});
    return shown.size() == 1 && !input_.info.command.empty() ? Table({"", ""}) : table;
  }

  /// Returns the table of cgroups, which is empty if there is only one.
  Table cgroup_table() const {
    constexpr size_t kLongest = 32; // characters
    std::vector<Line> lines;
    for (const ThreadGroup &group : by_cgroup(catalog_, summary_, options_.sort))
      lines.push_back({group.name.empty() ? "not known" : short_line(group.name, kLongest),
                       human_count(group.threads), group.sum});
    return lines.size() > 1 ? times("CGROUP", "THREADS", lines) : Table({"", ""});
  }

  Table throttling(const std::vector<Line> &threads) const {
    Table table({"THREAD", "TIMES", "TIME", "MAX", "AT"});
    std::vector<Line> throttled;
    std::copy_if(threads.begin(), threads.end(), std::back_inserter(throttled),
                 [](const Line &line) { return line.sum.throttling.count > 0; });
    put_lines(throttled,
              [&](const Line &line) { table.add(span_row(line.name, line.sum.throttling)); });
    return table;
  }

  static bool says_something(const CpuSummary &cpu) {
    return cpu.busy || cpu.unknown || cpu.lost || cpu.lost_more || cpu.interrupts ||
           cpu.stolen_known;
  }

  Table cpus() const {
    const bool interrupts = std::any_of(summary_.cpus.begin(), summary_.cpus.end(),
                                        [](const CpuSummary &cpu) { return cpu.interrupts > 0; });
    const bool stolen = std::any_of(summary_.cpus.begin(), summary_.cpus.end(),
                                    [](const CpuSummary &cpu) { return cpu.stolen_known; });
    const uint64_t length = summary_.recorded;
    Table::Row head{"CPU", "BUSY WITH THEM", "%", "UNKNOWN", "%", "SWITCHES", "LOST"};
    if (interrupts)
      head.push_back("INTERRUPTS");
    if (stolen)
      head.insert(head.end(), {"STOLEN", "%"});
    Table table(std::move(head));
    for (size_t i = 0; i < catalog_.cpus.size(); i++) {
      const CpuSummary &cpu = summary_.cpus[i];
      Table::Row row{cpu_text(i),
                     human_duration(cpu.busy),
                     human_percent(cpu.busy, length),
                     human_duration(cpu.unknown),
                     human_percent(cpu.unknown, length),
                     human_count(cpu.switches),
                     lost_text(cpu.lost, cpu.lost_more, human_count(cpu.lost))};
      if (!records_cpu(input_.info, catalog_.cpus[i].index))
        std::fill(row.begin() + 1, row.end(), "-");
      if (interrupts)
        row.push_back(human_duration(cpu.interrupts));
      if (stolen && cpu.stolen_known)
        row.insert(row.end(), {human_duration(cpu.stolen), human_percent(cpu.stolen, length)});
      else if (stolen)
        row.insert(row.end(), {"-", "-"});
      table.add(std::move(row));
    }
    return table;
  }
};

} // namespace

std::string tables(const ReportInput &input, const ReportOptions &options) {
  return Tables(input, options).text();
}

} // namespace ovnitrace
