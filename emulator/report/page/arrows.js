// SPDX-License-Identifier: BSD-2-Clause
// Draws arrows from the thread that woke the selected one, and to the thread that ran instead of
// it.
import {COOLING, WARMING} from './trace.js';
import {NAMES} from './layout.js';
import {startsByLeaving} from './slices.js';

const MOST = 400; // wakeups in the view: of more nothing could be seen

function arrow(timeline, fromThread, toThread, time, color) {
  const {context} = timeline, {rows} = timeline.app;
  const target = rows.rowOf.get(toThread), source = rows.rowOf.get(fromThread);
  if (!target)
    return;
  const x = timeline.xOf(time), {height} = timeline;
  const y1 = target.top - timeline.top + target.height / 2;
  const y0 = source ? source.top - timeline.top + source.height / 2 : y1 - 18;
  if (x < NAMES || x > NAMES + timeline.width || Math.max(y0, y1) < 0 || Math.min(y0, y1) > height)
    return;
  const down = y1 > y0 ? 1 : -1;
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.5;
  context.setLineDash(source ? [] : [3, 3]);
  context.beginPath();
  context.moveTo(x, y0);
  context.lineTo(x, y1 - 8 * down);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.arc(x, y0, 2.5, 0, 7);
  context.fill();
  context.beginPath();
  context.moveTo(x, y1 - 3 * down);
  context.lineTo(x - 4.5, y1 - 11 * down);
  context.lineTo(x + 4.5, y1 - 11 * down);
  context.fill();
}

export function drawArrows(timeline) {
  const {trace, view, selected, colors} = timeline.app;
  if (!selected)
    return;
  const {thread} = selected, end = trace.first[thread + 1] - 1;
  const wakeups = [];
  let i = trace.find(thread, Math.max(view.from, trace.start[trace.first[thread]]));
  for (let looked = 0; i >= 0 && i < end && trace.start[i] <= view.to; i++) {
    if (++looked > 20 * MOST || wakeups.length > MOST)
      return;
    if (trace.state(i) === WARMING && trace.startCause(i)?.context !== undefined)
      wakeups.push(i);
  }
  for (const wakeup of wakeups) {
    const {peer, context} = trace.startCause(wakeup);
    if (!peer)
      continue;
    const waker = context === 0 ? trace.peerOf(peer).thread : -1; // an interrupt only came while the peer ran
    arrow(timeline, waker, thread, trace.start[wakeup], colors.ui('accent'));
  }
  const state = trace.state(selected.slice), cause = trace.startCause(selected.slice);
  if (startsByLeaving(trace, state) && cause?.reason !== undefined && cause.peer)
    arrow(timeline, thread, trace.peerOf(cause.peer).thread, trace.start[selected.slice],
          colors.css[COOLING]);
}
