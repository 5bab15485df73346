// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/run_times.h"

#include "emulator/core/program_threads.h"
#include "emulator/critical/path.h"
#include "emulator/critical/path_text.h"
#include "emulator/diff/conditions.h"
#include "emulator/slices/slicer.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/summarizer.h"
#include "emulator/why/blocked_at.h"
#include "emulator/why/cause_names.h"
#include "emulator/why/explainer.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace ovnitrace {

namespace {

/// Collects what neither `why` nor the critical path keeps: the lengths of waits, and whose events
/// were lost.
class RunWatch final : public SliceSink {
public:
  explicit RunWatch(size_t threads) : waits_(threads), lost_(threads) {}

  void on_event(const Event &event, const System &) override {
    losing_ = event.kind == FTrace_EVT_blackout_start;
  }
  void on_change(uint32_t thread, const StateChange &change, uint64_t) override {
    if (losing_ && change.to == ThreadState::Unknown && change.from != change.to)
      lost_[thread] = 1;
  }
  void on_slice(const Slice &slice) override {
    if (is_waiting(slice.state) && slice.starts && slice.ends &&
        !is_throttled(wait_kind(slice.state, slice.reason)))
      waits_[slice.thread].add(slice.length());
  }

  /// Returns how long a thread waited for a CPU each time, of waits that were seen whole.
  const LatencyHistogram &waits(uint32_t thread) const { return waits_[thread]; }
  /// Returns whether events of a thread were lost.
  bool lost(uint32_t thread) const { return lost_[thread]; }

private:
  std::vector<LatencyHistogram> waits_; ///< by thread
  std::vector<uint8_t> lost_;           ///< by thread
  bool losing_ = false;                 ///< the current event starts a blackout
};

using Kind = TimeCause::Kind;

/// Names the causes of one trace.
class Namer {
public:
  Namer(const Catalog &catalog, Names &names, const Renames &renames)
      : catalog_(catalog), names_(names), renames_(renames), mains_(main_threads(catalog)),
        groups_(catalog.threads.size()) {}

  const std::string &group(uint32_t thread) {
    if (groups_[thread].empty()) // the first thread names a process whose main thread is not traced
      groups_[thread] = names_.group(catalog_.threads[mains_[thread]].name,
                                     catalog_.threads[thread].name, renames_);
    return groups_[thread];
  }
  std::string fold(const std::string &name) { return names_.fold(name, renames_); }
  /// Returns the folded name of a thread, and the phrase of anything else.
  std::string culprit(Culprit culprit, uint32_t thread) {
    const uint32_t host = catalog_.threads[thread].host;
    const bool is_thread =
        culprit.kind() == Culprit::Kind::thread || culprit.kind() == Culprit::Kind::untraced;
    return is_thread ? fold(name_of(catalog_, culprit, host))
                     : culprit_text(catalog_, culprit, host);
  }

private:
  const Catalog &catalog_;
  Names &names_;
  const Renames &renames_;
  std::vector<uint32_t> mains_;     ///< by thread
  std::vector<std::string> groups_; ///< by thread; empty: not named yet
};

std::string peer(const PathSegment &segment, const Catalog &catalog, Namer &namer) {
  const uint32_t tid = peer_tid(segment, catalog);
  if (tid == kNone)
    return "not known";
  return tid == 0 ? "idle" : namer.fold(peer_name(segment, catalog));
}

std::string interrupt(InterruptSource source) {
  return std::string(source_phrase(source));
}

TimeCause cause_of(const PathSegment &segment, const Catalog &catalog, Namer &namer) {
  TimeCause cause{.group = namer.group(segment.thread),
                  .kind = Kind::blocked,
                  .call = std::string(call_text(segment, catalog))};
  switch (segment.cause) {
  case Cause::running:
    cause.kind = Kind::running;
    break;
  case Cause::waiting:
    cause.kind = segment.preempted ? Kind::preempted : Kind::waiting;
    cause.culprit = peer(segment, catalog, namer);
    break;
  case Cause::throttled:
    cause.kind = Kind::throttled;
    break;
  case Cause::timer:
    cause.culprit = interrupt(InterruptSource::timer);
    break;
  case Cause::io:
    cause.culprit = device_name(catalog.hosts[catalog.threads[segment.thread].host].devices,
                                segment.device == kNone ? 0 : segment.device);
    break;
  case Cause::network:
    cause.culprit = interrupt(InterruptSource::network);
    break;
  case Cause::interrupt:
    cause.culprit = interrupt(InterruptSource::other);
    break;
  case Cause::outside:
  case Cause::worker:
  case Cause::unowned:
    cause.culprit = peer(segment, catalog, namer);
    break;
  case Cause::blocked:
    cause.culprit = "not known";
    break;
  case Cause::not_woken:
    cause.culprit = "nobody yet";
    break;
  case Cause::spins:
    cause.kind = Kind::spinning;
    break;
  case Cause::ended:
  case Cause::unknown:
    cause.kind = Kind::unknown;
    break;
  }
  return cause;
}

/// Returns who held the CPU or woke the thread, with the number of the name that peer_name() has.
Culprit named_peer(const PathSegment &segment, const Catalog &catalog) {
  const bool traced = segment.peer.thread != kNone;
  return Culprit::of(segment.peer)
      .named_at(catalog, catalog.threads[segment.thread].host, traced ? segment.from : segment.to);
}

/// Sums up the path, and keeps the longest segment of each cause. Sums numbers first: there can be
/// millions of segments. With regions, only what was recorded counts.
void add_path(RunTimes &run, CriticalPath &path, const Catalog &catalog, Namer &namer) {
  const auto kind = [&](const PathSegment &s) {
    return std::tuple(s.thread, s.cause, s.preempted, s.call, s.device, s.interrupt,
                      named_peer(s, catalog).code());
  };
  std::map<decltype(kind({})), std::pair<PathSegment, uint64_t>> sums;
  path.for_each([&](const PathSegment &segment) {
    auto &[longest, ns] = sums.try_emplace(kind(segment), segment, 0).first->second;
    ns += segment.length();
    if (segment.length() > longest.length())
      longest = segment;
  });
  for (const auto &[key, sum] : sums) {
    const TimeCause cause = cause_of(sum.first, catalog, namer);
    if (run.regions && cause.kind == Kind::unknown)
      continue;
    run.wall += sum.second;
    run.path[cause] += sum.second;
    PathSegment &longest = run.longest.try_emplace(cause, sum.first).first->second;
    if (sum.first.length() > longest.length())
      longest = sum.first;
  }
}

TimeCause cause_of(const WaitSum &sum, Namer &namer) {
  TimeCause cause{.group = namer.group(sum.thread), .kind = Kind::waiting};
  if (is_throttled(sum.kind)) {
    cause.kind = Kind::throttled;
    return cause;
  }
  if (sum.kind == WaitKind::spin) {
    cause.kind = Kind::spinning;
    return cause;
  }
  if (sum.kind == WaitKind::preemption)
    cause.kind = Kind::preempted;
  cause.culprit = namer.culprit(sum.holder, sum.thread);
  return cause;
}

/// Divides the lives of all threads that the explanation is about.
Times times_of(const WhyInput &input, Namer &namer) {
  Times times;
  const Explanation &why = input.why;
  const auto add = [&](const TimeCause &cause, uint64_t ns) {
    if (ns)
      times[cause] += ns;
  };
  for (uint32_t t = 0; t < why.threads.size(); t++) {
    if (!why.shown[t])
      continue;
    add({.group = namer.group(t), .kind = Kind::running}, why.threads[t].running);
    add({.group = namer.group(t), .kind = Kind::unknown}, why.threads[t].unknown);
  }
  for (const WaitSum &sum : why.waits)
    add(cause_of(sum, namer), sum.ns);
  std::map<std::pair<uint32_t, uint32_t>, std::string> places; // by host and stack
  for (const BlockSum &sum : why.blocks) {
    const uint32_t host = input.catalog.threads[sum.thread].host;
    const auto [place, is_new] = places.try_emplace({host, sum.stack});
    if (is_new && sum.stack != kNone)
      for (const std::string &function : blocked_at(input.stacks.of_host(host), sum.stack, 1))
        place->second = function;
    add({.group = namer.group(sum.thread),
         .kind = Kind::blocked,
         .call = block_name(input.info.machine, sum.block),
         .culprit = namer.culprit(sum.waker, sum.thread),
         .at = place->second},
        sum.ns);
  }
  return times;
}

/// Returns the mean frequency of the CPUs, where it is known.
uint32_t mean_khz(const Summary &summary) {
  double khz_ns = 0, ns = 0;
  for (const CpuSummary &cpu : summary.cpus) {
    khz_ns += cpu.frequency.khz_ns;
    ns += double(cpu.frequency.known);
  }
  return ns > 0 ? uint32_t(khz_ns / ns) : 0;
}

double stolen_share(const Summary &summary, size_t cpus) {
  double stolen = 0;
  for (const CpuSummary &cpu : summary.cpus)
    stolen += double(cpu.stolen);
  const double all = double(summary.to - summary.from) * double(cpus);
  return all > 0 ? stolen / all : 0;
}

/// Returns when ovnitrace let the program run, ns from the start of the trace: with its first
/// execve. Returns 0 if that is not known. Reads `source` up to there.
uint64_t start_of(EventSource &source, uint32_t program) {
  Event event;
  while (source.next(event))
    if (event.kind == FTrace_EXT_exec && event.thread == program)
      return event.time - std::min(event.time, source.catalog().begin);
  return 0;
}

} // namespace

RunTimes measure(const std::string &trace, const TraceInfo &info, const RunQuery &query,
                 const std::function<std::unique_ptr<EventSource>()> &open, Names &names,
                 const Renames &renames) {
  RunTimes run;
  run.trace = trace;
  Cut cut;
  cut.comms = query.comms;
  const std::unique_ptr<EventSource> first = open();
  const std::vector<uint32_t> programs = started_threads(first->catalog());
  if (!programs.empty())
    cut.from = start_of(*first, programs.front());
  CriticalPath path = critical_path(*open(), info, cut, {.tid = {}, .section = query.section});

  const std::unique_ptr<EventSource> source = open();
  const Catalog &catalog = source->catalog();
  if (query.section) {
    cut.from = path.from - catalog.begin;
    cut.to = path.to - catalog.begin;
  }
  Cut all; // holders, and the start of the program, may be outside
  all.to = cut.to;
  NoDiagnostics reported_already;
  const Stacks stacks(catalog, reported_already);
  Explainer explainer(catalog, cut_to_program(cut, info, catalog), programs, &stacks);
  Summarizer summarizer(catalog, all);
  RunWatch watch(catalog.threads.size());
  const SliceView views[] = {{all, explainer}, {all, summarizer}, {cut, watch}};
  replay_slices(*source, views);
  const Explanation why = explainer.finish();
  const Summary summary = summarizer.finish();

  Namer namer(catalog, names, renames);
  run.of = namer.group(path.thread);
  run.last = namer.group(path.last);
  run.regions = !info.chains.empty();
  run.part =
      !query.section && (!info.attached_pids.empty() || (info.all_threads && !info.program_pid));
  run.from = path.from;
  run.thread = path.thread;
  add_path(run, path, catalog, namer);
  run.life = times_of({trace, info, catalog, stacks, why}, namer);
  for (uint32_t t = 0; t < catalog.threads.size(); t++) {
    if (watch.lost(t))
      run.lossy.insert(namer.group(t));
    if (!why.shown[t])
      continue;
    run.threads[namer.group(t)]++;
    run.waits[namer.group(t)].add(watch.waits(t));
  }
  run.conditions = conditions_of(info);
  run.lost = summary.lost + (summary.lost_more ? 1 : 0);
  run.stolen = stolen_share(summary, cpu_count(catalog));
  run.khz = mean_khz(summary);
  return run;
}

} // namespace ovnitrace
