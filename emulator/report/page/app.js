// SPDX-License-Identifier: BSD-2-Clause
// Keeps what is shown and selected, and updates the parts of the page when one of them changes.
import {nameOf, MIXED, UNKNOWN} from './trace.js';
import {StateSums} from './sums.js';
import {CpuRuns} from './cpus.js';
import {Colors, showLegend} from './colors.js';
import {View} from './view.js';
import {Rows} from './rows.js';
import {Painter} from './paint.js';
import {Regions} from './regions.js';
import {Sections, eventName} from './sections.js';
import {NAMES} from './layout.js';
import {Timeline} from './timeline.js';
import {Overview, Axis} from './overview.js';
import {Graphs} from './graphs.js';
import {Details} from './details.js';
import {Panel} from './panel.js';
import {threadsPage, whoPage, cpusPage, waitsPage} from './pages.js';
import {latencyPage} from './latency.js';
import {Whys} from './why.js';
import {LatencyShares} from './latency_shares.js';
import {whyPage} from './why_page.js';
import {stacksPage} from './stacks_page.js';
import {differencesPage} from './differences.js';
import {Marks} from './marks.js';
import {Notes, notesPage} from './notes.js';
import {ways, plainSlice} from './slices.js';
import {byId} from './dom.js';
import {duration} from './format.js';

/// The tabs. What one follows makes it anew. A click on a slice leaves a tab for the first one, unless
/// the tab stays.
const TABS = [
  {title: 'Selection', page: app => into => app.details.show(into), follows: ['selection', 'range']},
  {title: 'Threads', page: threadsPage, follows: []},
  {title: 'Latency', page: latencyPage, follows: ['selection'], stays: true},
  {title: 'Who', page: whoPage, follows: []},
  {title: 'CPUs', page: cpusPage, follows: []},
  {title: 'Waits', page: waitsPage, follows: ['range']},
  {title: 'Why', page: whyPage, follows: ['selection', 'range']},
  {title: 'Stacks', page: stacksPage, follows: ['selection', 'range']},
  {title: 'Notes', page: notesPage, follows: []},
  {title: 'Differences', page: differencesPage, follows: [], needs: trace => trace.header.against},
];

export class App {
  constructor(trace) {
    this.trace = trace;
    this.stateNames = trace.header.states.map(state => state.label);
    this.sums = new StateSums(trace);
    this.regions = new Regions(trace);
    this.whys = new Whys(trace, trace.causeBytes, this.regions);
    this.shares = new LatencyShares(trace);
    this.runs = new CpuRuns(trace);
    this.sections = new Sections(trace);
    this.colors = new Colors(trace.header);
    this.rows = new Rows(trace);
    this.painter = new Painter(trace, this.sums, this.runs, this.colors);
    this.selected = null; // {thread, slice}
    this.range = null;    // {from, to}
    this.marks = null;    // Marks
    this.notes = new Notes(trace);
    this.view = new View(trace.from, trace.to, () => this.redraw());
    this.timeline = new Timeline(this);
    this.overview = new Overview(this);
    this.axis = new Axis(this);
    this.graphs = new Graphs(this);
    this.details = new Details(this);
    this.panel = new Panel(TABS.filter(tab => !tab.needs || tab.needs(trace)).map(tab => ({...tab, show: tab.page(this)})));
    showLegend(byId('legend'), trace.header, this.colors);
  }

  /// Sums up what the tab Why needs for some threads and a time, a part a step. Yields how much is
  /// done, from 0 to 1.
  *stepsToWhy(threads, from, to) {
    for (const part of this.whys.steps(threads, from, to))
      yield part / 2;
    for (const part of this.shares.steps())
      yield (1 + part) / 2;
  }

  redraw() {
    if (this.planned)
      return;
    this.planned = true;
    requestAnimationFrame(() => {
      this.planned = false;
      this.draw();
    });
  }
  draw() {
    if (this.rangeMoved) {
      this.rangeMoved = false;
      this.panel.showIfFollows('range');
    }
    this.timeline.draw();
    this.overview.draw();
    this.axis.draw();
    this.graphs.draw();
    this.drawn?.();
  }

  /// Makes the rows anew.
  rebuild() {
    this.rows.build();
    this.panel.show();
    this.redraw();
  }

  toggleTheme() {
    this.colors.toggle();
    showLegend(byId('legend'), this.trace.header, this.colors);
    this.panel.show();
    this.redraw();
  }

  showCritical(shown) {
    const {critical} = this.trace;
    critical.shown = shown && Boolean(critical.about);
    byId('critical').checked = critical.shown;
    this.redraw();
  }

  select(selected, {reveal = true} = {}) {
    this.selected = selected;
    this.time = selected && this.trace.start[selected.slice]; // at which step() goes up and down
    if (selected && reveal) {
      this.rows.unhide(selected.thread);
      byId('search').value = this.rows.search;
      byId('idle').checked = this.rows.hideIdle;
      this.timeline.spacer.style.height = this.rows.height + 'px'; // there must be room to scroll
      this.timeline.reveal(this.rows.rowOf.get(selected.thread));
    }
    this.panel.showIfFollows('selection');
    this.redraw();
  }
  /// Returns the slice of a thread at a time, null if it has no slice then.
  selectAt(thread, time) {
    const slice = this.trace.find(thread, time);
    if (slice < 0)
      return null;
    this.goTo({thread, slice});
    return this.selected;
  }
  goTo({thread, slice}) {
    this.panel.choose(0);
    this.select({thread, slice});
    this.view.reveal(this.trace.start[slice], this.trace.end(slice));
  }
  showThread(thread) {
    const middle = (this.view.from + this.view.to) / 2, {start, first} = this.trace;
    const time = Math.min(Math.max(middle, start[first[thread]]), start[first[thread + 1] - 1]);
    this.select({thread, slice: this.trace.find(thread, time)});
  }
  follow(way) {
    const target = this.selected && ways[way](this.trace, this.selected);
    if (target)
      this.goTo(target);
  }
  /// Returns the thread that is so many rows below, at the same time.
  step(rows) {
    const list = this.rows.list.filter(row => row.type === 'thread');
    if (!list.length)
      return;
    const now = list.findIndex(row => row.thread === this.selected?.thread);
    const to = now < 0 ? 0 : Math.min(list.length - 1, Math.max(0, now + rows));
    const {thread} = list[to], {trace} = this;
    const time = this.selected ? this.time : this.view.from;
    const within = Math.min(Math.max(time, trace.start[trace.first[thread]]),
                            trace.start[trace.first[thread + 1] - 1]);
    this.select({thread, slice: trace.find(thread, within)});
    this.time = time; // else each step would go back to the start of a slice
  }
  zoomToSelected() {
    if (!this.selected)
      return;
    const start = this.trace.start[this.selected.slice], end = this.trace.end(this.selected.slice);
    const room = Math.max(20, (end - start) * 0.3);
    this.view.set(start - room, end + room);
  }

  /// Marks slices: {label, slices: [thread, slice, …]}; with `only`, hides the threads without one,
  /// but those of `also`.
  /// null marks nothing.
  mark(marked) {
    this.marks = marked && new Marks(this.trace, marked.label, marked.slices);
    this.rows.only = marked?.only ? new Set([...this.marks.byThread.keys(), ...marked.also ?? []]) : null;
    byId('marked').hidden = !marked;
    byId('marked').textContent = marked ? '✕ ' + (marked.only ? 'Only: ' : 'Marked: ') + marked.label : '';
    this.rows.build();
    this.redraw();
  }

  /// `later`: makes the panel anew with the next picture, as a drag changes the range more often.
  setRange(range, {later = false} = {}) {
    const inside = time => Math.min(this.trace.to, Math.max(this.trace.from, time));
    this.range = range && {from: inside(Math.min(range.from, range.to)), to: inside(Math.max(range.from, range.to))};
    if (later)
      this.rangeMoved = true;
    else
      this.panel.showIfFollows('range');
    this.redraw();
  }

  /// Makes the range reach over the selected slice, too.
  extendRange() {
    if (!this.selected)
      return;
    const from = this.trace.start[this.selected.slice], to = this.trace.end(this.selected.slice);
    this.setRange({from: Math.min(from, this.range?.from ?? from), to: Math.max(to, this.range?.to ?? to)});
  }

  click(x, y) {
    const row = this.timeline.rowAt(y);
    if (!row)
      return this.select(null);
    if (row.type === 'head' || row.type === 'process') {
      this.rows.fold(row);
      return this.redraw();
    }
    const time = this.timeline.timeAt(Math.max(x, NAMES));
    const found = this.sliceAt(row, time);
    if (found && !this.panel.tab.stays)
      this.panel.choose(0);
    this.select(found, {reveal: row.type === 'thread'});
  }
  sliceAt(row, time) {
    if (row.type === 'thread') {
      const slice = this.trace.find(row.thread, time);
      return slice < 0 ? null : {thread: row.thread, slice};
    }
    const slice = row.type === 'cpu' ? this.runs.sliceAt(row.cpu, time) : -1;
    return slice < 0 ? null : {thread: this.trace.threadOf(slice), slice};
  }

  /// Returns what is under the pointer, in a few words.
  hover(event) {
    this.pointer = event && event.offsetX;
    const row = event && event.offsetX > NAMES && this.timeline.rowAt(event.offsetY);
    const time = row && this.timeline.timeAt(event.offsetX);
    const found = row && this.sliceAt(row, time);
    this.showTip(event, found ? this.words(row, found, time) : null);
    this.showCursor();
  }
  /// Shows a line through all rows at the pointer.
  showCursor() {
    const cursor = byId('cursor');
    cursor.hidden = !(this.pointer > NAMES);
    cursor.style.left = this.pointer + 'px';
  }
  /// Shows a text beside the pointer; null hides it.
  showTip(event, text) {
    const tooltip = byId('tooltip');
    tooltip.hidden = !text;
    if (!text)
      return;
    tooltip.textContent = text;
    const right = event.clientX + 16 + tooltip.offsetWidth > innerWidth;
    tooltip.style.left = event.clientX + (right ? -12 - tooltip.offsetWidth : 14) + 'px';
    tooltip.style.top = Math.min(event.clientY + 14, innerHeight - tooltip.offsetHeight - 4) + 'px';
  }
  words(row, {thread, slice}, time) {
    const {trace} = this, state = trace.state(slice);
    const lines = [nameOf(trace.threads[thread]),
                   (state === MIXED ? 'Several states' : this.stateNames[state]) + ' for ' +
                       duration(trace.end(slice) - trace.start[slice])];
    const region = this.regions.at(thread, time);
    if (region)
      lines.push('region ' + this.regions.label(region) + ', ' + duration(region.length_ns));
    const responsible = this.trace.critical.at(thread, time);
    if (responsible)
      lines.push('critical path: ' + responsible);
    const near = this.view.span / this.timeline.width * 5;
    for (const section of this.sections.of(thread))
      if (row.type === 'thread' && section.start <= time && time <= section.end)
        lines.push('section ' + section.number + ', ' + duration(section.end - section.start));
    const points = this.sections.pointsOf(thread).filter(point => Math.abs(point.time - time) < near);
    lines.push(...points.slice(0, 4).map(eventName));
    return lines.join('\n');
  }
  /// Returns the place in the view where keys zoom: under the pointer, else the middle.
  pointerPart() {
    return this.pointer > NAMES ? (this.pointer - NAMES) / this.timeline.width : 0.5;
  }

  /// Provides window.ovnitrace, as the documentation describes it.
  api() {
    const {trace} = this;
    return Object.freeze({
      summary: () => structuredClone(trace.summary),
      select: (tid, time) => {
        const ns = Number(time);
        const candidates = trace.threads.filter(one => one.tid === Number(tid))
                               .filter(one => trace.find(one.index, ns) >= 0);
        const thread = candidates.find(one => trace.state(trace.find(one.index, ns)) !== UNKNOWN)
            ?? candidates[0];
        if (!thread)
          return null;
        return plainSlice(trace, this.selectAt(thread.index, ns));
      },
      why: (from, to, tid) => {
        const of = trace.threads.filter(one => tid === undefined || one.tid === Number(tid));
        return this.whys.known ? this.whys.plain(of.map(one => one.index), Number(from), Number(to)) : null;
      },
      view: (from, to) => {
        if (from !== undefined)
          this.view.set(Number(from), Number(to));
        return {from_ns: this.view.from, to_ns: this.view.to};
      },
    });
  }
}
