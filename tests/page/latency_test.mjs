// SPDX-License-Identifier: BSD-2-Clause
// The tab of wakeup latencies: emulator/report/page/latency.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {latencyPage} from '../../emulator/report/page/latency.js';
import {PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {fakeDocument, lines, makeTrace} from './fake.mjs';

const SEEN = 24; // an event started it, and one ended it
const waits = (...lengths) => lengths.flatMap(length =>
    [{state: WARMING, length, flags: SEEN}, {state: RUNNING, length: 5}, {state: PAUSED, length: 5}]);

function shown(threads, selected) {
  const trace = makeTrace(threads, {header: {latency: {count: 4, p50: 1000, p99: 5000, max: 9000}}});
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

/// Returns all elements of the first figure, a line each.
const drawing = page => page.all('svg')[0].children.map(({tag, attributes, children}) => [
  tag, ...Object.entries(attributes).map(([name, value]) => name + '=' + (typeof value === 'number' ? Math.round(value * 10) / 10 : value)),
  children.map(child => child.text ?? child).join()].join(' '));

test('bars, powers of ten and figures are at their places', () => {
  assert.deepEqual(drawing(shown([{tid: 1, pid: 1, name: 'a', slices: waits(9, 100, 1000, 1024, 5000, 9000)}])), lines(`
rect x=10.5 y=26 width=9 height=140 fill=accent 8 ns to 10 ns: 1
rect x=150.5 y=26 width=9 height=140 fill=accent 91 ns to 108 ns: 1
rect x=280.5 y=26 width=9 height=140 fill=accent 861 ns to 1.024 µs: 1
rect x=290.5 y=26 width=9 height=140 fill=accent 1.024 µs to 1.218 µs: 1
rect x=380.5 y=26 width=9 height=140 fill=accent 4.871 µs to 5.793 µs: 1
rect x=410.5 y=26 width=9 height=140 fill=accent 8.192 µs to 9.742 µs: 1
line x1=22.9 x2=22.9 y1=166 y2=171 stroke=currentColor 
text x=25.9 y=184 text-anchor=start 10 ns
line x1=155.8 x2=155.8 y1=166 y2=171 stroke=currentColor 
text x=158.8 y=184 text-anchor=start 100 ns
line x1=288.6 x2=288.6 y1=166 y2=171 stroke=currentColor 
text x=291.6 y=184 text-anchor=start 1 µs
line x1=288.6 x2=288.6 y1=12 y2=166 stroke=currentColor stroke-dasharray=3 3 
text x=285.6 y=10 text-anchor=end p50 1.000 µs
line x1=381.5 x2=381.5 y1=24 y2=166 stroke=currentColor stroke-dasharray=3 3 
text x=378.5 y=22 text-anchor=end p99 5.000 µs
line x1=415.4 x2=415.4 y1=12 y2=166 stroke=currentColor stroke-dasharray=3 3 
text x=412.4 y=10 text-anchor=end max 9.000 µs`));
});

test('a figure right of the middle has its text on the left, and the last is at the edge', () => {
  const trace = latency => {
    const made = makeTrace([{tid: 1, pid: 1, name: 'a', slices: waits(64, 4096)}], {header: {latency}});
    const into = fakeDocument();
    latencyPage({trace: made, colors: {light: false, css: {5: 'yellow'}, ui: name => name}, rows: {shown: made.threads}})(into);
    return into;
  };
  assert.deepEqual(drawing(trace({count: 2, p50: 64, p99: 512, max: 1e9})), lines(`
rect x=16.4 y=26 width=14.9 height=140 fill=yellow 64 ns to 76 ns: 1
rect x=398.6 y=26 width=14.9 height=140 fill=yellow 4.096 µs to 4.871 µs: 1
line x1=56.9 x2=56.9 y1=166 y2=171 stroke=currentColor 
text x=59.9 y=184 text-anchor=start 100 ns
line x1=268.6 x2=268.6 y1=166 y2=171 stroke=currentColor 
text x=271.6 y=184 text-anchor=start 1 µs
line x1=15.9 x2=15.9 y1=12 y2=166 stroke=currentColor stroke-dasharray=3 3 
text x=18.9 y=10 text-anchor=start p50 64 ns
line x1=207 x2=207 y1=24 y2=166 stroke=currentColor stroke-dasharray=3 3 
text x=210 y=22 text-anchor=start p99 512 ns
line x1=429 x2=429 y1=12 y2=166 stroke=currentColor stroke-dasharray=3 3 
text x=426 y=10 text-anchor=end max 1.000 s`));
});
