// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/shark/scheduling.h"

#include <utility>

namespace ovnitrace::shark {

namespace {

constexpr uint32_t because(uint32_t reason) {
  return reason << FTRACE_REASON_SHIFT;
}

} // namespace

Scheduling::Scheduling(const FileHabits &habits, const std::vector<ThreadFacts> &threads)
    : habits_(habits) {
  threads_.reserve(threads.size());
  for (const ThreadFacts &facts : threads)
    threads_.push_back({.facts = facts});
}

bool Scheduling::take(Event &event) {
  if (taken_ == count_)
    return false;
  event = out_[taken_++];
  return true;
}

void Scheduling::record(const Event &event, Meaning meaning) {
  count_ = taken_ = 0;
  now_ = event;
  const bool known = event.thread != kNone;
  switch (meaning) {
  case Meaning::not_an_event:
    return;
  case Meaning::activate:
    if (known) {
      begin_cycle(event.thread);
      const bool interrupt = interrupts_ > 0;
      const bool by_task = !interrupt && habits_.interrupts && running_ != kNone;
      activate(because(interrupt ? FTRACE_WAKER_HARDIRQ
                       : by_task ? FTRACE_WAKER_TASK
                                 : FTRACE_WAKER_UNKNOWN),
               running_);
    }
    return;
  case Meaning::dispatch:
    return known ? dispatch() : void();
  case Meaning::epilogue:
  case Meaning::sleep:
    if (!known)
      return;
    put_as_captured(
        because(meaning == Meaning::sleep ? FTRACE_OFFCPU_SLEEP : FTRACE_OFFCPU_PREEMPTED));
    set_wait(event.thread, meaning == Meaning::sleep ? Wait::cycle : Wait::none);
    return left(event.thread);
  case Meaning::end:
    if (!known)
      return;
    put(now_);
    threads_[event.thread].in_wait = kNone;
    return left(event.thread);
  case Meaning::interrupt_begin:
  case Meaning::interrupt_end:
    if (event.kind == FTrace_EVT_timer_wakeup_start)
      break;
    now_.peer = running_;
    now_.par2 = running_ == kNone ? 0 : threads_[running_].facts.tid;
    now_.by_manual = false;
    break;
  case Meaning::blackout:
    now_.par1 = FTRACE_BLACKOUT_TRANSITIONS;
    now_.by_manual = false;
    break;
  default:
    break;
  }
  put(now_); // as in the file; implied events follow
  if (known && event.kind == FTrace_EVT_task_create)
    set_in_cycle(event.thread, false);
  switch (meaning) {
  case Meaning::release:
    return known ? release() : void();
  case Meaning::begin_cycle:
    if (known)
      set_in_cycle(event.thread, true);
    return;
  case Meaning::end_cycle:
    if (!known)
      return;
    set_in_cycle(event.thread, true);
    if (!known_)
      gets_cpu(event.thread); // only a running task can end its cycle
    set_in_cycle(event.thread, false);
    [[fallthrough]];
  case Meaning::wait:
    if (known && meaning == Meaning::wait)
      threads_[event.thread].in_wait = waits_forgotten_;
    if (known && event.thread == running_)
      about_to_ = meaning == Meaning::wait ? Wait::resource : Wait::cycle;
    return;
  case Meaning::lock:
    if (known)
      threads_[event.thread].in_wait = kNone;
    if (known && event.thread == running_ && about_to_ == Wait::resource)
      about_to_ = Wait::none;
    return;
  case Meaning::schedule:
    return schedule();
  case Meaning::wakeup_end:
    interrupts_ -= interrupts_ > 0;
    return known ? gets_cpu(event.thread) : void();
  case Meaning::gets_cpu:
    interrupts_ = 0; // inside of one the end of the timer's would say so
    return known ? gets_cpu(event.thread) : void();
  case Meaning::interrupt_begin:
    interrupts_++;
    return;
  case Meaning::interrupt_end:
    interrupts_ -= interrupts_ > 0;
    return;
  case Meaning::blackout:
    return forget();
  case Meaning::filter:
    return filter();
  default:
    return;
  }
}

void Scheduling::put_implied(uint32_t code, uint32_t thread, uint32_t par2, uint32_t peer) {
  Event event = now_;
  event.kind = code;
  event.par1 = 0;
  event.in_plain_file = false;
  event.thread = thread;
  event.par2 = par2;
  event.peer = peer;
  event.by_manual = false;
  put(event);
}

void Scheduling::put_as_captured(uint32_t par2) {
  now_.par2 = par2;
  now_.by_manual = false;
  put(now_);
}

/// Handles a wakeup. `par2` has its context. The running task made it, or was interrupted by it.
void Scheduling::activate(uint32_t par2, uint32_t peer) {
  const uint32_t tid = peer == kNone ? 0 : threads_[peer].facts.tid;
  set_wait(now_.thread, Wait::none);
  if (now_.kind == FTrace_EVT_task_activate) {
    now_.peer = peer;
    put_as_captured(par2 | tid);
  } else {
    put_implied(FTrace_EVT_task_activate, now_.thread, par2 | tid, peer);
  }
}

/// Starts the next cycle of a thread. A thread that waits for a mutex or a semaphore goes on
/// waiting.
void Scheduling::release() {
  const State &state = threads_[now_.thread];
  if (state.waits == Wait::resource && state.since == blackouts_)
    return;
  begin_cycle(now_.thread);
  if (now_.thread != running_)
    activate(because(FTRACE_WAKER_HARDIRQ), running_);
  else if (about_to_ == Wait::cycle)
    about_to_ = Wait::none; // the next cycle is there already
}

void Scheduling::dispatch() {
  known_ = true;
  chosen_ = kNone;
  // Reported already, or it goes on: a short absence from the CPU is not logged.
  if (now_.thread == running_ && (std::exchange(implied_, false) || !habits_.leavings)) {
    about_to_ = Wait::none;
    return ends_wait(running_);
  }
  if (running_ != kNone && running_ != now_.thread &&
      (about_to_ != Wait::none || !habits_.leavings))
    leaves_cpu(now_.thread);
  begin_cycle(now_.thread);
  put_as_captured(0); // no priority
  ends_wait(now_.thread);
  running_ = now_.thread;
  set_wait(running_, Wait::none);
  about_to_ = Wait::none;
  implied_ = false;
}

/// Handles (who gets the CPU, for whom). They differ when the second is blocked and the first, for
/// which it waits, runs in its place.
void Scheduling::schedule() {
  chosen_ = now_.thread;
  if (now_.thread == kNone)
    return;
  if (now_.peer != kNone && now_.peer != now_.thread && now_.peer == running_)
    about_to_ = Wait::resource;
  else if (now_.thread == running_)
    about_to_ = Wait::none;
  if (!habits_.switches)
    gets_cpu(now_.thread);
}

void Scheduling::gets_cpu(uint32_t thread) {
  known_ = true;
  chosen_ = kNone;
  if (thread == running_) {
    about_to_ = Wait::none;
    return ends_wait(thread);
  }
  if (running_ != kNone)
    leaves_cpu(thread);
  begin_cycle(thread);
  put_implied(FTrace_EVT_task_dispatch, thread);
  ends_wait(thread);
  running_ = thread;
  set_wait(thread, Wait::none);
  implied_ = true;
}

/// Takes the CPU from the running thread; `next` gets it.
void Scheduling::leaves_cpu(uint32_t next) {
  const bool blocked = about_to_ != Wait::none;
  set_wait(running_, about_to_);
  put_implied(blocked ? FTrace_EVT_task_sleep : FTrace_EVT_task_epilogue, running_,
              because(blocked ? FTRACE_OFFCPU_SLEEP : FTRACE_OFFCPU_PREEMPTED) |
                  threads_[next].facts.tid,
              next);
  left(running_);
}

void Scheduling::left(uint32_t thread) {
  known_ = true;
  if (thread != running_)
    return;
  running_ = kNone;
  about_to_ = Wait::none;
  implied_ = false;
}

/// Starts a cycle if the file logs no starts of cycles: at the thread's first sign of life after
/// its last cycle ended. If a blackout followed that end, the cycle may have started in it.
void Scheduling::begin_cycle(uint32_t thread) {
  State &state = threads_[thread];
  if (habits_.begin_cycles || !state.facts.cyclic || state.in_cycle ||
      state.in_cycle_since != blackouts_)
    return;
  state.in_cycle = true;
  put_implied(FTrace_EVT_task_begin_cycle, thread);
}

void Scheduling::set_in_cycle(uint32_t thread, bool in_cycle) {
  threads_[thread].in_cycle = in_cycle;
  threads_[thread].in_cycle_since = blackouts_;
}

void Scheduling::set_wait(uint32_t thread, Wait wait) {
  threads_[thread].waits = wait;
  threads_[thread].since = blackouts_;
}

/// Ends the wait of the thread that gets the CPU: S.Ha.R.K. lets the owner of a mutex run in place
/// of the waiter.
void Scheduling::ends_wait(uint32_t thread) {
  if (std::exchange(threads_[thread].in_wait, kNone) == waits_forgotten_)
    put_implied(FTrace_EVT_mutex_lock, thread, FTRACE_FUTEX_PLAIN);
}

/// Handles filters. Without the events of tasks, nothing is known about them: a blackout. Without
/// those of mutexes, it is not known which waits end.
void Scheduling::filter() {
  if (now_.kind == FTrace_filter_mutex && now_.par1)
    waits_forgotten_++;
  if (now_.kind != FTrace_filter_task)
    return;
  put_implied(now_.par1 ? FTrace_EVT_blackout_start : FTrace_EVT_blackout_end, kNone);
  forget();
}

void Scheduling::forget() {
  running_ = chosen_ = kNone;
  about_to_ = Wait::none;
  implied_ = known_ = false;
  interrupts_ = 0;
  blackouts_++;
  waits_forgotten_++;
}

} // namespace ovnitrace::shark
