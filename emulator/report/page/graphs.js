// SPDX-License-Identifier: BSD-2-Clause
// Draws graphs of all threads together, between the axis and the rows.
import {byId, fitCanvas} from './dom.js';
import {NAMES} from './layout.js';
import {COOLING, nameOf, PAUSED, RUNNING, WARMING, THROTTLED} from './trace.js';
import {idleCounts, threadCounts} from './parallel.js';

const HEIGHT = 34, STEP = 2; // CSS pixels: of a graph; of a column
const number = value => value >= 10 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2);

/// Graphs of series that lie on each other.
class Stacked {
  /// `series`: [[name, state with its colour and pattern]].
  constructor(name, densities, series) {
    Object.assign(this, {name, densities, series});
  }
  measure(from, to, columns) {
    this.means = this.densities.means(from, to, columns);
    this.most = 0;
    for (let x = 0; x < columns; x++)
      this.most = Math.max(this.most, this.series.reduce((sum, _, s) => sum + this.means[s][x], 0));
  }
  /// Paints columns, the first series at the bottom.
  paint(context, top, width, colors) {
    const room = HEIGHT - 4, scale = room / Math.max(1, this.most);
    for (let x = 0; x * STEP < width; x++) {
      let foot = top + HEIGHT - 2;
      this.series.forEach(([, state], s) => {
        const high = this.means[s][x] * scale;
        if (high <= 0)
          return;
        context.fillStyle = colors.css[state];
        context.fillRect(NAMES + x * STEP, foot - Math.max(1, high), STEP, Math.max(1, high));
        foot -= high;
      });
    }
  }
  note() {
    return 'up to ' + number(this.most);
  }
  words(x) {
    return this.series.map(([name], s) => number(this.means[s][x]) + ' ' + name);
  }
}

/// The critical path: the colour of the process that was responsible, as high as it ran.
class PathRow {
  constructor({trace}) {
    Object.assign(this, {name: 'Critical path', trace});
  }
  measure(from, to, columns) {
    Object.assign(this, {from, each: (to - from) / columns});
  }
  at(x) {
    return this.trace.critical.responsible(this.from + (x + 0.5) * this.each);
  }
  paint(context, top, width, colors) {
    for (let x = 0; x * STEP < width; x++) {
      const found = this.at(x), thread = found && this.trace.threads[found.thread];
      if (!found)
        continue;
      const high = found.cause === this.trace.critical.about.causes[0] ? HEIGHT - 6 : (HEIGHT - 6) / 2;
      context.fillStyle = colors.series[(thread.process?.number ?? 0) % colors.series.length];
      context.fillRect(NAMES + x * STEP, top + HEIGHT - 2 - high, STEP, high);
    }
  }
  note() {
    const {about, chosen} = this.trace.critical;
    return 'of ' + nameOf(this.trace.threads[about.paths[chosen].thread]);
  }
  words(x) {
    const found = this.at(x);
    return found ? [nameOf(this.trace.threads[found.thread]), found.cause] : ['not here'];
  }
}

export class Graphs {
  constructor(app) {
    const {trace, whys} = app;
    this.app = app;
    this.canvas = byId('graphs');
    this.shown = true;
    const threads = new Stacked('Threads', threadCounts(trace), [['running', RUNNING], ['waiting for a CPU', COOLING]]);
    threads.words = x => [number(threads.means[0][x]) + ' running', number(threads.means[1][x]) + ' waiting for a CPU',
                          number(threads.means[2][x]) + ' blocked'];
    this.list = [threads];
    if (whys.known && whys.idle.slice.length)
      this.list.push(new Stacked('Idle while waiting', idleCounts(trace, whys),
                                 whys.lists.idle.map(({name}, n) => [name, [WARMING, COOLING, THROTTLED][n]])));
    if (trace.critical.about)
      this.list.push(new PathRow(app));
    this.canvas.addEventListener('pointermove', event => app.showTip(event, this.words(event)));
    this.canvas.addEventListener('pointerleave', () => app.showTip(null));
  }

  words({offsetX, offsetY}) {
    const graph = this.list[Math.floor(offsetY / HEIGHT)], x = Math.floor((offsetX - NAMES) / STEP);
    if (!graph || x < 0 || x >= this.columns)
      return null;
    return [graph.name, ...graph.words(x)].join('\n');
  }

  draw() {
    const {view, timeline, colors} = this.app, {width} = timeline;
    const height = this.shown ? this.list.length * HEIGHT : 0;
    this.canvas.style.height = height + 'px';
    this.columns = Math.ceil(width / STEP);
    if (!height)
      return;
    const context = fitCanvas(this.canvas, this.canvas.clientWidth, height);
    context.fillStyle = colors.ui('panel');
    context.fillRect(0, 0, this.canvas.clientWidth, height);
    const to = view.from + this.columns * STEP / width * view.span;
    this.list.forEach((graph, n) => {
      const top = n * HEIGHT;
      graph.measure(view.from, to, this.columns);
      graph.paint(context, top, width, colors);
      if (graph === this.list[0])
        this.drawLine(context, graph.means[2], top, colors);
      context.font = '12px system-ui, "DejaVu Sans", sans-serif';
      context.fillStyle = colors.ui('text');
      context.fillText(graph.name, 10, top + 15);
      context.font = '11px system-ui, "DejaVu Sans", sans-serif';
      context.fillStyle = colors.ui('soft');
      context.fillText(graph.note(), 10, top + 29, NAMES - 16);
      context.fillStyle = colors.ui('line');
      context.fillRect(0, top + HEIGHT - 1, width + NAMES, 1);
    });
    this.canvas.setAttribute('aria-label', this.list.map(graph => graph.name + ', ' + graph.note()).join('; '));
  }

  /// Draws blocked threads as a line with a scale of its own: they are often many more.
  drawLine(context, means, top, colors) {
    const most = means.reduce((a, b) => Math.max(a, b), 1);
    context.strokeStyle = colors.css[PAUSED];
    context.lineWidth = 1.5;
    context.beginPath();
    means.forEach((mean, x) => context.lineTo(NAMES + (x + 0.5) * STEP, top + HEIGHT - 2 - mean / most * (HEIGHT - 5)));
    context.stroke();
  }

  toggle() {
    this.shown = !this.shown;
    this.app.redraw();
  }
}
