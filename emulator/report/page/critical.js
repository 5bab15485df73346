// SPDX-License-Identifier: BSD-2-Clause
// Shows the critical path: which thread is responsible for each moment, and why.
import {Varints} from './data.js';
import {lastUpTo} from './search.js';

export class Critical {
  /// Without a path, no thread is on it. The first path is chosen.
  constructor(trace, bytes) {
    this.about = trace.header.critical_path;
    this.shown = Boolean(this.about);
    this.bytes = bytes;
    this.choose(0);
  }

  /// Chooses one of the paths, by its place in `about.paths`.
  choose(chosen) {
    this.chosen = chosen;
    this.byThread = new Map(); // {start, end}: of each segment
    this.all = {start: [], end: [], thread: [], cause: []};
    const numbers = new Varints(this.bytes), paths = this.about?.paths ?? [];
    for (let n = 0; n < paths.length && n <= chosen; n++)
      this.read(numbers, paths[n], n === chosen);
  }
  read(numbers, {from, segments}, keep) {
    for (let n = 0, time = from; n < segments; n++) {
      const end = time + numbers.next(), thread = numbers.next(), cause = numbers.next();
      if (!keep)
        continue;
      this.all.start.push(time);
      this.all.end.push(end);
      this.all.thread.push(thread);
      this.all.cause.push(cause);
      if (!this.byThread.has(thread))
        this.byThread.set(thread, {start: [], end: []});
      const all = this.byThread.get(thread);
      all.start.push(time);
      all.end.push(end);
      time = end;
    }
  }

  /// Calls put(start, end) for the segments of a thread between two times. Joins segments that are
  /// less than `least` apart.
  each(thread, from, to, least, put) {
    const all = this.shown && this.byThread.get(thread);
    if (!all)
      return;
    const count = all.start.length;
    for (let n = lastUpTo(all.start, 0, count, from); n < count && all.start[n] <= to;) {
      const start = all.start[n];
      const last = Math.max(n, lastUpTo(all.start, n, count, start + least));
      if (all.end[last] >= from)
        put(start, all.end[last]);
      n = last + 1;
    }
  }

  /// Returns {thread, cause} of the segment at a time; null outside the path.
  responsible(time) {
    const {start, end, thread, cause} = this.all;
    const n = lastUpTo(start, 0, start.length, time);
    return start[n] <= time && time < end[n] ? {thread: thread[n], cause: this.about.causes[cause[n]]} : null;
  }

  /// Returns why a thread is responsible at a time; undefined if it is not.
  at(thread, time) {
    const found = this.shown ? this.responsible(time) : null;
    return found?.thread === thread ? found.cause : undefined;
  }
}
