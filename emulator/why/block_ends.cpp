// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/block_ends.h"

#include "emulator/input/call_name.h"
#include "emulator/input/thread_group.h"
#include "emulator/why/blocked_at.h"
#include "emulator/why/wait_kind.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

BlockEnds::BlockEnds(const Catalog &catalog, const Stacks *stacks)
    : catalog_(catalog), stacks_(stacks), served_(catalog.cpus.size()),
      last_(catalog.threads.size()) {}

/// Returns the device, if one is known. Only in task context did the running thread make the
/// wakeup; otherwise an interrupt did, and the thread was a bystander.
Culprit BlockEnds::waker_of(const Event &event) const {
  if (const uint32_t device = served_.device(event); device != kNone)
    return Culprit::of_device(device);
  switch (event.waker_context()) {
  case FTRACE_WAKER_TASK:
    return Culprit::of(event.named())
        .named_at(catalog_, catalog_.threads[event.thread].host, event.time);
  case FTRACE_WAKER_SOFTIRQ:
  case FTRACE_WAKER_HARDIRQ:
  case FTRACE_WAKER_NMI:
    return Culprit(Culprit::Kind::interrupt, uint32_t(source_of(served_.innermost(event.cpu))));
  default:
    return Culprit();
  }
}

void BlockEnds::event(const Event &event) {
  served_.event(event);
  wakes_up_ = kNone;
  if (event.kind != FTrace_EVT_task_activate)
    return;
  wakes_up_ = event.thread;
  now_ = {.waker = waker_of(event), .block = {}, .context = event.waker_context()};
}

bool BlockEnds::change(uint32_t thread, const StateChange &change) {
  const bool is_named = thread == wakes_up_;
  const bool is_wakeup =
      change.to == ThreadState::Warming ||
      (change.to == ThreadState::Cooling && (is_named || is_blocked(change.from)));
  if (is_wakeup || is_blocked(change.to))
    last_[thread] = is_named ? now_ : End();
  return is_wakeup;
}

void BlockEnds::end_block(const Slice &slice) {
  End &end = last_[slice.thread];
  end.block = block_of(slice);
  end.block.page_fault = is_page_fault(stacks_, catalog_.threads[slice.thread], slice);
  end.stack = slice.stack;
  if (!slice.ends)
    end.waker = Culprit(is_blocked(slice.then) ? Culprit::Kind::nobody : Culprit::Kind::not_known);
  else if (end.waker == Culprit(Culprit::Kind::interrupt, uint32_t(InterruptSource::other)) &&
           ends_sleep(call_name(catalog_, slice.thread, slice.call), end.context))
    end.waker = Culprit(Culprit::Kind::interrupt, uint32_t(InterruptSource::timer));
  if (end.block.reason != FTRACE_OFFCPU_DISK)
    return;
  end.block.disk = end.waker.kind() == Culprit::Kind::device;
  if (is_of_program(catalog_, end.waker.peer(), catalog_.threads[slice.thread].host, slice.end))
    end.block.reason = FTRACE_OFFCPU_SLEEP; // it waited for that thread
}

} // namespace ovnitrace
