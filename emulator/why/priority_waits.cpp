// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/priority_waits.h"

namespace ovnitrace {

PriorityWatch::PriorityWatch(const Catalog &catalog, const std::vector<uint8_t> &shown)
    : shown_(shown), classes_(catalog.threads.size()), nice_(catalog.threads.size()) {}

void PriorityWatch::event(const Event &event, const System &system) {
  switch (event.kind) {
  case FTrace_EVT_task_dispatch:
    if (event.thread != kNone) {
      const uint32_t priority = added_par2(event) & FTRACE_PRIO_MASK;
      const ftrace_class of = ftrace_class_of(priority);
      const bool is_nice = of == FTRACE_CLASS_NORMAL && priority < FTRACE_PRIO_FIRST_NICE + 40;
      classes_[event.thread] = of;
      nice_[event.thread] = int8_t(is_nice ? priority - FTRACE_PRIO_FIRST_NICE - 20 : 0);
    }
    return;
  case FTrace_EVT_task_epilogue:
  case FTrace_EVT_task_sleep:
  case FTrace_EXT_holder:
    const uint32_t found = (added_par2(event) & FTRACE_CLASS_MASK) >> FTRACE_CLASS_SHIFT;
    if (found && event.cpu != kNone)
      peers_[uint64_t(system.cpus()[event.cpu].host) << 32 | event.named().tid] =
          ftrace_class(found);
    return;
  }
}

ftrace_class PriorityWatch::class_of(Culprit holder, uint32_t host) const {
  if (holder.kind() == Culprit::Kind::thread)
    return classes_[holder.number()];
  const auto peer = peers_.find(uint64_t(host) << 32 | holder.number());
  return peer == peers_.end() ? FTRACE_CLASS_UNKNOWN : peer->second;
}

void PriorityWatch::held(uint32_t thread, WaitKind kind, uint32_t number, Culprit holder,
                         uint32_t host, uint64_t ns) {
  if (kind == WaitKind::throttling && is_real_time(thread))
    sums_.throttled_real_time += ns;
  if (!wants_cpu(kind) || !is_of_other_program(holder, shown_))
    return;
  if (number >= sums_.holders.size())
    sums_.holders.resize(number + 1);
  PriorityWaits::Holder &sum = sums_.holders[number];
  sum.culprit = holder;
  sum.host = host;
  const ftrace_class of = class_of(holder, host);
  const bool before = ovnitrace::is_real_time(of); // the kernel lets it run before normal threads
  if (of != FTRACE_CLASS_UNKNOWN)
    (before ? sum.real_time : sum.normal) += ns;
  if (is_real_time(thread) && of == FTRACE_CLASS_NORMAL) {
    sums_.behind_lower += ns;
    sums_.preempted_lower += kind == WaitKind::wakeup ? 0 : ns;
  } else if (nice_[thread] > 0 && !before) {
    sums_.as_nice[size_t(nice_[thread])] += ns;
  }
}

} // namespace ovnitrace
