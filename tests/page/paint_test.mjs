// SPDX-License-Identifier: BSD-2-Clause
// The pixels of rows: emulator/report/page/paint.js, cpus.js and sums.js. A letter is a pixel's colour.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Painter} from '../../emulator/report/page/paint.js';
import {lines, varints} from './fake.mjs';
import {makeApp} from './fake_app.mjs';
import {MIXED, PAUSED, RUNNING, WARMING, COOLING, DEAD, UNKNOWN} from '../../emulator/report/page/trace.js';

const LETTERS = 'urpdcwt'; // unknown, running, …: of the states, by number

/// Paints rows into a picture. Returns its lines.
function picture({app, canvas}, {width, height = 4, from = 1000, to = 2000}, paint) {
  const {painter, colors} = app;
  painter.begin(canvas.getContext(), width, height, from, to);
  paint(painter, colors);
  const letter = new Map([...colors.pixel].map((pixel, n) => [pixel, LETTERS[n]]));
  colors.marks.forEach((pixel, n) => letter.has(pixel) || letter.set(pixel, LETTERS[n].toUpperCase()));
  colors.seriesPixel.forEach((pixel, n) => letter.set(pixel, String(n)));
  letter.set(colors.alarmPixel, 'X').set(colors.row, '.');
  return Array.from({length: height}, (_, y) => Array.from(
      painter.pixels.subarray(y * width, (y + 1) * width), pixel => letter.get(pixel) ?? '?').join(''));
}
const thread = (made, n, size) => picture(made, {height: 6, ...size}, painter => painter.thread(n, 1, 5));
const one = slices => makeApp({
  threads: [{tid: 1, pid: 1, name: 'a', start: 1000, slices}],
  header: {critical_path: null, waits: {sums: [], left_out: 0}},
  parts: {critical_path: varints(), events: varints(),
          order: varints(...slices.filter(slice => slice.state === RUNNING).map(() => 0))},
});

test('slices that are whole pixels have their colours, between the edges of the row', () => {
  const made = makeApp();
  assert.deepEqual(thread(made, 0, {width: 20}), [
    '....................', 'rrrrppppppwrrrrrrrrr', 'rrrrppppppwrrrrrrrrr', 'rrrrppppppwrrrrrrrrr', 'rrrrppppppwrrrrrrrrr',
    '....................']);
  assert.deepEqual(thread(made, 1, {width: 20})[2], '....rrrrccrrrrrrdddd');
  assert.deepEqual(thread(made, 1, {width: 10, from: 1350, to: 1550})[2], 'rrccccccrr', 'halves are on top');
});

test('a column of several states is divided by their shares, what runs at the bottom', () => {
  assert.deepEqual(thread(makeApp(), 2, {width: 10, height: 12, from: 1300, to: 1800}), lines(`
..........
pprrpppppp
pprrwwwwww
pprrcccccc
pprrrrrrrr
..........
..........
..........
..........
..........
..........
..........`));
  const made = one([{state: PAUSED, length: 500}, {state: RUNNING, length: 250, cpu: 1}, {state: WARMING, length: 250}]);
  assert.deepEqual(thread(made, 0, {width: 1}), ['.', 'p', 'p', 'w', 'r', '.']);
  const none = one([{state: PAUSED, length: 500}, {state: MIXED, length: 500, mix: [0, 0, 0, 0, 0, 0, 0]}]);
  assert.deepEqual(thread(none, 0, {width: 2}), ['..', 'p.', 'p.', 'p.', 'p.', '..'], 'nothing is known of the second');
  const short = one([{state: PAUSED, length: 991}, {state: RUNNING, length: 4, cpu: 1}, {state: COOLING, length: 5}]);
  assert.deepEqual(thread(short, 0, {width: 1}), ['.', 'p', 'p', 'c', 'r', '.'], 'visible however short');
  const rest = one([{state: UNKNOWN, length: 400}, {state: DEAD, length: 300}, {state: RUNNING, length: 300, cpu: 1}]);
  assert.deepEqual(thread(rest, 0, {width: 1}), ['.', '.', '.', '.', 'r', '.'], 'the background is what is unknown most');
});

test('a mixed slice has the shares of its states in each column', () => {
  const made = one([{state: MIXED, length: 600, cpu: 1, mix: [0, 300, 300, 0, 0, 0, 0]}, {state: RUNNING, length: 400, cpu: 1}]);
  assert.deepEqual(thread(made, 0, {width: 10}).slice(1, 5), ['pppppprrrr', 'pppppprrrr', 'rrrrrrrrrr', 'rrrrrrrrrr']);
});

test('a thread is painted from its birth to its end, and where it is in the picture only', () => {
  const made = makeApp();
  assert.deepEqual(thread(made, 2, {width: 20})[2], '......pprrwwwwww....');
  assert.deepEqual(thread(made, 2, {width: 4, from: 1000, to: 1200})[2], '....');
  assert.deepEqual(thread(made, 2, {width: 4, from: 1900, to: 2000})[2], '....');
  assert.deepEqual(thread(made, 0, {width: 10, from: 1210, to: 1220})[2], 'pppppppppp', 'inside one slice');
  assert.deepEqual(thread(made, 0, {width: 20, from: 1495, to: 1505})[2], 'ppppppppppwwwwwwwwww', 'two pixels a ns');
  assert.deepEqual(thread(made, 2, {width: 20, from: 1795, to: 1805})[2], 'wwwwwwwwww..........', 'its end');
  const row = picture(made, {width: 10, height: 2}, painter => painter.thread(0, -3, 1));
  assert.deepEqual(row, ['rrppprrrrr', '..........'], 'the half of row 5 that is above is Running');
  const below = picture(made, {width: 10, height: 2}, painter => painter.thread(0, 1, 30));
  assert.equal(below[0], '..........');
  assert.match(below[1], /^rrppp/);
});

test('a pattern is that of the screen', () => {
  const made = makeApp();
  made.trace.header.states[PAUSED].pattern = 'vertical';
  made.app.painter = new Painter(made.trace, made.app.sums, made.app.runs, made.app.colors);
  assert.deepEqual(thread(made, 0, {width: 20}).slice(0, 3), ['.'.repeat(20), 'rrrrPpppPpwrrrrrrrrr', 'rrrrPpppPpwrrrrrrrrr']);
});

test('a CPU has the colour of the process that runs, as high as it was busy', () => {
  const made = makeApp();
  const cpu = (number, size) => picture(made, {height: 6, ...size}, painter => painter.cpu(
      number, 1, 5, run => made.app.colors.seriesPixel[made.app.timeline.processOf(number, run).number]));
  assert.deepEqual(cpu(0, {width: 20}).slice(0, 2), ['.'.repeat(20), '00000000..000000....']);
  assert.deepEqual(cpu(1, {width: 20})[3], '...........000000000');
  assert.deepEqual(cpu(2, {width: 20})[3], '........11..........');
  assert.deepEqual(cpu(0, {width: 4}), ['....', '0.0.', '0.0.', '000.', '0000', '....'], '100, 60, 100 and 20 %');
  assert.deepEqual(cpu(1, {width: 3, from: 1000, to: 1900}).slice(3), ['..0', '.00', '...']);
  assert.deepEqual(cpu(0, {width: 10, from: 1390, to: 1400})[1], '0000000000');
  assert.deepEqual(cpu(0, {width: 10, from: 1400, to: 1500})[4], '..........');
  assert.deepEqual(cpu(0, {width: 10, from: 1495, to: 1505})[4], '.....00000');
  assert.deepEqual(cpu(0, {width: 10, from: 1795, to: 1805})[4], '00000.....');
});

test('a CPU whose runs are not all known has its load as grey', () => {
  const made = makeApp({header: {coarse_threads: 1}});
  const rows = picture(made, {width: 8, height: 6}, painter => painter.cpu(1, 1, 5, () => made.app.colors.seriesPixel[0]));
  assert.deepEqual(rows, lines(`
........
.....000
....p000
....0000
....0000
........`));
});

test('a time without events is hatched over two pixels or more', () => {
  const dark = (from, to, width = 10) => picture(makeApp(), {width}, painter => painter.dark(from, to, 0, 3));
  assert.deepEqual(dark(1200, 1600), ['....XX....', '...XX.....', '..XX......', '..........']);
  assert.deepEqual(dark(1500, 1501), ['.....X....', '..........', '......X...', '..........']);
  assert.deepEqual(dark(1900, 3000), ['.........X', '..........', '..........', '..........']);
  assert.deepEqual(dark(0, 1100), ['XX........', 'X.........', '..........', '..........']);
});

test('the picture is made anew for another size, and empty each time', () => {
  const {app, canvas} = makeApp(), {painter} = app, context = canvas.getContext();
  painter.begin(context, 4, 2, 1000, 2000);
  const {image} = painter;
  painter.pixels.fill(7);
  painter.begin(context, 4, 2, 1000, 2000);
  assert.equal(painter.image, image);
  assert.ok(painter.pixels.every(pixel => pixel === app.colors.row));
  painter.begin(context, 4, 3, 1000, 2000);
  assert.equal(painter.pixels.length, 12);
  painter.begin(context, 5, 3, 1000, 2000);
  assert.equal(painter.pixels.length, 15);
});

test('busy times of a CPU are exact for any part of it', () => {
  const {runs} = makeApp().app;
  const cases = [[0, 1000, 2000, 700], [0, 1100, 1150, 50], [0, 1350, 1550, 100], [0, 1400, 1500, 0], [0, 1800, 2000, 0],
                 [1, 1000, 1550, 0], [1, 1500, 1600, 50], [2, 1450, 3000, 50]];
  for (const [cpu, from, to, busy] of cases)
    assert.equal(runs.busyNs(cpu, from, to), busy, cpu + ': ' + from + ' to ' + to);
  assert.deepEqual([999, 1000, 1199, 1200, 1399, 1400, 1499, 1500, 1799, 1800].map(time => runs.sliceAt(0, time)),
                   [-1, 0, 0, 5, 5, -1, -1, 7, 7, -1]);
  assert.deepEqual(runs.threads.map(threads => [...threads]), [[0, 1, 1], [0], [2]]);
  assert.deepEqual(runs.slices.map(slices => [...slices]), [[0, 5, 7], [3], [11]]);
});
