// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/lock_waits.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <tuple>

namespace ovnitrace {

void LockWaits::event(const Event &event) {
  switch (event.kind) {
  case FTrace_EVT_mutex_wait:
    if (event.thread != kNone)
      waits_[event.thread] = {event.time, event.par2, Culprit(Culprit::Kind::nobody), kNone};
    return;
  case FTrace_EVT_mutex_lock:
    if (event.thread != kNone)
      end_wait(event);
    return;
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
    return forget();
  case FTrace_filter_mutex:
    return event.par1 ? forget() : void();
  }
}

void LockWaits::end_wait(const Event &event) {
  const Wait wait = waits_[event.thread];
  waits_[event.thread] = {};
  if (wait.since == kNot || wait.since < from_)
    return;
  const uint32_t how = added_par2(event) & (FTRACE_FUTEX_PLAIN | FTRACE_FUTEX_GAVE_UP);
  LockSum &sum = sums_.of({.thread = event.thread, .futex = wait.futex, .waker = wait.waker});
  const uint64_t length = event.time - wait.since;
  sum.inherits |= how == 0;
  sum.count++;
  sum.ns += length;
  if (sum.count == 1 || length > sum.max) {
    sum.max = length;
    sum.max_stack = wait.stack;
  }
  sum.gave_up += (how & FTRACE_FUTEX_GAVE_UP) != 0;
}

void LockWaits::forget() {
  std::fill(waits_.begin(), waits_.end(), Wait());
}

std::vector<LockSum> LockWaits::take() {
  std::vector<LockSum> all = sums_.take();
  std::sort(all.begin(), all.end(), [](const LockSum &a, const LockSum &b) {
    return std::tuple(b.ns, a.key()) < std::tuple(a.ns, b.key());
  });
  return all;
}

} // namespace ovnitrace
