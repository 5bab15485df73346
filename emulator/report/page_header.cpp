// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/page_header.h"

#include "emulator/base/palette.h"
#include "emulator/format/value_names.h"
#include "emulator/input/command_lines.h"
#include "emulator/slices/shown_state.h"
#include "emulator/summary/groups.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kPatterns[] = {"none", "hatched", "vertical", "horizontal", "dots"};
constexpr const char *kWaitsFor[] = {"nothing", "cpu", "other"};

Json states() {
  Json all = Json::array();
  for (const StateInfo &state : kStateTable)
    all.push_back({{"name", state.name},
                   {"label", state.label},
                   {"term", state.term},
                   {"meaning", state.meaning},
                   {"color", css(state.color)},
                   {"pattern", kPatterns[size_t(state.pattern)]},
                   {"waits", kWaitsFor[size_t(state.waits)]},
                   {"stacked", state.stacked}});
  return all;
}

Json state_order() {
  Json all = Json::array();
  for (const ShownState state : kStateOrder)
    all.push_back(int(state));
  return all;
}

/// Returns the columns of the counters of a thread: their names are those of `info --json`.
Json counters() {
  Json all = Json::array();
  for (const CounterInfo &counter : kCounters)
    all.push_back({{"name", counter.name},
                   {"meaning", counter.meaning},
                   {"is_switch", counter.is_switch},
                   {"if_any", counter.if_any}});
  return all;
}

/// Returns the words or labels of values, by value.
Json words(ValueNames names, std::string_view ValueName::*word) {
  Json all = Json::object();
  for (const ValueName &name : names)
    all[std::to_string(name.value)] = name.*word;
  return all;
}

Json threads(const ReportInput &input, const PackedTrace &trace) {
  Json all = Json::array();
  const std::vector<std::string_view> lines = command_lines(input.catalog);
  const std::vector<uint32_t> mains = main_threads(input.catalog);
  for (size_t t = 0; t < trace.threads.size(); t++) {
    const ThreadInfo &thread = input.catalog.threads[t];
    const PackedThread &packed = trace.threads[t];
    all.push_back({{"tid", thread.tid},
                   {"pid", thread.pid},
                   {"main", mains[t]},
                   {"node", thread.host},
                   {"name", thread.name},
                   {"birth", thread.birth},
                   {"slices", packed.slices},
                   {"start", packed.start}});
    if (thread.tid == thread.pid && !lines[t].empty())
      all.back()["command_line"] = lines[t];
    if (!packed.mix.empty())
      all.back()["coarse"] = true;
  }
  return all;
}

/// Returns the threads of pairs in the summary, by index: a tid may be that of several threads.
Json pairs(const std::vector<PairCount> &pairs) {
  Json all = Json::array();
  for (const PairCount &pair : pairs)
    all.push_back({{"thread", pair.thread}, {"by", pair.peer == kNone ? Json() : Json(pair.peer)}});
  return all;
}

Json cpus(const Catalog &catalog) {
  Json all = Json::array();
  for (const CpuInfo &cpu : catalog.cpus)
    all.push_back({{"index", cpu.index}, {"node", cpu.host}});
  return all;
}

/// Returns the names of the chains of --control, by host and by their numbers in regions.
Json chains(const Catalog &catalog) {
  Json all = Json::array();
  for (const HostInfo &host : catalog.hosts)
    all.push_back(host.chains);
  return all;
}

Json untraced(const PackedTrace &trace) {
  Json all = Json::array();
  for (const PeerNumbers::Untraced &peer : trace.untraced)
    all.push_back({{"tid", peer.tid}, {"name", peer.name}});
  return all;
}

/// Returns the marks of `ovnitrace ctl mark` that are in the shown time, by time.
Json marks(const ReportInput &input) {
  constexpr size_t kMost = 200;
  std::vector<const CaptureMark *> shown;
  for (const HostInfo &host : input.catalog.hosts)
    for (const CaptureMark &mark : host.marks)
      if (mark.time_ns >= input.summary.from && mark.time_ns <= input.summary.to)
        shown.push_back(&mark);
  std::stable_sort(shown.begin(), shown.end(), [](const CaptureMark *a, const CaptureMark *b) {
    return a->time_ns < b->time_ns;
  });
  shown.resize(std::min(shown.size(), kMost));
  Json all = Json::array();
  for (const CaptureMark *mark : shown)
    all.push_back({{"time", mark->time_ns - input.catalog.begin}, {"text", mark->text}});
  return all;
}

Json latency(const Summary &summary) {
  LatencyHistogram all;
  for (const ThreadSummary &thread : summary.threads)
    all.add(thread.latency);
  return {{"count", all.count()},
          {"p50", all.percentile(50)},
          {"p99", all.percentile(99)},
          {"max", all.max()}};
}

Json series() {
  Json all = Json::array();
  for (Color color : palette::kSeries)
    all.push_back(css(color));
  return all;
}

} // namespace

Json page_header(const ReportInput &input, const PackedTrace &trace) {
  const Summary &summary = input.summary;
  return {{"from", summary.from - input.catalog.begin},
          {"to", summary.to - input.catalog.begin},
          {"states", states()},
          {"state_order", state_order()},
          {"counters", counters()},
          {"reasons", words(kReasonNames, &ValueName::label)},
          {"reason_names", words(kReasonNames, &ValueName::name)},
          {"calls", trace.calls},
          {"places", trace.places},
          {"places_left_out", trace.places_left_out},
          {"contexts", words(kWakerContextNames, &ValueName::label)},
          {"context_names", words(kWakerContextNames, &ValueName::name)},
          {"series", series()},
          {"alarm", css(palette::kAlarm)},
          {"threads", threads(input, trace)},
          {"preemptions", pairs(summary.preemptions)},
          {"wakeups", pairs(summary.wakeups)},
          {"cpus", cpus(input.catalog)},
          {"cpu_count", cpu_count(input.info, input.catalog)},
          {"untraced", untraced(trace)},
          {"chains", chains(input.catalog)},
          {"marks", marks(input)},
          {"latency", latency(summary)},
          {"slices", trace.slices},
          {"load_steps", PackedTrace::kLoadSteps},
          {"grain", trace.grain},
          {"coarse_threads", trace.coarse_threads}};
}

} // namespace ovnitrace
