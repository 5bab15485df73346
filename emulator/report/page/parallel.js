// SPDX-License-Identifier: BSD-2-Clause
// Counts the threads that run, wait for a CPU or are blocked.
import {Densities} from './density.js';
import {lastUpTo} from './search.js';
import {COOLING, MIXED, PAUSED, RUNNING, STATES, THROTTLED, WARMING} from './trace.js';

const SERIES = new Int8Array(STATES).fill(-1);
SERIES[RUNNING] = 0;
SERIES[WARMING] = SERIES[COOLING] = 1;
SERIES[PAUSED] = SERIES[THROTTLED] = 2;

/// Calls put(thread, slice, start, end) for all slices in a time, cut to it.
function eachSlice(trace, from, to, put) {
  for (let t = 0; t < trace.threads.length; t++) {
    const last = trace.first[t + 1] - 1;
    for (let i = lastUpTo(trace.start, trace.first[t], last, from); i < last && trace.start[i] < to; i++) {
      const start = Math.max(from, trace.start[i]), end = Math.min(to, trace.start[i + 1]);
      if (end > start)
        put(t, i, start, end);
    }
  }
}

/// Returns Densities of running, runnable and blocked threads.
export function threadCounts(trace) {
  return new Densities(trace.from, trace.to, 3, (from, to, add) =>
    eachSlice(trace, from, to, (_thread, slice, start, end) => {
      const state = trace.state(slice);
      if (state !== MIXED) {
        if (SERIES[state] >= 0)
          add(SERIES[state], start, end, end - start);
        return;
      }
      const part = (end - start) / (trace.end(slice) - trace.start[slice]);
      trace.mixes.get(slice).forEach((ns, one) => SERIES[one] >= 0 && add(SERIES[one], start, end, ns * part));
    }));
}

/// Returns Densities of the time in which CPUs were idle while threads waited, by cause. The time
/// is spread evenly over each wait.
export function idleCounts(trace, whys) {
  return new Densities(trace.from, trace.to, whys.lists?.idle?.length ?? 0, (from, to, add) =>
    whys.eachIdle(from, to, (start, end, causes) => {
      const part = (Math.min(to, end) - Math.max(from, start)) / (end - start);
      causes.forEach((ns, cause) => ns && add(cause, Math.max(from, start), Math.min(to, end), ns * part));
    }));
}
