// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/summarizer.h"

#include "emulator/core/program_threads.h"
#include "emulator/slices/shown_state.h"
#include "emulator/slices/slicer.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

void Spans::add(uint64_t start, uint64_t end) {
  const uint64_t length = end - start;
  if (count++ == 0 || length > max) {
    max = length;
    max_at = end;
  }
  time += length;
}

void Spans::add(const Spans &other) {
  if (other.count && (count == 0 || other.max > max)) {
    max = other.max;
    max_at = other.max_at;
  }
  count += other.count;
  time += other.time;
}

uint64_t ThreadSummary::alive() const {
  uint64_t sum = 0;
  for (ThreadState state : kSummedStates)
    sum += time[size_t(state)];
  return sum;
}

uint64_t ThreadSummary::switches() const {
  uint64_t sum = 0;
  for (const CounterInfo &counter : kCounters)
    if (counter.is_switch)
      sum += this->*counter.count;
  return sum;
}

void ThreadSummary::add(const ThreadSummary &other) {
  for (size_t state = 0; state < time.size(); state++)
    time[state] += other.time[state];
  outside += other.outside;
  gate += other.gate;
  start_waits += other.start_waits;
  idle_known += other.idle_known;
  idle.add(other.idle);
  ThreadCounters::add(other);
  throttling.add(other.throttling);
  found_waiting += other.found_waiting;
  if (other.latency.count() && (!latency.count() || other.latency.max() > latency.max()))
    latency_max_at = other.latency_max_at;
  latency.add(other.latency);
  mutex_waits.add(other.mutex_waits);
  waits_given_up += other.waits_given_up;
  late.add(other.late);
  budgets += other.budgets;
  budgets_used_up += other.budgets_used_up;
}

Summarizer::Summarizer(const Catalog &catalog, const Cut &cut)
    : last_cpu_(catalog.threads.size()), lost_somewhere_(catalog.cpus.size()),
      preemptions_(catalog.threads.size()), wakeups_(catalog.threads.size()),
      families_(summary_, catalog), frequencies_(summary_, catalog.cpus.size()), regions_(summary_),
      gate_(catalog, started_threads(catalog)), catalog_(catalog) {
  const TimeRange range = range_of(cut, catalog);
  summary_.from = range.from;
  summary_.to = range.to;
  summary_.recorded = range.to - range.from;
  summary_.threads.resize(catalog.threads.size());
  summary_.cpus.resize(catalog.cpus.size());
  summary_.shown = kept_threads(cut, catalog);
}

void Summarizer::on_event(const Event &event, const System &system) {
  gate_.event(event);
  summary_.events += was_captured(event) && has_happened(event);
  if (event.kind == FTrace_EVT_blackout_end)
    lose(event);
  if (event.time < summary_.from)
    return; // it only made the states at the start
  switch (event.kind) {
  case FTrace_EVT_task_epilogue:
  case FTrace_EVT_task_sleep:
  case FTrace_EVT_task_end:
  case mcv('O', 'H', 'p'):
  case mcv('O', 'H', 'e'):
  case mcv('O', 'H', 'c'):
  case FTrace_EXT_migrate:
  case mcv('O', 'A', 's'):
    if (event.thread != kNone)
      leave_cpu(event);
    if (event.thread != kNone && event.kind == FTrace_EXT_migrate)
      last_cpu_[event.thread] = {system.find_cpu(system.threads()[event.thread].host, event.par2),
                                 region_events_};
    break;
  case mcv('O', 'A', 'r'): // the thread of the event moves another
    if (event.peer != kNone)
      summary_.threads[event.peer].migrations++;
    break;
  case FTrace_EXT_snapshot:
    if (event.thread != kNone)
      last_cpu_[event.thread] = {}; // what it did before was not asked for
    break;
  case FTrace_EXT_region:
    region_events_++;
    if (event.thread != kNone)
      regions_.event(event, system);
    break;
  case FTrace_EVT_blackout_start:
    summary_.lost_more |= loses_uncounted(event);
    break;
  case FTrace_EVT_task_dispatch:
    return arrive(event, system);
  case FTrace_EVT_task_activate:
    return; // none of the families'
  }
  families_.event(event, system);
  frequencies_.event(event, system);
}

/// Counts a migration that has no event of its own: it was lost or filtered out. A move outside the
/// regions of --control does not count.
void Summarizer::arrive(const Event &event, const System &system) {
  if (event.thread == kNone)
    return;
  LastCpu &last = last_cpu_[event.thread]; // known after a blackout, too
  uint32_t before = system.threads()[event.thread].cpu;
  if (before == kNone && last.region_events == region_events_)
    before = last.cpu;
  summary_.threads[event.thread].migrations += before != kNone && before != event.cpu;
  last = {event.cpu, region_events_};
}

/// Counts how threads leave CPUs. Counts events and not slices, as a blackout hides slices only.
void Summarizer::leave_cpu(const Event &event) {
  ThreadSummary &thread = summary_.threads[event.thread];
  switch (event.kind) {
  case FTrace_EVT_task_epilogue:
    if (event.reason() == FTRACE_OFFCPU_YIELDED) {
      thread.yielded++;
    } else if (ftrace_offcpu_is_throttled(event.reason())) {
      thread.throttled++;
    } else {
      thread.preempted++;
      count(preemptions_, event.thread, event.next(), event.time);
    }
    return;
  case mcv('O', 'H', 'c'):
    thread.preempted++;
    return;
  case FTrace_EXT_migrate:
  case mcv('O', 'A', 's'):
    thread.migrations++;
    return;
  default:
    thread.voluntary++;
  }
}

/// Counts a peer. The tid of one that is not traced may have another owner later, so its name is
/// that of `time`.
void Summarizer::count(PairTable &pairs, uint32_t thread, Peer peer, uint64_t time) const {
  const std::vector<PeerName> &names = catalog_.hosts[catalog_.threads[thread].host].peers;
  const PeerName *name = peer.thread == kNone ? find_peer(names, peer.tid, time) : nullptr;
  pairs.add(thread, peer, name ? uint32_t(name - names.data()) : kNone);
}

/// Counts lost events. Losses of the whole machine are in the file of every CPU.
void Summarizer::lose(const Event &event) {
  if (event.par1 == FTRACE_BLACKOUT_FORGOTTEN) {
    summary_.forgotten += event.par2;
  } else if (event.cpu >= summary_.cpus.size()) {
    summary_.lost += event.par2;
  } else if (event.par1 == FTRACE_BLACKOUT_SOMEWHERE) {
    lost_somewhere_[event.cpu] += event.par2;
  } else {
    summary_.lost += event.par2;
    summary_.cpus[event.cpu].lost += event.par2;
  }
}

void Summarizer::on_slice(const Slice &slice) {
  ThreadSummary &thread = summary_.threads[slice.thread];
  thread.time[size_t(slice.state)] += slice.length();
  regions_.slice(slice, catalog_);
  if (slice.then == ThreadState::Unknown)
    families_.forget(slice.thread);
  if (slice.state == ThreadState::Running) {
    if (slice.starts && slice.cpu < summary_.cpus.size())
      summary_.cpus[slice.cpu].switches++;
    return;
  }
  if (shown_state(slice) == ShownState::throttled)
    thread.throttling.add(slice.start, slice.end);
  if (slice.reason == FTRACE_OFFCPU_WAITED)
    thread.found_waiting += slice.length();
  if (!slice.is_woken() ||
      gate_.is_before(slice.thread)) // ovnitrace causes wakeups before the start
    return;
  thread.wakeups++;
  if (slice.context == FTRACE_WAKER_TASK)
    count(wakeups_, slice.thread, slice.waker, slice.end);
  else if (slice.context != kNotKnown && slice.context != FTRACE_WAKER_UNKNOWN)
    wakeups_.add_interrupt(slice.thread);
  if (!slice.is_latency())
    return;
  if (!thread.latency.count() || slice.length() > thread.latency.max())
    thread.latency_max_at = slice.end;
  thread.latency.add(slice.length());
}

void Summarizer::on_cpu(const CpuSpan &span) {
  if (span.cpu >= summary_.cpus.size())
    return; // CPUs of threads that are on no CPU of the machine
  CpuSummary &cpu = summary_.cpus[span.cpu];
  if (span.what == CpuSpan::What::busy) {
    cpu.busy += span.end - span.start;
    return;
  }
  cpu.unknown += span.end - span.start;
  cpu.lost_more |= !span.counted;
  summary_.lost_more |= !span.counted;
}

Summary Summarizer::finish() {
  frequencies_.finish();
  std::vector<uint64_t> most(catalog_.hosts.size()); // each CPU of a host counts the same losses
  for (size_t cpu = 0; cpu < lost_somewhere_.size(); cpu++)
    most[catalog_.cpus[cpu].host] = std::max(most[catalog_.cpus[cpu].host], lost_somewhere_[cpu]);
  for (const uint64_t lost : most)
    summary_.lost += lost;
  summary_.preemptions = preemptions_.sorted(catalog_);
  summary_.wakeups = wakeups_.sorted(catalog_);
  return std::move(summary_);
}

Summary summarize(EventSource &source, const Cut &cut) {
  check_cut(cut, source.catalog());
  Summarizer summarizer(source.catalog(), cut);
  replay_slices(source, cut, summarizer);
  return summarizer.finish();
}

} // namespace ovnitrace
