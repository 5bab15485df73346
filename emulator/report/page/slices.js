// SPDX-License-Identifier: BSD-2-Clause
// What is known of one slice, and the ways from one to another.
import {RUNNING, PAUSED, COOLING, WARMING, THROTTLED, UNKNOWN} from './trace.js';

const nothing = {reason: null, call: null, peer: null, context: null, waker: null};

/// The departure and the wakeup that belong to a slice: how a Running one ended, how a Cooling or
/// Paused one started; who made a Warming one start or a Paused one end.
export function causes(trace, {slice, thread}) {
  const found = {...nothing}, state = trace.state(slice);
  const departure = state === RUNNING ? trace.endCause(slice, thread) :
      [COOLING, PAUSED, THROTTLED].includes(state) ? trace.startCause(slice) : null;
  if (departure?.reason !== undefined)
    Object.assign(found, {reason: departure.reason, call: state === PAUSED ? departure.call : null,
                          peer: trace.peerOf(departure.peer)});
  const wakeup = state === WARMING ? trace.startCause(slice) :
      state === PAUSED ? trace.endCause(slice, thread) : null;
  if (wakeup?.context !== undefined)
    Object.assign(found, {context: wakeup.context, waker: trace.peerOf(wakeup.peer)});
  return found;
}

/// The wakeup that led to a slice: the Warming one that it is or follows; -1: none.
export function wakeupOf(trace, {slice, thread}) {
  if (trace.state(slice) === WARMING)
    return slice;
  return trace.state(slice) === RUNNING && !trace.isFirst(slice, thread) &&
      trace.state(slice - 1) === WARMING ? slice - 1 : -1;
}

function at(trace, peer, time) {
  if (!peer || peer.thread < 0)
    return null;
  const slice = trace.find(peer.thread, time);
  return slice < 0 ? null : {thread: peer.thread, slice};
}

/// Where keys lead from a slice; null: nowhere.
export const ways = {
  previous: (trace, {thread, slice}) => trace.isFirst(slice, thread) ? null : {thread, slice: slice - 1},
  next: (trace, {thread, slice}) => trace.isLast(slice, thread) ? null : {thread, slice: slice + 1},
  /// Who woke it, at that time: of a Paused one who will.
  waker(trace, from) {
    const wakeup = wakeupOf(trace, from);
    const slice = wakeup >= 0 ? wakeup : trace.state(from.slice) === PAUSED ? from.slice + 1 : -1;
    if (slice < 0 || slice > trace.first[from.thread + 1] - 2)
      return null;
    const cause = trace.startCause(slice);
    return cause?.context === undefined ? null : at(trace, trace.peerOf(cause.peer), trace.start[slice]);
  },
  /// Who got its CPU.
  instead(trace, from) {
    const {peer} = causes(trace, from);
    return at(trace, peer, trace.state(from.slice) === RUNNING ? trace.end(from.slice)
                                                               : trace.start[from.slice]);
  },
};

/// What design and scripts call a slice: window.ovnitrace.select().
export function plainSlice(trace, selected) {
  const {slice, thread} = selected, found = causes(trace, selected);
  const look = trace.state(slice), state = trace.header.states[look === THROTTLED ? COOLING : look];
  const cpu = trace.cpus[trace.cpu[slice] - 1];
  return {
    tid: trace.threads[thread].tid,
    state: state ? state.name : 'mixed',
    cpu: cpu ? cpu.index : null,
    start_ns: trace.start[slice],
    end_ns: trace.end(slice),
    reason: found.reason === null ? null : trace.header.reason_names[found.reason] ?? String(found.reason),
    blocked_in: found.call,
    peer: found.peer?.tid ?? null,
    waker: found.waker?.tid ?? null,
    context: found.context === null ? null
                                    : trace.header.context_names[found.context] ?? String(found.context),
  };
}

export const COUNTED = [RUNNING, COOLING, WARMING, THROTTLED, PAUSED, UNKNOWN];
