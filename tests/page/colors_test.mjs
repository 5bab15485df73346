// SPDX-License-Identifier: BSD-2-Clause
// The palette on light and dark pages, and its patterns: emulator/report/page/colors.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {makeApp} from './fake_app.mjs';

const hex = list => [...list].map(pixel => pixel.toString(16)).join(' ');

test('a light page has pale inactive states, and texts that can be read on each', () => {
  const {colors} = makeApp().app;
  assert.equal(colors.css[3], 'rgb(240 240 240)');
  assert.equal(colors.ink.join(' '), '#000 #000 #000 #000 #000 #000 #fff');
  assert.deepEqual(colors.quiet, {0: 'soft', 2: 'rgb(113 118 140)', 3: 'soft'});
  assert.equal(hex(colors.pixel), 'ffffffff ff00ff00 ffffd6cd fff0f0f0 ff00a5ff ff00ffff ff0055aa');
  assert.equal(hex(colors.marks), 'ff9e9e9e ff009e00 ff9e857f ff959595 ff00669e ff009e9e ff003569');
  assert.equal(hex([colors.row, colors.alarmPixel]), 'ffffffff ff0000ff');
});

test('a dark page has the palette as it is, on its own background', () => {
  const {colors} = makeApp({light: false}).app;
  assert.equal(colors.ink.join(' '), '#fff #000 #fff #000 #000 #000 #fff');
  assert.deepEqual(colors.quiet, {0: 'soft', 2: 'rgb(150 168 255)', 3: 'soft'});
  assert.equal(hex(colors.pixel), 'ff101010 ff00ff00 ffff6040 ff808080 ff00a5ff ff00ffff ff0055aa');
  assert.equal(hex(colors.marks), 'ff0a0a0a ff009e00 ff9e3c28 ff4f4f4f ff00669e ff009e9e ff003569');
});

test('a text is black on a colour that looks bright, of which green counts most', () => {
  const series = ['#7d7d7d', '#7e7e7e', '#00d300', '#00d400', '#ff5200', '#ff5300', '#00a4ff', '#00a5ff'];
  const {colors} = makeApp({header: {series}}).app;
  assert.equal(colors.seriesInk.join(' '), '#fff #000 #fff #000 #fff #000 #fff #000');
  assert.equal(colors.series[4], 'rgb(255 82 0)');
  assert.equal(hex(colors.seriesPixel.slice(4, 5)), 'ff0052ff');
});

test('each pattern has its marks at places of the screen', () => {
  const {app: {colors}, trace} = makeApp({light: false});
  const square = (pattern, state = 4) => {
    trace.header.states[state].pattern = pattern;
    return Array.from({length: 6}, (_, y) => Array.from({length: 9}, (_, x) => {
      const pixel = colors.at(state, x, y);
      return pixel === colors.pixel[state] ? '.' : pixel === colors.marks[state] ? '#' : '?';
    }).join('')).join(' ');
  };
  assert.equal(square('none'), Array(6).fill('.........').join(' '));
  assert.equal(square('hatched'), '##....##. #....##.. ....##... ...##.... ..##....# .##....##');
  assert.equal(square('vertical'), Array(6).fill('#...#...#').join(' '));
  assert.equal(square('horizontal'), '######### ......... ......... ......... ######### .........');
  assert.equal(square('dots'), '......... ......... ......... ......... #.......# .........');
  assert.equal(square('dots', 0).split(' ')[4], '?.......?', 'no darker than its background');
});
