// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/past.h"

#include "emulator/input/call_name.h"
#include "emulator/models/user_thread.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

PastRecorder::PastRecorder(const Catalog &catalog, const PathQuery &query)
    : catalog_(catalog), query_(query), served_(catalog.cpus.size()), ran_(catalog.threads.size()),
      ended_(catalog.threads.size()) {}

void PastRecorder::on_event(const Event &event, const System &system) {
  wakeup_.thread = kNone;
  served_.event(event);
  switch (event.kind) {
  case FTrace_EVT_task_activate:
    wakeup_ = event;
    wakeup_interrupt_ = served_.innermost(event.cpu);
    return;
  case FTrace_EVT_user_event_13:
  case FTrace_EVT_user_event_14:
    return section_event(event, system);
  }
}

/// Of sections of one number in one another, the outermost counts.
void PastRecorder::section_event(const Event &event, const System &system) {
  if (!query_.section || event.by_manual || event.par2 != *query_.section)
    return;
  const uint32_t thread = event.thread != kNone ? event.thread : running_thread(system, event.cpu);
  if (thread == kNone || (query_.tid && catalog_.threads[thread].tid != *query_.tid))
    return;
  const auto open = open_.find(thread);
  if (event.kind == FTrace_EVT_user_event_13) {
    if (open == open_.end())
      open_.emplace(thread, OpenSection{event.time, 1});
    else
      open->second.depth++;
  } else if (open != open_.end() && --open->second.depth == 0) {
    const uint64_t since = open->second.since;
    open_.erase(open);
    if (found_.thread == kNone || event.time - since > found_.to - found_.from)
      found_ = {thread, since, event.time};
  }
}

void PastRecorder::on_slice(const Slice &slice) {
  if (slice.state == ThreadState::Running)
    ran_[slice.thread] += slice.length();
  ended_[slice.thread] = slice.state == ThreadState::Dead;
  Past past = {.start = slice.start,
               .end = slice.end,
               .thread = slice.thread,
               .cpu = slice.cpu,
               .waker = slice.waker,
               .next = {},
               .call = slice.call,
               .interrupt = kNoInterrupt,
               .state = slice.state,
               .reason = slice.reason,
               .context = slice.context,
               .sleeps = is_sleep(call_name(catalog_, slice.thread, slice.call)),
               .woken = false};
  const bool asleep = slice.state == ThreadState::Paused || slice.state == ThreadState::Unknown;
  const bool wakes = slice.ends && wakeup_.thread == slice.thread && asleep;
  // Of a thread of which nothing was known until it was woken, only that of a new one says where it
  // was before: it was not.
  if (wakes && (slice.state == ThreadState::Paused || (wakeup_.par2 & FTRACE_WAKEUP_NEW))) {
    past.woken = true;
    past.waker = {wakeup_.par2 & FTRACE_TID_MASK, wakeup_.peer};
    past.context = uint8_t(wakeup_.par2 >> FTRACE_REASON_SHIFT);
    past.interrupt = past.context == FTRACE_WAKER_TASK ? kNoInterrupt : wakeup_interrupt_;
  }
  slices_.append(past);
  if (slice.state == ThreadState::Running && slice.cpu < left_.size() && left_[slice.cpu].is &&
      left_[slice.cpu].since == slice.end && slice.next.thread == kNone)
    left_[slice.cpu].next = slice.next;
}

uint32_t PastRecorder::longest_running() const {
  uint32_t longest = kNone;
  for (uint32_t t = 0; t < ran_.size(); t++)
    if (ran_[t] && (longest == kNone ||
                    std::pair(!ended_[t], ran_[t]) > std::pair(!ended_[longest], ran_[longest])))
      longest = t;
  return longest;
}

void PastRecorder::on_change(uint32_t, const StateChange &change, uint64_t time) {
  if (change.from == ThreadState::Running && change.old_cpu != kNone)
    leave(change.old_cpu, time);
  if (change.to == ThreadState::Running && change.cpu != kNone)
    end_left(change.cpu, time);
}

void PastRecorder::leave(uint32_t cpu, uint64_t time) {
  if (cpu >= left_.size())
    left_.resize(cpu + 1);
  left_[cpu] = {true, time, {}};
}

void PastRecorder::end_left(uint32_t cpu, uint64_t time) {
  if (cpu >= left_.size() || !left_[cpu].is)
    return;
  Past gap = {};
  gap.start = left_[cpu].since;
  gap.end = time;
  gap.thread = kNone;
  gap.cpu = cpu;
  gap.next = left_[cpu].next;
  slices_.append(gap);
  left_[cpu].is = false;
}

void PastRecorder::finish(uint64_t time) {
  for (uint32_t cpu = 0; cpu < left_.size(); cpu++)
    end_left(cpu, time);
}

} // namespace ovnitrace
