// SPDX-License-Identifier: BSD-2-Clause
// Finds what ran on each CPU: its Running slices in order, and how long it was busy.
import {Varints} from './data.js';
import {lastUpToNear} from './search.js';
import {RUNNING} from './trace.js';

export class CpuRuns {
  constructor(trace) {
    this.trace = trace;
    const counts = new Uint32Array(trace.cpus.length + 1);
    for (let i = 0; i < trace.kind.length; i++)
      if (trace.state(i) === RUNNING)
        counts[trace.cpu[i]]++;
    this.slices = Array.from(trace.cpus, (_, c) => new Uint32Array(counts[c + 1]));
    this.threads = this.slices.map(slices => new Uint32Array(slices.length));
    this.fill();
    this.start = this.slices.map(slices => new Float64Array(slices.length));
    this.busy = this.slices.map(slices => new Float64Array(slices.length + 1)); // sums, ns
    for (let cpu = 0; cpu < this.slices.length; cpu++)
      this.addUp(this.slices[cpu], this.start[cpu], this.busy[cpu]);
  }

  addUp(slices, start, busy) {
    for (let n = 0; n < slices.length; n++) { // from() and map() would be slow for millions
      start[n] = this.trace.start[slices[n]];
      busy[n + 1] = busy[n] + this.trace.end(slices[n]) - start[n];
    }
  }

  /// Lists the runs. The trace says which thread ran, in the order in which runs ended.
  fill() {
    const trace = this.trace, used = new Uint32Array(trace.cpus.length);
    const at = trace.first.slice();
    for (const order = new Varints(trace.order); order.more;) {
      const thread = order.next();
      while (trace.state(at[thread]) !== RUNNING)
        at[thread]++;
      const slice = at[thread]++, cpu = trace.cpu[slice] - 1;
      if (cpu < 0 || cpu >= this.slices.length)
        continue;
      this.threads[cpu][used[cpu]] = thread;
      this.slices[cpu][used[cpu]++] = slice;
    }
  }

  /// Returns the index of the last run of a CPU that starts at `time` or before; -1 if no run does.
  find(cpu, time) {
    return this.findFrom(-1, cpu, time);
  }
  /// Does the same, starting at a run that is not after the result.
  findFrom(hint, cpu, time) {
    return lastUpToNear(this.start[cpu], hint, this.start[cpu].length, time);
  }

  /// Returns the ns until `time` in which the CPU was busy; `run` is the result of find().
  busyUntil(cpu, run, time) {
    if (run < 0)
      return 0;
    const slice = this.slices[cpu][run], trace = this.trace;
    return this.busy[cpu][run] + Math.min(time, trace.end(slice)) - trace.start[slice];
  }

  busyNs(cpu, from, to) {
    return this.busyUntil(cpu, this.find(cpu, to), to) - this.busyUntil(cpu, this.find(cpu, from), from);
  }

  /// Returns the slice that runs on a CPU at `time`; -1 if the CPU is idle.
  sliceAt(cpu, time) {
    const run = this.find(cpu, time);
    return run >= 0 && time < this.trace.end(this.slices[cpu][run]) ? this.slices[cpu][run] : -1;
  }
}
