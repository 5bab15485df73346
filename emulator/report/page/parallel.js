// SPDX-License-Identifier: BSD-2-Clause
// Counts the threads that run, wait for a CPU or are blocked, and shares out the time in which
// threads ran.
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

/// Shares out each moment among the threads that run in it.
export class LatencyShares {
  /// Threads with merged slices are left out.
  constructor(trace) {
    this.trace = trace;
    const starts = [], ends = [];
    eachSlice(trace, trace.from, trace.to, (thread, slice, start, end) => {
      if (trace.state(slice) === RUNNING && !trace.threads[thread].coarse) {
        starts.push(start);
        ends.push(end);
      }
    });
    const up = Float64Array.from(starts).sort(), down = Float64Array.from(ends).sort();
    this.time = new Float64Array(2 * up.length + 1); // of each change
    this.count = new Uint32Array(2 * up.length + 1); // of threads that run from then on
    this.sum = new Float64Array(2 * up.length + 1);  // share of a thread that always ran
    this.time[0] = trace.from;
    for (let n = 1, u = 0, d = 0, running = 0; n < this.time.length; n++) {
      const starting = u < up.length && up[u] < down[d];
      this.time[n] = starting ? up[u] : down[d];
      this.sum[n] = this.sum[n - 1] + (running ? (this.time[n] - this.time[n - 1]) / running : 0);
      running += starting ? 1 : -1;
      this.count[n] = running;
      starting ? u++ : d++;
    }
  }
  until(time) {
    const n = lastUpTo(this.time, 0, this.time.length, time);
    return this.sum[n] + (this.count[n] ? (time - this.time[n]) / this.count[n] : 0);
  }
  /// Returns the share of a thread between two times, ns.
  of(thread, from, to) {
    const {trace} = this, last = trace.first[thread + 1] - 1;
    let share = 0;
    for (let i = lastUpTo(trace.start, trace.first[thread], last, from); i < last && trace.start[i] < to; i++)
      if (trace.state(i) === RUNNING && trace.end(i) > from)
        share += this.until(Math.min(to, trace.end(i))) - this.until(Math.max(from, trace.start[i]));
    return share;
  }
}
