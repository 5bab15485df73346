// SPDX-License-Identifier: BSD-2-Clause
// Describes a slice, and finds related slices.
import {RUNNING, PAUSED, COOLING, WARMING, THROTTLED} from './trace.js';

const nothing = {reason: null, call: null, place: null, peer: null, context: null, waker: null};

/// Returns whether a state starts with a departure from a CPU: a wait that no wakeup started.
export function startsByLeaving(trace, state) {
  return state !== WARMING && Boolean(trace.header.states[state]?.waits);
}

/// Returns the departure and the wakeup of a slice. The departure ended a Running slice, or started
/// a Cooling or Paused one. The wakeup started a Warming slice, or ended a Paused one.
export function causes(trace, {slice, thread}) {
  const found = {...nothing}, state = trace.state(slice);
  const departure = state === RUNNING ? trace.endCause(slice, thread) :
      startsByLeaving(trace, state) ? trace.startCause(slice) : null;
  if (departure?.reason !== undefined)
    Object.assign(found, {reason: departure.reason, call: state === PAUSED ? departure.call : null,
                          place: state === PAUSED ? departure.place : null,
                          peer: trace.peerOf(departure.peer)});
  const wakeup = state === WARMING ? trace.startCause(slice) :
      state === PAUSED ? trace.endCause(slice, thread) : null;
  if (wakeup?.context !== undefined)
    Object.assign(found, {context: wakeup.context, waker: trace.peerOf(wakeup.peer)});
  return found;
}

/// Returns the wakeup that led to a slice: the Warming slice that it is or follows; -1 if there was
/// none.
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

/// Returns where keys lead from a slice; null: nowhere.
export const ways = {
  previous: (trace, {thread, slice}) => trace.isFirst(slice, thread) ? null : {thread, slice: slice - 1},
  next: (trace, {thread, slice}) => trace.isLast(slice, thread) ? null : {thread, slice: slice + 1},
  /// Returns who woke the thread, at that time. For a Paused slice: who will.
  waker(trace, from) {
    const wakeup = wakeupOf(trace, from);
    const slice = wakeup >= 0 ? wakeup : trace.state(from.slice) === PAUSED ? from.slice + 1 : -1;
    if (slice < 0 || slice > trace.first[from.thread + 1] - 2)
      return null;
    const cause = trace.startCause(slice);
    return cause?.context === undefined ? null : at(trace, trace.peerOf(cause.peer), trace.start[slice]);
  },
  /// Returns who got its CPU.
  instead(trace, from) {
    const {peer} = causes(trace, from);
    return at(trace, peer, trace.state(from.slice) === RUNNING ? trace.end(from.slice)
                                                               : trace.start[from.slice]);
  },
};

/// Returns a slice as window.ovnitrace.select() takes it.
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
