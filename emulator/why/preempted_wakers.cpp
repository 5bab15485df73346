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

void PreemptedWakers::held(uint32_t thread, uint32_t holder, uint64_t ns, bool real_time) {
  Thread &of = threads_[thread];
  if (!of.open)
    return;
  Span &span = of.spans[of.next];
  if (span.holder == holder)
    span.held += ns;
  else if (ns > span.held) {
    span.holder = holder;
    span.held = ns;
    span.real_time = real_time;
  }
}

/// Returns for how much of a part of the preemption its holder ran, at least.
uint64_t PreemptedWakers::Span::held_in(uint64_t part) const {
  const uint64_t others = to - from - held;
  return part - std::min(part, others);
}

void PreemptedWakers::block(const Slice &slice, uint32_t waker, bool real_time) {
  woken_ += slice.length();
  Thread &of = threads_[waker];
  for (Span &span : of.spans) {
    const uint64_t from = std::max(span.from, slice.start), to = std::min(span.to, slice.end);
    const uint64_t both = from < to ? to - from : 0;
    blocked_ += both;
    // A waker runs, so the block lasted until the end of the preemption. The longest counts.
    of.blame += both - std::min(both, span.blame);
    const uint64_t blame = std::max(both, span.blame);
    if (both && span.holder != kNone) {
      By &by = of.by[span.holder];
      by.ns += span.held_in(blame) - span.held_in(span.blame);
      by.inverts |= span.real_time && real_time;
    }
    span.blame = blame;
  }
}

PreemptedWakers::Sum PreemptedWakers::sum() const {
  Sum sum{.woken = woken_, .blocked = blocked_};
  for (uint32_t thread = 0; thread < threads_.size(); thread++)
    if (threads_[thread].blame > sum.most_preempted) {
      sum.most = thread;
      sum.most_preempted = threads_[thread].blame;
    }
  if (sum.most != kNone)
    for (const auto &[thread, by] : threads_[sum.most].by)
      if (by.ns * 2 >= sum.most_preempted && sum.by == kNone) {
        sum.by = thread;
        sum.inverts = by.inverts;
      }
  return sum;
}

} // namespace ovnitrace
