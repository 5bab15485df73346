// SPDX-License-Identifier: BSD-2-Clause
// Graphs of all threads together: emulator/report/page/graphs.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Graphs} from '../../emulator/report/page/graphs.js';
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
