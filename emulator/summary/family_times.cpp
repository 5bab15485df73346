// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/family_times.h"

#include "emulator/models/user_thread.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

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
    return end_wait(event, system);
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
  case FTrace_EVT_task_deadline_miss:
  case FTrace_EVT_server_replenish:
  case FTrace_EVT_server_exhaust:
    return deadline(event);
  case FTrace_EVT_user_event_13:
  case FTrace_EVT_user_event_14: {
    const uint32_t thread =
        event.thread != kNone ? event.thread : running_thread(system, event.cpu);
    if (!event.by_manual && thread != kNone && summary_.shown[thread])
      section(event, thread, system);
    return;
  }
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
    lose(lost_waits_, event, system);
    lose(lost_sections_, event, system);
    if (event.cpu < served_.size()) {
      served_[event.cpu].clear();
      idle_[event.cpu] = {};
    }
    return;
  case FTrace_filter_mutex:
    return event.par1 ? lose(lost_waits_, event, system) : void();
  case FTrace_filter_user:
    return event.par1 ? lose(lost_sections_, event, system) : void();
  case FTrace_filter_interrupt:
    return event.par1 ? forget_interrupts(system.host_of(event.cpu), system) : void();
  }
}

void FamilyTimes::forget(uint32_t thread) {
  if (thread == kNone)
    return;
  waits_since_[thread] = kNot;
  sections_[thread].clear();
}

/// Notes that ends may be missing on the host of the event's CPU, or on any host.
void FamilyTimes::lose(Lost &lost, const Event &event, const System &system) {
  const uint32_t of = system.host_of(event.cpu);
  for (uint32_t host = 0; host < lost.size(); host++)
    if (of == kNone || of == host)
      lost[host] = event.time + 1;
}

void FamilyTimes::forget_interrupts(uint32_t host, const System &system) {
  for (uint32_t cpu = 0; cpu < served_.size(); cpu++)
    if (host == kNone || host == system.cpus()[cpu].host)
      served_[cpu].clear();
}

void FamilyTimes::end_wait(const Event &event, const System &system) {
  if (event.thread == kNone)
    return;
  const uint64_t since = std::exchange(waits_since_[event.thread], kNot);
  if (since == kNot || since < lost_waits_[system.threads()[event.thread].host])
    return;
  ThreadSummary &thread = summary_.threads[event.thread];
  thread.mutex_waits.add(since, event.time);
  thread.waits_given_up += (added_par2(event) & FTRACE_FUTEX_GAVE_UP) != 0;
}

/// Starts or ends a section. If the innermost one is not the one that ends, those within it end
/// too: their ends were not seen. Drops sections whose ends may have been lost.
void FamilyTimes::section(const Event &event, uint32_t thread, const System &system) {
  std::vector<Section> &nested = sections_[thread];
  const uint64_t lost = lost_sections_[system.threads()[thread].host];
  nested.erase(nested.begin(), std::find_if(nested.begin(), nested.end(), [&](const Section &open) {
                 return open.since >= lost;
               }));
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

void FamilyTimes::deadline(const Event &event) {
  if (event.thread == kNone)
    return;
  ThreadSummary &thread = summary_.threads[event.thread];
  if (event.kind == FTrace_EVT_task_deadline_miss)
    thread.late.add(event.time - std::min<uint64_t>(event.time, event.par2), event.time);
  else if (event.kind == FTrace_EVT_server_replenish)
    thread.budgets++;
  else
    thread.budgets_used_up += !(event.par2 & FTRACE_SERVER_YIELDED);
}

void FamilyTimes::stolen(const Event &event) {
  if (event.cpu >= summary_.cpus.size())
    return;
  summary_.cpus[event.cpu].stolen += uint64_t(event.par2) * 1000;
  summary_.cpus[event.cpu].stolen_known = true;
}

} // namespace ovnitrace
