// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/top/metrics.h"

#include "emulator/input/thread_group.h"
#include "emulator/summary/groups.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace ovnitrace {

namespace {

/// Returns a label, `name="value"`. Backslash, quote and line end are escaped.
std::string label(std::string_view name, std::string_view value) {
  std::string text = fmt::format("{}=\"", name);
  for (const char c : value)
    text += c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
  return text + '"';
}

/// Returns ns as seconds, exactly.
std::string seconds(uint64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

/// Writes metrics, each with its help before its samples.
class MetricsText {
public:
  void start(std::string_view name, std::string_view type, std::string_view help) {
    name_ = fmt::format("ovnitrace_{}", name);
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name_, help, name_,
                   type);
  }
  void sample(std::string_view labels, std::string_view value, std::string_view suffix = "") {
    text_ += name_;
    text_ += suffix;
    if (!labels.empty())
      fmt::format_to(std::back_inserter(text_), "{{{}}}", labels);
    fmt::format_to(std::back_inserter(text_), " {}\n", value);
  }
  std::string take() { return std::move(text_); }

private:
  std::string name_, text_;
};

} // namespace

Metrics::Counts &Metrics::of(Group group) {
  if (const auto found = groups_.find(group); found != groups_.end())
    return found->second;
  if (groups_.size() >= kMostGroups)
    group = {"(others)", ""};
  return groups_[group];
}

void Metrics::add(const TopPart &part) {
  const Catalog &catalog = part.catalog();
  const Summary &summary = part.sums.summary;
  const std::vector<uint32_t> mains = main_threads(catalog);
  for (size_t t = 0; t < summary.threads.size(); t++) {
    const ThreadSummary &thread = summary.threads[t];
    if (!thread.alive())
      continue;
    Counts &counts = of({process_name(catalog, catalog.threads[mains[t]]),
                         std::string(group_of(catalog, catalog.threads[t], summary.to))});
    const uint64_t states[kStates.size()] = {thread.reported(ThreadState::Running),
                                             thread.preempted_time(),
                                             thread.throttled_time(),
                                             thread.reported(ThreadState::Warming),
                                             thread.reported(ThreadState::Paused),
                                             thread.reported(ThreadState::Unknown)};
    for (size_t n = 0; n < kStates.size(); n++)
      counts.states[n] += states[n];
    counts.counters.add(thread);
    counts.idle.add(thread.idle);
    idle_known_ |= thread.idle_known > 0;
    for (size_t n = 0; n < kBounds; n++)
      counts.latencies[n] += thread.latency.below(kFirstBound + unsigned(n) * kBoundStep);
    counts.latency_count += thread.latency.count();
    counts.latency_sum += thread.latency.sum();
  }
  idle_known_ |= part.info.all_threads;
  for (size_t cpu = 0; cpu < summary.cpus.size(); cpu++)
    busy_[catalog.cpus[cpu].index] += summary.cpus[cpu].busy;
  observed_ += part.length();
  events_ += summary.events;
  lost_ += summary.lost;
}

std::string Metrics::text() const {
  MetricsText text;
  const auto each_group = [&](auto sample) {
    for (const auto &[group, counts] : groups_)
      sample(label("process", group.first) + "," + label("group", group.second), counts);
  };
  text.start("thread_seconds_total", "counter", "Time of threads in each state.");
  each_group([&](const std::string &group, const Counts &counts) {
    for (size_t n = 0; n < kStates.size(); n++)
      text.sample(group + "," + label("state", kStates[n]), seconds(counts.states[n]));
  });
  text.start("switches_total", "counter", "How often threads left their CPU.");
  each_group([&](const std::string &group, const Counts &counts) {
    for (const CounterInfo &counter : kCounters)
      if (counter.is_switch)
        text.sample(group + "," + label("reason", counter.name),
                    std::to_string(counts.counters.*counter.count));
  });
  for (const CounterInfo &counter : kCounters)
    if (!counter.is_switch) {
      text.start(fmt::format("{}_total", counter.name), "counter",
                 fmt::format("How often a thread {}.", counter.meaning));
      each_group([&](const std::string &group, const Counts &counts) {
        text.sample(group, std::to_string(counts.counters.*counter.count));
      });
    }
  text.start("wakeup_latency_seconds", "histogram",
             "How long threads waited for a CPU after a wakeup.");
  each_group([&](const std::string &group, const Counts &counts) {
    for (size_t n = 0; n < kBounds; n++) {
      const uint64_t longest = (uint64_t(1) << (kFirstBound + n * kBoundStep)) - 1; // ns
      text.sample(group + "," + label("le", seconds(longest)), std::to_string(counts.latencies[n]),
                  "_bucket");
    }
    text.sample(group + "," + label("le", "+Inf"), std::to_string(counts.latency_count), "_bucket");
    text.sample(group, seconds(counts.latency_sum), "_sum");
    text.sample(group, std::to_string(counts.latency_count), "_count");
  });
  if (idle_known_) {
    text.start("idle_while_waiting_seconds_total", "counter",
               "Time in which threads waited for a CPU while a CPU was idle.");
    each_group([&](const std::string &group, const Counts &counts) {
      for (size_t cause = 0; cause < kIdleCauses.size(); cause++)
        text.sample(group + "," + label("cause", kIdleCauses[cause].word),
                    seconds(counts.idle.ns[cause]));
    });
  }
  text.start("cpu_busy_seconds_total", "counter", "Time in which a CPU ran a recorded thread.");
  for (const auto &[cpu, ns] : busy_)
    text.sample(label("cpu", std::to_string(cpu)), seconds(ns));
  text.start("observed_seconds_total", "counter", "Time that these metrics are about.");
  text.sample("", seconds(observed_));
  text.start("events_total", "counter", "Events that were recorded.");
  text.sample("", std::to_string(events_));
  text.start("lost_events_total", "counter", "Events that were lost.");
  text.sample("", std::to_string(lost_));
  return text.take();
}

} // namespace ovnitrace
