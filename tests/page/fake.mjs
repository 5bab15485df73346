// SPDX-License-Identifier: BSD-2-Clause
// A trace with two nodes and just enough of a document to read what a page shows.
import {Trace} from '../../emulator/report/page/trace.js';

/// Returns numbers as the page's columns have them: 7 bits in a byte, the lowest first.
export function varints(...numbers) {
  const bytes = [];
  for (let left of numbers) {
    for (; left >= 128; left = Math.floor(left / 128))
      bytes.push(left % 128 + 128);
    bytes.push(left);
  }
  return Uint8Array.from(bytes);
}

const zigzag = number => number < 0 ? -2 * number - 1 : 2 * number;

const STATES = ['unknown', 'running', 'paused', 'dead', 'cooling', 'warming', 'throttled'];
/// Flags of a slice: the two bits above the number of states, which stands for a mixed slice.
export const STARTS = 2 ** STATES.length.toString(2).length, ENDS = 2 * STARTS;

/// Makes a trace of threads: {tid, pid, node, main, name, process, start, slices, latency}. A slice is
/// {state, length, cpu, flags, why, peer, mix}. `extra` replaces parts of header and summary.
export function makeTrace(threads, {from = 0, to = 1000, header = {}, summary = {}, parts = {}} = {}) {
  const states = STATES.map(name => ({
    name, label: name, term: name, meaning: name, color: '#000000', pattern: 'none',
    waits: ['paused', 'cooling', 'warming', 'throttled'].includes(name),
    stacked: ['running', 'cooling', 'warming', 'throttled'].includes(name),
  }));
  const columns = {kind: [], length: [], cpu: [], why: [], peer: [], mix: []};
  const summaries = [];
  for (const thread of threads) {
    const time_ns = Object.fromEntries(STATES.map(name => [name, 0]));
    let cpu = 0;
    for (const slice of thread.slices) {
      columns.kind.push(slice.state + (slice.flags ?? 0));
      columns.length.push(slice.length);
      columns.cpu.push(zigzag((slice.cpu ?? 0) - cpu));
      cpu = slice.cpu ?? 0;
      columns.why.push(slice.why ?? 0);
      columns.peer.push(slice.peer ?? 0);
      if (slice.mix)
        columns.mix.push(...STATES.map((_, state) => slice.mix[state] ?? 0));
      if (slice.state < STATES.length)
        time_ns[STATES[slice.state]] += slice.length;
    }
    summaries.push({tid: thread.tid, node: thread.node ?? 0, birth_ns: thread.birth ?? 0, time_ns,
                    wakeup_latency_ns: thread.latency ?? {count: 0}});
  }
  const all = {
    from, to, states, state_order: [1, 4, 5, 6, 2, 3, 0], counters: [], load_steps: 0, cpus: [], calls: [], places: [], untraced: [], chains: [],
    slices: columns.kind.length,
    threads: threads.map(({tid, pid, node = 0, main, name, process, birth = 0, start = 0, slices}) =>
        ({tid, pid, main: main ?? threads.findIndex(one => one.pid === pid && (one.node ?? 0) === node),
          node, name, process, birth, start, slices: slices.length})),
    ...header,
  };
  const told = {nodes: threads.some(({node}) => node) ? ['one', 'two'] : ['one'], threads: summaries, processes: [], ...summary};
  const bytes = Object.fromEntries(
      Object.entries(columns).map(([name, numbers]) => [name, varints(...numbers)]));
  return new Trace(all, {
    summary: new TextEncoder().encode(JSON.stringify(told)), load: varints(), events: varints(),
    dark: varints(), order: varints(), critical_path: varints(), causes: varints(), ...bytes,
    kind: Uint8Array.from(columns.kind), ...parts,
  });
}

class FakeElement {
  constructor(tag) {
    this.tag = tag;
    this.tagName = tag.toUpperCase();
    this.attributes = {};
    this.children = [];
    this.listeners = {};
    this.style = {};
    this.dataset = {};
    this.clientWidth = this.clientHeight = this.scrollTop = 0;
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  append(...children) {
    this.children.push(...children);
  }
  contains(element) {
    return this === element || this.children.some(child => child.contains?.(element));
  }
  replaceChildren(...children) {
    this.children = children;
  }
  set textContent(text) {
    this.children = [text];
  }
  get textContent() {
    return this.text;
  }
  addEventListener(type, listener) {
    this.listeners[type] = listener;
  }
  /// Calls its listener with an event, and returns the calls of preventDefault().
  fire(type, event = {}) {
    const told = [];
    this.listeners[type]({target: this, preventDefault: () => told.push('prevented'),
                          stopPropagation: () => told.push('stopped'), ...event});
    return told;
  }
  /// What was typed or chosen; a choice begins with its first option.
  set value(value) {
    this.entered = value;
  }
  get value() {
    return this.entered ?? this.all('option')[0]?.value ?? '';
  }
  setPointerCapture() {}
  focus() {
    globalThis.document.focused = this;
  }
  showModal() {
    this.open = true;
  }
  getContext(kind = '2d') {
    Object.assign(this, this.calls ? {} : fakeContext());
    return kind === '2d' ? this.context : null;
  }
  get text() {
    return this.children.map(child => child.text ?? child).join('');
  }
  /// Returns all elements of a kind in it, in order.
  all(tag) {
    return this.children.flatMap(child => child instanceof FakeElement ?
        [...child.tag === tag ? [child] : [], ...child.all(tag)] : []);
  }
}

/// Makes a document whose elements are there once they are asked for by their id.
export function fakeDocument() {
  const byId = {}, page = new FakeElement('html');
  globalThis.document = {
    byId, documentElement: page, listeners: page.listeners, fire: page.fire,
    createElement: tag => new FakeElement(tag),
    createElementNS: (space, tag) => new FakeElement(tag),
    getElementById: id => byId[id] ??= new FakeElement(id),
    addEventListener: page.addEventListener,
  };
  return new FakeElement('div');
}

/// Returns a canvas context that notes each call: 'fillRect 1 2 3 4 #fff', with the style that
/// matters. `settings`: the other styles in their order, 'lineWidth 2'.
export function fakeContext() {
  const calls = [], settings = [], state = {};
  const made = {measureText: text => ({width: 6 * text.length}),
                createImageData: (width, height) =>
                    state.image = {width, height, data: new Uint8ClampedArray(4 * width * height)}};
  const context = new Proxy(state, {
    get: (target, name) => name in made ? made[name] : name in target || typeof name === 'symbol' ? target[name] :
        (...values) => calls.push([name, ...values.flat().map(value =>
            typeof value === 'number' ? Math.round(value * 100) / 100 : value),
            ...name.startsWith('fill') ? [target.fillStyle] : name.startsWith('stroke') ? [target.strokeStyle] : []]
            .join(' ')),
    set: (target, name, value) => {
      if (!['fillStyle', 'strokeStyle', 'image'].includes(name))
        settings.push(name + ' ' + value);
      target[name] = value;
      return true;
    },
  });
  return {context, calls, settings};
}

const OWN = new Set(Object.keys(new FakeElement('')).concat('entered'));

/// Returns an element as a text, with whatever a person sees, hears or can press:
/// <button type=button title="what it does" {left: 3px}>its text</button>. Handlers and empty
/// properties are left out.
export function markup(element) {
  if (!(element instanceof FakeElement))
    return String(element);
  const shown = {...element.attributes};
  for (const [name, value] of Object.entries(element))
    if (!OWN.has(name) && !['function', 'undefined'].includes(typeof value) && value !== '')
      shown[name] = value;
  const short = value => String(value).replace(/\d+\.\d{3,}/g, number => Number(number).toFixed(2));
  const words = Object.entries(shown).map(([name, value]) =>
      ' ' + name + '=' + (/^[^ "]+$/.test(value) ? short(value) : JSON.stringify(short(value))));
  const style = Object.entries(element.style).map(([name, value]) => name + ': ' + short(value)).join(', ');
  return '<' + element.tag + words.join('') + (style && ' {' + style + '}') + '>' +
      element.children.map(markup).join('') + '</' + element.tag + '>';
}

/// Returns the lines of a text that starts with a line break.
export const lines = text => text.slice(1).split('\n');

/// Returns the rows of a table, their cells separated by " | ".
export const rowsOf = table => table.all('tr').map(row => row.children.map(cell => cell.text).join(' | '));
