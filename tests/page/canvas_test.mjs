// SPDX-License-Identifier: BSD-2-Clause
// Fonts and lines of the canvases, and what is drawn outside of what is visible.
import assert from 'node:assert/strict';
import test from 'node:test';
import {lines, varints} from './fake.mjs';
import {makeApp} from './fake_app.mjs';

/// Draws the page. Returns the settings of a canvas in their order, each once.
function settings(id, change = () => {}) {
  const made = makeApp(), canvas = made.byId(id);
  change(made);
  canvas.getContext();
  canvas.settings.length = 0;
  made.app.draw();
  return [...new Set(canvas.settings)];
}

test('each canvas has its fonts and the widths of its lines', () => {
  const small = 'font 11px system-ui, "DejaVu Sans", sans-serif', normal = 'font 12px system-ui, "DejaVu Sans", sans-serif';
  assert.deepEqual(settings('rows'), [normal, 'textBaseline middle', 'font 600 12px system-ui, "DejaVu Sans", sans-serif', small]);
  assert.deepEqual(settings('rows', ({app}) => app.select({thread: 0, slice: 1})).filter(one => one.startsWith('line')),
                   ['lineWidth 3', 'lineWidth 2', 'lineWidth 1.5'], 'the frame, and the arrow');
  assert.deepEqual(settings('rows', ({app}) => app.mark({label: 'two', slices: [0, 1]})).filter(one => one.startsWith('line')),
                   ['lineWidth 2']);
  assert.deepEqual(settings('overview'), ['lineWidth 1.5', normal]);
  assert.deepEqual(settings('axis'), [small]);
  assert.deepEqual(settings('graphs'), ['lineWidth 1.5', normal, small]);
});

test('sections and regions are drawn only where they are', () => {
  const bars = (from, to) => {
    const {app, canvas, draw} = makeApp();
    canvas.getContext();
    app.view.set(from, to);
    canvas.calls.length = 0;
    draw();
    return canvas.calls.filter(call => /^fillRect \S+ \S+ \S+ [23] /.test(call));
  };
  assert.deepEqual(bars(1000, 1010), lines(`
fillRect 210 135 400 2 critical`), 'before the first section');
  assert.deepEqual(bars(1110, 1120).slice(0, 1), ['fillRect 210 133 400 2 accent'], 'inside the region');
  assert.deepEqual(bars(1210, 1220), lines(`
fillRect 210 157 400 2 critical`), 'after all of them');
});
