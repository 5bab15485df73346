// SPDX-License-Identifier: BSD-2-Clause
// Finds the sections and events that the program logged, by thread. A section also
// ends where its thread ends, and where nothing is known about its thread: its end may be lost.

import {DEAD, UNKNOWN} from './trace.js';

const MOST_NESTED = 512; // as in info
const SECTION_STARTS = 0xd9, SECTION_ENDS = 0xe9, IPOINT = 0x01;
/// Flag of a code whose parameters mean what the manual of FTrace says, which has no sections.
const BY_MANUAL = 0x100;

export function eventName(event) {
  const code = event.code % BY_MANUAL;
  if (code === IPOINT)
    return 'ipoint ' + event.par1;
  return 'user event ' + (code >> 4) + ': ' + event.par1 + ', ' + event.par2;
}

/// Returns whether a slice hides what a thread does, or is after its end.
function hides(trace, slice) {
  const state = trace.state(slice);
  return state === UNKNOWN || state === DEAD || trace.mixes.get(slice)?.[UNKNOWN] > 0;
}

export class Sections {
  constructor(trace) {
    this.byThread = new Map(); // [{start, end, number, depth}]
    this.points = new Map();   // events that start or end none
    for (const [thread, events] of trace.events) {
      const open = [], done = [], points = [];
      const endAll = time => {
        for (const section of open.splice(0))
          done.push({...section, end: time});
      };
      let slice = trace.first[thread];
      const endAllThatEndBy = time => {
        for (; slice < trace.first[thread + 1] - 1 && trace.start[slice] <= time; slice++)
          if (hides(trace, slice))
            endAll(trace.start[slice]);
      };
      for (const event of events) {
        endAllThatEndBy(event.time);
        if (event.code === SECTION_STARTS) {
          if (open.length < MOST_NESTED)
            open.push({start: event.time, number: event.par2, depth: open.length});
        } else if (event.code === SECTION_ENDS) {
          const last = open.findLastIndex(section => section.number === event.par2);
          if (last >= 0)
            for (const section of open.splice(last))
              done.push({...section, end: event.time});
        } else {
          points.push(event);
        }
      }
      endAllThatEndBy(trace.to);
      endAll(trace.to);
      this.byThread.set(thread, done);
      this.points.set(thread, points);
    }
  }
  of(thread) {
    return this.byThread.get(thread) ?? [];
  }
  pointsOf(thread) {
    return this.points.get(thread) ?? [];
  }
}
