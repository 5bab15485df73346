// SPDX-License-Identifier: BSD-2-Clause
// Marks slices in the rows, and draws notes at times.
import {NAMES} from './layout.js';
import {lastUpTo} from './search.js';

/// Slices that are marked.
export class Marks {
  /// `list`: [thread, slice, …], in the order of slices for each thread.
  constructor(trace, label, list) {
    Object.assign(this, {trace, label});
    this.byThread = new Map();
    for (let n = 0; n < list.length; n += 2) {
      if (!this.byThread.has(list[n]))
        this.byThread.set(list[n], []);
      this.byThread.get(list[n]).push(list[n + 1]);
    }
  }
  /// Calls put(start, end) for the marked slices of a thread in a time. Leaves out those that start
  /// within `least` of one before.
  each(thread, from, to, least, put) {
    const {start} = this.trace, slices = this.byThread.get(thread) ?? [];
    const first = this.trace.first[thread], last = this.trace.first[thread + 1] - 1;
    const after = time => {
      const n = lastUpTo(slices, 0, slices.length, lastUpTo(start, first, last, time));
      return slices[n] < lastUpTo(start, first, last, time) ? n + 1 : n;
    };
    for (let n = after(from); n < slices.length && start[slices[n]] <= to;) {
      put(start[slices[n]], start[slices[n] + 1]);
      n = Math.max(n + 1, start[slices[n]] + least > start[slices[n] + 1] ? after(start[slices[n]] + least) : 0);
    }
  }
}

export function drawMarks(timeline, thread, y, height) {
  const {marks, view, colors} = timeline.app, {context} = timeline;
  if (!marks)
    return;
  context.strokeStyle = colors.ui('text');
  context.lineWidth = 2;
  marks.each(thread, view.from, view.to, view.span / timeline.width, (start, end) => {
    const x0 = Math.max(NAMES - 4, timeline.xOf(start)), x1 = Math.min(NAMES + timeline.width + 4, timeline.xOf(end));
    context.strokeRect(x0, y + 2, Math.max(1, x1 - x0), height - 4);
  });
}
