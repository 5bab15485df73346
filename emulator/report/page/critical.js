// SPDX-License-Identifier: BSD-2-Clause
// Shows the critical path: which thread is responsible for each moment, and why.
import {Varints} from './data.js';
import {lastUpTo} from './search.js';

export class Critical {
  /// Without a path, no thread is on it.
  constructor(trace, bytes) {
    this.about = trace.header.critical_path;
    this.shown = Boolean(this.about);
    this.byThread = new Map(); // {start, end, cause}: of each segment
    const numbers = new Varints(bytes);
    for (let time = this.about?.from; numbers.more;) {
      const end = time + numbers.next(), thread = numbers.next(), cause = numbers.next();
      if (!this.byThread.has(thread))
        this.byThread.set(thread, {start: [], end: [], cause: []});
      const all = this.byThread.get(thread);
      all.start.push(time);
      all.end.push(end);
      all.cause.push(cause);
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

  /// Returns why a thread is responsible at a time; undefined if it is not.
  at(thread, time) {
    const all = this.shown && this.byThread.get(thread);
    if (!all)
      return undefined;
    const n = lastUpTo(all.start, 0, all.start.length, time);
    return all.start[n] <= time && time < all.end[n] ? this.about.causes[all.cause[n]] : undefined;
  }
}
