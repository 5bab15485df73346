// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/human.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"
#include "emulator/summary/report.h"
#include "emulator/summary/table_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace ovnitrace {

namespace {

class Totals : private TableParts {
public:
  Totals(const ReportInput &input, const ReportOptions &options)
      : TableParts(input, options), threads_(sorted_threads(input.summary, "running")) {
    for (const uint32_t t : threads_)
      sum_.add(summary_.threads[t]);
  }

  std::string text() {
    put_head();
    text_.insert(0, answer_text(input_.answer, options_.columns));
    put_states();
    put_counts();
    put_latency();
    if (summary_.lost || summary_.lost_more)
      put(lost_text(summary_.lost, summary_.lost_more, human_count(summary_.lost)), "events lost");
    text_ += '\n' + thread_table().text(options_.columns);
    return std::move(text_);
  }

private:
  uint64_t length() const { return summary_.to - summary_.from; }

  void put(const std::string &value, const std::string &what, const std::string &more = "") {
    text_ += fmt::format("{:>16}  {:<19}  {}", value, what, more);
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }

  void put_head() {
    const size_t processes = count_processes(catalog_, summary_.shown);
    text_ = fmt::format("{} of {} on {} for {}{}\n\n",
                        human_count(threads_.size(), "thread", "threads"),
                        human_count(processes, "process", "processes"),
                        human_count(cpu_count(catalog_), "CPU", "CPUs"), human_duration(length()),
                        input_.info.ended.empty() ? "" : "; " + input_.info.ended);
    if (sum_.outside)
      text_.insert(text_.size() - 1, fmt::format("Of that, {} are in the regions of --control.\n",
                                                 human_duration(summary_.recorded)));
  }

  void put_states() {
    const auto put_state = [&](ThreadState state, const char *what, const std::string &more) {
      put(human_duration(sum_.reported(state)), what, more);
    };
    const uint64_t all = summary_.recorded * cpu_count(catalog_);
    put_state(ThreadState::Running, "running", human_percent(sum_.running(), all) + " of the CPUs");
    put_state(ThreadState::Cooling, "preempted (cooling)",
              "or yielded or throttled, waits for a CPU");
    put_state(ThreadState::Warming, "woken (warming)", "waits for a CPU");
    put_state(ThreadState::Paused, "blocked (paused)", "waits for something else");
    put_state(ThreadState::Unknown, "unknown", "not seen");
    text_ += '\n';
  }

  bool is_shown(const CounterInfo &counter) const {
    return !counter.if_any || sum_.*counter.count > 0;
  }

  void put_counts() {
    std::string ways;
    for (const CounterInfo &counter : kCounters)
      if (counter.is_switch && is_shown(counter))
        ways += fmt::format("{}{} {}", ways.empty() ? "" : ", ", human_count(sum_.*counter.count),
                            counter.name);
    put(human_count(sum_.switches()), "switches", ways);
    for (const CounterInfo &counter : kCounters)
      if (!counter.is_switch && is_shown(counter))
        put(human_count(sum_.*counter.count), std::string(counter.name),
            std::string(counter.meaning));
  }

  void put_latency() {
    const LatencyHistogram &latency = sum_.latency;
    if (!latency.count())
      return;
    put(human_duration(latency.percentile(50)), "wakeup latency p50", "from woken to running");
    put(human_duration(latency.percentile(99)), "p99");
    const auto longest =
        std::max_element(threads_.begin(), threads_.end(), [&](uint32_t a, uint32_t b) {
          return summary_.threads[a].latency.max() < summary_.threads[b].latency.max();
        });
    put(human_duration(latency.max()), "max", thread_label(catalog_.threads[*longest]));
  }

  Table thread_table() const {
    Table table({"THREAD", state_head(ThreadState::Running), state_head(ThreadState::Cooling),
                 state_head(ThreadState::Warming), "SWIT-\nCHES", "PRE-\nEMPTED", "MIGRA-\nTIONS",
                 "p99", "MAX"});
    put_lines(thread_lines(), [&](const Line &line) {
      const ThreadSummary &of = line.sum;
      const auto time = [&](ThreadState state) { return human_duration(of.reported(state)); };
      const auto latency = [&](uint64_t ns) {
        return of.latency.count() ? human_duration(ns) : "-";
      };
      table.add({line.name, time(ThreadState::Running), time(ThreadState::Cooling),
                 time(ThreadState::Warming), human_count(of.switches()), human_count(of.preempted),
                 human_count(of.migrations), latency(of.latency.percentile(99)),
                 latency(of.latency.max())});
    });
    return table;
  }

  const std::vector<uint32_t> threads_; ///< sorted, the longest running first
  ThreadSummary sum_;
};

} // namespace

std::string totals(const ReportInput &input, const ReportOptions &options) {
  return Totals(input, options).text();
}

} // namespace ovnitrace
