// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/summarizer.h"

#include "emulator/core/replay.h"
#include "emulator/models/registry.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

/// What an event that took place adds one to.
uint64_t *counter_of(ThreadSummary &thread, const Event &event) {
  switch (event.kind) {
  case FTrace_EVT_task_epilogue:
    return event.par2 >> FTRACE_REASON_SHIFT == FTRACE_OFFCPU_YIELDED ? &thread.yielded
                                                                      : &thread.preempted;
  case FTrace_EVT_task_sleep:
  case FTrace_EVT_task_end:
  case mcv('O', 'H', 'p'):
  case mcv('O', 'H', 'e'):
    return &thread.voluntary;
  case mcv('O', 'H', 'c'):
    return &thread.preempted;
  case FTrace_EXT_migrate:
  case mcv('O', 'A', 's'):
  case mcv('O', 'A', 'r'):
    return &thread.migrations;
  default:
    return nullptr;
  }
}

} // namespace

uint64_t ThreadSummary::alive() const {
  uint64_t sum = 0;
  for (ThreadState state : {ThreadState::Unknown, ThreadState::Running, ThreadState::Paused,
                            ThreadState::Cooling, ThreadState::Warming})
    sum += time[size_t(state)];
  return sum;
}

Summarizer::Summarizer(const Catalog &catalog)
    : threads_(catalog.threads.size()), cpus_(catalog.cpus.size()), begin_(catalog.begin),
      end_(catalog.end), now_(catalog.begin) {
  summary_.threads.resize(catalog.threads.size());
  summary_.cpus.resize(catalog.cpus.size());
  for (size_t i = 0; i < threads_.size(); i++)
    threads_[i].since = std::max(catalog.begin, catalog.threads[i].birth);
}

void Summarizer::event(const Event &event) {
  now_ = std::max(event.time, begin_);
  shown_ = event.time >= begin_;
  is_told_ = event.kind == FTrace_EXT_snapshot || !has_happened(event);
  summary_.events += was_captured(event) && has_happened(event);
  if (event.thread != kNone && shown_) {
    if (uint64_t *counter = counter_of(summary_.threads[event.thread], event))
      ++*counter;
  } else if (event.kind == FTrace_EVT_blackout_start) {
    begin_blackout(event);
  } else if (event.kind == FTrace_EVT_blackout_end) {
    lose(event);
    if (hides_states(event))
      end_blackout(event.cpu);
  }
}

void Summarizer::begin_blackout(const Event &event) {
  const bool lost_more = event.par1 == FTRACE_BLACKOUT_MISSING && event.par2 == 0;
  summary_.lost_more |= lost_more;
  if (event.cpu >= cpus_.size())
    return;
  if (lost_more)
    summary_.cpus[event.cpu].lost_more = true;
  if (hides_states(event) && cpus_[event.cpu].dark_since == kLight)
    cpus_[event.cpu].dark_since = now_;
}

void Summarizer::end_blackout(uint32_t cpu) {
  if (cpu >= cpus_.size() || cpus_[cpu].dark_since == kLight)
    return;
  summary_.cpus[cpu].unknown += now_ - cpus_[cpu].dark_since;
  cpus_[cpu].dark_since = kLight;
}

/// What was lost on the whole machine stands in the file of every CPU.
void Summarizer::lose(const Event &event) {
  if (event.par1 == FTRACE_BLACKOUT_FORGOTTEN) {
    summary_.forgotten += event.par2;
  } else if (event.cpu >= cpus_.size()) {
    summary_.lost += event.par2;
  } else if (event.par1 == FTRACE_BLACKOUT_SOMEWHERE) {
    cpus_[event.cpu].lost_somewhere += event.par2;
  } else {
    summary_.lost += event.par2;
    summary_.cpus[event.cpu].lost += event.par2;
  }
}

void Summarizer::on_change(uint32_t thread, const StateChange &change) {
  if (change.from == ThreadState::Running)
    stop_running(change.old_cpu);
  if (change.to == ThreadState::Running)
    start_running(change.cpu);
  if (change.from == change.to)
    return; // only moved
  const uint64_t since = threads_[thread].since;
  add_time(thread);
  threads_[thread].state = change.to;
  const bool happened = shown_ && !is_told_;
  if (change.to == ThreadState::Running && threads_[thread].woken)
    summary_.threads[thread].latency.add(now_ - since);
  threads_[thread].woken = change.to == ThreadState::Warming && happened;
  summary_.threads[thread].wakeups += threads_[thread].woken;
  if (change.to == ThreadState::Running && happened && change.cpu < summary_.cpus.size())
    summary_.cpus[change.cpu].switches++;
}

/// Ends the state that a thread was in.
void Summarizer::add_time(uint32_t thread) {
  ThreadNow &at = threads_[thread];
  if (now_ > at.since) { // not before its birth
    summary_.threads[thread].time[size_t(at.state)] += now_ - at.since;
    at.since = now_;
  }
}

void Summarizer::start_running(uint32_t cpu) {
  if (cpu < cpus_.size() && cpus_[cpu].running++ == 0)
    cpus_[cpu].since = now_;
}

void Summarizer::stop_running(uint32_t cpu) {
  if (cpu < cpus_.size() && --cpus_[cpu].running == 0)
    summary_.cpus[cpu].busy += now_ - cpus_[cpu].since;
}

Summary Summarizer::finish() {
  now_ = std::max(now_, end_);
  uint64_t somewhere = 0;
  for (const CpuNow &cpu : cpus_)
    somewhere = std::max(somewhere, cpu.lost_somewhere);
  summary_.lost += somewhere;
  for (uint32_t i = 0; i < threads_.size(); i++)
    add_time(i);
  for (uint32_t i = 0; i < cpus_.size(); i++) {
    if (cpus_[i].running)
      summary_.cpus[i].busy += now_ - cpus_[i].since;
    end_blackout(i);
  }
  return std::move(summary_);
}

Summary summarize(EventSource &source) {
  NoDiagnostics silent;
  Summarizer summarizer(source.catalog());
  std::vector<Model> models;
  models.push_back(ovni_model());
  Replay replay(source.catalog(), std::move(models), {}, silent, 0);
  replay.system().observe(&summarizer);
  for (Event event; source.next(event);) {
    summarizer.event(event);
    replay.handle(event);
    replay.skip(); // nothing is written
  }
  return summarizer.finish();
}

} // namespace ovnitrace
