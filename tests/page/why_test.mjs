// SPDX-License-Identifier: BSD-2-Clause
// The causes of any range: emulator/report/page/why.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Regions} from '../../emulator/report/page/regions.js';
import {COOLING, PAUSED, RUNNING, UNKNOWN, WARMING} from '../../emulator/report/page/trace.js';
import {Whys} from '../../emulator/report/page/why.js';
import {makeTrace, varints} from './fake.mjs';

const why = {
  culprits: [{text: 'idle', name: 'idle', kind: 3, known: true, thread: null},
             {text: 'a (1)', name: 'a', kind: 1, known: true, thread: 0},
             {text: 'hog (9), not traced', name: 'hog', kind: 2, known: true, thread: null, untraced: true},
             {text: 'hog (8), not traced', name: 'hog', kind: 2, known: true, thread: null, untraced: true},
             {text: 'not known', name: 'not known', kind: 0, known: false, thread: null}],
  blocks: ['futex', 'read (disk)'],
  idle: [{word: 'in_flight', name: 'wakeup in flight'}, {word: 'affinity', name: 'affinity'}],
  kinds: [{word: 'wakeup', name: 'after a wakeup'}, {word: 'preemption', name: 'after a preemption'}],
};

/// Thread a runs on CPU 1 (index 0) from 100 to 200. Thread b waits for the start of the capture
/// until 100, is blocked from 100 to 300, waits from
/// 300 to 400 on CPU index 0 and from 400 on index 1, and runs at 500. The range starts at 100.
function whys(options = {}) {
  const trace = makeTrace([
    {tid: 1, pid: 1, name: 'a', start: 100, slices: [{state: RUNNING, length: 100, cpu: 1}]},
    {tid: 2, pid: 1, name: 'b', start: 60, slices: [
      {state: PAUSED, length: 40, cpu: 1},
      {state: PAUSED, length: 200, cpu: 1}, {state: WARMING, length: 200, cpu: 1},
      {state: RUNNING, length: 50, cpu: 2}, {state: COOLING, length: 50, cpu: 2}]}],
      {from: 100, to: 600, header: {why, cpus: [{index: 1, node: 0}, {index: 2, node: 0}], ...options.header},
       parts: {load: varints()}, summary: options.summary});
  // CPU index 0: a to 200, idle to 320, hog (9) to the end. CPU index 1: idle to 450, hog (8).
  return new Whys(trace, varints(
      3, 100, 1, 120, 0, 280, 2,
      2, 350, 0, 150, 3,
      0,
      4, 1, 2 + 1, 1, 0, 0, 2, 0, 1, 100, 2, 30, 0, 0, 1, 1, 0, 2, 5, 6), new Regions(trace));
}

const parts = tree => tree.parts.map(part => [part.label, part.ns]);

test('a wait has the holders of each CPU on which it was', () => {
  const tree = whys().tree([1], 100, 600);
  assert.deepEqual(parts(tree), [['running', 50], ['waiting for a CPU', 250], ['blocked', 200]]);
  const [waits] = tree.parts[1].parts.filter(part => part.label === 'after a wakeup');
  assert.deepEqual(parts(waits), [['held by: hog (2 threads), not traced', 80 + 50], ['held by: idle', 20 + 50]]);
  assert.deepEqual(waits.parts.map(part => part.slices()), [[1, 4], [1, 4]], 'the slice from 300 on');
  assert.deepEqual(parts(tree.parts[2].parts[0]), [['woken by: a (1)', 200]]);
  assert.equal(tree.parts[2].parts[0].label, 'read (disk)');
  assert.equal(tree.ns, 500);
});

test('the slices of a part are of its threads only', () => {
  const w = whys(), running = threads => w.tree(threads, 100, 600).parts.find(part => part.label === 'running').slices();
  assert.deepEqual(running([0]), [0, 0]);
  assert.deepEqual(running([1]), [1, 5]);
  assert.deepEqual(running([0, 1]), [0, 0, 1, 5]);
});

test('a wait names its holders, those of most time first', () => {
  const w = whys(), wait = w.trace.first[1] + 2;
  assert.deepEqual(w.holders(wait), [{text: 'hog (9), not traced', known: true, ns: 80},
                                     {text: 'idle', known: true, ns: 70},
                                     {text: 'hog (8), not traced', known: true, ns: 50}]);
});

test('a block and the wait after it name what woke the thread', () => {
  const w = whys(), first = w.trace.first[1];
  assert.deepEqual([0, 1, 2, 3, 4].map(n => w.wokenBy({slice: first + n, thread: 1})),
                   [undefined, 'a (1)', 'a (1)', undefined, undefined]);
  assert.equal(new Whys(w.trace, varints(), w.regions).wokenBy({slice: first + 1, thread: 1}), undefined);
});

test('a range cuts waits, holders and blocks', () => {
  const sums = whys().plain([1], 310, 460);
  assert.deepEqual(sums.waiting, [{kind: 'wakeup', holder: 'idle', ns: 10 + 50},
                                  {kind: 'wakeup', holder: 'hog (9), not traced', ns: 80},
                                  {kind: 'wakeup', holder: 'hog (8), not traced', ns: 10}]);
  assert.deepEqual(sums.blocked, []);
  assert.equal(sums.running_ns, 0);
});

test('the last culprit of the list holds a CPU under its own name', () => {
  const sums = whys({header: {why: {...why, culprits: why.culprits.slice(0, 4)}}}).plain([1], 410, 490);
  assert.deepEqual(sums.waiting, [{kind: 'wakeup', holder: 'idle', ns: 40},
                                  {kind: 'wakeup', holder: 'hog (8), not traced', ns: 40}]);
});

test('who wakes a thread after the range is not known in it', () => {
  assert.deepEqual(whys().plain([1], 120, 220).blocked, [{block: 'read (disk)', waker: 'nobody yet', ns: 100}]);
  assert.deepEqual(whys().plain([1], 120, 300).blocked, [{block: 'read (disk)', waker: 'a (1)', ns: 180}]);
});

test('several threads are summed up, and those with merged slices are left out', () => {
  assert.equal(whys().tree([0, 1], 100, 600).parts[0].ns, 150);
  const one = whys();
  one.trace.threads[0].coarse = true;
  assert.equal(one.tree([0, 1], 100, 600).parts[0].ns, 50);
});

test('the wait for the start of the capture is left out', () => {
  assert.deepEqual(whys().plain([1], 60, 120).blocked, [{block: 'read (disk)', waker: 'nobody yet', ns: 20}]);
});

test('what was summed up ahead is not summed up again', () => {
  const one = whys(), before = one.plain([0, 1], 60, 600);
  assert.deepEqual([...one.steps([0, 1], 60, 600)], [0.5, 1]); // a block of each thread
  one.addSlice = () => assert.fail('a block is summed up again');
  assert.deepEqual(one.plain([0, 1], 60, 600), before);
  assert.equal(before.running_ns, 150);
});

test('the time outside the regions of --control is left out, that of a loss in them is not known', () => {
  const threads = [{tid: 1, pid: 1, name: 'a', start: 100, slices: [
    {state: UNKNOWN, length: 100}, {state: RUNNING, length: 50}, {state: UNKNOWN, length: 50},
    {state: RUNNING, length: 100}, {state: UNKNOWN, length: 200}]}];
  const regions = [{node: 0, pid: 1, tid: 1, of_thread: false, start_ns: 150, length_ns: 250, chain: 1}];
  const found = (summary, from = 100) => {
    const trace = makeTrace(threads, {from: 100, to: 600, header: {why, cpus: []}, summary});
    return new Whys(trace, varints(0, 0), new Regions(trace)).tree([0], from, 600).parts.map(part => [part.label, part.ns, part.slices()]);
  };
  assert.deepEqual(found({}).at(-1), ['not known', 350, [0, 0, 0, 2, 0, 4]], 'without regions');
  assert.deepEqual(found({regions}).at(-1), ['not known', 50, [0, 2]]);
  assert.deepEqual(found({regions}, 420).at(-1), ['blocked', 0, []]);
});

test('waits while CPUs were idle are found by slice and by time', () => {
  const one = whys(), found = (from, to) => {
    const all = [];
    one.eachIdle(from, to, (...wait) => all.push(wait));
    return all;
  };
  assert.deepEqual([one.idleIn(4), one.idleIn(5), one.idleIn(6)], [[30, 0], undefined, [5, 6]]);
  assert.deepEqual(found(100, 600), [[300, 500, [30, 0]], [550, 600, [5, 6]]]);
  assert.deepEqual(found(100, 300), []);
  assert.deepEqual(found(400, 420), [[300, 500, [30, 0]]]);
  assert.deepEqual(found(510, 600), [[550, 600, [5, 6]]]);
});

test('a page without the part says so', () => {
  const trace = makeTrace([{tid: 1, pid: 1, name: 'a', slices: [{state: RUNNING, length: 5}]}], {header: {why: null}});
  assert.equal(new Whys(trace, varints()).known, false);
});

/// A new thread waits from 100 to 200 and gets CPU index 0, which is idle to 130; hog (9) has it then.
test('a new thread waits for the CPU that it gets', () => {
  const trace = makeTrace([{tid: 2, pid: 1, name: 'b', start: 100, slices: [
    {state: WARMING, length: 100}, {state: RUNNING, length: 50, cpu: 1}, {state: COOLING, length: 100}]}],
      {from: 100, to: 350, header: {why, cpus: [{index: 1, node: 0}]}, parts: {load: varints()}});
  const w = new Whys(trace, varints(2, 30, 0, 220, 2, 2, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0), new Regions(trace));
  const holders = (from, to) => w.plain([0], from, to).waiting.map(({holder, ns}) => [holder, ns]);
  assert.deepEqual(holders(100, 250), [['idle', 30], ['hog (9), not traced', 70]]);
  assert.deepEqual(holders(100, 199), [['not known', 99]], 'nobody knows where it will run');
  assert.deepEqual(holders(250, 350), [['not known', 100]], 'it never runs again');
});
