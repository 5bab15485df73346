// SPDX-License-Identifier: BSD-2-Clause
// The whole run above the timeline, and its axis: emulator/report/page/overview.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Axis, Overview} from '../../emulator/report/page/overview.js';
import {View} from '../../emulator/report/page/view.js';
import {fakeContext} from './fake.mjs';

function made(Part, {from = 1000, to = 2000, load = [[], []], cpus = [{}]} = {}) {
  const {context, calls} = fakeContext();
  const canvas = {clientWidth: 610, getContext: () => context, addEventListener: () => {},
                  setPointerCapture: () => {}};
  globalThis.document = {getElementById: () => canvas};
  globalThis.window = {};
  const view = new View(from, to, () => {});
  const timeline = {width: 400, xOf: time => 210 + (time - view.from) / view.span * 400};
  const trace = {cpus, load, header: {load_steps: 8}, stepNs: 130, summary: {}};
  const part = new Part({view, timeline, trace, colors: {light: true, ui: name => name, css: {1: 'green', 4: 'orange'}}});
  return {part, view, calls};
}

test('a place of the overview is a time of the whole run', () => {
  const {part, view} = made(Overview);
  view.set(1200, 1400);
  assert.equal(part.timeAt({offsetX: 210}), 1000);
  assert.equal(part.timeAt({offsetX: 310}), 1250);
  part.press({offsetX: 310}); // in the marked part: it is held where it was taken
  assert.deepEqual([view.from, view.to], [1200, 1400]);
  part.drag({offsetX: 330});
  assert.deepEqual([view.from, view.to], [1250, 1450]);
  part.press({offsetX: 530}); // outside: its middle comes there
  assert.deepEqual([view.from, view.to], [1700, 1900]);
});

test('the visible part is framed, and the rest is pale', () => {
  const {part, view, calls} = made(Overview);
  view.set(1250, 1500);
  part.draw();
  assert.ok(calls.includes('fillRect 210 0 100 54 #ffffffb0'));
  assert.ok(calls.includes('fillRect 410 0 200 54 #ffffffb0'));
  assert.ok(calls.includes('strokeRect 310 1 100 52 accent'));
});

test('bars are the busy part of all CPUs in four steps, and the last one is shorter', () => {
  const {part, calls} = made(Overview, {cpus: [{}, {}], load: [
    [130, 130, 130, 130, 0, 0, 0, 0], [0, 0, 0, 0, 130, 130, 0, 0], [0, 0, 260, 0, 5000, 0, 0, 0]]});
  part.draw();
  assert.deepEqual(calls.filter(call => call.endsWith('green')),
                   ['fillRect 210 28 208.5 22 green', 'fillRect 418 38.08 192.5 11.92 green']);
  assert.deepEqual(calls.filter(call => call.startsWith('lineTo')), ['lineTo 314 39', 'lineTo 514 6']);
});

test('marks of the axis are at round times, with the digits that differ', () => {
  const {part, view, calls} = made(Axis, {from: 0, to: 4e9});
  view.set(1.15e9, 2.15e9);
  part.draw();
  assert.deepEqual(calls.filter(call => call.startsWith('fillText')),
                   ['fillText shown: 1.000 s 10 17 soft', 'fillText 1.5 s 354 15 soft'], 'no text at the right end');
  assert.deepEqual(calls.filter(call => call.endsWith('line')),
                   ['fillRect 350 18 1 8 line', 'fillRect 550 18 1 8 line']);
  assert.equal(part.label(1.2345e9, 1e9), '1 s');
  assert.equal(part.label(1.2345e9, 5e8), '1.2 s');
  assert.equal(part.label(1.2345e9, 1e6), '1.234 s');
  assert.equal(part.label(1, 1), '0.000000001 s');
});
