// SPDX-License-Identifier: BSD-2-Clause
// Explains any range: where the time of threads went, with the sums of `ovnitrace why`.
import {BlockSums} from './block_sums.js';
import {Varints} from './data.js';
import {lastUpTo, lastUpToNear} from './search.js';
import {RUNNING, PAUSED, COOLING, WARMING, THROTTLED, UNKNOWN, STATES} from './trace.js';

const isWait = state => state === COOLING || state === WARMING || state === THROTTLED;
const THROTTLES = ['throttling', 'budget', 'period']; // of header.why.kinds

/// Number of a culprit: the waker of a thread that is still blocked when the range ends. -1 is one
/// that is not known. No number is lower.
const NOBODY_YET = -2;

export class Whys {
  /// `bytes`: the part "causes" of the page (emulator/report/why_part.h).
  constructor(trace, bytes, regions) {
    this.trace = trace;
    this.regions = regions;
    this.lists = trace.header.why; // {culprits, blocks, kinds}
    this.known = Boolean(this.lists) && bytes.length > 0;
    if (!this.known)
      return;
    const numbers = new Varints(bytes);
    this.turns = trace.cpus.map(() => this.readTurns(numbers));
    this.near = new Uint32Array(trace.cpus.length); // by CPU: the turn that was found last
    const total = trace.header.slices + trace.threads.length;
    this.cause = new Uint32Array(total); // of a block: 1 + its number; of a wait: its kind
    this.waker = new Uint32Array(total); // of a block
    this.moves = new Map();              // of a wait: [time, 1 + CPU, …]
    this.idle = {slice: [], ns: []};     // waits while a CPU was idle: slices, and ns by cause
    trace.threads.forEach((thread, t) => this.readThread(numbers, thread, t));
    this.blockSums = new BlockSums(trace, (...part) => this.addSlice(...part));
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
        const idle = this.lists.idle.map(() => numbers.next());
        if (idle.some(ns => ns > 0) && !thread.coarse) {
          this.idle.slice.push(slice);
          this.idle.ns.push(idle);
        }
      }
      slice += thread.coarse ? 0 : 1;
    }
  }

  /// Returns the ns in which CPUs were idle during a wait, by cause; undefined if none was.
  idleIn(slice) {
    const {idle} = this, at = lastUpTo(idle.slice, 0, idle.slice.length, slice);
    return idle.slice[at] === slice ? idle.ns[at] : undefined;
  }
  /// Calls put(start, end, ns by cause) for the waits in a time while CPUs were idle.
  eachIdle(from, to, put) {
    const {trace, idle} = this, count = idle.slice.length;
    for (let t = 0, n = 0; t < trace.threads.length && n < count; t++) {
      const last = trace.first[t + 1] - 1;
      if (idle.slice[n] >= last)
        continue;
      const end = lastUpTo(idle.slice, n, count, last) + 1;
      const first = lastUpTo(trace.start, trace.first[t], last, from);
      n = idle.slice[n] >= first ? n : lastUpTo(idle.slice, n, end, first - 1) + 1;
      for (; n < end && trace.start[idle.slice[n]] < to; n++)
        put(trace.start[idle.slice[n]], trace.end(idle.slice[n]), idle.ns[n]);
      n = end;
    }
  }

  /// Returns what woke a thread that is blocked, or waits after a block; undefined if that is not
  /// known.
  wokenBy({slice, thread}) {
    const {trace} = this;
    const block = trace.state(slice) === WARMING && !trace.isFirst(slice, thread) ? slice - 1 : slice;
    if (!this.known || !this.hasCauses(thread) || trace.state(block) !== PAUSED || !this.cause[block])
      return undefined;
    const {text, known} = this.culprit(this.waker[block]);
    return known ? text : undefined;
  }

  /// Threads with merged slices have no causes.
  hasCauses(thread) {
    return !this.trace.threads[thread].coarse && this.trace.hasSlices(thread);
  }

  /// Returns the key of sums in a state by item (block or kind of wait) and culprit.
  key(state, item, culprit) {
    return (item * STATES + state) * (this.lists.culprits.length + 2) + culprit - NOBODY_YET;
  }
  /// Returns [state, item, culprit].
  partsOf(key) {
    const culprits = this.lists.culprits.length + 2, rest = Math.floor(key / culprits);
    return [rest % STATES, Math.floor(rest / STATES), key % culprits + NOBODY_YET];
  }

  /// Returns the sums of threads (indices) between two times: {running, unknown} in ns, `waits` by
  /// kind and holder, `blocks` by block and waker. Leaves out threads with merged slices.
  sums(threads, from, to) {
    const sums = {running: 0, unknown: 0, waits: new Map(), blocks: new Map()};
    const of = {[COOLING]: sums.waits, [PAUSED]: sums.blocks};
    for (const [key, ns] of this.blockSums.between(threads.filter(thread => this.hasCauses(thread)), from, to)) {
      const [state, item, culprit] = this.partsOf(key);
      if (state === RUNNING)
        sums.running = ns;
      else if (state === UNKNOWN)
        sums.unknown = ns;
      else
        of[state].set(item, (of[state].get(item) ?? new Map()).set(culprit, ns));
    }
    return sums;
  }
  /// Makes what sums() needs, a part a step. Yields how much is done, from 0 to 1.
  steps(threads, from, to) {
    return this.blockSums.steps(threads.filter(thread => this.hasCauses(thread)), from, to);
  }

  /// Returns whether a slice starts a time that is not known. Outside the regions of --control nothing
  /// was to be recorded.
  isUnknown(slice) {
    return this.trace.state(slice) === UNKNOWN &&
        !this.regions.isOutside(this.trace.threadOf(slice), this.trace.start[slice]);
  }
  /// Calls add(key, ns) for the parts of a slice between two times.
  addSlice(slice, start, end, add) {
    const {trace} = this, state = trace.state(slice);
    if (state === RUNNING || this.isUnknown(slice))
      add(this.key(state, 0, NOBODY_YET), end - start);
    else if (state === PAUSED && this.cause[slice])
      add(this.key(PAUSED, this.cause[slice] - 1, this.wakerIn(slice, end)), end - start);
    else if (isWait(state))
      this.addWait(slice, start, end, add);
  }
  /// Returns the waker of a block as known at the end of a range.
  wakerIn(slice, end) {
    return end < this.trace.end(slice) ? NOBODY_YET : this.waker[slice];
  }

  /// Adds a part of a wait. It can move from CPU to CPU. A new thread waits where it gets its CPU; if
  /// the range ends before, that is not known.
  addWait(slice, start, end, add) {
    const {trace} = this, kind = this.cause[slice];
    const runs = end === trace.start[slice + 1] && trace.state(slice + 1) === RUNNING;
    const next = runs ? trace.cpu[slice + 1] : 0;
    const moves = this.moves.get(slice) ?? [trace.start[slice], trace.cpu[slice]];
    for (let n = 0; n < moves.length; n += 2) {
      const from = n === 0 ? start : Math.max(start, moves[n]);
      const to = Math.min(end, moves[n + 2] ?? end);
      if (to > from)
        this.addTurns(kind, (moves[n + 1] || (n + 2 === moves.length ? next : 0)) - 1, from, to, add);
    }
  }

  /// Returns who ran during a wait for a CPU: {text, ns, known}, most time first, unknown ones
  /// last.
  holders(slice) {
    const found = new Map();
    this.addWait(slice, this.trace.start[slice], this.trace.end(slice), (key, ns) => {
      const number = this.partsOf(key)[2];
      found.set(number, (found.get(number) ?? 0) + ns);
    });
    return [...found].map(([number, ns]) => ({text: this.culprit(number).text, known: this.culprit(number).known, ns}))
        .sort((a, b) => b.known - a.known || b.ns - a.ns);
  }

  addTurns(kind, cpu, from, to, add) {
    const turns = this.isThrottle(kind) ? undefined : this.turns[cpu];
    let at = from;
    if (turns && turns.holders.length) {
      let n = lastUpToNear(turns.ends, turns.ends[this.near[cpu]] <= from ? this.near[cpu] : 0, turns.holders.length, from);
      this.near[cpu] = n;
      const first = this.key(COOLING, kind, 0);
      for (; n < turns.holders.length && at < to; n++) {
        const end = Math.min(to, turns.ends[n + 1]);
        if (end > at)
          add(first + turns.holders[n], end - at);
        at = Math.max(at, end);
      }
    }
    if (at < to)
      add(this.key(COOLING, kind, -1), to - at);
  }

  /// Returns whether a thread waits for quota or budget in this kind of wait: nobody has its CPU.
  isThrottle(kind) {
    return THROTTLES.includes(this.lists.kinds[kind].word);
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
      const group = groups.get(key) ?? {ns: 0, all: [], numbers: []};
      group.ns += ns;
      group.all.push(one);
      group.numbers.push(number);
      groups.set(key, group);
    }
    return [...groups.values()].map(({ns, all, numbers}) => ({
      label: before + (all.length === 1 ? all[0].text :
          (all[0].name || 'without a name') + ' (' + all.length + ' threads)' + (all[0].untraced ? ', not traced' : '')),
      ns, known: all[0].known, thread: all.length === 1 ? all[0].thread : null, parts: [], numbers: new Set(numbers),
    })).sort((a, b) => b.known - a.known || b.ns - a.ns);
  }

  /// Returns the slices of threads in a time that fit: [thread, slice, …].
  slicesWhere(threads, from, to, fits) {
    const {trace} = this, found = [];
    for (const t of threads.filter(thread => this.hasCauses(thread))) {
      const last = trace.first[t + 1] - 1;
      for (let i = lastUpTo(trace.start, trace.first[t], last, from); i < last && trace.start[i] < to; i++)
        if (trace.start[i + 1] > from && fits(i, Math.max(from, trace.start[i]), Math.min(to, trace.start[i + 1])))
          found.push(t, i);
    }
    return found;
  }
  /// Returns whether one of the culprits ran there in a part of a wait.
  wasHeldBy(culprits, slice, start, end) {
    let held = false;
    this.addWait(slice, start, end, key => held ||= culprits.has(this.partsOf(key)[2]));
    return held;
  }

  /// Returns a tree {label, ns, parts, slices()} whose parts add up. slices() returns those of a node,
  /// as slicesWhere() does.
  tree(threads, from, to) {
    const {trace} = this, sums = this.sums(threads, from, to);
    const where = fits => () => this.slicesWhere(threads, from, to, fits);
    const total = parts => parts.reduce((ns, part) => ns + part.ns, 0);
    const node = (label, parts, fits) =>
        ({label, parts: parts.sort((a, b) => b.ns - a.ns), ns: total(parts), slices: where(fits)});
    const {kinds, blocks} = this.lists;
    const waiting = [...sums.waits].map(([kind, holders]) => {
      const isKind = slice => isWait(trace.state(slice)) && this.cause[slice] === kind;
      const parts = this.byCulprit(holders, 'held by: ').map(part => ({...part, slices: where((slice, start, end) =>
        isKind(slice) && this.wasHeldBy(part.numbers, slice, start, end))}));
      return {label: kinds[kind].name, ns: total(parts), parts: this.isThrottle(kind) ? [] : parts, slices: where(isKind)};
    });
    const isBlocked = slice => trace.state(slice) === PAUSED && this.cause[slice] > 0;
    const blocked = [...sums.blocks].map(([block, wakers]) => {
      const isBlock = slice => isBlocked(slice) && this.cause[slice] - 1 === block;
      const parts = this.byCulprit(wakers, 'woken by: ').map(part => ({...part, slices: where((slice, _start, end) =>
        isBlock(slice) && part.numbers.has(this.wakerIn(slice, end)))}));
      return {label: blocks[block], ns: total(parts), parts, slices: where(isBlock)};
    });
    const leaf = (label, ns, fits) => ({label, ns, parts: [], slices: where(fits)});
    const parts = [leaf('running', sums.running, slice => trace.state(slice) === RUNNING),
                   node('waiting for a CPU', waiting, slice => isWait(trace.state(slice))),
                   node('blocked', blocked, isBlocked)];
    if (sums.unknown)
      parts.push(leaf('not known', sums.unknown, slice => this.isUnknown(slice)));
    return {label: '', ns: total(parts), parts};
  }

  /// Returns the sums as window.ovnitrace.why() has them.
  plain(threads, from, to) {
    const sums = this.sums(threads, from, to), {kinds, blocks} = this.lists;
    const list = (map, of) => [...map].flatMap(([key, parts]) => [...parts].map(([who, ns]) =>
        ({...of(key, this.culprit(who).text), ns})));
    return {
      running_ns: sums.running, unknown_ns: sums.unknown,
      waiting: list(sums.waits, (kind, holder) =>
          ({kind: kinds[kind].word, holder: this.isThrottle(kind) ? null : holder})),
      blocked: list(sums.blocks, (block, waker) => ({block: blocks[block], waker})),
    };
  }
}
