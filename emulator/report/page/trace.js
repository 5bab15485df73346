// SPDX-License-Identifier: BSD-2-Clause
// Keeps the trace in memory: slices as typed arrays, by thread, then time. Times are ns from the
// start of the trace.
import {Varints} from './data.js';
import {lastUpTo, lastUpToNear} from './search.js';
import {Critical} from './critical.js';

export const UNKNOWN = 0, RUNNING = 1, PAUSED = 2, DEAD = 3, COOLING = 4, WARMING = 5;
/// A throttled thread is Cooling, but does not wait for a CPU. A mixed slice is several slices as
/// one.
export const THROTTLED = 6;
export const STATES = 7, MIXED = STATES;
const REASONS = 16; // of departures, above them the system call
const STARTS = 2 ** (32 - Math.clz32(MIXED)), ENDS = 2 * STARTS, STATE_MASK = STARTS - 1;

/// A tid that was used twice is two threads.
const keyOf = ({node, tid}, birth = 0) => node + ' ' + tid + ' ' + birth;

export class Trace {
  constructor(header, parts) {
    this.header = header;
    this.summary = JSON.parse(new TextDecoder().decode(parts.summary));
    this.from = header.from;
    this.to = header.to;
    this.threads = header.threads;
    this.addSummaries();
    this.cpus = header.cpus;
    this.countedStates = header.state_order.filter(state => state !== DEAD);
    this.severalNodes = this.summary.nodes.length > 1;
    if (this.severalNodes)
      for (const thread of this.threads)
        thread.of = this.summary.nodes[thread.node]; // for nameOf()
    this.readSlices(parts);
    this.readLoad(parts.load);
    this.readEvents(parts.events);
    this.readDark(parts.dark);
    this.critical = new Critical(this, parts.critical_path);
    this.causeBytes = parts.causes;
  }

  /// Gives each shown thread what `info` says of it. The summary lacks the others.
  addSummaries() {
    const byKey = new Map();
    for (const thread of this.summary.threads)
      byKey.set(keyOf(thread, thread.birth_ns), thread);
    for (const thread of this.threads)
      thread.summary = byKey.get(keyOf(thread, thread.birth));
  }

  /// Each thread has one more entry than slices: its start is where the last slice ends.
  readSlices(parts) {
    const total = this.header.slices + this.threads.length;
    this.start = new Float64Array(total);
    this.kind = new Uint8Array(total);
    this.cpu = new Uint16Array(total); // 1 + index
    this.why = new Uint16Array(total); // a number of ours: each call and place has its own
    this.peer = new Uint32Array(total);
    this.mixes = new Map(); // of mixed slices: ns by state
    this.first = new Uint32Array(this.threads.length + 1);
    const length = new Varints(parts.length), cpu = new Varints(parts.cpu);
    const why = new Varints(parts.why), peer = new Varints(parts.peer), mix = new Varints(parts.mix);
    let at = 0, kind = 0;
    this.threads.forEach((thread, t) => {
      this.first[t] = at;
      thread.index = t;
      let time = thread.start, where = 0;
      for (let n = 0; n < thread.slices; n++, at++) {
        this.start[at] = time;
        time += length.next();
        this.kind[at] = parts.kind[kind++];
        where += cpu.nextSigned();
        this.cpu[at] = where;
        this.why[at] = Math.min(65535, why.next());
        this.peer[at] = peer.next();
        if ((this.kind[at] & STATE_MASK) === MIXED)
          this.mixes.set(at, Float64Array.from({length: STATES}, () => mix.next()));
      }
      this.start[at++] = time;
    });
    this.first[this.threads.length] = at;
    this.order = parts.order;
  }

  /// Rows of numbers: ns in each step, by CPU, then the waits of all threads.
  readLoad(bytes) {
    const numbers = new Varints(bytes), steps = this.header.load_steps;
    this.stepNs = Math.floor((this.to - this.from) / steps) + 1;
    this.load = Array.from({length: this.cpus.length + 1},
                           () => Float64Array.from({length: steps}, () => numbers.next()));
  }

  readEvents(bytes) {
    this.events = new Map(); // by thread: [{time, code, par1, par2}]
    const numbers = new Varints(bytes);
    for (let time = this.from; numbers.more;) {
      time += numbers.next();
      const thread = numbers.next() - 1;
      const event = {time, code: numbers.next(), par1: numbers.next(), par2: numbers.next()};
      if (thread < 0)
        continue;
      if (!this.events.has(thread))
        this.events.set(thread, []);
      this.events.get(thread).push(event);
    }
  }

  readDark(bytes) {
    this.dark = this.cpus.map(() => []); // by CPU: [{start, end}]
    for (const numbers = new Varints(bytes); numbers.more;) {
      const cpu = numbers.next(), start = numbers.next(), length = numbers.next();
      this.dark[cpu].push({start, end: start + length});
    }
  }

  state(slice) {
    return this.kind[slice] & STATE_MASK;
  }
  starts(slice) {
    return (this.kind[slice] & STARTS) !== 0;
  }
  ends(slice) {
    return (this.kind[slice] & ENDS) !== 0;
  }
  end(slice) {
    return this.start[slice + 1];
  }
  hasSlices(thread) {
    return this.first[thread + 1] - this.first[thread] > 1;
  }
  /// Returns from when to when a thread lived, as far as the page shows it.
  lifeOf(thread) {
    const first = this.first[thread], end = this.first[thread + 1] - 1;
    const last = end > first && this.state(end - 1) === DEAD ? end - 1 : end;
    return {from: this.start[first], to: this.start[last]};
  }
  isFirst(slice, thread) {
    return slice === this.first[thread];
  }
  isLast(slice, thread) {
    return slice === this.first[thread + 1] - 2;
  }

  /// Returns the thread of a slice.
  threadOf(slice) {
    return lastUpTo(this.first, 0, this.threads.length, slice);
  }

  /// Returns the slice of a thread at `time`; -1 if it has none there. The end of a slice belongs
  /// to the next one.
  find(thread, time) {
    const first = this.first[thread], last = this.first[thread + 1] - 1;
    if (last <= first || time < this.start[first] || time > this.start[last])
      return -1;
    return lastUpTo(this.start, first, last, time);
  }

  /// Does the same as find(), but returns the nearest slice if no slice is at `time`. Searches
  /// from `hint` on, a slice that is not after the result.
  findFrom(hint, thread, time) {
    return lastUpToNear(this.start, hint, this.first[thread + 1] - 1, time);
  }

  /// Returns whether a slice is a wakeup whose whole latency was seen.
  isWait(slice, thread) {
    return this.state(slice) === WARMING && (this.kind[slice] & (STARTS | ENDS)) === (STARTS | ENDS)
        && !this.isLast(slice, thread) && this.state(slice + 1) === RUNNING;
  }

  /// Returns why a slice started, null if no event said so. After a departure: {reason, call,
  /// place, peer}; call and place are null if they are not known. After a wakeup: {context, peer}.
  startCause(slice) {
    const why = this.why[slice];
    if (why === 0)
      return null;
    const peer = this.peer[slice];
    if (why % 2 === 0)
      return {context: (why - 2) / 2, peer};
    const departure = (why - 1) / 2;
    const number = Math.floor(departure / REASONS) - 1;
    return {reason: departure % REASONS, call: this.header.calls[number] || null,
            place: this.header.places[number] || null, peer};
  }
  /// Returns why it ended, in the same form.
  endCause(slice, thread) {
    return this.isLast(slice, thread) ? null : this.startCause(slice + 1);
  }

  /// Returns {tid, name, thread}; thread is -1 for an untraced thread. null: nobody.
  peerOf(number) {
    if (number === 0)
      return null;
    if (number <= this.threads.length)
      return {...this.threads[number - 1], thread: number - 1};
    return {...this.header.untraced[number - 1 - this.threads.length], thread: -1};
  }

  cpuName(index) {
    const cpu = this.cpus[index];
    return cpu ? 'CPU ' + cpu.index + (this.severalNodes ? ' of ' + this.summary.nodes[cpu.node] : '')
               : 'no CPU';
  }
}

/// Returns the time of a thread in a state, as `info` does: without the waits before the program
/// started, and without the time outside the regions of --control.
export function timeIn(summary, state) {
  const leftOut = {paused: 'start_gate_ns', warming: 'start_waits_ns', unknown: 'outside_regions_ns'}[state];
  return summary.time_ns[state] - (summary[leftOut] ?? 0);
}

/// Returns the name of a thread, with its node if there are several.
export function nameOf(thread) {
  if (thread.tid === 0)
    return 'idle';
  const name = thread.name ? thread.name + ' (' + thread.tid + ')' : 'thread ' + thread.tid;
  return thread.of ? name + ' of ' + thread.of : name;
}
