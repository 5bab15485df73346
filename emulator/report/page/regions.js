// SPDX-License-Identifier: BSD-2-Clause
// Finds the regions of --control, by process or thread, in order of time.
import {lastUpTo} from './search.js';

const ownerOf = (whole, {node, pid, tid}) => node + (whole ? ' p' + pid : ' t' + tid);

export class Regions {
  constructor(trace) {
    this.trace = trace;
    this.byOwner = new Map(); // {start, regions}: times to search in, and what starts there
    for (const region of trace.summary.regions ?? []) {
      const owner = ownerOf(!region.of_thread, region);
      if (!this.byOwner.has(owner))
        this.byOwner.set(owner, {start: [], regions: []});
      this.byOwner.get(owner).start.push(region.start_ns);
      this.byOwner.get(owner).regions.push(region);
    }
  }
  of(thread) {
    const one = this.trace.threads[thread];
    return this.byOwner.get(ownerOf(true, one)) ?? this.byOwner.get(ownerOf(false, one));
  }

  /// Returns the region of a thread at a time; undefined outside regions. A region of a process is one
  /// of each of its threads while that lives.
  at(thread, time) {
    const all = this.of(thread), life = this.trace.lifeOf(thread);
    if (time < life.from || time > life.to)
      return undefined;
    const region = all?.regions[lastUpTo(all.start, 0, all.start.length, time)];
    return region && region.start_ns <= time && time <= region.start_ns + region.length_ns
        ? region : undefined;
  }
  /// Returns whether what begins at a time is outside the regions of a thread that has some.
  isOutside(thread, time) {
    const all = this.of(thread), region = all?.regions[lastUpTo(all.start, 0, all.start.length, time)];
    return region !== undefined && !(region.start_ns <= time && time < region.start_ns + region.length_ns);
  }
  /// Calls put(start, end) for the regions between two times. Skips those that start less than
  /// `least` after the last one.
  each(thread, from, to, least, put) {
    const all = this.of(thread), count = all?.start.length ?? 0, life = this.trace.lifeOf(thread);
    let n = count ? lastUpTo(all.start, 0, count, from) : 0;
    while (n < count && all.start[n] <= to) {
      const start = all.start[n], end = start + all.regions[n].length_ns;
      if (end >= from && end > life.from && start < life.to)
        put(Math.max(start, life.from), Math.min(end, life.to));
      n = Math.max(n + 1, lastUpTo(all.start, n, count, start + least));
    }
  }

  label(region) {
    return this.trace.header.chains[region.node]?.[region.chain - 1] ?? 'started by ' + region.started_by;
  }
}
