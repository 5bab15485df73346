// SPDX-License-Identifier: BSD-2-Clause
// Times in states over any span: emulator/report/page/sums.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {StateSums} from '../../emulator/report/page/sums.js';
import {MIXED, PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {makeTrace} from './fake.mjs';

test('a span cuts the slices at its ends, in the second thread, too', () => {
  const trace = makeTrace([
    {tid: 1, pid: 1, name: 'a', start: 100, slices: [{state: RUNNING, length: 50}]},
    {tid: 2, pid: 1, name: 'b', start: 200, slices: [{state: RUNNING, length: 50},
                                                     {state: PAUSED, length: 30},
                                                     {state: WARMING, length: 20}]}]);
  const sums = new StateSums(trace);
  assert.deepEqual([...sums.times(1, 240, 285)], [0, 10, 30, 0, 0, 5, 0]);
  assert.deepEqual([...sums.times(1, 0, 1000)], [0, 50, 30, 0, 0, 20, 0]);
  assert.deepEqual([...sums.times(1, 210, 220)], [0, 10, 0, 0, 0, 0, 0]);
  assert.deepEqual([...sums.times(1, 300, 400)], [0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...sums.times(0, 0, 120)], [0, 20, 0, 0, 0, 0, 0]);
});

test('the wait of a program for its start is left out', () => {
  const trace = makeTrace([{tid: 1, pid: 1, name: 'a', start: 100, slices: [
    {state: RUNNING, length: 10}, {state: PAUSED, length: 40}, {state: RUNNING, length: 50},
    {state: PAUSED, length: 100}]}]);
  trace.summary.threads[0].start_gate_ns = 40;
  const sums = new StateSums(trace);
  assert.deepEqual([...sums.times(0, 0, 1000)], [0, 60, 100, 0, 0, 0, 0]);
  assert.deepEqual([...sums.times(0, 120, 220)], [0, 50, 20, 0, 0, 0, 0]);
  trace.summary.threads[0].start_gate_ns = 41;
  assert.deepEqual([...sums.times(0, 0, 1000)], [0, 60, 99, 0, 0, 0, 0], 'one is of the second block');
});

test('the waits of a program for a CPU before its start are left out, too', () => {
  const trace = makeTrace([{tid: 1, pid: 1, name: 'a', start: 100, slices: [
    {state: WARMING, length: 20}, {state: RUNNING, length: 10}, {state: WARMING, length: 40},
    {state: RUNNING, length: 50}, {state: WARMING, length: 30}]}]);
  trace.summary.threads[0].start_waits_ns = 60;
  const sums = new StateSums(trace);
  assert.deepEqual([...sums.times(0, 0, 1000)], [0, 60, 0, 0, 0, 30, 0]);
  assert.deepEqual([...sums.times(0, 110, 230)], [0, 60, 0, 0, 0, 10, 0]);
});

test('the summary lacks hidden threads: a thread after one has its own wait for its start', () => {
  const trace = makeTrace([{tid: 1, pid: 1, name: 'hidden', slices: []},
                           {tid: 2, pid: 2, name: 'shown', slices: [{state: PAUSED, length: 100}]}],
                          {summary: {threads: [{tid: 2, node: 0, birth_ns: 0, start_gate_ns: 40}]}});
  assert.deepEqual([...new StateSums(trace).times(1, 0, 100)], [0, 0, 60, 0, 0, 0, 0]);
});

test('a part of a mixed slice has that part of its mix', () => {
  const trace = makeTrace([{tid: 1, pid: 1, name: 'a', start: 100, slices: [
    {state: RUNNING, length: 100},
    {state: MIXED, length: 200, mix: [0, 120, 60, 0, 4, 16, 0]},
    {state: PAUSED, length: 100}]}]);
  const sums = new StateSums(trace);
  assert.deepEqual([...sums.times(0, 200, 400)], [0, 120, 60, 0, 4, 16, 0]);
  assert.deepEqual([...sums.times(0, 250, 300)], [0, 30, 15, 0, 1, 4, 0]);
  assert.deepEqual([...sums.times(0, 150, 450)], [0, 170, 110, 0, 4, 16, 0]);
});

test('sums over many slices are those of one after the other', () => {
  const slices = n => Array.from({length: n}, (_, i) => i % 10 === 9 ?
      {state: MIXED, length: 40, mix: [0, 10, 0, 0, 30, 0, 0]} : {state: 1 + i % 2, length: 3 + i % 7});
  const trace = makeTrace([{tid: 1, pid: 1, name: 'a', start: 7, slices: slices(33)},
                           {tid: 2, pid: 1, name: 'b', start: 13, slices: slices(100)}]);
  const sums = new StateSums(trace);
  const slow = (from, to) => {
    const sum = new Float64Array(7);
    for (let i = trace.first[1]; i < trace.first[2] - 1; i++) {
      const part = Math.min(to, trace.start[i + 1]) - Math.max(from, trace.start[i]);
      if (part > 0)
        sums.add(sum, i, 0, part, 1);
    }
    return [...sum];
  };
  for (let from = 0; from < 900; from += 17)
    for (let to = from; to < 1000; to += 31)
      sums.times(1, from, to).forEach((ns, s) =>
          assert.ok(Math.abs(ns - slow(from, to)[s]) < 1e-6, from + ' ' + to + ' ' + s));
});

test('sums of many slices are exact around each sixteenth, in each thread', () => {
  const slices = Array.from({length: 70}, (_, n) => ({state: n % 2 ? PAUSED : RUNNING, length: 10 + n}));
  const trace = makeTrace([{tid: 1, pid: 1, name: 'a', start: 0, slices}, {tid: 2, pid: 1, name: 'b', start: 0, slices}]);
  const sums = new StateSums(trace);
  for (const thread of [0, 1]) {
    // slice n starts at 10 n + n (n - 1) / 2: slice 15 at 255, 16 at 280, 17 at 306, 48 at 1608
    assert.deepEqual([...sums.times(thread, 0, 279)], [0, 136, 143, 0, 0, 0, 0]);
    assert.deepEqual([...sums.times(thread, 0, 281)], [0, 137, 144, 0, 0, 0, 0]);
    assert.deepEqual([...sums.times(thread, 0, 307)], [0, 162, 145, 0, 0, 0, 0]);
    assert.deepEqual([...sums.times(thread, 281, 1610)], [0, 657, 672, 0, 0, 0, 0]);
    assert.deepEqual([...sums.times(thread, 0, 1e6)], [0, 1540, 1575, 0, 0, 0, 0]);
  }
});
