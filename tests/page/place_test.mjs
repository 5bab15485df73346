// SPDX-License-Identifier: BSD-2-Clause
// The place in the page's address: emulator/report/page/place.js.
import assert from 'node:assert/strict';
import test, {mock} from 'node:test';
import {goToPlace, keepPlace, placeOf} from '../../emulator/report/page/place.js';
import {makeApp} from './fake_app.mjs';

test('a page opens with an empty place', () => {
  assert.equal(placeOf(makeApp().app), '');
});

test('another page that goes to the place shows the same', () => {
  const {app} = makeApp();
  app.rows.search = 'main & co';
  app.rows.sort = 'running';
  app.selectAt(0, 1300);
  app.setRange({from: 1100, to: 1500});
  app.view.set(1050.4, 1600.2);
  app.panel.choose(6);
  const place = placeOf(app), other = makeApp().app;
  assert.equal(place, 'view=1050-1601&range=1100-1500&at=0%401200&tab=Why&sort=running&search=main+%26+co');
  goToPlace(other, place);
  assert.deepEqual(other.selected, {thread: 0, slice: 1});
  assert.deepEqual(other.range, {from: 1100, to: 1500});
  assert.deepEqual([other.view.from, other.view.to, other.panel.chosen, other.rows.sort], [1050, 1601, 6, 'running']);
});

test('a place without a view or a range shows the whole run without one', () => {
  const {app} = makeApp();
  goToPlace(app, 'view=1100-1200&range=1150-1160');
  goToPlace(app, 'tab=Why');
  assert.deepEqual([app.view.from, app.view.to, app.range], [1000, 2000, null]);
  goToPlace(app, 'view=1100-1200');
  goToPlace(app, 'at=0@1300');
  assert.deepEqual([app.view.from, app.view.to, app.selected.slice], [1000, 2000, 1]);
});

test('what is wrong in a place is left out', () => {
  const {app} = makeApp();
  goToPlace(app, 'view=9-3&range=x&at=99@5&tab=Nothing&sort=toString&search=');
  assert.equal(placeOf(app), '');
  goToPlace(app, 'at=1@99999999&view=1-99999999999999999999');
  assert.equal(placeOf(app), '');
});

test('the place has the notes, at most 20, and none outside the run', () => {
  const {app} = makeApp(), other = makeApp().app;
  app.notes.add(1200.4, ' slow: why? ');
  app.notes.add(1300, 'x'.repeat(150));
  assert.equal(placeOf(app), 'note=1200%3Aslow%3A+why%3F&note=1300%3A' + 'x'.repeat(100));
  goToPlace(other, placeOf(app));
  assert.deepEqual(other.notes.own, app.notes.own);
  goToPlace(other, 'note=999:early&note=2001:late&note=1200:&note=x:y&note=1e3:z');
  assert.deepEqual(other.notes.own, []);
  goToPlace(other, Array.from({length: 25}, (_, n) => 'note=' + (1000 + n) + ':n').join('&'));
  assert.equal(other.notes.own.length, 20);
});

test('the address follows what is shown a quarter of a second after the last change, and is followed', () => {
  const {app} = makeApp(), listeners = {}, written = [], timers = new Map();
  let last = 0;
  globalThis.location = {hash: '#range=1100-1500'};
  globalThis.history = {replaceState: (state, title, address) => written.push([state, title, address])};
  globalThis.addEventListener = (type, listener) => listeners[type] = listener;
  globalThis.document.addEventListener = (type, listener) => listeners[type] = listener;
  const mocks = [
    mock.method(globalThis, 'setTimeout', (run, ms) => (timers.set(++last, [run, ms]), last)),
    mock.method(globalThis, 'clearTimeout', timer => timers.delete(timer))];
  const wait = () => {
    for (const [timer, [run]] of timers) {
      timers.delete(timer);
      run();
    }
  };
  try {
    keepPlace(app);
    assert.deepEqual(app.range, {from: 1100, to: 1500});
    wait();
    assert.deepEqual(written, [], 'that is its place already');
    for (const type of ['click', 'keyup', 'change'])
      listeners[type]();
    app.setRange({from: 1200, to: 1300});
    app.drawn();
    assert.deepEqual([...timers.values()].map(([, ms]) => ms), [250], 'one for all');
    wait();
    assert.deepEqual(written, [[null, '', '#range=1200-1300']]);
    globalThis.location.hash = '#range=1200-1300';
    app.range = null;
    listeners.hashchange();
    assert.equal(app.range, null, 'the page wrote it itself');
    globalThis.location.hash = '#range=1400-1450';
    listeners.hashchange();
    assert.deepEqual(app.range, {from: 1400, to: 1450});
    app.drawn();
    wait();
    assert.equal(written.length, 1, 'it is there');
  } finally {
    mocks.forEach(one => one.mock.restore());
  }
});
