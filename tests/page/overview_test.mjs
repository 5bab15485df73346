// SPDX-License-Identifier: BSD-2-Clause
// The whole run above the timeline, and its axis: emulator/report/page/overview.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Axis, Overview} from '../../emulator/report/page/overview.js';
import {View} from '../../emulator/report/page/view.js';
import {fakeContext, lines} from './fake.mjs';
import {makeApp} from './fake_app.mjs';

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
  part.press({offsetX: 310, button: 0}); // in the marked part: it is held where it was taken
  assert.deepEqual([view.from, view.to], [1200, 1400]);
  part.drag({offsetX: 330});
  assert.deepEqual([view.from, view.to], [1250, 1450]);
  part.press({offsetX: 530, button: 0}); // outside: its middle comes there
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

test('a visible part that is narrow has a frame that can be seen', () => {
  const {part, view, calls} = made(Overview, {from: 0, to: 1e9});
  view.set(5e8, 5e8 + 1000);
  part.draw();
  assert.ok(calls.includes('strokeRect 410 1 3 52 accent'));
  assert.ok(calls.includes('fillRect 413 0 197 54 #ffffffb0'));
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

test('marks of the axis are at least 110 pixels apart', () => {
  const distance = width => {
    const {part, calls} = made(Axis, {from: 0, to: 4e9});
    part.app.timeline.width = width;
    part.draw();
    return calls.filter(call => call.endsWith(' line')).length;
  };
  assert.equal(distance(440), 5, '0 to 4 s');
  assert.equal(distance(439), 3, 'each 2 s');
});

test('all of the overview and of the axis', () => {
  const {app, byId} = makeApp({light: false});
  app.view.set(1100, 1800);
  app.timeline.measure();
  for (const part of [app.overview, app.axis]) {
    part.canvas.getContext();
    part.canvas.calls.length = 0;
    part.draw();
  }
  assert.deepEqual([...byId('overview').calls, ...byId('axis').calls], lines(`
setTransform 1 0 0 1 0 0
fillRect 0 0 610 54 panel
fillRect 210 31.67 400.5 18.33 rgb(0 255 0)
beginPath
lineTo 410 44.85
stroke rgb(255 165 0)
fillRect 210 0 40 54 #000000a0
fillRect 530 0 80 54 #000000a0
strokeRect 250 1 280 52 accent
fillText CPUs busy with these threads 10 18 text
fillRect 10 32 10 2 rgb(255 165 0)
fillText threads waiting, per CPU 25 37 soft
setTransform 1 0 0 1 0 0
fillRect 0 0 610 26 panel
fillText shown: 700 ns 10 17 soft
fillRect 267.14 18 1 8 line
fillText 0.0000012 s 271.14 15 soft
fillRect 381.43 18 1 8 line
fillText 0.0000014 s 385.43 15 soft
fillRect 495.71 18 1 8 line
fillText 0.0000016 s 499.71 15 soft
fillRect 610 18 1 8 line`));
  app.trace.summary.all_threads = true;
  app.overview.draw();
  assert.ok(byId('overview').calls.includes('fillText CPUs busy, whole run 10 18 text'));
});

test('the overview is pressed and dragged, and only while a button is held', () => {
  const {app, byId} = makeApp(), overview = byId('overview');
  const captured = [];
  overview.setPointerCapture = id => captured.push(id);
  app.view.set(1100, 1300);
  overview.fire('pointermove', {offsetX: 400, buttons: 1}); // a drag that began elsewhere
  overview.fire('pointerdown', {offsetX: 400, pointerId: 3, button: 2});
  overview.fire('pointermove', {offsetX: 410, buttons: 2});
  assert.deepEqual([app.view.from, app.view.to, captured], [1100, 1300, []]);
  overview.fire('pointerdown', {offsetX: 250, pointerId: 4, button: 0}); // 1100: the left end of what is visible
  overview.fire('pointermove', {offsetX: 290, buttons: 1});
  assert.deepEqual([app.view.from, app.view.to, captured], [1200, 1400, [4]]);
  overview.fire('pointermove', {offsetX: 330, buttons: 0});
  assert.deepEqual([app.view.from, app.view.to], [1200, 1400]);
  overview.fire('pointerup', {});
  overview.fire('pointermove', {offsetX: 330, buttons: 1});
  assert.deepEqual([app.view.from, app.view.to], [1200, 1400], 'it was let go');
  overview.fire('pointerdown', {offsetX: 370, button: 0}); // 1400: the right end
  assert.deepEqual([app.view.from, app.view.to], [1200, 1400]);
});
