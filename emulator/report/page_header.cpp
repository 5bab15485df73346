// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/page_header.h"

#include "emulator/base/palette.h"
#include "emulator/format/value_names.h"
#include "emulator/input/command_lines.h"
#include "emulator/slices/shown_state.h"
#include "emulator/summary/groups.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kPatterns[] = {"none", "hatched", "vertical", "horizontal", "dots"};

/// Returns what `of`, a function or a member, makes of each element.
template <class Range, class Of> Json list(const Range &range, Of of) {
  Json all = Json::array();
  for (const auto &one : range)
    all.push_back(std::invoke(of, one));
  return all;
}

Json states() {
  return list(kStateTable, [](const StateInfo &state) {
    return Json{{"name", state.name},        {"label", state.label},
                {"term", state.term},        {"meaning", state.meaning},
                {"color", css(state.color)}, {"pattern", kPatterns[size_t(state.pattern)]},
                {"waits", state.waits},      {"stacked", state.stacked}};
  });
}

/// Returns the columns of the counters of a thread: their names are those of `info --json`.
Json counters() {
  return list(kCounters, [](const CounterInfo &counter) {
    return Json{{"name", counter.name},
                {"meaning", counter.meaning},
                {"is_switch", counter.is_switch},
                {"if_any", counter.if_any}};
  });
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
    if (mains[t] == t && thread.tid != thread.pid) // the name of a main thread is above
      all.back()["process"] = process_name(input.catalog, thread);
    if (thread.tid == thread.pid && !lines[t].empty())
      all.back()["command_line"] = lines[t];
    if (!packed.mix.empty())
      all.back()["coarse"] = true;
  }
  return all;
}

/// Returns the threads of pairs in the summary, by index: a tid may be that of several threads.
Json pairs(const std::vector<PairCount> &pairs) {
  return list(pairs, [](const PairCount &pair) {
    return Json{{"thread", pair.thread}, {"by", pair.peer == kNone ? Json() : Json(pair.peer)}};
  });
}

Json cpus(const Catalog &catalog) {
  return list(catalog.cpus, [](const CpuInfo &cpu) {
    return Json{{"index", cpu.index}, {"node", cpu.host}};
  });
}

Json untraced(const PackedTrace &trace) {
  return list(trace.untraced, [](const PeerNumbers::Untraced &peer) {
    return Json{{"tid", peer.tid}, {"name", peer.name}};
  });
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
  return list(shown, [&](const CaptureMark *mark) {
    return Json{{"time", mark->time_ns - input.catalog.begin}, {"text", mark->text}};
  });
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

} // namespace

Json page_header(const ReportInput &input, const PackedTrace &trace) {
  const Summary &summary = input.summary;
  return {{"from", summary.from - input.catalog.begin},
          {"to", summary.to - input.catalog.begin},
          {"states", states()},
          {"state_order", list(kStateOrder, [](ShownState state) { return int(state); })},
          {"counters", counters()},
          {"reasons", words(kReasonNames, &ValueName::label)},
          {"reason_names", words(kReasonNames, &ValueName::name)},
          {"calls", trace.calls},
          {"places", trace.places},
          {"places_left_out", trace.places_left_out},
          {"contexts", words(kWakerContextNames, &ValueName::label)},
          {"context_names", words(kWakerContextNames, &ValueName::name)},
          {"series", list(palette::kSeries, css)},
          {"alarm", css(palette::kAlarm)},
          {"threads", threads(input, trace)},
          {"preemptions", pairs(summary.preemptions)},
          {"wakeups", pairs(summary.wakeups)},
          {"cpus", cpus(input.catalog)},
          {"cpu_count", cpu_count(input.catalog)},
          {"untraced", untraced(trace)},
          {"chains", list(input.catalog.hosts, &HostInfo::chains)},
          {"marks", marks(input)},
          {"latency", latency(summary)},
          {"slices", trace.slices},
          {"load_steps", PackedTrace::kLoadSteps},
          {"grain", trace.grain},
          {"coarse_threads", trace.coarse_threads}};
}

} // namespace ovnitrace
