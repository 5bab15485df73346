// SPDX-License-Identifier: BSD-2-Clause
// Shares out each moment among the threads that run in it.
import {BLOCK, BlockSums} from './block_sums.js';
import {lastUpTo, lastUpToNear} from './search.js';
import {RUNNING} from './trace.js';

const EVERY = 16;        // changes between two sums that are kept
const WINDOW = 2048;     // changes, at least, in a part of the run that is sorted on its own
const COUNTED = 1 << 16; // slices that are counted in a step

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
  /// Does what of() needs for all threads, a part a step. Yields how much is done, from 0 to 1.
  *steps() {
    let n = 0;
    for (const run of this.runs.values()) {
      for (const part of run.steps())
        yield (n + part) / this.runs.size;
      n++;
    }
  }
}

class SharesOfRun {
  /// Leaves out threads with merged slices.
  constructor(trace, threads) {
    this.trace = trace;
    this.threads = threads.filter(thread => !thread.coarse).map(thread => thread.index);
    this.near = 0; // the change that was found last
    this.preparing = this.prepare();
    this.blocks = trace.threads.map((_, t) => // shares of whole blocks of slices
        new Float64Array(Math.ceil((trace.first[t + 1] - trace.first[t]) / BLOCK)));
    this.blockSums = new BlockSums(trace, (slice, start, end, add) => {
      if (trace.state(slice) !== RUNNING)
        return;
      const before = this.until(start); // the earlier time first: until() searches forward
      add(0, this.until(end) - before);
    }, (thread, number) => ({used: [this.blockSums.find(0)], amounts: [this.blocks[thread][number]]}));
  }

  of(thread, from, to) {
    while (!this.preparing.next().done);
    return this.blockSums.between([thread], from, to)[0]?.[1] ?? 0;
  }
  /// Does what of() needs, a part a step. Yields how much is done, from 0 to 1.
  steps() {
    return this.preparing;
  }

  /// Returns whether a thread ran in a slice.
  isRun(slice) {
    const {trace} = this;
    return trace.state(slice) === RUNNING && trace.end(slice) > trace.start[slice];
  }

  /// Sorts the changes of the number of threads that run, and sums up the shares of blocks of slices.
  /// A change is 2 * its time, + 1 for a start: at one time, ends come first.
  *prepare() {
    const {trace, threads} = this;
    let count = 0;
    for (const thread of threads)
      for (let i = trace.first[thread], last = trace.first[thread + 1] - 1; i < last; yield 0)
        for (const end = Math.min(i + COUNTED, last); i < end; i++)
          count += this.isRun(i) ? 2 : 0;
    this.changes = new Float64Array(count);
    this.running = new Uint32Array(Math.ceil(count / EVERY)); // threads, after every 16th change
    this.share = new Float64Array(this.running.length);       // of a thread that always ran until then, ns
    const windows = Math.ceil(count / Math.max(WINDOW, threads.length));
    const width = (trace.to - trace.from) / windows;
    const state = {running: 0, share: 0, time: 0};
    const next = Uint32Array.from(threads, thread => trace.first[thread]); // slices
    const begun = new Float64Array(threads.length);                        // share until the start of the open run
    for (let n = 0, used = 0; n < windows; n++) {
      const from = n ? trace.from + n * width : -Infinity;
      const to = n + 1 < windows ? trace.from + (n + 1) * width : Infinity;
      const first = used, slices = next.slice();
      this.eachChange(slices, from, to, (_, time, starting) => this.changes[used++] = 2 * time + starting);
      const changes = this.changes.subarray(first, used).sort();
      yield n / windows;
      const shares = this.sumUp(state, first, changes), places = placesOf(changes);
      this.eachChange(next, from, to, (t, time, starting, slice) => {
        const share = shares[places(2 * time + 1)];
        if (starting)
          begun[t] = share;
        else
          this.blocks[threads[t]][Math.floor((slice - trace.first[threads[t]]) / BLOCK)] += share - begun[t];
      });
      yield (n + 1) / windows;
    }
  }
  /// Calls put(index of the thread, time, starting, slice) for the start (1) and end (0) of each run in a
  /// time. `next`: the slices to begin with, moved on.
  eachChange(next, from, to, put) {
    const {trace: {first, start}, threads} = this;
    for (let t = 0; t < threads.length; t++) {
      const last = first[threads[t] + 1] - 1;
      let i = next[t];
      for (; i < last && start[i] < to; i++) {
        if (!this.isRun(i))
          continue;
        if (start[i] >= from)
          put(t, start[i], 1, i);
        if (start[i + 1] >= to)
          break;
        put(t, start[i + 1], 0, i);
      }
      next[t] = i;
    }
  }

  /// Returns the share of a thread that always ran until each of some changes. Keeps some of them;
  /// `first`: the number of the first change.
  sumUp(state, first, changes) {
    const shares = new Float64Array(changes.length);
    for (let n = 0; n < changes.length; n++) {
      this.change(state, changes[n]);
      shares[n] = state.share;
      if ((first + n) % EVERY === 0) {
        this.running[(first + n) / EVERY] = state.running;
        this.share[(first + n) / EVERY] = state.share;
      }
    }
    return shares;
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

/// Returns a function that finds the last of sorted values up to one of them. Values that are evenly
/// spread are found at once.
function placesOf(values) {
  const count = values.length, least = values[0], scale = count / (values[count - 1] - least + 1);
  const first = new Uint32Array(count + 1).fill(count); // by part of the span
  for (let n = count; n-- > 0;)
    first[Math.floor((values[n] - least) * scale)] = n;
  for (let part = count; part-- > 0;)
    first[part] = Math.min(first[part], first[part + 1]);
  return value => {
    const part = Math.min(count - 1, Math.floor((value - least) * scale));
    return lastUpTo(values, Math.max(0, first[part] - 1), first[part + 1], value); // it may be in an earlier part
  };
}
