// SPDX-License-Identifier: BSD-2-Clause
// Sums up times in states over any span of a thread, exactly and fast: it keeps sums up to every
// 16th slice.
import {STATES, MIXED, PAUSED, WARMING} from './trace.js';

const SHIFT = 4;

export class StateSums {
  constructor(trace) {
    this.trace = trace;
    this.base = new Uint32Array(trace.threads.length); // by thread: its first row in `rows`
    let rows = 0;
    for (let t = 0; t < trace.threads.length; t++) {
      this.base[t] = rows;
      rows += ((trace.first[t + 1] - trace.first[t]) >> SHIFT) + 1;
    }
    this.rows = new Float64Array(rows * STATES);
    const sum = new Float64Array(STATES);
    for (let t = 0; t < trace.threads.length; t++) {
      sum.fill(0);
      const first = trace.first[t], last = trace.first[t + 1] - 1;
      for (let i = first; i < last; i++) {
        if (((i - first) & ((1 << SHIFT) - 1)) === 0)
          this.rows.set(sum, (this.base[t] + ((i - first) >> SHIFT)) * STATES);
        this.add(sum, i, trace.start[i], trace.start[i + 1], 1);
      }
    }
    this.total = new Float64Array(STATES);
  }

  /// Adds `sign` times the part of a slice between two times.
  add(sum, slice, from, to, sign) {
    const state = this.trace.state(slice);
    if (state !== MIXED) {
      sum[state] += sign * (to - from);
      return;
    }
    const mix = this.trace.mixes.get(slice);
    const part = sign * (to - from) / (this.trace.end(slice) - this.trace.start[slice]);
    for (let s = 0; s < STATES; s++)
      sum[s] += part * mix[s];
  }

  /// Adds `sign` times everything until `time`, which is in `slice`.
  addUntil(sum, thread, slice, time, sign) {
    const trace = this.trace, first = trace.first[thread];
    const row = (slice - first) >> SHIFT;
    const at = (this.base[thread] + row) * STATES;
    for (let s = 0; s < STATES; s++)
      sum[s] += sign * this.rows[at + s];
    for (let i = first + (row << SHIFT); i < slice; i++)
      this.add(sum, i, trace.start[i], trace.start[i + 1], sign);
    this.add(sum, slice, trace.start[slice], time, sign);
  }

  /// Sets `sum` to the ns in each state from `from`, in slice i, to `to`, in slice j.
  between(sum, thread, i, from, j, to) {
    sum.fill(0);
    const trace = this.trace;
    if (j - i > 2 << SHIFT) {
      this.addUntil(sum, thread, j, to, 1);
      this.addUntil(sum, thread, i, from, -1);
      return;
    }
    for (let k = i; k <= j; k++) {
      const start = k === i ? from : trace.start[k], end = k === j ? to : trace.start[k + 1];
      if (end > start)
        this.add(sum, k, start, end, 1);
    }
  }

  /// Returns the ns of a thread in each state between two times.
  times(thread, from, to) {
    const sum = new Float64Array(STATES), trace = this.trace;
    if (!trace.hasSlices(thread))
      return sum;
    const first = trace.first[thread], last = trace.first[thread + 1] - 1;
    const a = Math.max(from, trace.start[first]), b = Math.min(to, trace.start[last]);
    if (b > a)
      this.between(sum, thread, trace.find(thread, a), a, trace.find(thread, b), b);
    const {start_gate_ns, start_waits_ns} = trace.threads[thread].summary;
    sum[PAUSED] -= this.startNs(thread, PAUSED, start_gate_ns ?? 0, from, to);
    sum[WARMING] -= this.startNs(thread, WARMING, start_waits_ns ?? 0, from, to);
    return sum;
  }

  /// Returns how much of the first `left` ns of a state is in a span: there a program waited for its
  /// start. `info` leaves it out, too.
  startNs(thread, state, left, from, to) {
    const trace = this.trace, last = trace.first[thread + 1] - 1;
    let ns = 0;
    for (let i = trace.first[thread]; left > 0 && i < last; i++) {
      const length = trace.start[i + 1] - trace.start[i];
      const whole = trace.state(i) === state ? length : trace.mixes.get(i)?.[state] ?? 0;
      const part = Math.min(left, whole);
      const within = Math.min(to, trace.start[i + 1]) - Math.max(from, trace.start[i]);
      left -= part;
      if (within > 0)
        ns += part * within / length;
    }
    return ns;
  }
}
