// SPDX-License-Identifier: BSD-2-Clause
// Draws the whole run with the visible part marked, and the axis of the visible part.
import {fitCanvas} from './dom.js';
import {NAMES} from './layout.js';
import {COOLING, RUNNING} from './trace.js';
import {duration, roundStep} from './format.js';

const STEPS = 4; // of the load, that are one bar

export class Overview {
  constructor(app) {
    this.app = app;
    this.canvas = document.getElementById('overview');
    this.grip = null; // where the frame is held, while it is
    this.canvas.addEventListener('pointerdown', event => this.press(event));
    this.canvas.addEventListener('pointermove', event => event.buttons && this.drag(event));
    for (const type of ['pointerup', 'pointercancel'])
      this.canvas.addEventListener(type, () => this.grip = null);
  }
  get width() {
    return this.app.timeline.width;
  }
  timeAt(event) {
    const {view} = this.app;
    return view.least + (event.offsetX - NAMES) / this.width * (view.most - view.least);
  }
  press(event) {
    if (event.button !== 0)
      return;
    this.canvas.setPointerCapture(event.pointerId);
    const {view} = this.app, time = this.timeAt(event);
    this.grip = time >= view.from && time <= view.to ? time - view.from : view.span / 2;
    this.drag(event);
  }
  drag(event) {
    if (this.grip === null)
      return;
    const {view} = this.app, from = this.timeAt(event) - this.grip;
    view.set(from, from + view.span);
  }

  draw() {
    const {colors, view} = this.app, height = 54;
    const context = fitCanvas(this.canvas, this.canvas.clientWidth, height);
    context.fillStyle = colors.ui('panel');
    context.fillRect(0, 0, this.canvas.clientWidth, height);
    this.drawLoad(context, height);
    const whole = view.most - view.least;
    const x0 = NAMES + (view.from - view.least) / whole * this.width;
    const x1 = Math.max(x0 + 3, NAMES + (view.to - view.least) / whole * this.width);
    context.fillStyle = colors.light ? '#ffffffb0' : '#000000a0';
    context.fillRect(NAMES, 0, x0 - NAMES, height);
    context.fillRect(x1, 0, NAMES + this.width - x1, height);
    context.strokeStyle = colors.ui('accent');
    context.lineWidth = 1.5;
    context.strokeRect(x0, 1, x1 - x0, height - 2);
    context.font = '12px system-ui, "DejaVu Sans", sans-serif';
    context.fillStyle = colors.ui('text');
    const all = this.app.trace.summary.all_threads;
    context.fillText(all ? 'CPUs busy, whole run' : 'CPUs busy with these threads', 10, 18);
    context.fillStyle = colors.css[COOLING];
    context.fillRect(10, 32, 10, 2);
    context.fillStyle = colors.ui('soft');
    context.fillText('threads waiting, per CPU', 25, 37);
  }

  /// Draws how many CPUs were busy, and how many threads waited for one, out of all CPUs.
  drawLoad(context, height) {
    const {trace, colors, view} = this.app, cpus = trace.cpus.length;
    const there = Math.max(1, trace.header.cpu_count ?? cpus);
    const whole = view.most - view.least, room = height - 10, foot = height - 4;
    const waiting = [];
    for (let n = 0; n < trace.header.load_steps; n += STEPS) {
      const ns = Math.min(STEPS * trace.stepNs, whole - n * trace.stepNs);
      if (ns <= 0)
        break;
      const sum = row => row.slice(n, n + STEPS).reduce((a, b) => a + b, 0) / ns / there;
      const x = NAMES + n * trace.stepNs / whole * this.width, width = ns / whole * this.width;
      const busy = trace.load.slice(0, cpus).reduce((all, row) => all + sum(row), 0);
      context.fillStyle = colors.css[RUNNING];
      context.fillRect(x, foot - busy * room, width + 0.5, busy * room);
      waiting.push([x + width / 2, foot - Math.min(1, sum(trace.load[cpus])) * room]);
    }
    context.strokeStyle = colors.css[COOLING];
    context.lineWidth = 1.5;
    context.beginPath();
    waiting.forEach(([x, y]) => context.lineTo(x, y));
    context.stroke();
  }
}

export class Axis {
  constructor(app) {
    this.app = app;
    this.canvas = document.getElementById('axis');
  }
  draw() {
    const {colors, view, timeline} = this.app, height = 26, width = this.canvas.clientWidth;
    const context = fitCanvas(this.canvas, width, height);
    context.fillStyle = colors.ui('panel');
    context.fillRect(0, 0, width, height);
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    const step = roundStep(view.span, timeline.width / 110);
    const first = Math.ceil(view.from / step) * step;
    context.fillStyle = colors.ui('soft');
    context.fillText('shown: ' + duration(view.span), 10, 17);
    for (let n = 0, time = first; time <= view.to && n < 100; time = first + ++n * step) {
      const x = timeline.xOf(time);
      context.fillStyle = colors.ui('line');
      context.fillRect(x, 18, 1, 8);
      context.fillStyle = colors.ui('soft');
      if (x < width - 60)
        context.fillText(this.label(time, step), x + 4, 15);
    }
  }
  /// Returns a time with as many digits as neighbours differ in.
  label(time, step) {
    const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e9) + 1e-9)));
    return (time / 1e9).toFixed(digits) + ' s';
  }
}
