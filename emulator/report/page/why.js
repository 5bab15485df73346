// SPDX-License-Identifier: BSD-2-Clause
// Explains any range: where the time of threads went, with the sums of `ovnitrace why`.
import {Varints} from './data.js';
import {lastUpTo} from './search.js';
import {RUNNING, PAUSED, COOLING, WARMING, THROTTLED, UNKNOWN} from './trace.js';

const isWait = state => state === COOLING || state === WARMING || state === THROTTLED;
const NO_QUOTA = 'throttling'; // of header.why.kinds: nobody has the CPU

/// Number of a culprit: the waker of a thread that is still blocked when the range ends. -1 is one
/// that is not known.
const NOBODY_YET = -2;

/// Adds `ns` to a sum of sums.
function add(sums, key, part, ns) {
  if (!sums.has(key))
    sums.set(key, new Map());
  const parts = sums.get(key);
  parts.set(part, (parts.get(part) ?? 0) + ns);
}

export class Whys {
  /// `bytes`: the part "causes" of the page (emulator/report/why_part.h).
  constructor(trace, bytes) {
    this.trace = trace;
    this.lists = trace.header.why; // {culprits, blocks, kinds}
    this.known = Boolean(this.lists) && bytes.length > 0;
    if (!this.known)
      return;
    const numbers = new Varints(bytes);
    this.turns = trace.cpus.map(() => this.readTurns(numbers));
    const total = trace.header.slices + trace.threads.length;
    this.cause = new Uint32Array(total); // of a block: 1 + its number; of a wait: its kind
    this.waker = new Uint32Array(total); // of a block
    this.moves = new Map();              // of a wait: [time, 1 + CPU, …]
    trace.threads.forEach((thread, t) => this.readThread(numbers, thread, t));
  }

  readTurns(numbers) {
    const count = numbers.next(), ends = new Float64Array(count + 1), holders = new Uint32Array(count);
    ends[0] = this.trace.from;
    for (let n = 0; n < count; n++) {
      ends[n + 1] = ends[n] + numbers.next();
      holders[n] = numbers.next();
    }
    return {ends, holders};
  }

  /// The entries of a thread with merged slices belong to slices that the page does not have.
  readThread(numbers, thread, t) {
    const {trace} = this;
    let slice = trace.first[t], left = numbers.next();
    for (; left > 0; left--) {
      const block = numbers.next();
      const fits = state => block ? state === PAUSED : isWait(state);
      while (!thread.coarse && !fits(trace.state(slice)))
        slice++;
      if (block) {
        this.cause[slice] = block - 1; // 0: left out
        this.waker[slice] = block > 1 ? numbers.next() : 0;
      } else {
        this.cause[slice] = numbers.next();
        const moves = [];
        for (let count = numbers.next(); count > 0; count--)
          moves.push(numbers.next() + trace.start[slice], numbers.next());
        if (moves.length > 2)
          this.moves.set(slice, moves);
      }
      slice += thread.coarse ? 0 : 1;
    }
  }

  /// Returns the sums of threads (indices) between two times: {running, unknown} in ns, `waits` by
  /// kind and holder, `blocks` by block and waker. Leaves out threads with merged slices.
  sums(threads, from, to) {
    const {trace} = this, sums = {running: 0, unknown: 0, waits: new Map(), blocks: new Map()};
    for (const t of threads) {
      if (trace.threads[t].coarse || !trace.hasSlices(t))
        continue;
      const last = trace.first[t + 1] - 1;
      for (let i = lastUpTo(trace.start, trace.first[t], last, from); i < last && trace.start[i] < to; i++) {
        const start = Math.max(from, trace.start[i]), end = Math.min(to, trace.start[i + 1]);
        if (end <= start)
          continue;
        const state = trace.state(i);
        if (state === RUNNING)
          sums.running += end - start;
        else if (state === UNKNOWN)
          sums.unknown += end - start;
        else if (state === PAUSED && this.cause[i])
          add(sums.blocks, this.cause[i] - 1, end < trace.start[i + 1] ? NOBODY_YET : this.waker[i], end - start);
        else if (isWait(state))
          this.addWait(sums.waits, i, start, end);
      }
    }
    return sums;
  }

  /// Adds a part of a wait. It can move from CPU to CPU. A new thread waits where it gets its CPU; if
  /// the range ends before, that is not known.
  addWait(waits, slice, start, end) {
    const {trace} = this, kind = this.cause[slice];
    const runs = end === trace.start[slice + 1] && trace.state(slice + 1) === RUNNING;
    const next = runs ? trace.cpu[slice + 1] : 0;
    const moves = this.moves.get(slice) ?? [trace.start[slice], trace.cpu[slice]];
    for (let n = 0; n < moves.length; n += 2) {
      const from = n === 0 ? start : Math.max(start, moves[n]);
      const to = Math.min(end, moves[n + 2] ?? end);
      if (to > from)
        this.addTurns(waits, kind, (moves[n + 1] || (n + 2 === moves.length ? next : 0)) - 1, from, to);
    }
  }

  addTurns(waits, kind, cpu, from, to) {
    const turns = this.turns[cpu];
    let at = from;
    if (turns && turns.holders.length) {
      let n = lastUpTo(turns.ends, 0, turns.holders.length, from);
      for (; n < turns.holders.length && at < to; n++) {
        const end = Math.min(to, turns.ends[n + 1]);
        if (end > at)
          add(waits, kind, turns.holders[n], end - at);
        at = Math.max(at, end);
      }
    }
    if (at < to)
      add(waits, kind, -1, to - at);
  }

  culprit(number) {
    return number === NOBODY_YET ? {text: 'nobody yet', name: 'nobody yet', kind: 'nobody yet', known: true, thread: null} :
        this.lists.culprits[number] ?? {text: 'not known', name: 'not known', kind: 0, known: false, thread: null};
  }

  /// Returns parts by culprit, most first, unknown ones last. Culprits of one name are one part.
  byCulprit(sums, before) {
    const groups = new Map();
    for (const [number, ns] of sums) {
      const one = this.culprit(number), key = one.kind + ' ' + one.name;
      const group = groups.get(key) ?? {ns: 0, all: []};
      group.ns += ns;
      group.all.push(one);
      groups.set(key, group);
    }
    return [...groups.values()].map(({ns, all}) => ({
      label: before + (all.length === 1 ? all[0].text :
          (all[0].name || 'without a name') + ' (' + all.length + ' threads)' + (all[0].untraced ? ', not traced' : '')),
      ns, known: all[0].known, thread: all.length === 1 ? all[0].thread : null, parts: [],
    })).sort((a, b) => b.known - a.known || b.ns - a.ns);
  }

  /// Returns a tree {label, ns, parts} whose parts add up.
  tree(threads, from, to) {
    const sums = this.sums(threads, from, to);
    const node = (label, parts) => ({label, parts: parts.sort((a, b) => b.ns - a.ns),
                                     ns: parts.reduce((ns, part) => ns + part.ns, 0)});
    const {kinds, blocks} = this.lists;
    const waiting = [...sums.waits].map(([kind, holders]) => {
      const parts = this.byCulprit(holders, 'held by: ');
      const ns = parts.reduce((all, part) => all + part.ns, 0);
      return {label: kinds[kind].name, ns, parts: kinds[kind].word === NO_QUOTA ? [] : parts};
    });
    const blocked = [...sums.blocks].map(([block, wakers]) => {
      const parts = this.byCulprit(wakers, 'woken by: ');
      return {label: blocks[block], ns: parts.reduce((all, part) => all + part.ns, 0), parts};
    });
    const parts = [{label: 'running', ns: sums.running, parts: []}, node('waiting for a CPU', waiting),
                   node('blocked', blocked)];
    if (sums.unknown)
      parts.push({label: 'not known', ns: sums.unknown, parts: []});
    return {label: '', ns: parts.reduce((ns, part) => ns + part.ns, 0), parts};
  }

  /// Returns the sums as window.ovnitrace.why() has them.
  plain(threads, from, to) {
    const sums = this.sums(threads, from, to), {kinds, blocks} = this.lists;
    const list = (map, of) => [...map].flatMap(([key, parts]) => [...parts].map(([who, ns]) =>
        ({...of(key, this.culprit(who).text), ns})));
    return {
      running_ns: sums.running, unknown_ns: sums.unknown,
      waiting: list(sums.waits, (kind, holder) => ({kind: kinds[kind].word, holder})),
      blocked: list(sums.blocks, (block, waker) => ({block: blocks[block], waker})),
    };
  }
}
