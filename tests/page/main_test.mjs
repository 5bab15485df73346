// SPDX-License-Identifier: BSD-2-Clause
// The start of the page, from the data in it: emulator/report/page/main.js and data.js.
import assert from 'node:assert/strict';
import {Duplex} from 'node:stream';
import test from 'node:test';
import {createInflateRaw, deflateRawSync} from 'node:zlib';
import {Varints} from '../../emulator/report/page/data.js';
import {makeApp} from './fake_app.mjs';
import {fakeDocument, varints} from './fake.mjs';

// The Node.js of Debian 12 has no 'deflate-raw', which all browsers have.
try {
  new DecompressionStream('deflate-raw');
} catch {
  globalThis.DecompressionStream = class {
    constructor() {
      return Duplex.toWeb(createInflateRaw());
    }
  };
}

/// Starts a page with one thread, and returns what was made. The data are in blocks of 90 letters.
let pages = 0;
async function start({header = {}, summary = {}, causes = varints(), damage = base64 => base64} = {}) {
  makeApp(); // for what a page needs of its browser
  fakeDocument();
  const {byId} = globalThis.document;
  globalThis.document.getElementById('scroller').clientWidth = 610;
  globalThis.document.getElementById('scroller').clientHeight = 100;
  const told = {
    nodes: ['one'], threads: [{tid: 1, node: 0, time_ns: {running: 5}, wakeup_latency_ns: {count: 0}}], processes: [],
    command: ['/usr/bin/app', '/tmp/x'], trace: 'some/dir', host: 'box', duration_ns: 5000, events: 1234, lost: 0,
    answer: {sentences: 'It ran.', advice: 'Pin it.'}, preemptions: [], wakeups: [], cpus: [{}], ...summary};
  const parts = {
    summary: new TextEncoder().encode(JSON.stringify(told)), kind: Uint8Array.of(1), length: varints(5), cpu: varints(2),
    why: varints(0), peer: varints(0), mix: varints(), load: varints(5, 0), events: varints(), dark: varints(), order: varints(0),
    critical_path: varints(), causes};
  const state = name => ({name, label: name, meaning: name, color: '#000000', pattern: 'none', waits: false, stacked: name === 'running'});
  const head = new TextEncoder().encode(JSON.stringify({
    from: 0, to: 5, states: ['unknown', 'running', 'paused', 'dead', 'cooling', 'warming', 'throttled'].map(state), state_order: [1, 0], threads: [{tid: 1, pid: 1, main: 0, node: 0, name: 'a', start: 0, slices: 1}],
    slices: 1, cpus: [{index: 0, node: 0}], counters: [], series: ['#112233'], alarm: '#ff0000', load_steps: 1, calls: [], untraced: [], chains: [],
    waits: {sums: [], left_out: 0}, latency: {count: 0},
    parts: Object.entries(parts).map(([name, bytes]) => [name, bytes.length]), ...header}));
  const all = Buffer.concat([Buffer.from(Uint32Array.of(head.length).buffer), head, ...Object.values(parts)]);
  const base64 = damage(deflateRawSync(all).toString('base64'));
  const removed = [], listeners = {}, observed = [], idle = [];
  Object.assign(globalThis, {
    location: {hash: ''}, history: {replaceState: () => {}}, requestIdleCallback: work => idle.push(work),
    addEventListener: (type, listener) => listeners[type] = listener,
    ResizeObserver: class {
      constructor(changed) {
        this.changed = changed;
      }
      observe(element) {
        observed.push(element.tag);
        this.changed();
      }
    },
  });
  globalThis.window = {DecompressionStream, devicePixelRatio: 1};
  globalThis.document.querySelectorAll = selector => selector !== 'script[type="application/octet-stream"]' ? [] :
      base64.match(/.{1,88}/g).map((textContent, n) => ({textContent, remove: () => removed.push(n)}));
  globalThis.document.getElementById('collapse').textContent = 'Collapse all';
  await import('../../emulator/report/page/main.js?' + pages++);
  while (!globalThis.window.ovnitrace && !globalThis.document.getElementById('loading').text)
    await new Promise(resolve => setImmediate(resolve));
  return {byId, listeners, removed, observed, idle, api: globalThis.window.ovnitrace, text: id => byId[id].text};
}

test('the head says what was run, on what, and what the answer is', async () => {
  const {byId, text, removed, observed, api} = await start();
  assert.deepEqual([text('title'), byId.title.title, globalThis.document.title],
                   ['app /tmp/x', '/usr/bin/app /tmp/x', 'app /tmp/x – ovnitrace']);
  assert.equal(text('about'), 'box · 5.000 µs · 1 thread · 1 CPU · 1,234 events · no event lost');
  assert.deepEqual([text('answer'), byId.answer.hidden], ['It ran.\nPin it.', false]);
  assert.deepEqual([text('notice'), byId.notice.hidden, byId.loading.hidden, byId['critical-label'].hidden], ['', true, true, true]);
  assert.ok(removed.length > 2, 'the data are in several blocks');
  assert.deepEqual(removed, removed.map((_, n) => n));
  assert.deepEqual(observed, ['left', 'scroller']);
  assert.deepEqual(api.view(), {from_ns: 0, to_ns: 10});
  assert.ok(byId.rows.calls.length > 10, 'it is drawn');
  assert.ok(byId.help.children.length);
});

test('losses and coarse threads are told, and a whole machine has the name of its trace', async () => {
  const {byId, text} = await start({header: {coarse_threads: 1, grain: 2000},
                                    summary: {command: [], lost: 2, host: '', answer: {sentences: '', advice: ''}}});
  assert.deepEqual([text('title'), byId.title.title], ['dir', 'some/dir']);
  assert.equal(text('about'), '5.000 µs · 1 thread · 1 CPU · 1,234 events · 2 events lost');
  assert.deepEqual([text('answer'), byId.answer.hidden, byId.notice.hidden], ['', true, false]);
  assert.equal(text('notice'), '1 of 1 thread, marked ≈, are shown in steps of 2.000 µs: all detail did not fit into --max-size. ' +
      'Their latencies and waits are only in the tables of threads; the CPUs show their runs as grey. ' +
      'Events were lost: there the page shows Unknown, and CPUs hatched.');
  assert.equal((await start({header: {places_left_out: 3}})).text('notice'),
               '3 stacks of blocked threads had no room: the page shows their system calls alone.');
  const unknown = await start({summary: {lost: null, answer: {sentences: 'It ran.', advice: ''}}});
  assert.match(unknown.text('about'), /an unknown number of events lost$/);
  assert.equal(unknown.text('answer'), 'It ran.');
  assert.equal(unknown.text('notice'), 'Events were lost: there the page shows Unknown, and CPUs hatched.');
});

test('a page of two runs has both names, and begins with their differences', async () => {
  const against = {traces: ['runs/before', 'runs/after/'], a: 100, b: 150, conditions: [], causes: []};
  const {byId, text, api} = await start({header: {against}});
  assert.ok(api, text('loading'));
  assert.deepEqual([text('title'), byId.title.title], ['before against after/', '/usr/bin/app /tmp/x']);
  const tabs = byId.tabs.all('button');
  assert.equal(tabs.find(tab => tab.attributes['aria-selected'] === 'true').text, 'Differences');
});

test('each critical path can be chosen by its thread', async () => {
  const path = thread => ({thread, from: 0, to: 5, segments: 0});
  const {byId, api, text} = await start({header: {critical_path: {paths: [path(0), path(0)], causes: ['runs']}}});
  assert.ok(api, text('loading'));
  assert.deepEqual(byId.path.all('option').map(one => [one.value, one.text]), [['0', 'of a (1)'], ['1', 'of a (1)']]);
  assert.deepEqual([byId.path.hidden, byId['critical-label'].hidden, byId.critical.checked], [false, false, true]);
});

test('the box of idle threads hides them at once', async () => {
  const thread = {tid: 1, node: 0, time_ns: {running: 0}, wakeup_latency_ns: {count: 0}};
  const {byId} = await start({summary: {threads: [thread]}});
  byId.tabs.children[1].onclick();
  for (const checked of [true, false]) {
    byId.idle.onchange({target: {checked}});
    assert.equal(byId.pages.text.includes('a (1)'), !checked);
  }
});

test('of a damaged page, an error is all that is shown', async () => {
  const error = console.error;
  console.error = () => {};
  for (const damage of [base64 => base64.slice(0, 400), base64 => '////' + base64.slice(4), base64 => base64.slice(0, 400) + '!'.repeat(88)]) {
    const {text, api} = await start({damage});
    assert.match(text('loading'), /^The trace cannot be shown: ./);
    assert.equal(api, undefined);
  }
  console.error = error;
});

test('a browser that reads base64 by itself does so, block by block', async t => {
  const read = [];
  Uint8Array.fromBase64 = text => {
    read.push(text);
    return Uint8Array.from(Buffer.from(text, 'base64'));
  };
  t.after(() => delete Uint8Array.fromBase64);
  const {removed, api} = await start();
  assert.ok(api);
  assert.equal(read.length, removed.length);
  assert.ok(read.length > 1);
});

test('the page works ahead while it is idle, until it is done', async () => {
  assert.equal((await start()).idle.length, 0, 'without causes there is nothing to sum up');
  const {idle} = await start({header: {why: {culprits: [], blocks: [], kinds: [], idle: []}}, causes: varints(0, 0)});
  assert.equal(idle.length, 1);
  idle[0]({timeRemaining: () => 1});
  assert.equal(idle.length, 2, 'too little time: it asks again');
  idle[1]({timeRemaining: () => 2});
  assert.equal(idle.length, 2);
});

test('the tools search, sort, hide, fold and colour', async () => {
  const {byId} = await start({header: {critical_path: {paths: [{thread: 0, from: 0, to: 100, segments: 0}], causes: []}}});
  assert.deepEqual(byId.sort.all('option').map(option => [option.value, option.text]), [
    ['process', 'process'], ['cgroup', 'cgroup'], ['running', 'time running'], ['waiting', 'time waiting for a CPU'],
    ['latency', 'longest wakeup latency'], ['name', 'name']]);
  const tabs = () => byId.pages.text;
  byId.tabs.children[1].onclick();
  assert.match(tabs(), /a \(1\)/);
  byId.scroller.scrollTop = 50;
  byId.search.value = 'nobody';
  byId.search.oninput();
  assert.doesNotMatch(tabs(), /a \(1\)/);
  assert.equal(byId.scroller.scrollTop, 0);
  byId.search.value = '';
  byId.search.oninput();
  byId.sort.value = 'name';
  byId.sort.onchange();
  assert.match(tabs(), /a \(1\)/);
  assert.equal(byId.idle.checked, false);
  byId.idle.onchange({target: {checked: true}});
  assert.match(tabs(), /a \(1\)/, 'it ran');
  assert.deepEqual([byId['critical-label'].hidden, byId.critical.checked], [false, true]);
  byId.critical.onchange({target: {checked: false}});
  assert.equal(byId.critical.checked, false);
  assert.equal(byId.path.hidden, false);
  byId.path.onchange({target: {value: '0'}});
  assert.equal(byId.critical.checked, true, 'who chooses a path wants to see it');
  byId.collapse.onclick();
  assert.equal(byId.collapse.text, 'Expand all');
  byId.collapse.onclick();
  assert.equal(byId.collapse.text, 'Collapse all');
  globalThis.window.ovnitrace.view(0, 10);
  byId.whole.onclick();
  assert.deepEqual(globalThis.window.ovnitrace.view(), {from_ns: 0, to_ns: 10});
  const {dataset} = globalThis.document.documentElement;
  byId.theme.onclick();
  assert.equal(dataset.theme, 'dark');
  byId['help-button'].onclick();
  assert.equal(byId.help.open, true);
});

test('paper is white', async () => {
  const {byId, listeners} = await start(), {dataset} = globalThis.document.documentElement;
  listeners.afterprint();
  assert.equal(dataset.theme, 'light', 'it was never dark');
  listeners.beforeprint();
  assert.equal(dataset.theme, 'light');
  listeners.afterprint();
  assert.equal(dataset.theme, 'light');
  byId.theme.onclick();
  byId.rows.calls.length = 0;
  listeners.beforeprint();
  assert.equal(dataset.theme, 'light');
  assert.ok(byId.rows.calls.includes('fillRect 0 0 610 100 #ffffff'), byId.rows.calls.slice(0, 5).join());
  listeners.afterprint();
  assert.equal(dataset.theme, 'dark');
});

test('numbers of a column are read whatever their size and sign', () => {
  const numbers = [0, 1, 127, 128, 300, 16383, 16384, 2 ** 32, 2 ** 40 + 5];
  const column = new Varints(varints(...numbers));
  assert.deepEqual(numbers.map(() => column.next()), numbers);
  assert.equal(column.more, false);
  const signed = new Varints(varints(0, 1, 2, 3, 4, 255, 256));
  assert.ok(signed.more);
  assert.deepEqual(Array.from({length: 7}, () => signed.nextSigned()), [0, -1, 1, -2, 2, -128, 128]);
});
