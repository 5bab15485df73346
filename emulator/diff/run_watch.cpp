// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/run_watch.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

void RunWatch::on_event(const Event &event, const System &) {
  losing_ = event.kind == FTrace_EVT_blackout_start;
}

void RunWatch::on_change(uint32_t thread, const StateChange &change, uint64_t) {
  if (losing_ && change.to == ThreadState::Unknown && change.from != change.to)
    lost_[thread] = 1;
}

void RunWatch::on_slice(const Slice &slice) {
  if (is_waiting(slice.state) && slice.starts && slice.ends)
    waits_[slice.thread].add(slice.length());
}

} // namespace ovnitrace
