// SPDX-License-Identifier: BSD-2-Clause
// What is drawn on the canvas of the rows: emulator/report/page/timeline.js and arrows.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {lines, varints} from './fake.mjs';
import {makeApp, STARTS, ENDS, left} from './fake_app.mjs';
import {COOLING, PAUSED, RUNNING} from '../../emulator/report/page/trace.js';

const VISIBLE = /^(fill|stroke|putImage|moveTo|lineTo|arc|rect|setLineDash|setTransform)/;

/// Returns what is drawn after `change`.
function drawn(change = () => {}, options = {}) {
  const made = makeApp(options);
  made.canvas.getContext();
  change(made);
  made.canvas.calls.length = 0;
  made.app.timeline.draw();
  return made.canvas.calls.filter(call => VISIBLE.test(call)).map(call => call.replace('[object Object]', 'image'));
}

test('the whole run has names, texts, sections, events, regions and the critical path', () => {
  assert.deepEqual(drawn(), lines(`
setTransform 1 0 0 1 0 0
fillRect 0 0 610 300 #ffffff
putImageData image 210 0
rect 210 0 400 300
fillText main (10) 214 35 #fff
fillText work (11) 294 35 #fff
fillText work (11) 414 35 #fff
fillText main (10) 434 57 #fff
fillText The running 214 125 #000
fillText waits for · futex 294 125 rgb(113 118 140)
fillText The running · CPU 1 of one 434 125 #000
fillRect 218 115 32 3 rgb(221 238 255)
fillRect 230 117 20 3 rgb(17 34 51)
moveTo 370 123
lineTo 366 116
lineTo 374 116
fill text
stroke #ffffff
fillRect 250 133 40 2 accent
fillRect 490 133 20 2 accent
fillRect 210 135 80 2 critical
fillRect 370 135 240 2 critical
fillText The running 294 147 #000
fillText The running 414 147 #000
fillText The dead 534 147 soft
moveTo 410 145
lineTo 406 138
lineTo 414 138
fill text
stroke #ffffff
fillRect 490 155 20 2 accent
fillRect 290 157 80 2 critical
fillRect 209 0 1 300 line
fillRect 0 0 610 24 head
fillText ▾ 8 12 soft
rect 0 0 610 24
fillText CPUs 22 12 text
fillText 3 54 12 soft
fillRect 0 24 209 22 panel
rect 0 24 204 22
fillText CPU 0 of one 22 35 text
fillText  200 35 soft
fillRect 0 46 209 22 panel
rect 0 46 204 22
fillText CPU 1 of one 22 57 text
fillText  200 57 soft
fillRect 0 68 209 22 panel
rect 0 68 204 22
fillText CPU 0 of two 22 79 text
fillText  200 79 soft
fillRect 0 90 610 24 head
fillText ▾ 8 102 soft
fillRect 22 97 9 9 rgb(17 34 51)
rect 0 90 610 24
fillText main 37 102 text
fillText one · pid 10 · 2 threads 69 102 soft
fillRect 0 114 209 22 panel
rect 0 114 204 22
fillText main 48 125 text
fillText one · 10 152 125 soft
fillRect 0 136 209 22 panel
rect 0 136 204 22
fillText work 48 147 text
fillText one · 11 152 147 soft
fillRect 0 158 209 22 panel
fillRect 22 165 9 9 rgb(221 238 255)
rect 0 158 204 22
fillText main 37 169 text
fillText two · 10 152 169 soft`));
});

test('a part of the run is cut at the names, and has the selected slice, its arrows and the range', () => {
  assert.deepEqual(drawn(({app, byId}) => {
    byId('scroller').clientHeight = 100;
    app.select({thread: 0, slice: 1});
    app.setRange({from: 1900, to: 1300});
    app.view.set(1100, 1600);
    byId('scroller').scrollTop = 40;
  }), lines(`
setTransform 1 0 0 1 0 0
fillRect 0 0 610 100 #ffffff
putImageData image 210 0
rect 210 0 400 100
fillText main (10) 214 -5 #fff
fillText work (11) 294 -5 #fff
fillText work (11) 534 -5 #fff
fillText main (10) 454 39 #000
fillText The running 214 85 #000
fillText waits for · futex 294 85 rgb(113 118 140)
fillRect 210 75 1 3 rgb(221 238 255)
fillRect 210 77 1 3 rgb(17 34 51)
moveTo 450 83
lineTo 446 76
lineTo 454 76
fill text
stroke #ffffff
fillRect 210 93 80 2 accent
fillRect 210 95 80 2 critical
fillRect 450 95 160 2 critical
fillText The running 294 107 #000
fillText The cooling 454 107 #000
fillText The running 534 107 #000
moveTo 530 105
lineTo 526 98
lineTo 534 98
fill text
stroke #ffffff
fillRect 290 117 160 2 critical
fillRect 370 0 480 100 #0b62b022
fillRect 370 0 1 100 accent
fillRect 850 0 1 100 accent
strokeRect 289 75 242 20 #fff
strokeRect 289 75 242 20 #000
setLineDash
moveTo 530 107
lineTo 530 93
stroke accent
setLineDash
arc 530 107 2.5 0 7
fill accent
moveTo 530 88
lineTo 525.5 96
lineTo 534.5 96
fill accent
setLineDash
moveTo 290 85
lineTo 290 99
stroke rgb(255 165 0)
setLineDash
arc 290 85 2.5 0 7
fill rgb(255 165 0)
moveTo 290 104
lineTo 285.5 96
lineTo 294.5 96
fill rgb(255 165 0)
fillRect 209 0 1 100 line
fillRect 0 -16 209 22 panel
rect 0 -16 204 22
fillText CPU 0 of one 22 -5 text
fillText  200 -5 soft
fillRect 0 6 209 22 panel
rect 0 6 204 22
fillText CPU 1 of one 22 17 text
fillText  200 17 soft
fillRect 0 28 209 22 panel
rect 0 28 204 22
fillText CPU 0 of two 22 39 text
fillText  200 39 soft
fillRect 0 50 610 24 head
fillText ▾ 8 62 soft
fillRect 22 57 9 9 rgb(17 34 51)
rect 0 50 610 24
fillText main 37 62 text
fillText one · pid 10 · 2 threads 69 62 soft
fillRect 0 74 209 22 head
rect 0 74 204 22
fillText main 48 85 text
fillText one · 10 152 85 soft
fillRect 0 96 209 22 panel
rect 0 96 204 22
fillText work 48 107 text
fillText one · 11 152 107 soft`));
});

test('a preempted thread has no arrow to a thread without a row, and the dark page has light frames', () => {
  assert.deepEqual(drawn(({app}) => {
    app.rows.fold(app.rows.list[0]);
    app.select({thread: 1, slice: app.trace.first[1] + 1});
  }, {light: false}), lines(`
setTransform 1 0 0 1 0 0
fillRect 0 0 610 300 #101010
putImageData image 210 0
rect 210 0 400 300
fillText The running 214 59 #000
fillText waits for · futex 294 59 rgb(150 168 255)
fillText The running · CPU 1 of one 434 59 #000
fillRect 218 49 32 3 rgb(221 238 255)
fillRect 230 51 20 3 rgb(17 34 51)
moveTo 370 57
lineTo 366 50
lineTo 374 50
fill text
stroke #101010
fillRect 250 67 40 2 accent
fillRect 490 67 20 2 accent
fillRect 210 69 80 2 critical
fillRect 370 69 240 2 critical
fillText The running 294 81 #000
fillText The running 414 81 #000
fillText The dead 534 81 soft
moveTo 410 79
lineTo 406 72
lineTo 414 72
fill text
stroke #101010
fillRect 490 89 20 2 accent
fillRect 290 91 80 2 critical
strokeRect 369 71 42 20 #000
strokeRect 369 71 42 20 #fff
fillRect 209 0 1 300 line
fillRect 0 0 610 24 head
fillText ▸ 8 12 soft
rect 0 0 610 24
fillText CPUs 22 12 text
fillText 3 54 12 soft
fillRect 0 24 610 24 head
fillText ▾ 8 36 soft
fillRect 22 31 9 9 rgb(17 34 51)
rect 0 24 610 24
fillText main 37 36 text
fillText one · pid 10 · 2 threads 69 36 soft
fillRect 0 48 209 22 panel
rect 0 48 204 22
fillText main 48 59 text
fillText one · 10 152 59 soft
fillRect 0 70 209 22 head
rect 0 70 204 22
fillText work 48 81 text
fillText one · 11 152 81 soft
fillRect 0 92 209 22 panel
fillRect 22 99 9 9 rgb(221 238 255)
rect 0 92 204 22
fillText main 37 103 text
fillText two · 10 152 103 soft`));
});

test('a Running slice is framed on its CPU, too; a folded process has one row', () => {
  assert.deepEqual(drawn(({app}) => {
    app.rows.fold(app.rows.list.find(row => row.type === 'process'));
    app.select({thread: 2, slice: app.trace.first[2] + 1}, {reveal: false});
    app.setRange({from: 1250, to: 1500});
  }, {light: false, header: {critical_path: null}, parts: {critical_path: new Uint8Array()}}), lines(`
setTransform 1 0 0 1 0 0
fillRect 0 0 610 300 #101010
putImageData image 210 0
rect 210 0 400 300
fillText main (10) 214 35 #fff
fillText work (11) 294 35 #fff
fillText work (11) 414 35 #fff
fillText main (10) 434 57 #fff
fillRect 310 0 100 300 #7cc4ff26
fillRect 310 0 1 300 accent
fillRect 410 0 1 300 accent
strokeRect 369 115 42 20 #000
strokeRect 369 115 42 20 #fff
strokeRect 369 69 42 20 #000
strokeRect 369 69 42 20 #fff
fillRect 209 0 1 300 line
fillRect 0 0 610 24 head
fillText ▾ 8 12 soft
rect 0 0 610 24
fillText CPUs 22 12 text
fillText 3 54 12 soft
fillRect 0 24 209 22 panel
rect 0 24 204 22
fillText CPU 0 of one 22 35 text
fillText  200 35 soft
fillRect 0 46 209 22 panel
rect 0 46 204 22
fillText CPU 1 of one 22 57 text
fillText  200 57 soft
fillRect 0 68 209 22 panel
rect 0 68 204 22
fillText CPU 0 of two 22 79 text
fillText  200 79 soft
fillRect 0 90 610 24 head
fillText ▸ 8 102 soft
fillRect 22 97 9 9 rgb(17 34 51)
rect 0 90 610 24
fillText main 37 102 text
fillText one · pid 10 · 2 threads 69 102 soft
fillRect 0 114 209 22 head
fillRect 22 121 9 9 rgb(221 238 255)
rect 0 114 204 22
fillText main 37 125 text
fillText two · 10 152 125 soft`));
});

test('of many sections on one pixel, each depth draws one', () => {
  const events = [], add = (time, code, number) => {
    events.push(time, 1, code, 0, number);
  };
  for (let n = 0; n < 2000; n++) { // 4 pairs in each ns from 1200 to 1700, which are 200 pixels
    add(n ? Number(n % 4 === 0) : 200, 0xd9, 1);
    add(0, 0xd9, 2);
    add(0, 0xe9, 2);
    add(0, 0xe9, 1);
  }
  const bars = drawn(() => {}, {parts: {events: varints(...events)}})
      .filter(call => /^fillRect \S+ \S+ \S+ 3 /.test(call));
  assert.ok(bars.length > 300 && bars.length <= 2 * 201, bars.length + ' bars');
});

test('events that are nearer than 9 pixels are one triangle', () => {
  const events = [400, 20, 5, 20].flatMap(after => [after, 1, 0x01, 42, 0]); // 8 and 10 pixels after the first
  const tops = drawn(() => {}, {parts: {events: varints(...events)}}).filter(call => call.startsWith('moveTo'));
  assert.deepEqual(tops, ['moveTo 370 123', 'moveTo 380 123']);
});

test('a region of a process is one of a thread while that lives', () => {
  const {app} = makeApp({summary: {regions: [
    {node: 0, pid: 10, tid: 10, of_thread: false, start_ns: 1100, length_ns: 300, chain: 1},
    {node: 0, pid: 10, tid: 10, of_thread: false, start_ns: 1700, length_ns: 300, chain: 1}]}});
  const spans = [];
  app.regions.each(1, 1000, 2000, 0, (...span) => spans.push(span));
  assert.deepEqual(spans, [[1200, 1400], [1700, 1800]], 'it was born at 1200, and died at 1800');
  assert.deepEqual([1150, 1250, 1799, 1850].map(time => Boolean(app.regions.at(1, time))), [false, true, true, false]);
  assert.ok(app.regions.at(0, 1850));
});

test('a text on a pattern has a plain background, and is left out where that has no room', () => {
  const background = (from, to) => drawn(({app, trace}) => {
    trace.header.states[COOLING].pattern = 'dots';
    app.view.set(from, to);
  }).filter(call => / (140 \d+ 14|147) /.test(call) && / rgb.255 165|cooling/.test(call));
  const both = ['fillRect 212 140 70 14 rgb(255 165 0)', 'fillText The cooling 214 147 #000'];
  assert.deepEqual(background(1400, 1500), both);
  assert.deepEqual(background(1400, 1900), both, 'the text has 66 of 80');
  assert.deepEqual(background(1400, 1940), both, '66 and 8 of 74.1');
  assert.deepEqual(background(1400, 1945), [], '73.4');
});

test('the text of a slice is the longest that has room', () => {
  const text = (length, why) => drawn(() => {}, {threads: [{tid: 1, pid: 1, name: 'a', start: 1000, slices: [
    {state: PAUSED, length, cpu: 1, flags: STARTS + ENDS, why}, {state: RUNNING, length: 1000 - length, cpu: 1}]}],
    header: {waits: {sums: [], left_out: 0}, critical_path: null},
    parts: {critical_path: new Uint8Array(), events: new Uint8Array(), order: Uint8Array.of(0)}})
      .filter(call => /^fillText [^a]/.test(call) && call.includes(' 214 ')).map(call => call.slice(9, call.indexOf(' 214')));
  assert.deepEqual(text(400, left(3, 1)), ['waits for · futex']);
  assert.deepEqual(text(300, left(3, 1)), ['waits for · futex'], '17 letters of 6 have 102 of 112');
  assert.deepEqual(text(250, left(3, 1)), ['waits for']);
  assert.deepEqual(text(275, left(3, 1)), ['waits for · futex'], 'exactly enough');
  assert.deepEqual(text(274, left(3, 1)), ['waits for']);
  assert.deepEqual(text(300, left(2, 1)), ['The paused · futex'].filter(words => words.length * 6 <= 112),
                   'blocked says no more than its state');
  assert.deepEqual(text(300, left(2)), ['The paused']);
  assert.deepEqual(text(300, left(15)), ['The paused'], 'an unknown reason');
  assert.deepEqual(text(110, left(2)), [], 'exactly 44 pixels, and no room');
});

test('a selected slice is framed however short, and as far as the view', () => {
  const frame = (from, to, thread, n) => drawn(({app}) => {
    app.view.set(from, to);
    app.select({thread, slice: app.trace.first[thread] + n});
  }).filter(call => call.startsWith('strokeRect')).map(call => call.split(' ').slice(1, 5).join(' '));
  assert.deepEqual(frame(1100, 1150, 0, 0), ['205 115 410 20', '205 115 410 20', '205 25 410 20', '205 25 410 20']);
  assert.deepEqual(frame(1000, 1100, 0, 1), ['1009 115 2 20', '1009 115 2 20'], 'right of the view');
});

test('scrolling to a row leaves a visible one where it is, and centres others', () => {
  const {app, byId} = makeApp();
  const scroller = byId('scroller');
  Object.assign(scroller, {scrollTop: 20, clientHeight: 100});
  for (const [top, height, expected] of [[20, 100, 20], [98, 22, 20], [99, 22, 49], [19, 22, -31], [200, 22, 150]]) {
    scroller.scrollTop = 20;
    app.timeline.reveal({top, height});
    assert.equal(scroller.scrollTop, expected, top + ' ' + height);
  }
});

test('places are times and rows of what is visible', () => {
  const {app, byId} = makeApp();
  app.view.set(1200, 1400);
  assert.equal(app.timeline.timeAt(210), 1200);
  assert.equal(app.timeline.timeAt(310), 1250);
  assert.equal(app.timeline.xOf(1250), 310);
  byId('scroller').scrollTop = 10;
  assert.deepEqual([app.timeline.rowAt(0).type, app.timeline.rowAt(14).cpu], ['head', 0]);
  app.timeline.top = 30; // the second half of the first CPU
  assert.deepEqual(app.timeline.visibleRows(40).map(row => row.top), [24, 46, 68]);
  assert.deepEqual(app.timeline.visibleRows(38).map(row => row.top), [24, 46]);
  byId('scroller').clientWidth = 100;
  app.timeline.measure();
  assert.equal(app.timeline.width, 1, 'narrower than the names');
});

test('a screen with twice as many pixels has a picture twice as large', () => {
  const {app, canvas, byId} = makeApp();
  globalThis.window.devicePixelRatio = 2;
  const images = [];
  app.painter.begin = (context, width, height, from, to) => images.push([width, height, from, to]);
  app.painter.finish = (context, x, y) => images.push([x, y]);
  app.painter.thread = (thread, y0, y1) => images.push(['thread', thread, y0, y1]);
  app.painter.cpu = (cpu, y0, y1, colorOf) => images.push(['cpu', cpu, y0, y1, colorOf(0) === app.colors.seriesPixel[cpu === 2 ? 1 : 0]]);
  app.painter.dark = (...values) => images.push(['dark', ...values]);
  app.draw();
  assert.deepEqual([canvas.width, canvas.height, canvas.style.height, byId('spacer').style.height],
                   [1220, 600, '300px', '300px']);
  assert.deepEqual(images, [
    [800, 600, 1000, 2000], ['cpu', 0, 51, 89, true], ['dark', 1100, 1200, 51, 89], ['cpu', 1, 95, 133, true],
    ['cpu', 2, 139, 177, true], ['thread', 0, 231, 269], ['thread', 1, 275, 313], ['thread', 2, 319, 357], [420, 0]]);
  byId('scroller').clientHeight = 50;
  images.length = 0;
  app.view.set(1201, 1300);
  app.draw();
  assert.deepEqual(images.slice(1, -1), [['cpu', 0, 51, 89, true], ['cpu', 1, 95, 133, true]], 'the loss is over');
  assert.equal(byId('spacer').style.height, '180px');
});
