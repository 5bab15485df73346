// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/chosen_cpus.h"
#include "emulator/input/command_lines.h"
#include "emulator/input/thread_group.h"
#include "emulator/models/value_labels.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/idle_text.h"
#include "emulator/summary/names.h"
#include "emulator/summary/region_lengths.h"
#include "emulator/summary/report.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the number of lost events, null if it is not known.
Json lost_json(uint64_t lost, bool more) {
  return more ? Json() : Json(lost);
}

Json time_json(const ThreadSummary &summary) {
  Json json;
  for (ThreadState state : kSummedStates)
    json[std::string(kStateTable[size_t(state)].name)] = summary.time[size_t(state)];
  return json;
}

/// Returns the counters that are switches, or the others.
Json counters_json(const ThreadSummary &summary, bool switches) {
  Json json;
  for (const CounterInfo &counter : kCounters)
    if (counter.is_switch == switches)
      json[std::string(counter.name)] = summary.*counter.count;
  return json;
}

class JsonReport {
public:
  JsonReport(const ReportInput &input, const ReportOptions &options)
      : input_(input), info_(input.info), catalog_(input.catalog), summary_(input.summary),
        options_(options) {}

  void write(JsonStream &out) const {
    const auto pairs = [&](const char *name, const std::vector<PairCount> &pairs) {
      out.start_array(name);
      for (const PairCount &of : pairs)
        out.element(pair(of));
      out.end_array();
    };
    Json hosts = Json::array();
    for (const HostInfo &host : catalog_.hosts)
      hosts.push_back(host.name);
    out.member("schema", kJsonSchema);
    out.member("trace", input_.path);
    out.member("host", info_.host);
    out.member("kernel", info_.kernel);
    out.member("machine", info_.machine);
    out.member("command", info_.command);
    out.member("answer",
               Json{{"sentences", input_.answer.sentences}, {"advice", input_.answer.advice}});
    out.member("tracer", info_.tracer);
    out.member("ended", info_.ended);
    out.member("begin_ns", summary_.from);
    out.member("begin_wall_ns",
               info_.to_wall_ns ? Json(int64_t(summary_.from) + info_.to_wall_ns) : Json());
    out.member("duration_ns", summary_.to - summary_.from);
    out.member("events", summary_.events);
    out.member("lost", lost_json(summary_.lost, summary_.lost_more));
    out.member("forgotten", summary_.forgotten);
    out.member("nodes", hosts);
    out.start_array("threads");
    for (const uint32_t index : sorted_threads(summary_, options_.sort))
      out.element(thread(index));
    out.end_array();
    out.member("cpus", cpus());
    out.member("trace_begin_ns", catalog_.begin);
    out.member("trace_duration_ns", catalog_.end - catalog_.begin);
    out.member("attached_pids", info_.attached_pids);
    out.member("filters", info_.filters);
    out.member("all_threads", info_.all_threads);
    out.member("families", info_.families);
    out.member("buffer", info_.buffer);
    out.member("stacks", info_.stacks);
    Json stacks;
    for (const auto &[name, count] : kStackCounts)
      stacks[name] = info_.stack_counts.*count;
    out.member("stacks_taken", stacks);
    out.member("user", info_.user);
    out.member("processes", groups(by_process(catalog_, summary_, options_.sort), true));
    out.member("command_lines", command_line_list());
    out.member("names", groups(by_name(catalog_, summary_, options_.sort), false));
    out.member("cgroups", groups(by_cgroup(catalog_, summary_, options_.sort), false));
    pairs("preemptions", summary_.preemptions);
    pairs("wakeups", summary_.wakeups);
    out.member("sections", sections());
    out.member("regions", regions());
    out.member("marks", marks());
    out.member("region_lengths", region_lengths());
    out.end();
  }

private:
  /// Returns ns from the start of the trace, null if the time is not known.
  Json at(uint64_t ns, bool known) const { return known ? Json(ns - catalog_.begin) : Json(); }

  Json spans(const Spans &spans) const {
    return {{"count", spans.count},
            {"time_ns", spans.time},
            {"max_ns", spans.count ? Json(spans.max) : Json()},
            {"max_at_ns", at(spans.max_at, spans.count > 0)}};
  }

  Json thread(uint32_t index) const {
    const ThreadInfo &thread = catalog_.threads[index];
    const ThreadSummary &summary = summary_.threads[index];
    const Cgroup *cgroup = cgroup_of(catalog_, thread, summary_.to);
    const bool waited = summary.latency.count() > 0;
    const auto latency = [&](uint64_t ns) { return waited ? Json(ns) : Json(); };
    Json waits = spans(summary.mutex_waits);
    waits["gave_up"] = summary.waits_given_up;
    Json json = {{"tid", thread.tid},
                 {"pid", thread.pid},
                 {"parent", thread.parent},
                 {"node", thread.host},
                 {"birth_ns", thread.birth},
                 {"name", thread.name},
                 {"cgroup", cgroup ? Json(cgroup->path) : Json()},
                 {"time_ns", time_json(summary)},
                 {"outside_regions_ns", summary.outside},
                 {"start_gate_ns", summary.gate},
                 {"start_waits_ns", summary.start_waits},
                 {"switches", counters_json(summary, true)}};
    json.update(counters_json(summary, false));
    json["wakeup_latency_ns"] = {{"count", summary.latency.count()},
                                 {"p50", latency(summary.latency.percentile(50))},
                                 {"p99", latency(summary.latency.percentile(99))},
                                 {"max", latency(summary.latency.max())},
                                 {"max_at_ns", at(summary.latency_max_at, waited)}};
    json["mutex_waits"] = std::move(waits);
    json["throttling"] = spans(summary.throttling);
    json["found_waiting_ns"] = summary.found_waiting;
    json["deadlines"] = {{"budgets", summary.budgets},
                         {"budgets_used_up", summary.budgets_used_up},
                         {"missed", spans(summary.late)}};
    json["idle_while_waiting"] = idle_json(summary.idle_known, summary.idle);
    return json;
  }

  Json cpus() const {
    Json all = Json::array();
    for (size_t i = 0; i < catalog_.cpus.size(); i++) {
      const CpuSummary &cpu = summary_.cpus[i];
      const bool is_recorded = records_cpu(input_.info, catalog_.cpus[i].index);
      const auto if_recorded = [&](uint64_t number) { return is_recorded ? Json(number) : Json(); };
      Json interrupts = Json::array();
      for (const auto &[interrupt, of] : cpu.interrupt) {
        interrupts.push_back({{"interrupt", interrupt}, {"name", interrupt_name(interrupt)}});
        interrupts.back().update(spans(of));
      }
      all.push_back({{"cpu", catalog_.cpus[i].index},
                     {"node", catalog_.cpus[i].host},
                     {"busy_ns", if_recorded(cpu.busy)},
                     {"switches", if_recorded(cpu.switches)},
                     {"unknown_ns", if_recorded(cpu.unknown)},
                     {"lost", lost_json(cpu.lost, cpu.lost_more)},
                     {"interrupts_ns", cpu.interrupts},
                     {"interrupts", std::move(interrupts)},
                     {"idle_states", idle_states(i)},
                     {"frequency", frequency(cpu.frequency)},
                     {"stolen_ns", cpu.stolen_known ? Json(cpu.stolen) : Json()}});
    }
    return all;
  }

  /// Returns null if no event says the frequency.
  static Json frequency(const CpuFrequency &of) {
    if (!of.changes)
      return Json();
    return {{"mean_khz", of.known ? Json(of.mean_khz()) : Json()},
            {"min_khz", of.least},
            {"max_khz", of.most},
            {"changes", of.changes},
            {"known_ns", of.known}};
  }
  Json idle_states(size_t cpu) const {
    Json all = Json::array();
    for (const auto &[state, of] : summary_.cpus[cpu].idle) {
      all.push_back({{"state", state}, {"name", idle_state_name(catalog_, uint32_t(cpu), state)}});
      all.back().update(spans(of));
    }
    return all;
  }

  /// Returns the command line of each process that the cut keeps.
  Json command_line_list() const {
    Json all = Json::array();
    const std::vector<std::string_view> lines = command_lines(catalog_);
    std::set<std::tuple<uint32_t, uint32_t, std::string_view>> shown;
    for (size_t t = 0; t < lines.size(); t++)
      if (const ThreadInfo &thread = catalog_.threads[t];
          summary_.shown[t] && !lines[t].empty() &&
          shown.emplace(thread.host, thread.pid, lines[t]).second)
        all.push_back({{"pid", thread.pid}, {"node", thread.host}, {"command_line", lines[t]}});
    return all;
  }

  static Json groups(const std::vector<ThreadGroup> &groups, bool processes) {
    Json all = Json::array();
    for (const ThreadGroup &group : groups) {
      Json one = Json::object();
      if (processes)
        one = {{"pid", group.pid}, {"node", group.host}};
      one["name"] = group.name;
      one["threads"] = group.threads;
      one["time_ns"] = time_json(group.sum);
      all.push_back(std::move(one));
    }
    return all;
  }

  /// Returns a pair. A tid of 0 is the idle task, null an interrupt.
  Json pair(const PairCount &pair) const {
    const uint32_t tid = pair.peer == kNone ? pair.tid : catalog_.threads[pair.peer].tid;
    const std::string name = peer_name(catalog_, pair);
    return {{"tid", catalog_.threads[pair.thread].tid},
            {"node", catalog_.threads[pair.thread].host},
            {"by_tid", tid == kNone ? Json() : Json(tid)},
            {"by_name", name.empty() ? Json() : Json(name)},
            {"count", pair.count}};
  }

  Json sections() const {
    Json all = Json::array();
    for (const auto &[section, of] : summary_.sections) {
      all.push_back({{"section", section}});
      all.back().update(spans(of));
      all.back().update(percentiles(summary_.section_lengths.at(section)));
    }
    return all;
  }

  static Json percentiles(const LatencyHistogram &lengths) {
    return {{"p50_ns", lengths.percentile(50)},
            {"p90_ns", lengths.percentile(90)},
            {"p99_ns", lengths.percentile(99)}};
  }

  /// Returns the lengths of the stopped regions of each chain.
  Json region_lengths() const {
    Json all = Json::array();
    for (const auto &[chain, lengths] : lengths_by_chain(summary_)) {
      all.push_back({{"chain", chain ? Json(chain) : Json()},
                     {"count", lengths.all.count()},
                     {"time_ns", lengths.ns},
                     {"max_ns", lengths.all.max()}});
      all.back().update(percentiles(lengths.all));
    }
    return all;
  }

  Json marks() const {
    Json all = Json::array();
    for (uint32_t host = 0; host < catalog_.hosts.size(); host++)
      for (const CaptureMark &mark : catalog_.hosts[host].marks)
        if (mark.time_ns >= catalog_.begin)
          all.push_back(
              {{"time_ns", mark.time_ns - catalog_.begin}, {"text", mark.text}, {"node", host}});
    return all;
  }

  Json regions() const {
    Json all = Json::array();
    for (const RegionSummary &region : summary_.regions)
      all.push_back({{"tid", catalog_.threads[region.thread].tid},
                     {"pid", catalog_.threads[region.thread].pid},
                     {"node", catalog_.threads[region.thread].host},
                     {"of_thread", region.of_thread},
                     {"bcast", region.bcast},
                     {"by_other_thread", region.by_other},
                     {"repeated_starts", region.repeated_starts},
                     {"chain", region.chain ? Json(region.chain) : Json()},
                     {"start_ns", region.start - catalog_.begin},
                     {"length_ns", (region.stop ? region.stop : summary_.to) - region.start},
                     {"started_by", name_of(kRegionTypeNames, region.started_by)},
                     {"stopped_by",
                      region.stop ? Json(name_of(kRegionTypeNames, region.stopped_by)) : Json()},
                     {"running_ns", region.running},
                     {"waiting_ns", region.waiting}});
    return all;
  }

  const ReportInput &input_;
  const TraceInfo &info_;
  const Catalog &catalog_;
  const Summary &summary_;
  const ReportOptions &options_;
};

} // namespace

void write_json_report(const ReportInput &input, const ReportOptions &options,
                       const JsonStream::Write &write) {
  JsonStream out(write, options.one_line);
  JsonReport(input, options).write(out);
}

std::string json_report(const ReportInput &input, const ReportOptions &options) {
  std::string text;
  write_json_report(input, options, [&](std::string_view part) { text += part; });
  return text;
}

} // namespace ovnitrace
