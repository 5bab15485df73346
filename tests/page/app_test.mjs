// SPDX-License-Identifier: BSD-2-Clause
// What is selected and shown, and mouse and keys: emulator/report/page/app.js and input.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {fillHelp, handleAxis, handleKeys, handlePointer, handleWheel} from '../../emulator/report/page/input.js';
import {lines} from './fake.mjs';
import {makeApp} from './fake_app.mjs';

const made = options => {
  const page = makeApp(options);
  return {...page, view: () => [page.app.view.from, page.app.view.to].map(time => Math.round(time * 1000) / 1000),
          at: (x, row) => [x, page.app.rows.list[row].top + 5]};
};
const HEAD = 0, CPU0 = 1, CPU2 = 3, PROCESS = 4, MAIN = 5, WORK = 6, OTHER = 7; // rows

test('a click selects the slice there, of a thread or on a CPU, and folds what has rows', () => {
  const {app, at, byId} = made();
  const click = (x, row) => (app.click(...at(x, row)), app.selected && [app.selected.thread, app.selected.slice]);
  assert.deepEqual(click(290, MAIN), [0, 1], 'the end of a slice belongs to the next');
  assert.deepEqual(click(289, MAIN), [0, 0]);
  assert.deepEqual(click(20, WORK), null, 'a name is the left end of the view');
  assert.deepEqual(click(300, WORK), [1, 5]);
  assert.deepEqual(click(300, CPU0), [1, 5]);
  assert.deepEqual(click(390, CPU0), null, 'idle');
  assert.deepEqual(click(380, CPU2), [2, 11]);
  app.panel.choose(4);
  click(300, CPU0);
  assert.equal(app.panel.chosen, 0);
  app.panel.choose(2);
  click(300, WORK);
  assert.equal(app.panel.chosen, 2, 'the tab of latencies stays');
  click(220, WORK);
  assert.equal(app.panel.chosen, 2);
  app.click(300, 250);
  assert.equal(app.selected, null, 'below the rows');
  click(300, WORK);
  app.click(...at(300, PROCESS));
  assert.deepEqual(app.rows.list.map(row => row.type), ['head', 'cpu', 'cpu', 'cpu', 'process', 'thread']);
  assert.deepEqual([app.selected.thread, app.selected.slice], [1, 5], 'folding selects nothing');
  app.click(...at(300, HEAD));
  assert.deepEqual(app.rows.list.map(row => row.type), ['head', 'process', 'thread']);
  assert.equal(byId('spacer').style.height, '180px');
});

test('selecting a thread without a row shows it', () => {
  const {app, byId} = made();
  app.rows.search = 'none';
  app.rows.hideIdle = true;
  app.rebuild();
  byId('search').value = 'none';
  byId('scroller').clientHeight = 50;
  app.select({thread: 2, slice: 11}, {reveal: false});
  assert.equal(byId('search').value, 'none');
  app.select({thread: 2, slice: 11});
  assert.deepEqual([byId('search').value, byId('idle').checked, byId('spacer').style.height, byId('scroller').scrollTop],
                   ['', false, '180px', 133]);
});

test('what the tab Why needs is summed up in steps, causes first', () => {
  const {app} = made();
  app.shares = {*steps() { yield 0.5; }};
  const asked = [];
  app.whys = {*steps(...of) { asked.push(...of); yield 1; }};
  assert.deepEqual([...app.stepsToWhy([2], 5, 6)], [0.5, 0.75]);
  assert.deepEqual(asked, [[2], 5, 6]);
});

test('who keeps the place of the page is told of each picture', () => {
  const {app} = made();
  let told = 0;
  app.drawn = () => told++;
  app.draw();
  app.draw();
  assert.equal(told, 2);
});

test('only tabs about the selection or the range are made anew', () => {
  const {app} = made();
  const shows = (tab, change) => {
    app.panel.choose(tab);
    let shown = 0;
    app.panel.show = () => shown++;
    change();
    delete app.panel.show;
    return shown;
  };
  const select = () => app.select({thread: 0, slice: 0}), range = () => app.setRange({from: 1, to: 1100});
  assert.deepEqual([0, 1, 2, 3, 4, 5].map(tab => shows(tab, select)), [1, 0, 1, 0, 0, 0]);
  assert.deepEqual([0, 1, 2, 3, 4, 5].map(tab => shows(tab, range)), [1, 0, 0, 0, 0, 1]);
});

test('a range is inside the run, from its earlier end', () => {
  const {app} = made();
  app.setRange({from: 3000, to: 900});
  assert.deepEqual(app.range, {from: 1000, to: 2000});
  app.setRange({from: 1200, to: 1100});
  assert.deepEqual(app.range, {from: 1100, to: 1200});
  app.setRange({from: 500, to: 900});
  assert.deepEqual(app.range, {from: 1000, to: 1000}, 'both ends are before the run');
  app.setRange(null);
  assert.equal(app.range, null);
});

test('a range that moves is shown in the panel with the next picture only', () => {
  const {app, draw} = made();
  app.setRange({from: 1100, to: 1200}, {later: true});
  let shown = 0;
  app.panel.show = () => shown++;
  draw();
  assert.equal(shown, 1);
  app.redraw();
  draw();
  assert.equal(shown, 1, 'it did not move again');
});

test('while a range is dragged, the panel is made anew once for each picture', () => {
  const {app, canvas, draw} = made();
  handlePointer(app);
  let shown = 0;
  app.panel.show = () => shown++;
  canvas.fire('pointerdown', {button: 0, pointerId: 3, offsetX: 310, offsetY: 250, shiftKey: true});
  for (const offsetX of [330, 350, 370])
    canvas.fire('pointermove', {offsetX, offsetY: 250});
  assert.deepEqual([shown, app.range], [0, {from: 1250, to: 1400}]);
  draw();
  draw();
  assert.equal(shown, 1);
  canvas.fire('pointerup', {offsetX: 370, offsetY: 250});
  assert.equal(shown, 2, 'and at the end, without waiting for a picture');
});

test('ways lead from slice to slice, and show where they lead', () => {
  const {app, view} = made();
  app.follow('next');
  assert.equal(app.selected, null);
  app.view.set(1000, 1100);
  app.select({thread: 0, slice: 0});
  app.panel.choose(3);
  app.follow('previous');
  assert.deepEqual([app.selected.slice, app.panel.chosen, view()], [0, 3, [1000, 1100]], 'nothing is before');
  app.follow('next');
  assert.deepEqual([app.selected.slice, app.panel.chosen, view()], [1, 0, [1155, 1545]]);
  app.follow('waker');
  assert.deepEqual(app.selected, {thread: 1, slice: 7});
});

test('up and down lead to the thread above or below, at the same time', () => {
  const {app} = made();
  const step = rows => (app.step(rows), [app.selected.thread, app.selected.slice]);
  assert.deepEqual(step(1), [0, 0], 'the first, at the start of the view');
  assert.deepEqual(step(1), [1, 5], 'its first slice comes later');
  assert.deepEqual(step(1), [2, 10]);
  assert.deepEqual(step(1), [2, 10], 'the last');
  assert.deepEqual(step(-1), [1, 5]);
  assert.deepEqual(step(-5), [0, 0], 'at the time of the first step');
  app.select({thread: 0, slice: 3});
  assert.deepEqual(step(1), [1, 7], 'at 1550');
  assert.deepEqual(step(-1), [0, 3], 'not at the start of the slice between');
  app.select(null);
  app.view.set(1600, 1700);
  assert.deepEqual(step(1), [0, 3]);
  app.rows.search = 'nothing';
  app.rebuild();
  app.step(1);
  assert.equal(app.selected.slice, 3, 'without rows nothing happens');
});

test('a thread is shown at the middle of the view, or at its nearest slice', () => {
  const {app} = made();
  const shown = (from, to, thread) => (app.view.set(from, to), app.showThread(thread), app.selected.slice);
  assert.deepEqual([shown(1400, 1500, 1), shown(1000, 1100, 1), shown(1900, 2000, 2), shown(1100, 1250, 0)], [6, 5, 12, 0]);
});

test('zooming to a slice leaves room around it', () => {
  const {app, view} = made();
  app.zoomToSelected();
  assert.deepEqual(view(), [1000, 2000]);
  app.select({thread: 0, slice: 1});
  app.zoomToSelected();
  assert.deepEqual(view(), [1110, 1590]);
  app.select({thread: 0, slice: 2});
  app.zoomToSelected();
  assert.deepEqual(view(), [1480, 1570], 'at least 20 ns');
});

test('what is under the pointer is told beside it', () => {
  const {app, at, byId} = made(), tooltip = byId('tooltip');
  Object.assign(tooltip, {offsetWidth: 200, offsetHeight: 50});
  const hover = (x, row, clientX = x, clientY = 100) => {
    const [offsetX, offsetY] = at(x, row);
    app.hover({offsetX, offsetY, clientX, clientY});
    return tooltip.hidden ? null : [tooltip.text, tooltip.style.left, tooltip.style.top].join(' | ');
  };
  assert.equal(hover(280, MAIN), 'main (10) of one\nThe running for 200 ns\nregion start:interactive, 100 ns\n' +
               'critical path: runs | 294px | 114px');
  assert.equal(hover(240, MAIN), 'main (10) of one\nThe running for 200 ns\ncritical path: runs\nsection 5, 80 ns\n' +
               'section 6, 50 ns | 254px | 114px');
  assert.equal(hover(500, MAIN), 'main (10) of one\nThe running for 450 ns\nregion started by ctl, 50 ns\ncritical path: runs | 514px | 114px');
  assert.equal(hover(412, WORK), 'work (11) of one\nThe running for 300 ns\nuser event 2: 7, 8 | 426px | 114px');
  assert.equal(hover(400, WORK), 'work (11) of one\nThe cooling for 100 ns | 414px | 114px', '5 pixels beside the event');
  assert.equal(hover(371, MAIN), 'main (10) of one\nThe paused for 300 ns\ncritical path: runs\nipoint 42 | 385px | 114px');
  assert.equal(hover(450, OTHER), 'main (10) of two\nSeveral states for 300 ns | 464px | 114px');
  assert.equal(hover(300, CPU0), 'work (11) of one\nThe running for 200 ns\ncritical path: waits | 314px | 114px');
  assert.equal(hover(395, CPU0), null);
  assert.equal(hover(300, PROCESS), null);
  assert.equal(hover(210, MAIN), null, 'the last pixel of the names');
  assert.equal(byId('cursor').hidden, true);
  assert.match(hover(211, MAIN), /^main/);
  assert.deepEqual([byId('cursor').hidden, byId('cursor').style.left], [false, '211px']);
  assert.match(hover(300, WORK, 784), /798px/, 'up to the right edge');
  assert.match(hover(300, WORK, 785), /573px/, 'else left of the pointer');
  assert.match(hover(300, WORK, 300, 732), /746px/);
  assert.match(hover(300, WORK, 300, 790), /746px/, 'not below the page');
  assert.equal(app.pointerPart(), 90 / 400);
  hover(210, MAIN);
  assert.equal(app.pointerPart(), 0.5, 'the pointer is beside the picture');
  app.hover(null);
  assert.ok(tooltip.hidden);
  assert.equal(app.pointerPart(), 0.5);
});

test('pictures are drawn once for many changes', () => {
  const {app, planned, draw} = made();
  planned.length = 0;
  let drawn = 0;
  app.timeline.draw = app.overview.draw = app.axis.draw = () => drawn++;
  app.planned = false;
  app.view.set(1100, 1200);
  app.redraw();
  assert.equal(planned.length, 1);
  draw();
  assert.equal(drawn, 3);
  app.redraw();
  assert.equal(planned.length, 1);
  app.toggleTheme();
  assert.equal(app.colors.light, false);
});

test('the critical path can be hidden, and without one it stays so', () => {
  const {app, trace, byId} = made();
  app.showCritical(false);
  assert.deepEqual([trace.critical.shown, byId('critical').checked, trace.critical.at(0, 1100)], [false, false, undefined]);
  app.showCritical(true);
  assert.deepEqual([trace.critical.shown, byId('critical').checked, trace.critical.at(0, 1100)], [true, true, 'runs']);
  trace.critical.about = null;
  app.showCritical(true);
  assert.equal(trace.critical.shown, false);
});

test('programs select by tid and time, see the view and get a copy of the summary', () => {
  const {app, trace} = made(), api = app.api();
  assert.equal(api.select(10, 1500).state, 'warming');
  assert.deepEqual(app.selected, {thread: 0, slice: 2});
  assert.equal(api.select('11', '1999').state, 'dead');
  assert.equal(api.select(12, 1500), null);
  assert.equal(api.select(10, 999), null);
  trace.kind[1] = 0; // the first thread with this tid is unknown there
  assert.equal(api.select(10, 1350).state, 'paused');
  assert.equal(api.select(10, 1250).state, 'unknown', 'nobody else has it');
  assert.deepEqual(api.view(), {from_ns: app.view.from, to_ns: app.view.to});
  assert.deepEqual(api.view('1200', 1300), {from_ns: 1200, to_ns: 1300});
  api.summary().threads.length = 0;
  assert.equal(trace.summary.threads.length, 3);
  assert.ok(Object.isFrozen(api));
});

test('the wheel zooms where the pointer is, and moves with Shift or sideways', () => {
  const {app, byId, view} = made();
  handleWheel(app);
  const wheel = event => byId('scroller').fire('wheel', {offsetX: 310, deltaX: 0, deltaY: 0, ...event});
  app.view.set(1200, 1600);
  assert.deepEqual(wheel({deltaY: -250}), ['prevented']);
  const span = 400 * Math.exp(-0.5);
  assert.deepEqual(view(), [1300 - span / 4, 1300 + span * 3 / 4].map(time => Math.round(time * 1000) / 1000));
  app.view.set(1200, 1600);
  wheel({deltaY: -1000});
  assert.equal(Math.round(app.view.span * 1000), Math.round(400 * Math.exp(-0.8) * 1000), 'at most 400');
  app.view.set(1200, 1210);
  wheel({deltaY: 1000});
  assert.equal(Math.round(app.view.span * 1000), Math.round(10 * Math.exp(0.8) * 1000));
  app.view.set(1200, 1600);
  wheel({deltaY: 40, shiftKey: true});
  assert.deepEqual(view(), [1240, 1640]);
  wheel({deltaX: -40, shiftKey: true});
  assert.deepEqual(view(), [1200, 1600]);
  wheel({deltaX: 40, deltaY: -39});
  assert.deepEqual(view(), [1240, 1640]);
  app.view.set(1200, 1600);
  assert.deepEqual(wheel({offsetX: 209, deltaY: 10}), [], 'the names scroll');
  assert.deepEqual(wheel({altKey: true, deltaY: 10}), []);
  assert.deepEqual(view(), [1200, 1600]);
  assert.deepEqual(wheel({offsetX: 210, deltaY: 1}), ['prevented']);
  assert.deepEqual(wheel({offsetX: 100, ctrlKey: true, deltaY: 1}), ['prevented']);
  let redrawn = 0;
  app.redraw = () => redrawn++;
  byId('scroller').fire('scroll');
  assert.equal(redrawn, 1);
});

test('a drag moves, with Shift it selects a range, and a press that stays is a click', () => {
  const {app, byId, canvas, view} = made(), scroller = byId('scroller');
  handlePointer(app);
  const captured = [];
  canvas.setPointerCapture = id => captured.push(id);
  const down = (x, y, more) => canvas.fire('pointerdown', {button: 0, pointerId: 3, offsetX: x, offsetY: y, shiftKey: false, ...more});
  const move = (x, y) => canvas.fire('pointermove', {offsetX: x, offsetY: y, clientX: 0, clientY: 0});
  const up = (x, y) => canvas.fire('pointerup', {offsetX: x, offsetY: y});
  const clicks = [];
  app.click = (...place) => clicks.push(place);
  app.view.set(1200, 1600);
  scroller.scrollTop = 30;
  down(300, 50);
  move(304, 46);
  up(304, 46);
  assert.deepEqual([clicks, view(), scroller.scrollTop, captured], [[[304, 46]], [1200, 1600], 30, [3]]);
  down(300, 50);
  move(340, 40);
  move(305, 54);
  assert.deepEqual([view(), scroller.scrollTop], [[1195, 1595], 26]);
  up(305, 54);
  down(300, 50);
  move(300, 55);
  assert.equal(scroller.scrollTop, 21, 'down alone is a move, too');
  up(300, 55);
  down(300, 50);
  move(295, 50);
  assert.deepEqual(view(), [1200, 1600]);
  canvas.fire('pointercancel');
  up(295, 50);
  assert.equal(clicks.length, 1);
  down(310, 50, {shiftKey: true});
  move(410, 80);
  up(410, 80);
  assert.deepEqual([app.range, view(), scroller.scrollTop], [{from: 1300, to: 1400}, [1200, 1600], 21]);
  down(300, 50, {button: 2});
  up(300, 50);
  assert.equal(clicks.length, 1);
  const hovered = [];
  app.hover = event => hovered.push(event?.offsetX ?? null);
  move(333, 5);
  canvas.fire('pointerleave');
  assert.deepEqual(hovered, [333, null]);
  app.select({thread: 0, slice: 1});
  app.view.set(1200, 1600);
  scroller.scrollTop = 0;
  canvas.fire('dblclick', {offsetY: app.rows.list[PROCESS].top + 5});
  assert.deepEqual(view(), [1200, 1600], 'a process has no slices');
  canvas.fire('dblclick', {offsetY: app.rows.list[MAIN].top + 5});
  assert.deepEqual(view(), [1110, 1590]);
});

test('a drag on the axis selects a range', () => {
  const {app, byId} = made(), axis = app.axis.canvas;
  handleAxis(app);
  axis.fire('pointermove', {offsetX: 300});
  assert.equal(app.range, null);
  const captured = [];
  axis.setPointerCapture = id => captured.push(id);
  axis.fire('pointerdown', {offsetX: 230, pointerId: 7, button: 2});
  axis.fire('pointermove', {offsetX: 260});
  assert.equal(app.range, null, 'the right button selects nothing');
  axis.fire('pointerdown', {offsetX: 250, pointerId: 8, button: 0});
  axis.fire('pointermove', {offsetX: 290});
  axis.fire('pointerup');
  axis.fire('pointermove', {offsetX: 400});
  assert.deepEqual([app.range, captured, byId('tooltip').hidden], [{from: 1100, to: 1200}, [8], undefined]);
});

test('keys do what the list of keys says', () => {
  const {app, byId, view} = made();
  handleKeys(app);
  const key = (name, more) => globalThis.document.fire('keydown', {key: name, target: {tagName: 'DIV'}, ...more});
  const pressed = (name, more) => (key(name, more), view());
  app.view.set(1400, 1600);
  assert.deepEqual(pressed('w'), [1430, 1570]);
  assert.deepEqual(pressed('s'), [1400, 1600]);
  assert.deepEqual(pressed('a'), [1360, 1560]);
  assert.deepEqual(pressed('d'), [1400, 1600]);
  app.pointer = 310;
  assert.deepEqual(pressed('w'), [1415, 1555], 'around the pointer');
  assert.deepEqual(pressed('s'), [1400, 1600]);
  assert.deepEqual(key('0'), ['prevented']);
  assert.deepEqual(view(), [1000, 2000]);
  app.select({thread: 0, slice: 1});
  const selected = name => (key(name), app.selected && [app.selected.thread, app.selected.slice]);
  assert.deepEqual(['ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp'].map(selected), [[0, 2], [0, 1], [1, 5], [0, 1]]);
  key('g');
  assert.equal(app.graphs.shown, false);
  assert.deepEqual(selected('e'), [1, 7]);
  app.select({thread: 0, slice: 1});
  assert.deepEqual(selected('q'), [1, 5]);
  app.select({thread: 0, slice: 1});
  app.view.showWhole();
  assert.deepEqual(pressed('f'), [1110, 1590]);
  key('p');
  assert.equal(app.trace.critical.shown, false);
  key('r');
  assert.deepEqual(app.range, {from: 1200, to: 1500}, 'the slice');
  key('ArrowRight');
  key('r');
  assert.deepEqual(app.range, {from: 1200, to: 1550}, 'both');
  key('ArrowLeft');
  app.setRange({from: 1200, to: 1300});
  assert.deepEqual([selected('Escape'), app.range], [[0, 1], null]);
  assert.equal(selected('Escape'), null);
  key('n');
  assert.deepEqual([app.panel.tab.title, globalThis.document.focused], ['Notes', byId('note')]);
  key('/');
  assert.equal(globalThis.document.focused, byId('search'));
  for (const more of [{ctrlKey: true}, {metaKey: true}, {altKey: true}, {target: {tagName: 'INPUT'}}, {target: {tagName: 'SELECT'}}])
    assert.deepEqual([key('0', more), view()], [[], [1110, 1590]]);
  assert.deepEqual(key('x'), []);
  const focused = (name, target) => (globalThis.document.focused = null, key(name, {target}), globalThis.document.focused?.tag);
  assert.equal(focused('Escape', {tagName: 'TEXTAREA'}), 'scroller');
  assert.equal(focused('Enter', {tagName: 'INPUT', id: 'search'}), 'scroller');
  assert.equal(focused('Enter', {tagName: 'INPUT', id: 'idle'}), undefined);
  assert.equal(focused('x', {tagName: 'INPUT', id: 'search'}), undefined);
  assert.deepEqual(key('x', {target: {tagName: 'INPUT', type: 'checkbox'}}), []);
  assert.deepEqual(key('0', {target: {tagName: 'INPUT', type: 'checkbox'}}), ['prevented'], 'a checkbox takes no letters');
  app.view.set(1110, 1590);
  const chosen = target => (globalThis.document.focused = null, globalThis.document.fire('change', {target}), globalThis.document.focused?.tag);
  assert.equal(chosen({tagName: 'SELECT'}), undefined, 'by keys');
  globalThis.document.fire('pointerdown');
  assert.equal(chosen({tagName: 'INPUT'}), undefined);
  assert.equal(chosen({tagName: 'SELECT'}), 'scroller', 'after a choice by mouse, keys are those of the timeline');
  key('?');
  assert.equal(byId('help').open, true);
  assert.deepEqual([key('0'), view()], [[], [1110, 1590]], 'the list is open');
  fillHelp();
  const [title, list, note, form] = byId('help').children;
  assert.equal(title.text, 'Keys and mouse');
  const terms = list.all('dt'), meanings = list.all('dd');
  assert.deepEqual(terms.map((term, n) => term.text + ': ' + meanings[n].text), lines(`
w s: zoom in and out
a d: move left and right
0: show the whole run
← →: previous and next slice of the thread
↑ ↓: the thread above and below
e: go to who woke it
q: go to who ran instead of it
f: zoom to the selected slice
r: select its time as a range, or extend the range to it
p: show the critical path, or hide it
g: show the graphs of all threads, or hide them
n: write a note
/: search
Esc: clear marks, the range, then the selection
?: this list
Wheel: zoom where the pointer is; over the names: scroll
Shift + wheel: move in time
Drag: move in time and scroll
Shift + drag: select a range; also a drag on the axis
Double click: zoom to the slice
Click on a process: fold it`));
  assert.deepEqual(list.all('kbd').map(one => one.text), terms.map(term => term.text));
  assert.equal(note.text, 'From afar a column of a row is divided by the shares of its states: how high the green is, ' +
               'so much of that time the thread ran.');
  assert.deepEqual([form.method, form.text], ['dialog', 'Close']);
});
