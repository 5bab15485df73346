// SPDX-License-Identifier: BSD-2-Clause
// The visible part of the time: emulator/report/page/view.js.
import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';
import {View} from '../../emulator/report/page/view.js';

let changes, view;
const shown = () => [view.from, view.to];
beforeEach(() => {
  changes = 0;
  view = new View(500, 1500, () => changes++);
});

test('shows the whole at first, and at least 10 ns', () => {
  assert.deepEqual(shown(), [500, 1500]);
  assert.equal(changes, 0);
  const short = new View(500, 503, () => {});
  assert.deepEqual([short.from, short.to], [500, 510]);
});

test('stops at both ends, and keeps its span there', () => {
  view.set(900, 1100);
  view.move(10);
  assert.deepEqual(shown(), [1300, 1500]);
  view.move(-10);
  assert.deepEqual(shown(), [500, 700]);
  assert.equal(changes, 3);
});

test('moves by a part of what is visible', () => {
  view.set(900, 1100);
  view.move(0.25);
  assert.deepEqual(shown(), [950, 1150]);
  view.move(-0.5);
  assert.deepEqual(shown(), [850, 1050]);
});

test('zooms around a place that stays where it is', () => {
  view.zoom(0.5);
  assert.deepEqual(shown(), [750, 1250]);
  view.zoom(0.5, 0.2);
  assert.deepEqual(shown(), [800, 1050]);
  view.zoom(2, 0.2);
  assert.deepEqual(shown(), [750, 1250]);
  view.zoom(2.1);
  assert.deepEqual(shown(), [500, 1500]);
  view.zoom(0.0001);
  assert.deepEqual(shown(), [995, 1005]);
});

test('reveals what is not visible or too small to see, and leaves the rest', () => {
  view.set(900, 1300);
  view.reveal(900, 1300);
  view.reveal(1000, 1002);
  assert.deepEqual(shown(), [900, 1300]);
  assert.equal(changes, 1);
  view.reveal(1000, 1001); // a 400th of the view is too small
  assert.deepEqual(shown(), [990.5, 1010.5]);
  view.reveal(1400, 1410);
  assert.deepEqual(shown(), [1395, 1415]);
  view.set(900, 1300);
  view.reveal(1000, 1400);
  assert.deepEqual(shown(), [1000, 1400], 'as long as the view');
  view.set(1400, 1420);
  view.reveal(600, 800);
  assert.deepEqual(shown(), [570, 830]);
  view.showWhole();
  assert.deepEqual(shown(), [500, 1500]);
});
