// SPDX-License-Identifier: BSD-2-Clause
// Follows a wait to what it waited for: who woke the thread, for what that one had waited, and so
// on.
import {PAUSED, WARMING} from './trace.js';
import {causes, ways, wakeupOf} from './slices.js';

const STEPS_MOST = 12; // steps

/// Returns the blocked slice that led to a slice: itself, or the one before its wakeup; -1 if none.
function blockOf(trace, {thread, slice}) {
  if (trace.state(slice) === PAUSED)
    return slice;
  const wakeup = wakeupOf(trace, {thread, slice});
  return wakeup > trace.first[thread] && trace.state(wakeup - 1) === PAUSED ? wakeup - 1 : -1;
}

/// Returns the steps {thread, slice, call, context, waker} from a slice back: a thread was blocked in
/// `slice`, and `waker` ({tid, name, thread}) woke it. The next step is the last time in which the
/// waker was blocked while this one was. The last step's waker ran the whole time, or is not known.
export function chainOf(trace, selected) {
  const steps = [], seen = new Set();
  for (let at = selected; at && steps.length < STEPS_MOST;) {
    const slice = blockOf(trace, at);
    if (slice < 0 || seen.has(slice))
      break;
    seen.add(slice);
    const found = causes(trace, {thread: at.thread, slice});
    const step = {thread: at.thread, slice, call: found.call, context: found.context, waker: found.waker};
    steps.push(step);
    const target = ways.waker(trace, {thread: at.thread, slice});
    if (!target || found.context !== 0)
      break;
    at = null;
    for (let i = target.slice; i >= trace.first[target.thread] && trace.end(i) > trace.start[slice]; i--)
      if (trace.state(i) === PAUSED || trace.state(i) === WARMING) {
        at = {thread: target.thread, slice: i};
        break;
      }
  }
  return steps;
}
