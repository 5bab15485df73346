// SPDX-License-Identifier: BSD-2-Clause
// Time off the CPU by stack, marks, and chains of waits: emulator/report/page/stacks.js, marks.js and
// chain.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {chainOf} from '../../emulator/report/page/chain.js';
import {Marks} from '../../emulator/report/page/marks.js';
import {foundTime, stackTree} from '../../emulator/report/page/stacks.js';
import {COOLING, PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {makeTrace} from './fake.mjs';
import {ENDS, left, makeApp, STARTS, woken} from './fake_app.mjs';

const header = {calls: ['read', 'futex', 'read'], places: ['load a.c:3 < main', '', 'skip < main']};
const make = () => makeTrace([
  {tid: 1, pid: 1, name: 'a', slices: [
    {state: PAUSED, length: 100, why: left(2, 0)}, {state: RUNNING, length: 50},
    {state: PAUSED, length: 200, why: left(2, 2)}, {state: COOLING, length: 30, why: left(1)},
    {state: PAUSED, length: 70, why: left(2, 0)}]},
  {tid: 2, pid: 1, name: 'b', slices: [{state: PAUSED, length: 300, why: left(2, 1)}]},
], {header, to: 450});
const plain = ({name, ns, count, children}) => [name, ns, count, ...children.map(plain)];

test('time off the CPU is summed up by cause and from the outermost function inward', () => {
  assert.deepEqual(plain(stackTree(make(), [0, 1], 0, 450)), ['off the CPU', 700, 5,
    ['paused: read', 370, 3, ['main', 370, 3, ['skip', 200, 1], ['load a.c:3', 170, 2]]],
    ['paused: futex', 300, 1], ['cooling', 30, 1]]);
});

test('a range cuts the slices, and nodes know them', () => {
  const root = stackTree(make(), [0], 60, 170), [read] = root.children;
  assert.deepEqual(plain(root), ['off the CPU', 60, 2, ['paused: read', 60, 2, ['main', 60, 2, ['load a.c:3', 40, 1], ['skip', 20, 1]]]]);
  assert.deepEqual(read.slices(), [0, 0, 0, 2]);
  assert.equal(foundTime(root, 'a.c'), 40);
  assert.equal(foundTime(root, 'main'), 60);
});

test('the nodes of random traces add up', () => {
  const trace = make();
  const check = node => {
    assert.ok(node.children.reduce((ns, child) => ns + child.ns, 0) <= node.ns);
    assert.equal(node.slices().length, 2 * node.count);
    node.children.forEach(check);
  };
  for (let from = 0; from < 450; from += 7)
    check(stackTree(trace, [0, 1], from, 450));
});

test('marks are found in a time, and those that nobody sees apart are left out', () => {
  const trace = makeTrace([{tid: 1, pid: 1, name: 'a', slices: Array.from({length: 100}, (_, n) =>
      ({state: n % 2 ? RUNNING : PAUSED, length: 10}))}]);
  const marks = new Marks(trace, 'x', [0, 0, 0, 4, 0, 6, 0, 98]);
  const found = (from, to, least) => {
    const all = [];
    marks.each(0, from, to, least, (start, end) => all.push([start, end]));
    return all;
  };
  assert.deepEqual(found(0, 1000, 0), [[0, 10], [40, 50], [60, 70], [980, 990]]);
  assert.deepEqual(found(45, 65, 0), [[40, 50], [60, 70]]);
  assert.deepEqual(found(71, 900, 0), []);
  assert.deepEqual(found(0, 1000, 50), [[0, 10], [60, 70], [980, 990]]);
});

test('a chain leads from a block to its waker, and to what that one had waited for', () => {
  // c reads until an interrupt wakes it at 300; it wakes b at 400, which wakes a at 500.
  const seen = STARTS + ENDS;
  const trace = makeTrace([
    {tid: 1, pid: 1, name: 'a', slices: [{state: PAUSED, length: 500, why: left(2, 1), flags: seen},
      {state: WARMING, length: 50, why: woken(0), peer: 2, flags: seen}, {state: RUNNING, length: 50}]},
    {tid: 2, pid: 1, name: 'b', slices: [{state: PAUSED, length: 400, why: left(2, 1), flags: seen},
      {state: WARMING, length: 10, why: woken(0), peer: 3, flags: seen}, {state: RUNNING, length: 190}]},
    {tid: 3, pid: 1, name: 'c', slices: [{state: PAUSED, length: 300, why: left(2, 0), flags: seen},
      {state: WARMING, length: 10, why: woken(1), peer: 1, flags: seen}, {state: RUNNING, length: 290}]},
  ], {header, to: 600});
  const steps = slice => chainOf(trace, slice).map(step => [step.thread, step.call, step.context, step.waker?.tid]);
  const whole = [[0, 'futex', 0, 2], [1, 'futex', 0, 3], [2, 'read', 1, 1]];
  assert.deepEqual(steps({thread: 0, slice: 0}), whole);
  assert.deepEqual(steps({thread: 0, slice: 1}), whole, 'from the wakeup');
  assert.deepEqual(steps({thread: 0, slice: 2}), whole, 'from the run after it');
  assert.deepEqual(steps({thread: 2, slice: trace.first[2]}), whole.slice(2));
});

test('a chain goes on with the last time in which the waker was blocked before it woke', () => {
  const seen = STARTS + ENDS, block = (length, call) => ({state: PAUSED, length, why: left(2, call), flags: seen});
  const wake = peer => ({state: WARMING, length: 10, why: woken(0), peer, flags: seen});
  const run = {state: RUNNING, length: 40, flags: seen};
  const chain = start => {
    const trace = makeTrace([
      {tid: 1, pid: 1, name: 'a', start, slices: [block(500 - start, 1), wake(2), run]},
      {tid: 2, pid: 1, name: 'b', slices: [block(100, 0), wake(3), run, block(200, 1), wake(3), {state: RUNNING, length: 140, flags: seen}]},
      {tid: 3, pid: 1, name: 'c', slices: [{state: RUNNING, length: 550}]}], {header, to: 550});
    return chainOf(trace, {thread: 0, slice: 0}).map(({slice}) => slice - trace.first[1]);
  };
  assert.deepEqual(chain(0).slice(1), [3], 'not the first one');
  assert.deepEqual(chain(359).slice(1), [3], 'its wakeup ended at 360');
  assert.deepEqual(chain(360).slice(1), [], 'the waker ran the whole time');
});

test('a chain has twelve steps at most', () => {
  const seen = STARTS + ENDS, chain = count => chainOf(makeTrace(Array.from({length: count}, (_, n) => ({
    tid: n + 1, pid: 1, name: 't', slices: [{state: PAUSED, length: 500 - 10 * n, why: left(2, 1), flags: seen},
      {state: WARMING, length: 5, why: woken(0), peer: n + 2, flags: seen}, {state: RUNNING, length: 45 + 10 * n}]})),
      {header, to: 550}), {thread: 0, slice: 0}).length;
  assert.deepEqual([11, 12, 13, 14].map(chain), [11, 12, 12, 12]);
});

test('a click on a frame shows only the threads that were there', () => {
  const {app, byId, draw} = makeApp();
  app.panel.choose(7);
  const frames = byId('pages').all('button');
  assert.deepEqual(frames.map(frame => frame.text), ['off the CPU', 'paused: futex', 'lock.c:5', 'cooling', 'paused', 'warming']);
  frames[2].onclick();
  assert.deepEqual(app.rows.matching.map(thread => thread.index), [0]);
  assert.equal(byId('marked').text, '✕ Only: lock.c:5');
  draw();
  app.mark(null);
  assert.equal(app.rows.matching.length, 3);
  assert.equal(byId('marked').hidden, true);
});

test('a search marks the frames that have the word, in any case, and says their share', () => {
  const {app, byId} = makeApp();
  app.panel.choose(7);
  const [search] = byId('pages').all('input');
  const classes = () => byId('pages').all('button').map(frame => frame.className);
  assert.deepEqual(classes(), ['frame', 'frame cause', 'frame', 'frame cause', 'frame cause', 'frame cause']);
  assert.doesNotMatch(byId('pages').text, / of it has /);
  search.value = 'LOCK';
  search.oninput();
  assert.deepEqual(classes(), ['frame', 'frame cause', 'frame found', 'frame cause', 'frame cause', 'frame cause']);
  assert.match(byId('pages').text, /% of it has "LOCK"\. /);
  search.value = 'paused';
  search.oninput();
  assert.deepEqual(classes(), ['frame', 'frame cause found', 'frame', 'frame cause', 'frame cause found', 'frame cause']);
});

test('a nanosecond off the CPU has frames, and none has no frame', () => {
  const {app, byId} = makeApp();
  app.panel.choose(7);
  const drawn = (from, to) => {
    app.setRange({from, to});
    app.panel.choose(7);
    const page = byId('pages');
    return [page.text.match(/selected range of (.*?)\. A click/)[1], page.all('button').map(frame => frame.text)];
  };
  assert.deepEqual(drawn(1500, 1501), ['1 ns: 1 ns', ['off the CPU', 'warming']]);
  assert.deepEqual(drawn(1000, 1001), ['1 ns: 0', []]);
});

test('frames that are too narrow or too deep are left out', () => {
  const places = ['', Array.from({length: 45}, (_, n) => 'f' + n).join(' < '), 'thin'], none = new Uint8Array();
  const {app, byId} = makeApp({
    threads: [{tid: 1, pid: 1, name: 'a', start: 1000, slices: [
      {state: PAUSED, length: 993, why: left(2, 0)}, {state: PAUSED, length: 4, why: left(2, 1)},
      {state: PAUSED, length: 3, why: left(2, 2)}]}],
    header: {calls: ['read', 'futex', 'poll'], places, critical_path: null, preemptions: [], wakeups: [], waits: {sums: [], left_out: 0}},
    summary: {regions: [], cpus: [], preemptions: [], wakeups: []},
    parts: {load: none, order: none, events: none, dark: none, critical_path: none}});
  app.panel.choose(7);
  const frames = byId('pages').all('button').map(frame => frame.text + ' ' + frame.style.top);
  assert.deepEqual(frames.slice(0, 5), ['off the CPU 0px', 'paused: read 20px', 'paused: futex 20px', 'f44 40px', 'f43 60px']);
  assert.equal(frames.at(-1), 'f6 800px', 'the 41st line is the last');
  assert.equal(byId('pages').all('div')[0].style.height, '820px');
  assert.equal(byId('pages').all('p').length, 1);
});

test('a trace without stacks says how to record them', () => {
  const {app, byId} = makeApp({header: {places: ['', '']}});
  app.panel.choose(7);
  const [, note] = byId('pages').all('p');
  assert.equal(note.text, 'The trace has no stacks: record with --stacks to see functions.');
  assert.equal(note.className, 'note');
});
