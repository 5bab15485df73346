// SPDX-License-Identifier: BSD-2-Clause
// Searches, the critical path and sections: emulator/report/page/search.js, critical.js, sections.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {lastUpTo, lastUpToNear} from '../../emulator/report/page/search.js';
import {Critical} from '../../emulator/report/page/critical.js';
import {Sections, eventName} from '../../emulator/report/page/sections.js';
import {varints} from './fake.mjs';

test('the last value up to another is that of a plain search, from any start', () => {
  const values = [3, 5, 5, 8, 13, 21, 34, 34, 55];
  for (let low = 0; low < values.length; low++)
    for (let high = low + 1; high <= values.length; high++)
      for (let value = 0; value < 60; value++) {
        let expected = low;
        for (let n = low; n < high; n++)
          if (values[n] <= value)
            expected = n;
        assert.equal(lastUpTo(values, low, high, value), expected);
        assert.equal(lastUpToNear(values, low, high, value), expected);
      }
});

test('a thread is on the critical path from the start of a segment to before its end', () => {
  const about = {paths: [{from: 100, segments: 5}, {from: 90, segments: 2}], causes: ['running', 'waiting']};
  const path = new Critical({header: {critical_path: about}},
                            varints(50, 7, 0, 20, 8, 1, 30, 7, 1, 5, 8, 0, 10, 7, 0, 60, 9, 0, 5, 7, 1));
  const at = [99, 100, 149, 150, 169, 170, 199, 200, 204, 205, 214, 215];
  assert.deepEqual(at.map(time => path.at(7, time)),
                   [undefined, 'running', 'running', undefined, undefined, 'waiting', 'waiting',
                    undefined, undefined, 'running', 'running', undefined]);
  assert.equal(path.at(8, 160), 'waiting');
  assert.equal(path.at(9, 160), undefined);
  const spans = (from, to, least) => {
    const found = [];
    path.each(7, from, to, least, (start, end) => found.push([start, end]));
    return found;
  };
  assert.deepEqual(spans(0, 1000, 0), [[100, 150], [170, 200], [205, 215]]);
  assert.deepEqual(spans(151, 204, 0), [[170, 200]]);
  assert.deepEqual(spans(150, 205, 0), [[100, 150], [170, 200], [205, 215]]);
  assert.deepEqual(spans(0, 1000, 69), [[100, 150], [170, 215]]);
  assert.deepEqual(spans(0, 1000, 70), [[100, 200], [205, 215]]);
  assert.deepEqual([99, 120, 160, 215].map(time => path.responsible(time)),
                   [null, {thread: 7, cause: 'running'}, {thread: 8, cause: 'waiting'}, null]);
  path.choose(1);
  assert.deepEqual([path.at(9, 95), path.at(7, 152), path.at(8, 160)], ['running', 'waiting', undefined]);
  path.choose(0);
  path.shown = false;
  assert.deepEqual(spans(0, 1000, 0), []);
  assert.equal(path.at(7, 120), undefined);
});

const NO_SLICES = {first: [0, 1, 2, 3], start: [0, 0, 0], mixes: new Map()};

test('a section ends where its thread is not known, or ends', () => {
  const UNKNOWN = 0, RUNNING = 1, DEAD = 3, MIXED = 7;
  const event = (time, code, par2) => ({time, code, par1: 4, par2});
  const found = (kinds, events) => new Sections({
    to: 900, first: [0, kinds.length + 1], start: [5, 100, 200, 300, 400].slice(0, kinds.length + 1),
    state: slice => kinds[slice], mixes: new Map([[1, [kinds[1] === MIXED ? 9 : 0]]]),
    events: new Map([[0, events]]),
  }).of(0);
  const events = [event(10, 0xd9, 1), event(20, 0xd9, 2), event(150, 0xe9, 2), event(250, 0xd9, 3),
                  event(260, 0xe9, 1), event(270, 0xe9, 3)];
  const cut = [{start: 10, number: 1, depth: 0, end: 100}, {start: 20, number: 2, depth: 1, end: 100},
               {start: 250, number: 3, depth: 0, end: 270}];
  assert.deepEqual(found([RUNNING, UNKNOWN, RUNNING], events), cut);
  assert.deepEqual(found([RUNNING, MIXED, RUNNING], events), cut);
  assert.deepEqual(found([UNKNOWN, RUNNING, RUNNING], events), [
    {start: 20, number: 2, depth: 1, end: 150}, {start: 10, number: 1, depth: 0, end: 260},
    {start: 250, number: 3, depth: 1, end: 260}]);
  assert.deepEqual(found([RUNNING, RUNNING, DEAD], events.slice(0, 2)), [
    {start: 10, number: 1, depth: 0, end: 200}, {start: 20, number: 2, depth: 1, end: 200}]);
});

test('sections nest, and the end of one ends those within it', () => {
  const event = (time, code, par2) => ({time, code, par1: 4, par2});
  const sections = new Sections({...NO_SLICES, to: 900, events: new Map([[2, [
    event(10, 0xd9, 1), event(20, 0xd9, 2), event(30, 0xd9, 1), event(40, 0xe9, 2), event(45, 0xe9, 7),
    event(50, 0x39, 6), event(60, 0xe9, 1), event(70, 0xd9, 3)]]])});
  assert.deepEqual(sections.of(2), [
    {start: 20, number: 2, depth: 1, end: 40}, {start: 30, number: 1, depth: 2, end: 40},
    {start: 10, number: 1, depth: 0, end: 60}, {start: 70, number: 3, depth: 0, end: 900}]);
  assert.deepEqual(sections.pointsOf(2).map(eventName), ['user event 3: 4, 6']);
  assert.equal(eventName(event(0, 1, 9)), 'ipoint 4');
  const plain = new Sections({...NO_SLICES, to: 900, events: new Map([[2, [
    event(10, 0x1d9, 1), event(20, 0x101, 1), event(30, 0x1e9, 1)]]])});
  assert.deepEqual(plain.of(2), [], 'a plain file has no sections');
  assert.deepEqual(plain.pointsOf(2).map(eventName), ['user event 13: 4, 1', 'ipoint 4', 'user event 14: 4, 1']);
  const many = Array.from({length: 200000}, (_, n) => event(n, 0xd9, 1));
  assert.equal(new Sections({...NO_SLICES, to: 900, events: new Map([[2, many]])}).of(2).length, 512);
  assert.deepEqual(sections.of(3), []);
  assert.deepEqual(sections.pointsOf(3), []);
});
