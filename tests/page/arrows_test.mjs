// SPDX-License-Identifier: BSD-2-Clause
// Arrows between threads: emulator/report/page/arrows.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {drawArrows} from '../../emulator/report/page/arrows.js';
import {COOLING, PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {fakeContext, makeTrace} from './fake.mjs';

let lineWidth; // of the last line

/// Thread 1 is woken by thread 0 at 130 and leaves for thread 2 at 160; an untraced one wakes it.
function drawn(slice, {from = 0, to = 1000, rows = [[0, 0], [1, 22], [2, 44]], context: wakes = 0} = {}) {
  const {context, calls} = fakeContext();
  const run = {state: RUNNING, length: 100};
  const trace = makeTrace([{tid: 1, pid: 1, name: 'a', slices: [run]}, {tid: 2, pid: 1, name: 'b', start: 100, slices: [
    {state: PAUSED, length: 30}, {state: WARMING, length: 10, why: 2 + 2 * wakes, peer: 1}, {state: RUNNING, length: 20},
    {state: COOLING, length: 40, why: 3, peer: 3}, {state: WARMING, length: 10, why: 2, peer: 4}]},
    {tid: 3, pid: 1, name: 'c', slices: [run]}], {header: {untraced: [{tid: 9, name: 'x'}]}});
  drawArrows({context, width: 500, height: 300, top: 0, xOf: time => 210 + time, app: {
    trace, view: {from, to}, selected: slice === undefined ? null : {thread: 1, slice: trace.first[1] + slice},
    colors: {ui: name => name, css: {[COOLING]: 'orange'}},
    rows: {rowOf: new Map(rows.map(([thread, top]) => [thread, {top, height: 22}]))}}});
  lineWidth = context.lineWidth;
  return calls;
}
const wakeup = [
  'setLineDash', 'beginPath', 'moveTo 340 11', 'lineTo 340 25', 'stroke accent', 'setLineDash',
  'beginPath', 'arc 340 11 2.5 0 7', 'fill accent', 'beginPath', 'moveTo 340 30', 'lineTo 335.5 22',
  'lineTo 344.5 22', 'fill accent'];
const unknown = [
  'setLineDash 3 3', 'beginPath', 'moveTo 410 15', 'lineTo 410 25', 'stroke accent', 'setLineDash',
  'beginPath', 'arc 410 15 2.5 0 7', 'fill accent', 'beginPath', 'moveTo 410 30', 'lineTo 405.5 22',
  'lineTo 414.5 22', 'fill accent'];

test('a wakeup is an arrow from the waker, or a short dashed one from nobody in the rows', () => {
  assert.deepEqual(drawn(0), [...wakeup, ...unknown]);
  assert.equal(lineWidth, 1.5);
});

test('a thread that ran when an interrupt woke another is no waker', () => {
  const calls = drawn(0, {context: 1});
  assert.deepEqual(calls.slice(0, 4), ['setLineDash 3 3', 'beginPath', 'moveTo 340 15', 'lineTo 340 25']);
  assert.equal(calls.length, wakeup.length + unknown.length);
});

test('a thread that left has an arrow to the one that ran instead', () => {
  assert.deepEqual(drawn(3).slice(28), [
    'setLineDash', 'beginPath', 'moveTo 370 33', 'lineTo 370 47', 'stroke orange', 'setLineDash',
    'beginPath', 'arc 370 33 2.5 0 7', 'fill orange', 'beginPath', 'moveTo 370 52',
    'lineTo 365.5 44', 'lineTo 374.5 44', 'fill orange']);
  assert.equal(drawn(2).length, 28, 'one that runs has none');
});

test('an arrow upward has its head at the top', () => {
  const calls = drawn(0, {rows: [[0, 66], [1, 22]]});
  assert.deepEqual(calls.slice(2, 4), ['moveTo 340 77', 'lineTo 340 41']);
  assert.deepEqual(calls.slice(10, 13), ['moveTo 340 36', 'lineTo 335.5 44', 'lineTo 344.5 44']);
});

test('what is not visible is not drawn', () => {
  assert.deepEqual(drawn(undefined), []);
  assert.deepEqual(drawn(0, {from: 141}), unknown);
  assert.deepEqual(drawn(0, {to: 199}), wakeup);
  assert.deepEqual(drawn(0, {rows: [[0, 0]]}), []);
  assert.deepEqual(drawn(0, {rows: [[0, 301], [1, 323]]}), [], 'below');
  assert.deepEqual(drawn(0, {rows: [[0, -50], [1, -30]]}), [], 'above');
});

test('more wakeups than can be seen have no arrows', () => {
  const arrows = (wakeups, blocks = 0) => {
    const {context, calls} = fakeContext();
    const slices = [...Array.from({length: wakeups}, () => ({state: WARMING, length: 1, why: 2, peer: 1})),
                    ...Array.from({length: blocks}, () => ({state: PAUSED, length: 1}))];
    const trace = makeTrace([{tid: 1, pid: 1, name: 'a', slices: [{state: RUNNING, length: 9000}]},
                             {tid: 2, pid: 1, name: 'b', start: 10, slices}], {to: 9000});
    drawArrows({context, width: 9000, height: 300, top: 0, xOf: time => 210 + time, app: {
      trace, view: {from: 0, to: 9000}, selected: {thread: 1, slice: trace.first[1]}, colors: {ui: name => name, css: {}},
      rows: {rowOf: new Map([[0, {top: 0, height: 22}], [1, {top: 22, height: 22}]])}}});
    return calls.filter(call => call.startsWith('arc')).length;
  };
  assert.equal(arrows(400), 400);
  assert.equal(arrows(402), 0);
  assert.equal(arrows(1, 7999), 1);
  assert.equal(arrows(1, 8000), 0, 'nor are more than 8000 slices looked at');
});
