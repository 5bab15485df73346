// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/family_times.h"

#include "emulator/models/user_thread.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>

namespace ovnitrace {

namespace {

// A program can log any number: beyond these nothing more is kept.
constexpr size_t kMaxSections = 1 << 16, kMaxNested = 512;
constexpr uint32_t kMaxIdleStates = 64; // the kernel has 10

} // namespace

void FamilyTimes::event(const Event &event, const System &system) {
  switch (event.kind) {
  case FTrace_EVT_mutex_wait:
    if (event.thread != kNone)
      waits_since_[event.thread] = event.time;
    return;
  case FTrace_EVT_mutex_lock:
    return end_wait(event);
  case FTrace_EVT_task_end:
    return forget(event.thread);
  case FTrace_EVT_interrupt_start:
    return interrupt_start(event);
  case FTrace_EVT_interrupt_end:
    return interrupt_end(event);
  case FTrace_EXT_idle_start:
  case FTrace_EXT_idle_end:
    return idle(event);
  case FTrace_EXT_steal:
    return stolen(event);
  case FTrace_EVT_user_event_13:
  case FTrace_EVT_user_event_14: {
    const uint32_t thread =
        event.thread != kNone ? event.thread : running_thread(system, event.cpu);
    if (!event.by_manual && thread != kNone && summary_.shown[thread])
      section(event, thread);
    return;
  }
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
    forget_waits();
    if (event.cpu < served_.size()) {
      served_[event.cpu].clear();
      idle_[event.cpu] = {};
    }
    return;
  case FTrace_filter_mutex:
    return event.par1 ? forget_waits() : void();
  case FTrace_filter_interrupt:
    return event.par1 ? forget_interrupts() : void();
  }
}

void FamilyTimes::forget(uint32_t thread) {
  if (thread == kNone)
    return;
  waits_since_[thread] = kNot;
  sections_[thread].clear();
}

void FamilyTimes::forget_waits() {
  std::fill(waits_since_.begin(), waits_since_.end(), kNot);
}

void FamilyTimes::forget_interrupts() {
  for (auto &served : served_)
    served.clear();
}

void FamilyTimes::end_wait(const Event &event) {
  if (event.thread == kNone || waits_since_[event.thread] == kNot)
    return;
  ThreadSummary &thread = summary_.threads[event.thread];
  thread.mutex_waits.add(waits_since_[event.thread], event.time);
  thread.waits_given_up += (added_par2(event) & FTRACE_FUTEX_GAVE_UP) != 0;
  waits_since_[event.thread] = kNot;
}

/// Starts or ends a section. If the innermost one is not the one that ends, those within it end
/// too: their ends were not seen. Drops sections whose ends may have been lost.
void FamilyTimes::section(const Event &event, uint32_t thread) {
  std::vector<Section> &nested = sections_[thread];
  if (event.kind == FTrace_EVT_user_event_13) {
    if (nested.size() < kMaxNested)
      nested.push_back({event.par2, event.time});
    return;
  }
  for (size_t n = nested.size(); n-- > 0;) {
    if (nested[n].number != event.par2)
      continue;
    if (summary_.sections.size() < kMaxSections || summary_.sections.contains(event.par2)) {
      summary_.sections[event.par2].add(nested[n].since, event.time);
      summary_.section_lengths[event.par2].add(event.time - nested[n].since);
    }
    nested.resize(n);
    return;
  }
}

void FamilyTimes::interrupt_start(const Event &event) {
  if (event.cpu < served_.size() && served_[event.cpu].size() < kMaxNested)
    served_[event.cpu].push_back({event.par1, event.time, 0});
}

void FamilyTimes::interrupt_end(const Event &event) {
  if (event.cpu >= served_.size())
    return;
  std::vector<Served> &served = served_[event.cpu];
  for (size_t n = served.size(); n-- > 0;) {
    if (served[n].interrupt != event.par1)
      continue;
    const uint64_t whole = event.time - served[n].since;
    const uint64_t own = whole - std::min(whole, served[n].nested);
    CpuSummary &cpu = summary_.cpus[event.cpu];
    cpu.interrupt[event.par1].add(event.time - own, event.time);
    cpu.interrupts += own;
    served.resize(n);
    if (n)
      served[n - 1].nested += whole;
    return;
  }
}

/// Starts or ends an idle state. A CPU enters another state without an end in between.
void FamilyTimes::idle(const Event &event) {
  if (event.cpu >= idle_.size())
    return;
  Idle &open = idle_[event.cpu];
  if (open.since != kNot && open.state < kMaxIdleStates)
    summary_.cpus[event.cpu].idle[open.state].add(open.since, event.time);
  open = {};
  if (event.kind == FTrace_EXT_idle_start)
    open = {event.par2, event.time};
}

void FamilyTimes::stolen(const Event &event) {
  if (event.cpu >= summary_.cpus.size())
    return;
  summary_.cpus[event.cpu].stolen += uint64_t(event.par2) * 1000;
  summary_.cpus[event.cpu].stolen_known = true;
}

} // namespace ovnitrace
