// SPDX-License-Identifier: BSD-2-Clause
// Long work of the page, in steps: emulator/report/page/work.js, and its use in the tab Why.
import assert from 'node:assert/strict';
import test, {mock} from 'node:test';
import {doSoon} from '../../emulator/report/page/work.js';
import {makeApp} from './fake_app.mjs';

/// Makes work whose steps take some ms of a clock, and timers that run when told to.
function makeClock(t) {
  let now = 0;
  const timers = [];
  const mocks = [mock.method(performance, 'now', () => now), mock.method(globalThis, 'setTimeout', run => timers.push(run))];
  t.after(() => mocks.forEach(one => one.mock.restore()));
  return {
    *work(steps, ms) {
      for (let n = 1; n <= steps; n++) {
        now += ms;
        yield n / steps;
      }
    },
    timers, passTimers: () => timers.splice(0).forEach(run => run()),
  };
}

test('short work is done at once', t => {
  const {work, timers} = makeClock(t), told = [];
  doSoon(work(5, 2), {told: part => told.push(part), done: () => told.push('done'), isWanted: () => true});
  assert.deepEqual([told, timers.length], [['done'], 0]);
});

test('long work lets the page draw between its steps', t => {
  const {work, timers, passTimers} = makeClock(t), told = [];
  doSoon(work(5, 7), {told: part => told.push(part), done: () => told.push('done'), isWanted: () => true});
  assert.deepEqual([told, timers.length], [[0.4], 1]);
  passTimers();
  assert.deepEqual(told, [0.4, 0.8]);
  passTimers();
  assert.deepEqual([told, timers.length], [[0.4, 0.8, 'done'], 0]);
});

test('work that nobody waits for any more ends', t => {
  const {work, timers, passTimers} = makeClock(t), told = [];
  doSoon(work(9, 7), {told: part => told.push(part), done: () => told.push('done'), isWanted: () => false});
  passTimers();
  assert.deepEqual([told.length, timers.length], [1, 0]);
});

test('the tab Why shows how far it is until its sums are made', t => {
  const {work, timers, passTimers} = makeClock(t), {app, byId} = makeApp();
  const parts = [{label: 'running', ns: 450, parts: [], slices: () => []}];
  app.whys = {known: true, hasCauses: () => true, steps: () => work(3, 8), tree: () => ({ns: 450, parts})};
  app.shares = {steps: () => work(0), of: () => 0};
  const pages = byId('pages'), bars = () => pages.all('progress').map(bar => bar.value);
  app.panel.open('Why');
  assert.deepEqual([bars(), pages.all('table').length], [[1 / 3], 0]);
  passTimers();
  assert.deepEqual(bars(), []);
  assert.match(pages.text, /3 threads, in the whole run.*running/);
  app.panel.open('Why');
  app.panel.open('Threads');
  passTimers();
  assert.deepEqual([timers.length, pages.text.includes('Where the time went')], [0, false], 'another tab is open');
});
