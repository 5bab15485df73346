// SPDX-License-Identifier: BSD-2-Clause
// The tab of wakeup latencies: emulator/report/page/latency.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {latencyPage} from '../../emulator/report/page/latency.js';
import {PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {fakeDocument, makeTrace} from './fake.mjs';

const SEEN = 24; // an event started it, and one ended it
const waits = (...lengths) => lengths.flatMap(length =>
    [{state: WARMING, length, flags: SEEN}, {state: RUNNING, length: 5}, {state: PAUSED, length: 5}]);

function shown(threads, selected) {
  const trace = makeTrace(threads, {header: {latency: {count: 4, p50: 1000, p99: 5000, max: 9000}}});
  trace.threads.forEach((thread, n) => thread.summary = trace.summary.threads[n]);
  const into = fakeDocument();
  const app = {trace, colors: {light: true, ui: name => name}, rows: {shown: trace.threads}, selected};
  latencyPage(app)(into);
  return into;
}
const cells = table => table.all('td').map(cell => cell.text);

test('has the figures of all threads, each under its name', () => {
  const page = shown([{tid: 1, pid: 1, name: 'a', slices: waits(1000)}]);
  assert.deepEqual(cells(page), ['All', '4', '1.000 µs', '5.000 µs', '9.000 µs']);
  const texts = page.all('text').map(text => text.text);
  assert.deepEqual(texts.slice(-3), ['p50 1.000 µs', 'p99 5.000 µs', 'max 9.000 µs']);
  assert.match(page.text, /Select a thread/);
});

test('bars are a quarter of a power of two wide, and count the waits that were seen whole', () => {
  const page = shown([
    {tid: 1, pid: 1, name: 'a', slices: [{state: WARMING, length: 4000}, ...waits(1024, 1100, 4096)]},
    {tid: 2, pid: 1, name: 'b', slices: [...waits(1024, 0), {state: WARMING, length: 1024, flags: SEEN}]},
  ]);
  assert.deepEqual(page.all('title').map(title => title.text),
                   ['0 to 1 ns: 1', '1.024 µs to 1.218 µs: 3', '4.096 µs to 4.871 µs: 1']);
});

test('the highest bar is that of the most waits', () => {
  const heights = shown([{tid: 1, pid: 1, name: 'a', slices: waits(1024, 1100, 1150, 1200, 4096)}])
      .all('rect').map(bar => bar.attributes.height);
  assert.deepEqual(heights, [140, 70], 'the square root of 4 to that of 1');
});

test('a selected thread has its own figures', () => {
  const latency = {count: 1, p50: 7, p99: 8, max: 9};
  const page = shown([{tid: 1, pid: 1, name: 'a', slices: waits(64)},
                      {tid: 2, pid: 1, name: 'b', slices: waits(1024), latency}], {thread: 1});
  assert.deepEqual(cells(page).slice(5), ['This thread', '1', '7 ns', '8 ns', '9 ns']);
  assert.equal(page.all('h2')[1].text, 'b (2)');
  assert.deepEqual(page.all('title').map(title => title.text).at(-1), '1.024 µs to 1.218 µs: 1');
});

test('without a wakeup it says so', () => {
  assert.match(shown([{tid: 1, pid: 1, name: 'a', slices: [{state: RUNNING, length: 5}]}]).text,
               /No wakeup was seen/);
});
