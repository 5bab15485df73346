// SPDX-License-Identifier: BSD-2-Clause
// Numbers for people: emulator/report/page/format.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as format from '../../emulator/report/page/format.js';

test('a duration has the largest unit that it fills, and three to four digits', () => {
  const texts = [[0, '0'], [1, '1 ns'], [999, '999 ns'], [1000, '1.000 µs'], [1234567, '1.235 ms'],
                 [9999, '9.999 µs'], [10000, '10.00 µs'], [99990, '99.99 µs'], [100000, '100.0 µs'],
                 [1e6, '1.000 ms'], [999e6, '999.0 ms'], [1e9, '1.000 s'], [7200e9, '7200.0 s'],
                 [0.4, '0 ns'], [null, '–'], [undefined, '–']];
  for (const [ns, text] of texts)
    assert.equal(format.duration(ns), text);
});

test('a time of the trace is exact', () => {
  assert.equal(format.exactTime(1234567890), '1.234\u2009567\u2009890 s');
  assert.equal(format.exactTime(5), '0.000\u2009000\u2009005 s');
  assert.equal(format.exactTime(999999999.6), '1.000\u2009000\u2009000 s');
  assert.equal(format.exactTime(61e9), '61.000\u2009000\u2009000 s');
});

test('a percentage has one digit, and none of nothing is known', () => {
  assert.equal(format.percent(1, 8), '12.5 %');
  assert.equal(format.percent(0, 8), '0.0 %');
  assert.equal(format.percent(1, 1), '100.0 %');
  assert.equal(format.percent(1, 0), '–');
});

test('one is singular', () => {
  assert.equal(format.counted(1, 'thread'), '1 thread');
  assert.equal(format.counted(0, 'thread'), '0 threads');
  assert.equal(format.counted(1234, 'switch', 'switches'), '1,234 switches');
  assert.equal(format.count(null), 'unknown');
  assert.equal(format.count(undefined), 'unknown');
});

test('a duration is read in any unit, and in ns without one', () => {
  const values = [['5ms', 5e6], ['30us', 3e4], ['30µs', 3e4], ['2.5 s', 2.5e9], ['100', 100],
                  ['7ns', 7], ['0', 0]];
  for (const [text, ns] of values)
    assert.equal(format.parseDuration(text), ns, text);
  for (const text of ['', 'ms', '5 m', '-5ms', '5ms ', 'x5ms', '1e3', '.5s'])
    assert.ok(Number.isNaN(format.parseDuration(text)), text);
});

test('a step of an axis is 1, 2 or 5 times a power of ten', () => {
  const steps = [[1000, 10, 100], [1001, 10, 200], [2000, 10, 200], [2001, 10, 500], [5000, 10, 500],
                 [5001, 10, 1000], [3, 10, 1], [70, 10, 10]];
  for (const [span, most, step] of steps)
    assert.equal(format.roundStep(span, most), step, span);
});
