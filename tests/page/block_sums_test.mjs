// SPDX-License-Identifier: BSD-2-Clause
// Sums over any span of threads: emulator/report/page/block_sums.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {BlockSums} from '../../emulator/report/page/block_sums.js';
import {makeTrace} from './fake.mjs';

/// Threads of 0, 5, 512, 513 and 2000 slices whose lengths go from 0 to 6 ns, in three states.
function makeThreads() {
  return makeTrace([0, 5, 512, 513, 2000].map((count, n) => ({
    tid: n + 1, pid: 1, name: 't', start: 10 * n,
    slices: Array.from({length: count}, (_, i) => ({state: 1 + (i * 7 + n) % 3, length: (i * 5 + n) % 7}))})));
}
/// Counts the ns of each state, and that of each second slice as the key 9.
function makeSums(trace, asked = []) {
  return new BlockSums(trace, (slice, start, end, add) => {
    asked.push(slice);
    add(trace.state(slice), end - start);
    if (slice % 2)
      add(9, end - start);
  });
}
const plain = sums => Object.fromEntries(sums);

function slow(trace, threads, from, to) {
  const sums = {};
  for (const t of threads)
    for (let i = trace.first[t]; i < trace.first[t + 1] - 1; i++) {
      const ns = Math.min(to, trace.start[i + 1]) - Math.max(from, trace.start[i]);
      for (const key of ns > 0 ? [trace.state(i), ...i % 2 ? [9] : []] : [])
        sums[key] = (sums[key] ?? 0) + ns;
    }
  return sums;
}

test('sums are those of one slice after the other, before and after the blocks are made', () => {
  const trace = makeThreads(), sums = makeSums(trace), whole = trace.start[trace.first[5] - 1];
  for (const round of ['first', 'second'])
    for (const threads of [[0], [1], [2], [3], [4], [4, 1], [0, 1, 2, 3, 4]])
      for (let from = 0; from <= whole; from += 397)
        for (let to = from; to <= whole + 400; to += 811)
          assert.deepEqual(plain(sums.between(threads, from, to)), slow(trace, threads, from, to),
                           [round, threads, from, to].join(' '));
});

test('whole blocks are summed up once, only the ends of a span again', () => {
  const trace = makeThreads(), asked = [], sums = makeSums(trace, asked);
  const {first, start} = trace, begin = first[4];
  assert.equal([...sums.steps([4], -Infinity, Infinity)].length, 4); // 2000 slices in blocks of 512
  const once = asked.length;
  sums.between([4], start[begin], start[first[5] - 1]);
  assert.equal(asked.length, once, 'the last block is a whole one, too');
  sums.between([4], start[begin + 511], start[begin + 1025]);
  assert.deepEqual(asked.slice(once).filter(slice => slice < begin + 511 || slice >= begin + 1025 ||
      (slice >= begin + 512 && slice < begin + 1024)), []);
  assert.ok(asked.length > once);
});

test('only the blocks of some threads and a time are made ahead', () => {
  const trace = makeThreads(), asked = [], sums = makeSums(trace, asked), {first, start} = trace;
  const from = start[first[4] + 1], to = start[first[4] + 1600];
  assert.deepEqual([...sums.steps([4], from, to)], [1024 / 2000, 1536 / 2000]);
  const once = asked.length;
  assert.deepEqual(plain(sums.between([4], from, to)), slow(trace, [4], from, to));
  assert.deepEqual(asked.slice(once).filter(slice => slice >= first[4] + 512 && slice < first[4] + 1536), []);
});

test('an empty span and no threads have no sums', () => {
  const sums = makeSums(makeThreads());
  assert.deepEqual([sums.between([4], 500, 500), sums.between([], 0, 1e6), sums.between([0], 0, 1e6)], [[], [], []]);
});
