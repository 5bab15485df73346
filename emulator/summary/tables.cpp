// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/format/value_names.h"
#include "emulator/input/command_lines.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"
#include "emulator/summary/region_lengths.h"
#include "emulator/summary/report.h"
#include "emulator/summary/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

std::string number_or_dash(uint32_t number) {
  return number ? std::to_string(number) : "-";
}

/// Seconds from the start of the trace, as dump prints them and --from takes them.
std::string at_text(uint64_t ns, const Catalog &catalog) {
  const uint64_t since = ns - catalog.begin;
  return fmt::format("{}.{:09}", since / 1000000000, since % 1000000000);
}

class Tables {
public:
  Tables(const ReportInput &input, const ReportOptions &options)
      : info_(input.info), catalog_(input.catalog), summary_(input.summary), options_(options) {}

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
    if (processes.size() > 1)
      put("", times("PROCESS", "THREADS", processes));
    if (names.size() > 1 && names.size() < threads.size())
      put("", times("NAME", "THREADS", names));
    put("What the processes executed last", command_line_table());
    put("Who got the CPU of a thread that was preempted",
        pairs({"THREAD", "PREEMPTED BY", "TIMES"}, summary_.preemptions));
    put("Off the CPU because the cgroup had no CPU quota left (throttled)", throttling(threads));
    put("Who woke a thread; AN INTERRUPT: no thread did, as for a timer or a packet",
        pairs({"THREAD", "WOKEN BY", "TIMES"}, summary_.wakeups));
    put_families(threads);
    if (!catalog_.cpus.empty())
      put("", cpus());
    return std::move(text_);
  }

  std::string families() {
    put_families(thread_lines());
    return std::move(text_);
  }

private:
  /// Of a table of threads or of groups of threads.
  struct Line {
    std::string name, second;
    ThreadSummary sum;
    size_t of = 1; ///< threads, or groups
  };

  void put_families(const std::vector<Line> &threads) {
    put("Waits for mutexes and other futexes", mutex_waits(threads));
    put("Interrupts on all CPUs, without the time of those that interrupted them", interrupts());
    put("Idle states of CPUs", idle_states());
    put("Frequencies of CPUs; the mean is of the time in which it is KNOWN", frequencies());
    put("Sections of the program, with those within them", sections());
    put("Regions of --control, the longest first; RUNNING and WAITING (for a CPU) are of all their "
        "threads",
        regions());
    put("How long regions were, of those that were stopped", region_lengths());
  }

  void put(const char *title, const Table &table) {
    if (table.empty())
      return;
    text_ += '\n';
    if (*title)
      text_ += std::string(title) + ":\n";
    text_ += table.text(options_.columns);
  }

  std::string others(size_t count) const {
    return count == 1 ? "1 other" : human_count(count) + " others";
  }
  bool is_full(size_t lines) const { return options_.top && lines >= options_.top; }

  std::vector<Line> thread_lines() const {
    std::vector<Line> lines;
    for (uint32_t t : sorted_threads(summary_, options_.sort))
      lines.push_back(
          {thread_text(t), number_or_dash(catalog_.threads[t].pid), summary_.threads[t]});
    return lines;
  }

  std::vector<Line> lines_of(const std::vector<ThreadGroup> &groups) const {
    std::vector<Line> lines;
    for (const ThreadGroup &group : groups)
      lines.push_back({group.pid            ? name_and_number(group.name, "process", group.pid)
                       : group.name.empty() ? "-"
                                            : short_name(group.name),
                       human_count(group.threads), group.sum});
    return lines;
  }

  std::string thread_text(uint32_t thread) const { return thread_label(catalog_.threads[thread]); }

  /// Those that there is room for, and one for the rest.
  template <class Put> void put_lines(const std::vector<Line> &lines, Put put_line) const {
    Line rest{"", "", {}, 0};
    for (size_t n = 0; n < lines.size(); n++) {
      if (!is_full(n)) {
        put_line(lines[n]);
        continue;
      }
      rest.sum.add(lines[n].sum);
      rest.of++;
    }
    if (!rest.of)
      return;
    rest.name = others(rest.of);
    put_line(rest);
  }

  Table times(const char *what, const char *second, const std::vector<Line> &lines) const {
    Table table({what, second, "RUNNING", "%", "PREEMPTED\n(COOLING)", "WOKEN\n(WARMING)",
                 "BLOCKED\n(PAUSED)", "UNKNOWN"});
    put_lines(lines, [&](const Line &line) {
      Table::Row row{line.name, line.second};
      for (ThreadState state : {ThreadState::Running, ThreadState::Cooling, ThreadState::Warming,
                                ThreadState::Paused, ThreadState::Unknown}) {
        const uint64_t outside = state == ThreadState::Unknown ? line.sum.outside : 0;
        row.push_back(human_duration(line.sum.time[size_t(state)] - outside));
        if (state == ThreadState::Running)
          row.push_back(human_percent(line.sum.running(), line.sum.recorded()));
      }
      table.add(std::move(row));
    });
    return table;
  }

  Table counts(const std::vector<Line> &lines) const {
    Table table(
        {"THREAD", "SWITCHES", "PREEMPTED", "YIELDED", "VOLUNTARY", "WAKEUPS", "MIGRATIONS"});
    put_lines(lines, [&](const Line &line) {
      const ThreadSummary &sum = line.sum;
      table.add({line.name, human_count(sum.switches()), human_count(sum.preempted),
                 human_count(sum.yielded), human_count(sum.voluntary), human_count(sum.wakeups),
                 human_count(sum.migrations)});
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
                 at_text(line.sum.latency_max_at, catalog_)});
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
    return name_and_number(peer_name(catalog_, pair), "thread", tid);
  }

  static Table::Row span_row(std::string name, const Spans &spans, const Catalog &catalog) {
    return {std::move(name), human_count(spans.count), human_duration(spans.time),
            human_duration(spans.max), at_text(spans.max_at, catalog)};
  }

  /// Of threads that waited.
  Table mutex_waits(const std::vector<Line> &threads) const {
    Table table({"THREAD", "WAITS", "TIME", "MAX", "AT", "GAVE UP"});
    std::vector<Line> waited;
    std::copy_if(threads.begin(), threads.end(), std::back_inserter(waited),
                 [](const Line &line) { return line.sum.mutex_waits.count > 0; });
    std::stable_sort(waited.begin(), waited.end(), [](const Line &a, const Line &b) {
      return a.sum.mutex_waits.time > b.sum.mutex_waits.time;
    });
    put_lines(waited, [&](const Line &line) {
      Table::Row row = span_row(line.name, line.sum.mutex_waits, catalog_);
      row.push_back(human_count(line.sum.waits_given_up));
      table.add(std::move(row));
    });
    return table;
  }

  Table throttling(const std::vector<Line> &threads) const {
    Table table({"THREAD", "TIMES", "TIME", "MAX", "AT"});
    std::vector<Line> throttled;
    std::copy_if(threads.begin(), threads.end(), std::back_inserter(throttled),
                 [](const Line &line) { return line.sum.throttled > 0; });
    put_lines(throttled, [&](const Line &line) {
      Table::Row row = span_row(line.name, line.sum.throttling, catalog_);
      row[1] = human_count(line.sum.throttled);
      table.add(std::move(row));
    });
    return table;
  }

  std::string cpu_text(size_t cpu) const {
    const std::string name = fmt::format("CPU {}", catalog_.cpus[cpu].index);
    return catalog_.nodes.size() > 1
               ? short_name(catalog_.nodes[catalog_.cpus[cpu].node].name) + " " + name
               : name;
  }

  /// Of each process that the cut keeps, in the order of rows; what is too long is cut. That of a
  /// program alone is at the top already.
  Table command_line_table() const {
    constexpr size_t kLongest = 72; // characters
    Table table({"PROCESS", "COMMAND LINE"}, 2);
    const std::vector<std::string_view> lines = command_lines(catalog_);
    std::set<std::pair<uint32_t, std::string_view>> shown; // pid, text
    for (size_t t = 0; t < lines.size(); t++) {
      const uint32_t pid = catalog_.threads[t].pid;
      if (!summary_.shown[t] || lines[t].empty() || !shown.emplace(pid, lines[t]).second)
        continue;
      if (!is_full(shown.size() - 1))
        table.add({std::to_string(pid), short_line(std::string(lines[t]), kLongest)});
    }
    if (is_full(shown.size()) && shown.size() > options_.top)
      table.add({others(shown.size() - options_.top), ""});
    return shown.size() == 1 && !info_.command.empty() ? Table({"", ""}) : table;
  }

  Table idle_states() const {
    const uint64_t length = summary_.to - summary_.from;
    Table table({"CPU", "STATE", "TIMES", "TIME", "%", "MAX"}, 2);
    for (uint32_t cpu = 0; cpu < catalog_.cpus.size(); cpu++)
      for (const auto &[state, of] : summary_.cpus[cpu].idle)
        table.add({cpu_text(cpu), idle_state_name(catalog_, cpu, state), human_count(of.count),
                   human_duration(of.time), human_percent(of.time, length),
                   human_duration(of.max)});
    return table;
  }

  Table frequencies() const {
    Table table({"CPU", "MEAN", "LEAST", "MOST", "CHANGES", "KNOWN"});
    const auto mhz = [](uint32_t khz) {
      return khz ? fmt::format("{} MHz", (khz + 500) / 1000) : "-";
    };
    for (uint32_t cpu = 0; cpu < catalog_.cpus.size(); cpu++)
      if (const CpuFrequency &of = summary_.cpus[cpu].frequency; of.changes)
        table.add({cpu_text(cpu), mhz(of.mean_khz()), mhz(of.least), mhz(of.most),
                   human_count(of.changes), human_duration(of.known)});
    return table;
  }

  /// Those that took longest first.
  Table spans(const char *what, std::vector<std::pair<std::string, Spans>> all) const {
    std::stable_sort(all.begin(), all.end(),
                     [](const auto &a, const auto &b) { return a.second.time > b.second.time; });
    Table table({what, "TIMES", "TIME", "MAX", "AT"});
    Spans rest;
    for (size_t n = 0; n < all.size(); n++)
      if (is_full(n))
        rest.add(all[n].second);
      else
        table.add(span_row(all[n].first, all[n].second, catalog_));
    if (rest.count)
      table.add(span_row(others(all.size() - options_.top), rest, catalog_));
    return table;
  }

  Table interrupts() const {
    std::map<uint16_t, Spans> sums;
    for (const CpuSummary &cpu : summary_.cpus)
      for (const auto &[interrupt, of] : cpu.interrupt)
        sums[interrupt].add(of);
    std::vector<std::pair<std::string, Spans>> all;
    for (const auto &[interrupt, of] : sums)
      all.emplace_back(interrupt_name(interrupt), of);
    return spans("INTERRUPT", std::move(all));
  }

  Table sections() const {
    std::vector<std::pair<uint32_t, Spans>> all(summary_.sections.begin(), summary_.sections.end());
    std::stable_sort(all.begin(), all.end(),
                     [](const auto &a, const auto &b) { return a.second.time > b.second.time; });
    Table table({"SECTION", "TIMES", "TIME", "p50", "p90", "p99", "MAX", "AT"});
    Spans rest;
    LatencyHistogram rest_lengths;
    const auto add = [&](std::string name, const Spans &of, const LatencyHistogram &lengths) {
      Table::Row row = {std::move(name), human_count(of.count), human_duration(of.time)};
      add_percentiles(row, lengths);
      row.push_back(at_text(of.max_at, catalog_));
      table.add(std::move(row));
    };
    for (size_t n = 0; n < all.size(); n++) {
      const LatencyHistogram &lengths = summary_.section_lengths.at(all[n].first);
      if (!is_full(n)) {
        add(std::to_string(all[n].first), all[n].second, lengths);
        continue;
      }
      rest.add(all[n].second);
      rest_lengths.add(lengths);
    }
    if (rest.count)
      add(others(all.size() - options_.top), rest, rest_lengths);
    return table;
  }

  static void add_percentiles(Table::Row &row, const LatencyHistogram &lengths) {
    for (const double percent : {50.0, 90.0, 99.0})
      row.push_back(human_duration(lengths.percentile(percent)));
    row.push_back(human_duration(lengths.max()));
  }

  uint64_t length_of(const RegionSummary &region) const {
    return (region.stop ? region.stop : summary_.to) - region.start;
  }

  /// How long the regions of each chain were, of those that were stopped.
  Table region_lengths() const {
    Table table({"CHAIN", "TIMES", "TIME", "p50", "p90", "p99", "MAX"});
    for (const auto &[chain, lengths] : lengths_by_chain(summary_)) {
      Table::Row row = {chain_text(*lengths.first), human_count(lengths.all.count()),
                        human_duration(lengths.ns)};
      add_percentiles(row, lengths.all);
      table.add(std::move(row));
    }
    return table;
  }

  /// The name of the chain, or its number where that is a long text.
  std::string chain_text(const RegionSummary &region) const {
    if (!region.chain)
      return "-";
    const auto &names = catalog_.nodes[catalog_.threads[region.thread].node].chains;
    const bool fits = region.chain <= names.size() && names[region.chain - 1].size() <= kMaxName;
    return fits ? short_name(names[region.chain - 1]) : std::to_string(region.chain);
  }

  /// "enter_func", with what else is known of the start: bcast, another thread's, starts after it.
  static std::string started_by(const RegionSummary &region) {
    std::string text(name_of(kRegionTypeNames, region.started_by));
    text += region.bcast ? " bcast" : "";
    text += region.by_other ? " other thread" : "";
    return region.repeated_starts ? fmt::format("{} +{}", text, region.repeated_starts) : text;
  }

  Table regions() const {
    Table table({"REGION", "CHAIN", "STARTED BY", "THREAD", "STOPPED BY", "AT", "LENGTH", "RUNNING",
                 "WAITING"},
                5);
    const size_t shown =
        options_.top ? std::min(options_.top, summary_.regions.size()) : summary_.regions.size();
    std::vector<size_t> order(summary_.regions.size()); // the longest first
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return length_of(summary_.regions[a]) > length_of(summary_.regions[b]);
    });
    for (size_t n = 0; n < shown; n++) {
      const RegionSummary &region = summary_.regions[order[n]];
      table.add({std::to_string(order[n] + 1), chain_text(region), started_by(region),
                 thread_text(region.thread),
                 region.stop ? std::string(name_of(kRegionTypeNames, region.stopped_by)) : "-",
                 human_duration(region.start - catalog_.begin), human_duration(length_of(region)),
                 human_duration(region.running), human_duration(region.waiting)});
    }
    if (shown < order.size()) {
      RegionSummary rest;
      uint64_t length = 0;
      for (size_t n = shown; n < order.size(); n++) {
        const RegionSummary &region = summary_.regions[order[n]];
        length += length_of(region);
        rest.running += region.running;
        rest.waiting += region.waiting;
      }
      table.add({std::to_string(summary_.regions.size() - shown) + " more", "", "", "", "", "",
                 human_duration(length), human_duration(rest.running),
                 human_duration(rest.waiting)});
    }
    return table;
  }

  Table cpus() const {
    const bool interrupts = std::any_of(summary_.cpus.begin(), summary_.cpus.end(),
                                        [](const CpuSummary &cpu) { return cpu.interrupts > 0; });
    const bool stolen = std::any_of(summary_.cpus.begin(), summary_.cpus.end(),
                                    [](const CpuSummary &cpu) { return cpu.stolen_known; });
    const uint64_t length = summary_.recorded;
    Table::Row head{"CPU", "BUSY", "%", "UNKNOWN", "%", "SWITCHES", "LOST"};
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

  const TraceInfo &info_;
  const Catalog &catalog_;
  const Summary &summary_;
  const ReportOptions &options_;
  std::string text_;
};

} // namespace

std::string tables(const ReportInput &input, const ReportOptions &options) {
  return Tables(input, options).text();
}

std::string family_tables(const ReportInput &input, const ReportOptions &options) {
  return Tables(input, options).families();
}

} // namespace ovnitrace
