// SPDX-License-Identifier: BSD-2-Clause
// Paints rows as pixels. A column of pixels that shows several states is divided by their shares of
// its time. Running or runnable states are at the bottom, so that from afar a row is a graph of its
// load.
import {PAUSED, MIXED, STATES} from './trace.js';

export class Painter {
  constructor(trace, sums, runs, colors) {
    Object.assign(this, {trace, sums, runs, colors});
    const {states, state_order} = trace.header;
    this.patterned = states.map(state => state.pattern !== 'none');
    this.stack = state_order.filter(state => states[state].stacked);
    this.rest = state_order.filter(state => !states[state].stacked);
    this.shares = new Float64Array(STATES);
  }

  /// `width` and `height` in pixels of the screen, showing `from` to `to`.
  begin(context, width, height, from, to) {
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(this.colors.row);
    Object.assign(this, {width, height, from, nsPerPixel: (to - from) / width});
  }
  finish(context, x, y) {
    context.putImageData(this.image, x, y);
  }

  pixelOf(time) {
    return Math.max(0, Math.min(this.width, Math.round((time - this.from) / this.nsPerPixel)));
  }

  /// Fills a rectangle with one state. Rows above and below the picture are cut off.
  fillState(state, x0, x1, y0, y1) {
    const {colors, width} = this;
    if (!this.patterned[state])
      return this.fillColor(colors.pixel[state], x0, x1, y0, y1);
    const bottom = Math.min(this.height, y1);
    for (let y = Math.max(0, y0); y < bottom; y++)
      for (let x = x0; x < x1; x++)
        this.pixels[y * width + x] = colors.at(state, x, y);
  }

  fillColor(pixel, x0, x1, y0, y1) {
    const bottom = Math.min(this.height, y1), {pixels, width} = this;
    for (let y = Math.max(0, y0); y < bottom; y++) {
      if (x1 - x0 > 8) {
        pixels.fill(pixel, y * width + x0, y * width + x1);
        continue;
      }
      for (let x = x0; x < x1; x++) // faster for few
        pixels[y * width + x] = pixel;
    }
  }

  /// Paints a column by the shares of its states. Running and waiting are visible however short
  /// they were.
  fillShares(x, y0, y1) {
    const shares = this.shares, height = y1 - y0;
    let all = 0;
    for (let s = 0; s < STATES; s++)
      all += shares[s];
    if (all <= 0)
      return;
    const rest = this.rest.reduce((a, b) => shares[b] > shares[a] ? b : a);
    let bottom = y1;
    for (const state of this.stack) {
      if (shares[state] <= 0)
        continue;
      const top = Math.max(y0, bottom - Math.max(1, Math.round(height * shares[state] / all)));
      this.fillState(state, x, x + 1, top, bottom);
      bottom = top;
    }
    this.fillState(rest, x, x + 1, y0, bottom);
  }

  thread(thread, y0, y1) {
    const trace = this.trace, first = trace.first[thread], last = trace.first[thread + 1] - 1;
    let time = Math.max(this.from, trace.start[first]);
    const end = Math.min(this.from + this.width * this.nsPerPixel, trace.start[last]);
    if (time >= end && !(time === end && last > first))
      return;
    let slice = trace.find(thread, time), x = Math.floor((time - this.from) / this.nsPerPixel);
    const stop = Math.min(this.width, Math.ceil((end - this.from) / this.nsPerPixel));
    while (x < stop) {
      const whole = Math.min(stop, Math.floor((trace.start[slice + 1] - this.from) / this.nsPerPixel));
      if (whole > x && trace.state(slice) !== MIXED) {
        this.fillState(trace.state(slice), x, whole, y0, y1);
        x = whole;
        time = this.from + x * this.nsPerPixel;
        slice = trace.findFrom(slice, thread, Math.min(time, end));
        continue;
      }
      const next = Math.min(this.from + (x + 1) * this.nsPerPixel, end);
      const until = trace.findFrom(slice, thread, next);
      this.sums.between(this.shares, thread, slice, time, until, next);
      this.fillShares(x, y0, y1);
      slice = until;
      time = next;
      x++;
    }
  }

  /// Paints how busy a CPU was, where its runs are not all known one by one.
  load(cpu, y0, y1) {
    const {trace} = this, steps = trace.load[cpu];
    for (let x = 0; x < this.width; x++) {
      const step = Math.floor((this.from + (x + 0.5) * this.nsPerPixel - trace.from) / trace.stepNs);
      const share = Math.min(1, (steps[step] ?? 0) / trace.stepNs);
      this.fillColor(this.colors.pixel[PAUSED], x, x + 1, y1 - Math.round((y1 - y0) * share), y1);
    }
  }

  /// Paints a CPU, coloured by process; from afar as high as it was busy.
  cpu(cpu, y0, y1, colorOf) {
    if (this.trace.header.coarse_threads)
      this.load(cpu, y0, y1);
    const runs = this.runs, slices = runs.slices[cpu], trace = this.trace, height = y1 - y0;
    let run = runs.find(cpu, this.from), before = runs.busyUntil(cpu, run, this.from);
    for (let x = 0; x < this.width;) {
      const start = this.from + x * this.nsPerPixel, next = start + this.nsPerPixel;
      if (run >= 0 && trace.end(slices[run]) >= next && trace.start[slices[run]] <= start) {
        const until = Math.max(x + 1, this.pixelFloor(trace.end(slices[run])));
        this.fillColor(colorOf(run), x, until, y0, y1);
        x = until;
        before = runs.busyUntil(cpu, run, this.from + x * this.nsPerPixel);
        run = runs.findFrom(run, cpu, this.from + x * this.nsPerPixel);
        continue;
      }
      const at = runs.findFrom(run, cpu, next), busy = runs.busyUntil(cpu, at, next);
      if (at === run && (run < 0 || trace.end(slices[run]) <= start)) { // idle until the next run
        const until = run + 1 < slices.length ?
            Math.max(x + 1, this.pixelFloor(trace.start[slices[run + 1]])) : this.width;
        x = until;
        continue;
      }
      const share = (busy - before) / this.nsPerPixel;
      if (share > 0)
        this.fillColor(colorOf(at), x, x + 1,
                       y1 - Math.max(1, Math.round(height * Math.min(1, share))), y1);
      run = at;
      before = busy;
      x++;
    }
  }
  pixelFloor(time) {
    return Math.min(this.width, Math.floor((time - this.from) / this.nsPerPixel));
  }
  /// Paints a time without events on a CPU.
  dark(from, to, y0, y1) {
    const x0 = this.pixelOf(from), x1 = Math.max(x0 + 2, this.pixelOf(to));
    for (let y = Math.max(0, y0); y < Math.min(this.height, y1); y++)
      for (let x = x0; x < Math.min(x1, this.width); x++)
        if ((x + y) % 4 < 2)
          this.pixels[y * this.width + x] = this.colors.alarmPixel;
  }
}
