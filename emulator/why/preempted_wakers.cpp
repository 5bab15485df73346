// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/preempted_wakers.h"

#include <algorithm>

namespace ovnitrace {

void PreemptedWakers::change(uint32_t thread, const StateChange &change, uint64_t time,
                             bool preempted) {
  if (change.from == change.to)
    return; // it waits on another CPU
  Thread &of = threads_[thread];
  if (of.open) {
    of.spans[of.next].to = time;
    of.next = (of.next + 1) % kMost;
    of.open = false;
  }
  if (!preempted)
    return;
  if (of.next == of.spans.size())
    of.spans.emplace_back();
  of.spans[of.next] = {.from = time, .to = UINT64_MAX};
  of.open = true;
}

void PreemptedWakers::block(const Slice &slice, uint32_t waker) {
  woken_ += slice.length();
  Thread &of = threads_[waker];
  for (Span &span : of.spans) {
    const uint64_t from = std::max(span.from, slice.start), to = std::min(span.to, slice.end);
    const uint64_t both = from < to ? to - from : 0;
    blocked_ += both;
    // A waker runs, so the block lasted until the end of the preemption. The longest counts.
    of.blame += both - std::min(both, span.blame);
    span.blame = std::max(both, span.blame);
  }
}

PreemptedWakers::Sum PreemptedWakers::sum() const {
  Sum sum{.woken = woken_, .blocked = blocked_};
  for (uint32_t thread = 0; thread < threads_.size(); thread++)
    if (threads_[thread].blame > sum.most_preempted) {
      sum.most = thread;
      sum.most_preempted = threads_[thread].blame;
    }
  return sum;
}

} // namespace ovnitrace
