// SPDX-License-Identifier: BSD-2-Clause
// Draws the rows of threads and CPUs on their canvas.
import {nameOf, RUNNING, PAUSED, MIXED} from './trace.js';
import {fitCanvas} from './dom.js';
import {NAMES} from './layout.js';
import {drawArrows} from './arrows.js';
import {drawMarks} from './marks.js';
import {drawNotes} from './notes.js';

const GAP = 3;         // CSS pixels between rows
const TEXT_LEAST = 44; // CSS pixels of a slice that gets a text

export class Timeline {
  constructor(app) {
    this.app = app;
    this.canvas = document.getElementById('rows');
    this.scroller = document.getElementById('scroller');
    this.spacer = document.getElementById('spacer');
    this.measure();
  }

  /// Called once for each picture: asking the page for a size is slow.
  measure() {
    this.width = Math.max(1, this.scroller.clientWidth - NAMES); // of the part with slices
    this.height = this.scroller.clientHeight;
  }
  timeAt(x) {
    return this.app.view.from + (x - NAMES) / this.width * this.app.view.span;
  }
  xOf(time) {
    return NAMES + (time - this.app.view.from) / this.app.view.span * this.width;
  }
  rowAt(y) {
    return this.app.rows.at(y + this.scroller.scrollTop);
  }

  /// Scrolls so that a row is visible.
  reveal(row) {
    const {scrollTop, clientHeight} = this.scroller;
    if (row.top < scrollTop || row.top + row.height > scrollTop + clientHeight)
      this.scroller.scrollTop = row.top - clientHeight / 2;
  }

  draw() {
    const {rows, view, painter, colors} = this.app;
    this.measure();
    const width = this.width + NAMES, height = this.height;
    this.spacer.style.height = Math.max(rows.height, height) + 'px';
    this.canvas.style.height = height + 'px';
    const context = this.context = fitCanvas(this.canvas, width, height);
    const ratio = this.canvas.height / Math.max(1, height);
    context.fillStyle = colors.ui('row');
    context.fillRect(0, 0, width, height);
    this.top = this.scroller.scrollTop;
    this.visible = this.visibleRows(height);

    const trackWidth = this.canvas.width - Math.round(NAMES * ratio);
    if (trackWidth > 0) {
      painter.begin(context, trackWidth, this.canvas.height, view.from, view.to);
      for (const row of this.visible)
        this.paintRow(row, ratio);
      painter.finish(context, Math.round(NAMES * ratio), 0);
    }
    context.font = '12px system-ui, "DejaVu Sans", sans-serif';
    context.textBaseline = 'middle';
    context.save();
    context.beginPath();
    context.rect(NAMES, 0, width - NAMES, height);
    context.clip();
    for (const row of this.visible)
      this.decorate(row);
    this.drawRange(height);
    this.drawSelected();
    drawNotes(this, height);
    drawArrows(this);
    context.restore();
    context.fillStyle = colors.ui('line');
    context.fillRect(NAMES - 1, 0, 1, height);
    for (const row of this.visible)
      this.drawName(row);
  }

  visibleRows(height) {
    const {rows} = this.app, list = rows.list;
    const visible = [];
    if (!list.length)
      return visible;
    for (let n = rows.indexAt(this.top); n < list.length && list[n].top < this.top + height; n++)
      visible.push(list[n]);
    return visible;
  }

  paintRow(row, ratio) {
    const {painter, trace, colors} = this.app;
    const y0 = Math.round((row.top - this.top + GAP / 2) * ratio);
    const y1 = Math.round((row.top - this.top + row.height - GAP / 2) * ratio);
    if (row.type === 'thread') {
      painter.thread(row.thread, y0, y1);
    } else if (row.type === 'cpu') {
      painter.cpu(row.cpu, y0, y1,
                  run => colors.seriesPixel[this.processOf(row.cpu, run).number % colors.seriesPixel.length]);
      for (const dark of trace.dark[row.cpu])
        if (dark.end >= this.app.view.from && dark.start <= this.app.view.to)
          painter.dark(dark.start, dark.end, y0, y1);
    }
  }
  processOf(cpu, run) {
    return this.app.trace.threads[this.app.runs.threads[cpu][run]].process;
  }

  /// Draws texts in slices that are wide enough, sections and events.
  decorate(row) {
    const {trace, runs} = this.app;
    const y = row.top - this.top;
    if (row.type === 'thread') {
      this.eachWide(time => trace.find(row.thread, time),
                    (i, x0, x1) => this.textOfState(i, x0, x1, y + row.height / 2));
      this.drawSections(row.thread, y);
      drawMarks(this, row.thread, y, row.height - GAP);
      this.drawLine(this.app.regions, 'accent', row.thread, y + row.height - GAP);
      this.drawLine(trace.critical, 'critical', row.thread, y + row.height - 1); // in the gap
    } else if (row.type === 'cpu') {
      this.eachWide(time => runs.sliceAt(row.cpu, time),
                    (i, x0, x1) => this.textOfRun(i, x0, x1, y + row.height / 2));
    }
  }

  /// Calls put(slice, x0, x1) for the slices that are wide enough for a text. sliceAt(time) finds
  /// them.
  eachWide(sliceAt, put) {
    const {trace, view} = this.app, step = TEXT_LEAST / 2, end = NAMES + this.width;
    for (let x = NAMES, before = -1; x <= end; x += step) {
      const slice = sliceAt(Math.min(this.timeAt(x), view.to));
      if (slice < 0 || slice === before)
        continue;
      before = slice;
      const x0 = Math.max(NAMES, this.xOf(trace.start[slice]));
      const x1 = Math.min(end, this.xOf(trace.end(slice)));
      if (x1 - x0 >= TEXT_LEAST)
        put(slice, x0, x1);
    }
  }

  text(words, x0, x1, y, ink) {
    const {context} = this;
    if (x1 - x0 < TEXT_LEAST)
      return;
    const room = x1 - x0 - 8;
    let text = words.find(one => context.measureText(one).width <= room);
    if (!text)
      return;
    context.fillStyle = ink;
    context.fillText(text, x0 + 4, y);
  }
  textOfState(slice, x0, x1, y) {
    const {trace, colors} = this.app, state = trace.state(slice);
    if (state === MIXED)
      return;
    const label = trace.header.states[state].label;
    const words = [label];
    if (state === RUNNING && trace.cpu[slice])
      words.unshift(label + ' · ' + trace.cpuName(trace.cpu[slice] - 1));
    const cause = trace.startCause(slice);
    if (state === PAUSED && cause?.reason !== undefined && cause.reason !== 2)
      words.unshift(trace.header.reasons[cause.reason] ?? label);
    if (state === PAUSED && cause?.call)
      words.unshift(words[0] + ' · ' + cause.call);
    // On a pattern, a text needs a plain background.
    if (trace.header.states[state].pattern !== 'none') {
      const wide = this.context.measureText(label).width;
      if (wide + 8 > x1 - x0)
        return;
      this.context.fillStyle = colors.css[state];
      this.context.fillRect(x0 + 2, y - 7, wide + 4, 14);
    }
    this.text(words, x0, x1, y, colors.quiet[state] ?? colors.ink[state]);
  }
  textOfRun(slice, x0, x1, y) {
    const {trace, colors} = this.app;
    const thread = trace.threads[trace.threadOf(slice)];
    this.text([nameOf({...thread, of: ''}), thread.name || String(thread.tid)], x0, x1, y,
              colors.seriesInk[thread.process.number % colors.seriesInk.length]);
  }

  drawSections(thread, y) {
    const {sections, colors, view} = this.app, {context} = this;
    const drawn = []; // by depth: up to which x. One section is enough for a pixel
    for (const section of sections.of(thread)) {
      if (section.end < view.from || section.start > view.to)
        continue;
      const x0 = Math.max(NAMES, this.xOf(section.start)), x1 = this.xOf(section.end);
      if (x1 <= drawn[section.depth])
        continue;
      drawn[section.depth] = Math.max(x1, x0 + 1);
      context.fillStyle = colors.series[section.number % colors.series.length];
      context.fillRect(x0, y + 1 + 2 * Math.min(section.depth, 3), Math.max(1, x1 - x0), 3);
    }
    let before = -9;
    for (const point of sections.pointsOf(thread)) {
      const x = this.xOf(point.time);
      if (x < NAMES || x > NAMES + this.width || x < before + 9)
        continue;
      before = x;
      context.fillStyle = colors.ui('text');
      context.strokeStyle = colors.ui('row');
      context.beginPath();
      context.moveTo(x, y + 9);
      context.lineTo(x - 4, y + 2);
      context.lineTo(x + 4, y + 2);
      context.closePath();
      context.fill();
      context.stroke();
    }
  }

  /// Draws a line where `list` has something of a thread.
  drawLine(list, color, thread, y) {
    const {colors, view} = this.app;
    this.context.fillStyle = colors.ui(color);
    list.each(thread, view.from, view.to, view.span / this.width, (start, end) => {
      const x0 = Math.max(NAMES, this.xOf(start)), x1 = Math.min(NAMES + this.width, this.xOf(end));
      this.context.fillRect(x0, y, Math.max(1, x1 - x0), 2);
    });
  }

  drawRange(height) {
    const {range, colors} = this.app, {context} = this;
    if (!range)
      return;
    const x0 = this.xOf(range.from), x1 = this.xOf(range.to);
    context.fillStyle = colors.light ? '#0b62b022' : '#7cc4ff26';
    context.fillRect(x0, 0, x1 - x0, height);
    context.fillStyle = colors.ui('accent');
    context.fillRect(x0, 0, 1, height);
    context.fillRect(x1, 0, 1, height);
  }

  drawSelected() {
    const {selected, rows, trace, colors} = this.app, {context} = this;
    if (!selected)
      return;
    const row = rows.rowOf.get(selected.thread);
    const x0 = Math.max(NAMES - 4, this.xOf(trace.start[selected.slice]));
    const x1 = Math.min(NAMES + this.width + 4, this.xOf(trace.end(selected.slice)));
    const outline = y => {
      context.lineWidth = 3;
      context.strokeStyle = colors.light ? '#fff' : '#000';
      context.strokeRect(x0 - 1, y, Math.max(2, x1 - x0 + 2), 20);
      context.lineWidth = 2;
      context.strokeStyle = colors.light ? '#000' : '#fff';
      context.strokeRect(x0 - 1, y, Math.max(2, x1 - x0 + 2), 20);
    };
    if (row)
      outline(row.top - this.top + 1);
    const cpu = trace.cpu[selected.slice] - 1;
    const cpuRow = trace.state(selected.slice) === RUNNING &&
        rows.list.find(one => one.type === 'cpu' && one.cpu === cpu);
    if (cpuRow)
      outline(cpuRow.top - this.top + 1);
  }

  /// Draws the colour of a process on the CPUs. Returns where its name goes.
  drawSwatch(process, y) {
    this.context.fillStyle = this.app.colors.series[process.number % this.app.colors.series.length];
    this.context.fillRect(22, y + 7, 9, 9);
    return 37;
  }

  /// Returns the node of a thread if there are several. Two compared runs are nodes, too.
  side(node) {
    const {severalNodes, summary} = this.app.trace;
    return severalNodes ? summary.nodes[node] + ' · ' : '';
  }

  drawName(row) {
    const {colors, trace, selected} = this.app, {context} = this;
    const y = row.top - this.top;
    const chosen = row.type === 'thread' && selected?.thread === row.thread;
    const isHead = row.type === 'head' || row.type === 'process';
    context.fillStyle = colors.ui(isHead || chosen ? 'head' : 'panel');
    context.fillRect(0, y, isHead ? NAMES + this.width : NAMES - 1, row.height);
    let name, note = '', x = 37;
    if (isHead) {
      const folded = row.type === 'head' ? row.folded : row.process.folded;
      context.fillStyle = colors.ui('soft');
      context.fillText(folded ? '▸' : '▾', 8, y + row.height / 2);
      const isProcess = row.type === 'process' && row.process.pid !== undefined; // else a cgroup
      name = row.type === 'head' ? 'CPUs' : row.process.name || 'process ' + row.process.pid;
      note = row.type === 'head' ? String(trace.header.cpu_count ?? trace.cpus.length) :
          (isProcess ? this.side(row.process.node) + 'pid ' + row.process.pid + ' · ' : '') + row.count + (row.count === 1 ? ' thread' : ' threads');
      x = 22;
      if (isProcess)
        x = this.drawSwatch(row.process, y);
    } else if (row.type === 'cpu') {
      name = trace.cpuName(row.cpu);
      x = 22;
    } else {
      const thread = trace.threads[row.thread];
      if (thread.process.threads.length === 1)
        x = this.drawSwatch(thread.process, y);
      else
        x = 48; // right of the name of its process
      name = thread.name || 'thread';
      note = this.side(thread.node) + String(thread.tid) + (thread.coarse ? ' ≈' : '');
    }
    context.save();
    context.beginPath();
    context.rect(0, y, isHead ? NAMES + this.width : NAMES - 6, row.height);
    context.clip();
    context.fillStyle = colors.ui('text');
    context.font = (isHead || chosen ? '600 ' : '') + '12px system-ui, "DejaVu Sans", sans-serif';
    context.fillText(name, x, y + row.height / 2);
    const after = x + context.measureText(name).width + 8;
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    context.fillStyle = colors.ui('soft');
    const noteWidth = context.measureText(note).width;
    context.fillText(note, isHead ? after : Math.max(after, NAMES - 10 - noteWidth), y + row.height / 2);
    context.restore();
  }
}
