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
  of.spans[of.next] = {time, UINT64_MAX};
  of.open = true;
}

void PreemptedWakers::block(const Slice &slice, uint32_t waker) {
  woken_ += slice.length();
  for (const Span &span : threads_[waker].spans) {
    const uint64_t from = std::max(span.from, slice.start), to = std::min(span.to, slice.end);
    threads_[waker].blame += from < to ? to - from : 0;
  }
}

PreemptedWakers::Sum PreemptedWakers::sum() const {
  Sum sum{.woken = woken_};
  for (uint32_t thread = 0; thread < threads_.size(); thread++) {
    sum.preempted += threads_[thread].blame;
    if (threads_[thread].blame &&
        (sum.most == kNone || threads_[thread].blame > threads_[sum.most].blame))
      sum.most = thread;
  }
  return sum;
}

} // namespace ovnitrace
