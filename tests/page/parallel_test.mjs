// SPDX-License-Identifier: BSD-2-Clause
// Counts of threads over time, and their latency shares: emulator/report/page/parallel.js,
// density.js and latency_shares.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Densities, Density} from '../../emulator/report/page/density.js';
import {LatencyShares} from '../../emulator/report/page/latency_shares.js';
import {idleCounts, threadCounts} from '../../emulator/report/page/parallel.js';
import {COOLING, MIXED, PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {makeTrace} from './fake.mjs';

const rounded = means => [...means].map(mean => Math.round(mean * 1e6) / 1e6);

/// Returns random numbers below a limit that are the same in each run.
function randomly(seed) {
  return limit => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor(seed / 65536) % limit;
  };
}
function randomTrace(seed, to = 1000) {
  const random = randomly(seed), states = [RUNNING, PAUSED, COOLING, WARMING];
  return makeTrace(Array.from({length: 2 + random(4)}, (_, tid) => {
    const slices = [];
    for (let left = to; left > 0;) {
      const length = Math.min(left, random(120));
      slices.push({state: states[random(4)], length});
      left -= length;
    }
    return {tid, pid: 1, name: 't', slices};
  }), {to});
}
/// Returns how many threads are in states in each ns.
function counts(trace, states) {
  const all = new Float64Array(trace.to);
  trace.threads.forEach((_, t) => {
    for (let i = trace.first[t]; i < trace.first[t + 1] - 1; i++)
      if (states.includes(trace.state(i)))
        for (let ns = trace.start[i]; ns < trace.end(i); ns++)
          all[ns]++;
  });
  return all;
}

test('a span is spread evenly over the parts that it touches', () => {
  const density = new Density(100, 200, 10);
  density.add(105, 125, 40);
  density.add(150, 151, 7);
  density.add(200, 200, 3);
  density.finish();
  assert.deepEqual([...density.sums], [0, 10, 30, 40, 40, 40, 47, 47, 47, 47, 50]);
  assert.equal(density.until(115), 20);
  assert.deepEqual([...density.means(100, 140, 2)], [1.5, 0.5]);
});

test('the graph has the means of 300 random traces, counted ns by ns', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const trace = randomTrace(seed), random = randomly(seed + 1000);
    const from = 10 * random(50), to = from + 10 * (1 + random(50)), columns = (to - from) / 10;
    const means = threadCounts(trace).means(from, to, columns);
    [[RUNNING], [COOLING, WARMING], [PAUSED]].forEach((states, series) => {
      const all = counts(trace, states);
      const expected = Array.from({length: columns}, (_, x) =>
          all.slice(from + 10 * x, from + 10 * x + 10).reduce((a, b) => a + b, 0) / 10);
      expected.forEach((mean, x) => // the edge of a column may lie within 1/131072 of the run
          assert.ok(Math.abs(means[series][x] - mean) < 0.02, 'seed ' + seed));
    });
  }
});

test('the latency shares of all threads add up to the time in which one of them runs', () => {
  for (const seed of [1, 2, 3]) {
    const random = randomly(seed), end = 100000;
    const slices = () => {
      const list = [];
      for (let left = end; left > 0; left -= list.at(-1).length)
        list.push({state: random(2) ? RUNNING : PAUSED, length: Math.min(left, 1 + random(40))});
      return list;
    };
    const threads = Array.from({length: 6}, (_, tid) => ({tid, pid: 1, name: 't', slices: slices()}));
    const shares = new LatencyShares(makeTrace(threads)), runs = new Uint8Array(end);
    for (const {slices} of threads) {
      let at = 0;
      for (const {state, length} of slices) {
        if (state === RUNNING)
          runs.fill(1, at, at + length);
        at += length;
      }
    }
    const sum = threads.reduce((all, _, t) => all + shares.of(t, 0, end), 0);
    assert.equal(Math.round(sum), runs.reduce((all, one) => all + one, 0), 'seed ' + seed);
  }
});

test('latency shares of 300 random traces are those of every ns', () => {
  for (let seed = 1; seed <= 300; seed++) { // each 30th has several blocks of sums and windows of changes
    const end = seed % 30 ? 1000 : 80000;
    const trace = randomTrace(seed, end), random = randomly(seed + 2000), running = counts(trace, [RUNNING]);
    const from = random(end / 2), to = from + 1 + random(end / 2), shares = new LatencyShares(trace);
    if (seed % 2)
      [...shares.steps()];
    trace.threads.forEach((_, t) => {
      let expected = 0;
      for (let ns = from; ns < to; ns++)
        if (trace.state(trace.find(t, ns)) === RUNNING)
          expected += 1 / running[ns];
      assert.ok(Math.abs(shares.of(t, from, to) - expected) < 1e-6, 'seed ' + seed + ', thread ' + t);
    });
  }
});

test('two compared runs share no moment', () => {
  const threads = [0, 0, 1].map((node, n) => ({tid: n, pid: 1, node, name: 't', slices: [{state: RUNNING, length: 900}]}));
  const shares = header => {
    const all = new LatencyShares(makeTrace(threads, {header}));
    [...all.steps()];
    return threads.map((_, t) => Math.round(all.of(t, 100, 400)));
  };
  assert.deepEqual(shares({}), [100, 100, 100], 'two hosts of one run share all, as in why');
  assert.deepEqual(shares({against: {}}), [150, 150, 300]);
});

test('a merged slice counts with its times in states', () => {
  const trace = makeTrace([{tid: 1, pid: 1, name: 'a', slices: [
    {state: MIXED, length: 1000, mix: [0, 250, 500, 0, 100, 150, 0]}]}]);
  assert.deepEqual(threadCounts(trace).means(0, 1000, 1).map(rounded), [[0.25], [0.25], [0.5]]);
});

test('a picture of a twentieth of the run does not go through its slices again', () => {
  let passes = 0;
  const densities = new Densities(0, 1e9, 1, () => passes++);
  densities.means(0, 1e9, 600);
  densities.means(1e8, 1.5e8, 600);
  assert.equal(passes, 1);
  densities.means(1e8, 1.3e8, 600);
  assert.equal(passes, 2, 'of a smaller part, the sums are too coarse');
});

test('idle CPUs of a wait are spread over it', () => {
  const whys = {lists: {idle: [{}, {}]}, eachIdle: (from, to, put) => put(200, 600, [100, 40])};
  assert.deepEqual(idleCounts({from: 0, to: 1000}, whys).means(210, 220, 2).map(rounded),
                   [[0.25, 0.25], [0.1, 0.1]]);
});
