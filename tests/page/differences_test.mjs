// SPDX-License-Identifier: BSD-2-Clause
// The tab of what changed between two runs: emulator/report/page/differences.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {rowsOf} from './fake.mjs';
import {makeApp} from './fake_app.mjs';

const AGAINST = {traces: ['/tmp/ra', 'rb'], a: 1000, b: 1400, conditions: ['kernel: 6.1 in A, 6.2 in B'], causes: [
  {thread: 'main', cause: 'running', a: 700, b: 650, places: [{thread: 0, from: 1000, to: 1200}, {thread: 2, from: 1400, to: 1500}]},
  {thread: 'main', cause: 'preempted by hog', a: 0, b: 450, places: [null, {thread: 2, from: 1300, to: 1400}]},
  {thread: 'main', cause: 'unknown', a: 300, b: 300, places: [null, null]},
]};

function open() {
  const made = makeApp({header: {against: AGAINST}}), page = made.byId('pages');
  made.app.panel.open('Differences');
  return {...made, page, press: text => page.all('button').find(button => button.text === text).onclick(),
          rows: () => made.app.rows.list.filter(row => row.type === 'thread').map(row => row.thread),
          marked: () => [...made.app.marks.byThread].map(([thread, slices]) => [thread, ...slices])};
}

test('only a page of two runs has the tab', () => {
  assert.equal(makeApp().app.panel.pages.some(page => page.title === 'Differences'), false);
});

test('the largest change is first, and the sums and conditions are told', () => {
  const {page} = open(), words = page.children.slice(1, 3).map(one => one.text);
  assert.match(words[0], /^A: \/tmp\/ra, 1\.000 µs; B: rb, 1\.400 µs\. The changes add up to \+400 ns\./);
  assert.equal(words[1], 'Another condition: kernel: 6.1 in A, 6.2 in B');
  assert.deepEqual(rowsOf(page.all('table')[0]), [
    'Cause | Change ▾ | A | B', 'main: preempted by hog | +450 ns | 0 | 450 ns',
    'main: running | −50 ns | 700 ns | 650 ns', 'main: unknown | 0 | 300 ns | 300 ns']);
  assert.equal(page.all('button').some(button => button.text === 'main: unknown'), false, 'it has no place');
});

test('a click shows the longest part in both runs', () => {
  const {app, press, rows, marked} = open();
  press('main: running');
  assert.deepEqual(marked(), [[0, 0], [2, 11]]);
  assert.deepEqual(rows(), [0, 2]);
  assert.deepEqual(app.selected, {thread: 2, slice: 11});
  assert.deepEqual([app.view.from, app.view.to], [1000, 1700], 'with room on both sides, inside the run');
});

test('where a run lacks the cause, its thread of the same name is shown', () => {
  const {app, press, rows, marked} = open();
  press('main: preempted by hog');
  assert.deepEqual(marked(), [[2, 10]]);
  assert.deepEqual(rows(), [0, 2]);
  assert.deepEqual([app.view.from, app.view.to].map(Math.round), [1280, 1420]);
});

test('a line goes through the rows at the pointer', () => {
  const {app, byId} = open();
  app.hover({offsetX: 300, offsetY: 5, clientX: 300, clientY: 5});
  assert.deepEqual([byId('cursor').hidden, byId('cursor').style.left], [false, '300px']);
  app.hover({offsetX: 100, offsetY: 5, clientX: 100, clientY: 5});
  assert.equal(byId('cursor').hidden, true);
  app.hover(null);
  assert.equal(byId('cursor').hidden, true);
});
