// SPDX-License-Identifier: BSD-2-Clause
// Makes the tables of the families that --filter adds, of sections, and of the regions of
// --control.
#include "emulator/base/human.h"
#include "emulator/models/value_labels.h"
#include "emulator/summary/names.h"
#include "emulator/summary/region_lengths.h"
#include "emulator/summary/table_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

class FamilyTables : private TableParts {
public:
  FamilyTables(const ReportInput &input, const ReportOptions &options)
      : TableParts(input, options) {}

  std::string text() {
    put("Waits for mutexes and other futexes", mutex_waits(thread_lines()));
    put("Threads of SCHED_DEADLINE; LATE is how late the kernel noticed a missed deadline",
        deadlines(thread_lines()));
    const bool all = std::all_of(catalog_.hosts.begin(), catalog_.hosts.end(),
                                 [](const HostInfo &host) { return host.all_threads; });
    put(all ? "Interrupts on all CPUs, without the time of those that interrupted them"
            : "Interrupts while traced threads ran, without the time of those that interrupted "
              "them",
        interrupts());
    put("Idle states of CPUs", idle_states());
    put("Frequencies of CPUs; the mean is of the time in which it is KNOWN", frequencies());
    put("Sections of the program, with those within them", sections());
    put("Regions of --control, the longest first; RUNNING and WAITING (for a CPU) are of all their "
        "threads",
        regions());
    put("How long regions were, of those that were stopped", region_lengths());
    return std::move(text_);
  }

private:
  /// Lists the threads that waited.
  Table mutex_waits(const std::vector<Line> &threads) const {
    Table table({"THREAD", "WAITS", "TIME", "MAX", "AT", "GAVE UP"});
    std::vector<Line> waited;
    std::copy_if(threads.begin(), threads.end(), std::back_inserter(waited),
                 [](const Line &line) { return line.sum.mutex_waits.count > 0; });
    std::stable_sort(waited.begin(), waited.end(), [](const Line &a, const Line &b) {
      return a.sum.mutex_waits.time > b.sum.mutex_waits.time;
    });
    put_lines(waited, [&](const Line &line) {
      Table::Row row = span_row(line.name, line.sum.mutex_waits);
      row.push_back(human_count(line.sum.waits_given_up));
      table.add(std::move(row));
    });
    return table;
  }

  Table deadlines(const std::vector<Line> &threads) const {
    Table table({"THREAD", "BUDGETS", "USED UP", "MISSED", "LATE, MAX", "AT"});
    std::vector<Line> with_deadline;
    std::copy_if(threads.begin(), threads.end(), std::back_inserter(with_deadline),
                 [](const Line &line) {
                   return line.sum.budgets || line.sum.budgets_used_up || line.sum.late.count;
                 });
    std::stable_sort(with_deadline.begin(), with_deadline.end(), [](const Line &a, const Line &b) {
      return a.sum.late.count > b.sum.late.count;
    });
    put_lines(with_deadline, [&](const Line &line) {
      const Spans &late = line.sum.late;
      table.add({line.name, human_count(line.sum.budgets), human_count(line.sum.budgets_used_up),
                 human_count(late.count), late.count ? human_duration(late.max) : "-",
                 late.count ? at_text(late.max_at) : "-"});
    });
    return table;
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

  /// Lists spans, the longest first.
  Table spans(const char *what, std::vector<std::pair<std::string, Spans>> all) const {
    std::stable_sort(all.begin(), all.end(),
                     [](const auto &a, const auto &b) { return a.second.time > b.second.time; });
    Table table({what, "TIMES", "TIME", "MAX", "AT"});
    Spans rest;
    for (size_t n = 0; n < all.size(); n++)
      if (is_full(n))
        rest.add(all[n].second);
      else
        table.add(span_row(all[n].first, all[n].second));
    if (rest.count)
      table.add(span_row(others(all.size() - options_.top), rest));
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
      row.push_back(at_text(of.max_at));
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

  /// Lists the lengths of the stopped regions of each chain.
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

  /// Returns the name of the chain, or its number if the name is long.
  std::string chain_text(const RegionSummary &region) const {
    if (!region.chain)
      return "-";
    const auto &names = catalog_.hosts[catalog_.threads[region.thread].host].chains;
    const bool fits = region.chain <= names.size() && names[region.chain - 1].size() <= kMaxName;
    return fits ? short_name(names[region.chain - 1]) : std::to_string(region.chain);
  }

  /// Returns what started a region: "enter_func", with bcast, another thread's alarm, and later
  /// starts.
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
};

} // namespace

std::string family_tables(const ReportInput &input, const ReportOptions &options) {
  return FamilyTables(input, options).text();
}

} // namespace ovnitrace
