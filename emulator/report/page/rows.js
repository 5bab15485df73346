// SPDX-License-Identifier: BSD-2-Clause
// Lists the rows of the timeline: CPUs, then threads by process, as searched, sorted and folded.
import {count, counted, parseDuration} from './format.js';
import {timeIn} from './trace.js';
import {HEIGHTS} from './layout.js';
import {lastUpTo} from './search.js';

const IDLE_MANY = 40; // threads

export const SORTS = {
  process: 'process',
  cgroup: 'cgroup',
  running: 'time running',
  waiting: 'time waiting for a CPU',
  latency: 'longest wakeup latency',
  name: 'name',
};

const GROUPED = ['process', 'cgroup']; // rows below heads

/// Matches "cooling>1ms" and "running>=5%".
const CONDITION = /^(running|paused|cooling|warming|throttled|unknown)(>=|<=|>|<)([\d.]+)(%|ns|us|µs|ms|s)?$/;

function condition(word) {
  const match = CONDITION.exec(word);
  if (!match)
    return null;
  const [, state, sign, number, unit] = match;
  const limit = unit === '%' ? Number(number) / 100 : parseDuration(number + (unit ?? ''));
  return thread => {
    const {summary} = thread;
    const time = state === 'throttled' ? summary.throttling.time_ns : timeIn(summary, state);
    const whole = Object.keys(summary.time_ns).reduce((sum, one) => sum + timeIn(summary, one), 0);
    const value = unit === '%' ? (whole ? time / whole : 0) : time;
    return {'>': value > limit, '<': value < limit, '>=': value >= limit, '<=': value <= limit}[sign];
  };
}

export class Rows {
  constructor(trace) {
    this.trace = trace;
    this.shown = trace.threads.filter(thread => trace.hasSlices(thread.index));
    this.processes = this.groups();
    const {all_threads, filters = [], command = [], attached_pids = []} = trace.summary;
    if (all_threads || (filters.length && !command.length && !attached_pids.length))
      this.orderAsInfo();
    this.cgroups = this.groupsByCgroup();
    this.search = '';
    this.only = null; // threads (indices) that a click chose, null: all
    this.sort = 'process';
    // In a trace of a whole machine, most threads never run.
    const idle = this.shown.filter(thread => thread.summary.time_ns.running === 0).length;
    this.hideIdle = idle > IDLE_MANY && idle > this.shown.length / 2;
    this.cpusFolded = false;
    this.build();
  }

  groups() {
    const all = new Map(); // by main thread: several processes may have had one pid
    for (const thread of this.shown) {
      const {main, pid, node} = thread;
      const first = this.trace.threads[main]; // the main thread, if it is traced
      if (!all.has(main))
        all.set(main, {pid, node, threads: [], folded: false, number: all.size, name: first.tid === pid ? first.name : first.process ?? ''});
      thread.process = all.get(main);
      thread.process.threads.push(thread);
    }
    return [...all.values()];
  }

  /// Makes a group of each cgroup, by name. Threads keep the order of processes.
  groupsByCgroup() {
    const all = new Map();
    for (const thread of this.shown) {
      const name = thread.summary.cgroup ?? 'cgroup not known', key = thread.node + ' ' + name;
      if (!all.has(key))
        all.set(key, {name, folded: false});
      thread.cgroup = all.get(key);
    }
    return [...all.values()].sort((a, b) => a.name.localeCompare(b.name));
  }

  /// Sorts processes as `info` does. The first processes of a whole machine are the kernel's threads,
  /// so those that ran longest come first instead.
  orderAsInfo() {
    const ran = new Map(this.processes.map(process => [process, process.threads.reduce(
        (ns, thread) => ns + thread.summary.time_ns.running, 0)]));
    this.processes.sort((a, b) => ran.get(b) - ran.get(a));
    this.shown = this.processes.flatMap(process => process.threads);
  }

  matches(thread) {
    if (this.only && !this.only.has(thread.index))
      return false;
    if (this.hideIdle && thread.summary.time_ns.running === 0)
      return false;
    const process = thread.process;
    const words = this.search.toLowerCase().replace(/\s*([<>]=?)\s*/g, '$1'); // "running > 5%"
    return words.split(/\s+/).filter(word => word).every(word => {
      const holds = condition(word);
      return holds ? holds(thread) :
          (thread.name || 'thread').toLowerCase().includes(word) || String(thread.tid).startsWith(word) ||
          String(thread.pid).startsWith(word) || (process.name ?? '').toLowerCase().includes(word) ||
          (thread.summary.cgroup ?? '').toLowerCase().includes(word);
    });
  }

  /// Returns how many threads match: "37 of 178 threads".
  matchingText() {
    const {matching, shown} = this;
    return (matching.length < shown.length ? count(matching.length) + ' of ' : '') + counted(shown.length, 'thread');
  }

  sortKey() {
    const ns = (thread, ...states) => states.reduce((sum, s) => sum + thread.summary.time_ns[s], 0);
    return {
      running: thread => -ns(thread, 'running'),
      waiting: thread => -ns(thread, 'cooling', 'warming'),
      latency: thread => -(thread.summary.wakeup_latency_ns.max ?? -1),
    }[this.sort];
  }

  sorted(threads) {
    if (GROUPED.includes(this.sort))
      return threads;
    const key = this.sortKey();
    return [...threads].sort(key ? (a, b) => key(a) - key(b)
                                 : (a, b) => a.name.localeCompare(b.name) || a.tid - b.tid);
  }

  build() {
    this.list = [];
    this.height = 0;
    const add = row => {
      this.list.push({...row, top: this.height, height: HEIGHTS[row.type]});
      this.height += HEIGHTS[row.type];
    };
    if (this.trace.cpus.length) {
      add({type: 'head', folded: this.cpusFolded});
      if (!this.cpusFolded)
        this.trace.cpus.forEach((_, cpu) => add({type: 'cpu', cpu}));
    }
    this.matching = this.sorted(this.shown.filter(thread => this.matches(thread)));
    if (GROUPED.includes(this.sort)) {
      const groups = this.sort === 'process' ? this.processes : this.cgroups;
      const by = new Map(groups.map(group => [group, []]));
      for (const thread of this.matching)
        by.get(thread[this.sort]).push(thread);
      for (const [group, threads] of by) {
        const needsHead = this.sort === 'cgroup' || group.threads.length > 1; // one thread says it all
        if (threads.length && needsHead)
          add({type: 'process', process: group, count: threads.length});
        if (!group.folded || !needsHead)
          threads.forEach(thread => add({type: 'thread', thread: thread.index}));
      }
    } else {
      this.matching.forEach(thread => add({type: 'thread', thread: thread.index}));
    }
    this.tops = this.list.map(row => row.top);
    this.rowOf = new Map(this.list.filter(row => row.type === 'thread')
                             .map(row => [row.thread, row]));
  }

  fold(row) {
    if (row.type === 'head')
      this.cpusFolded = !this.cpusFolded;
    else if (row.type === 'process')
      row.process.folded = !row.process.folded;
    this.build();
  }
  foldAll(folded) {
    [...this.processes, ...this.cgroups].forEach(group => group.folded = folded);
    this.build();
  }
  /// Makes sure that a thread has a row, whatever was searched or folded.
  unhide(thread) {
    if (this.rowOf.has(thread))
      return;
    const one = this.trace.threads[thread];
    one.process.folded = one.cgroup.folded = false;
    if (!this.matches(one)) {
      this.search = '';
      this.only = null;
      this.hideIdle = false;
    }
    this.build();
  }

  /// Returns the row at a height; undefined below the last one.
  at(y) {
    const row = this.list[this.indexAt(y)];
    return row && y >= row.top && y < row.top + row.height ? row : undefined;
  }
  /// Returns the index of the row at a height, or of the nearest row.
  indexAt(y) {
    return lastUpTo(this.tops, 0, this.tops.length, y);
  }
}
