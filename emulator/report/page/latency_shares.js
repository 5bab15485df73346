// SPDX-License-Identifier: BSD-2-Clause
// Shares out each moment among the threads that run in it.
import {BlockSums} from './block_sums.js';
import {lastUpToNear} from './search.js';
import {RUNNING} from './trace.js';

const WINDOWS = 4096; // equal parts of the run, each sorted on its own
const EVERY = 16;     // changes between two sums that are kept

/// The shares of all threads; with `report --against`, of the threads of each run, as the runs share no
/// moment.
export class LatencyShares {
  constructor(trace) {
    this.trace = trace;
    this.runs = new Map();
    for (const thread of trace.threads) {
      const run = this.runOf(thread);
      if (!this.runs.has(run))
        this.runs.set(run, new SharesOfRun(trace, trace.threads.filter(other => this.runOf(other) === run)));
    }
  }
  runOf({node}) {
    return this.trace.header.against ? node : 0;
  }

  /// Returns the share of a thread between two times, ns.
  of(thread, from, to) {
    return this.runs.get(this.runOf(this.trace.threads[thread])).of(thread, from, to);
  }
  /// Does what of() needs for all threads, a part a step.
  *steps() {
    for (const run of this.runs.values())
      yield* run.steps();
  }
}

class SharesOfRun {
  /// Leaves out threads with merged slices.
  constructor(trace, threads) {
    this.trace = trace;
    this.threads = threads.filter(thread => !thread.coarse).map(thread => thread.index);
    this.near = 0; // the change that was found last
    this.preparing = this.prepare();
    this.blockSums = new BlockSums(trace, (slice, start, end, add) => {
      if (trace.state(slice) === RUNNING)
        add(0, this.until(end) - this.until(start));
    });
  }

  of(thread, from, to) {
    while (!this.preparing.next().done);
    return this.blockSums.between([thread], from, to)[0]?.[1] ?? 0;
  }
  *steps() {
    yield* this.preparing;
    for (const thread of this.threads)
      yield* this.blockSums.steps(thread);
  }

  /// Sorts the changes of the number of threads that run. A change is 2 * its time, + 1 for a start:
  /// at one time, ends come first.
  *prepare() {
    const {from, to} = this.trace, width = Math.max(1, to - from) / WINDOWS;
    const window = time => Math.max(0, Math.min(WINDOWS - 1, Math.floor((time - from) / width)));
    const ends = new Uint32Array(WINDOWS);
    for (const thread of this.threads) {
      this.eachChange(thread, time => ends[window(time)]++);
      yield;
    }
    const starts = new Uint32Array(WINDOWS);
    for (let n = 1; n < WINDOWS; n++) {
      starts[n] = ends[n - 1];
      ends[n] += ends[n - 1];
    }
    const at = starts.slice();
    this.changes = new Float64Array(ends[WINDOWS - 1]);
    for (const thread of this.threads) {
      this.eachChange(thread, (time, starting) => this.changes[at[window(time)]++] = 2 * time + starting);
      yield;
    }
    const kept = Math.ceil(this.changes.length / EVERY), state = {running: 0, share: 0, time: 0};
    this.running = new Uint32Array(kept); // threads, after every 16th change
    this.share = new Float64Array(kept);  // of a thread that always ran until then, ns
    for (let n = 0; n < WINDOWS; n++) {
      this.changes.subarray(starts[n], ends[n]).sort();
      this.sumUp(state, starts[n], ends[n]);
      yield;
    }
  }
  /// Calls put(time, starting) for the start (1) and end (0) of each run of a thread.
  eachChange(thread, put) {
    const {trace} = this;
    for (let i = trace.first[thread]; i < trace.first[thread + 1] - 1; i++)
      if (trace.state(i) === RUNNING && trace.end(i) > trace.start[i]) {
        put(trace.start[i], 1);
        put(trace.end(i), 0);
      }
  }

  sumUp(state, n, end) {
    for (; n < end; n++) {
      this.change(state, this.changes[n]);
      if (n % EVERY === 0) {
        this.running[n / EVERY] = state.running;
        this.share[n / EVERY] = state.share;
      }
    }
  }
  pass(state, time) {
    state.share += state.running ? (time - state.time) / state.running : 0;
    state.time = time;
  }
  change(state, change) {
    const time = Math.floor(change / 2);
    this.pass(state, time);
    state.running += change > 2 * time ? 1 : -1;
  }

  /// Returns the share until a time of a thread that always ran, ns.
  until(time) {
    const {changes} = this, latest = 2 * time + 1;
    if (!(changes[0] <= latest))
      return 0;
    const last = lastUpToNear(changes, changes[this.near] <= latest ? this.near : 0, changes.length, latest);
    this.near = last;
    const kept = Math.floor(last / EVERY);
    const state = {running: this.running[kept], share: this.share[kept],
                   time: Math.floor(changes[kept * EVERY] / 2)};
    for (let n = kept * EVERY + 1; n <= last; n++)
      this.change(state, changes[n]);
    this.pass(state, time);
    return state.share;
  }
}
