// SPDX-License-Identifier: BSD-2-Clause
// Graphs of all threads together: emulator/report/page/graphs.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Graphs} from '../../emulator/report/page/graphs.js';
import {lines} from './fake.mjs';
import {makeApp} from './fake_app.mjs';

/// Waits whose idle time is known: of 1500 to 1600, for half of the time and for a tenth.
const whys = {known: true, idle: {slice: [3]}, lists: {idle: [{name: 'wakeup in flight'}, {name: 'affinity'}]},
              eachIdle: (from, to, put) => put(1500, 1600, [50, 10])};

test('what is under the pointer is told in words', () => {
  const {app} = makeApp(), graphs = new Graphs(Object.create(app, {whys: {value: whys}}));
  const words = (offsetX, offsetY) => graphs.words({offsetX, offsetY});
  graphs.draw(); // 200 columns of 5 ns, from pixel 210 on
  assert.equal(words(209, 0), null, 'among the names');
  assert.equal(words(210, 0), 'Threads\n1.0 running\n0.00 waiting for a CPU\n0.00 blocked');
  assert.equal(words(410, 33), 'Threads\n1.3 running\n1.2 waiting for a CPU\n0.50 blocked');
  assert.equal(words(410, 34), 'Idle while waiting\n0.50 wakeup in flight\n0.10 affinity');
  assert.equal(words(409, 34), 'Idle while waiting\n0.00 wakeup in flight\n0.00 affinity', 'the column before');
  assert.equal(words(300, 68), 'Critical path\nwork (11) of one\nwaits');
  assert.equal(words(609, 101), 'Critical path\nmain (10) of one\nruns');
  assert.equal(words(610, 68), null, 'right of the last column');
  assert.equal(words(300, 102), null, 'below the last graph');
});

test('all of the graphs, in ten columns', () => {
  const {app, byId} = makeApp();
  byId('scroller').clientWidth = 230;
  byId('graphs').clientWidth = 231;
  app.timeline.measure();
  const graphs = new Graphs(Object.create(app, {whys: {value: whys}})), canvas = byId('graphs');
  canvas.getContext();
  const drawn = () => {
    canvas.calls.length = 0;
    graphs.draw();
    return [canvas.style.height, ...canvas.calls];
  };
  assert.deepEqual(drawn(), lines(`
102px
setTransform 1 0 0 1 0 0
fillRect 0 0 231 102 panel
fillRect 210 20 2 12 rgb(0 255 0)
fillRect 212 20 2 12 rgb(0 255 0)
fillRect 214 20 2 12 rgb(0 255 0)
fillRect 216 20 2 12 rgb(0 255 0)
fillRect 216 19 2 1 rgb(255 165 0)
fillRect 218 20 2 12 rgb(0 255 0)
fillRect 218 8 2 12 rgb(255 165 0)
fillRect 220 10 2 22 rgb(0 255 0)
fillRect 220 2 2 8 rgb(255 165 0)
fillRect 222 4 2 28 rgb(0 255 0)
fillRect 222 2 2 2 rgb(255 165 0)
fillRect 224 4 2 28 rgb(0 255 0)
fillRect 224 2 2 2 rgb(255 165 0)
fillRect 226 20 2 12 rgb(0 255 0)
fillRect 226 19 2 1 rgb(255 165 0)
fillRect 228 20 2 12 rgb(0 255 0)
beginPath
lineTo 211 32
lineTo 213 32
lineTo 215 17.5
lineTo 217 3
lineTo 219 17.5
lineTo 221 24.75
lineTo 223 24.75
lineTo 225 24.75
lineTo 227 32
lineTo 229 32
stroke rgb(205 214 255)
fillText Threads 10 15 text
fillText up to 2.5 10 29 194 soft
fillRect 0 33 230 1 line
fillRect 220 51 2 15 rgb(255 255 0)
fillRect 220 48 2 3 rgb(255 165 0)
fillRect 222 65 2 1 rgb(255 255 0)
fillRect 222 65 2 1 rgb(255 165 0)
fillText Idle while waiting 10 49 text
fillText up to 0.60 10 63 194 soft
fillRect 0 67 230 1 line
fillRect 210 72 2 28 rgb(17 34 51)
fillRect 212 72 2 28 rgb(17 34 51)
fillRect 214 86 2 14 rgb(17 34 51)
fillRect 216 86 2 14 rgb(17 34 51)
fillRect 218 72 2 28 rgb(17 34 51)
fillRect 220 72 2 28 rgb(17 34 51)
fillRect 222 72 2 28 rgb(17 34 51)
fillRect 224 72 2 28 rgb(17 34 51)
fillRect 226 72 2 28 rgb(17 34 51)
fillRect 228 72 2 28 rgb(17 34 51)
fillText Critical path 10 83 text
fillText of main (10) of one 10 97 194 soft
fillRect 0 101 230 1 line`));
  assert.equal(canvas.attributes['aria-label'],
               'Threads, up to 2.5; Idle while waiting, up to 0.60; Critical path, of main (10) of one');
  graphs.toggle();
  assert.deepEqual(drawn(), ['0px'], 'hidden');
  graphs.toggle();
  assert.equal(drawn()[0], '102px');
});

test('the words of a graph are shown beside the pointer until it leaves', () => {
  const {app, byId, draw} = makeApp();
  draw();
  app.graphs.draw();
  const tooltip = byId('tooltip'), at = {offsetX: 410, clientX: 500, clientY: 70};
  Object.assign(tooltip, {offsetWidth: 100, offsetHeight: 30});
  const shown = event => {
    byId('graphs').fire('pointermove', {...at, ...event});
    return [tooltip.hidden, tooltip.text.split('\n')[0], tooltip.style.left, tooltip.style.top];
  };
  assert.deepEqual(shown({offsetY: 5}), [false, 'Threads', '514px', '84px']);
  assert.deepEqual(shown({offsetY: 40, clientX: 884}), [false, 'Critical path', '898px', '84px'], 'it just fits');
  assert.deepEqual(shown({offsetY: 40, clientX: 885, clientY: 760}), [false, 'Critical path', '773px', '766px']);
  byId('graphs').fire('pointerleave');
  assert.equal(tooltip.hidden, true);
  assert.equal(shown({offsetY: 5, offsetX: 100})[0], true, 'no words, no tip');
});
