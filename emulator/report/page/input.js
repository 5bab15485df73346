// SPDX-License-Identifier: BSD-2-Clause
// Handles mouse, touch and keys on the timeline.
import {NAMES} from './layout.js';
import {byId, element} from './dom.js';
import {writeNote} from './notes.js';

const NOTCH = 1 / 500;  // of a turn of the wheel
const STILL = 4;        // CSS pixels: a press that moves less is a click

export const KEYS = [
  ['w s', 'zoom in and out'], ['a d', 'move left and right'], ['0', 'show the whole run'],
  ['← →', 'previous and next slice of the thread'], ['↑ ↓', 'the thread above and below'],
  ['e', 'go to who woke it'], ['q', 'go to who ran instead of it'], ['f', 'zoom to the selected slice'],
  ['r', 'select its time as a range, or extend the range to it'],
  ['p', 'show the critical path, or hide it'], ['g', 'show the graphs of all threads, or hide them'], ['n', 'write a note'], ['/', 'search'],
  ['Esc', 'clear marks, the range, then the selection'], ['?', 'this list'],
];
const MOUSE = [
  ['Wheel', 'zoom where the pointer is; over the names: scroll'], ['Shift + wheel', 'move in time'],
  ['Drag', 'move in time and scroll'], ['Shift + drag', 'select a range; also a drag on the axis'],
  ['Double click', 'zoom to the slice'], ['Click on a process', 'fold it'],
];

export function handleWheel(app) {
  const {timeline, view} = app;
  timeline.scroller.addEventListener('wheel', event => {
    if (event.offsetX < NAMES && !event.ctrlKey || event.altKey)
      return; // scrolls
    event.preventDefault();
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      view.move(sideways / timeline.width);
    else
      view.zoom(Math.exp(Math.max(-400, Math.min(400, event.deltaY)) * NOTCH),
                (event.offsetX - NAMES) / timeline.width);
  }, {passive: false});
  timeline.scroller.addEventListener('scroll', () => app.redraw());
}

export function handlePointer(app) {
  const {timeline, view} = app, canvas = timeline.canvas;
  let press = null;
  canvas.addEventListener('pointerdown', event => {
    if (event.button !== 0)
      return;
    canvas.setPointerCapture(event.pointerId);
    press = {x: event.offsetX, y: event.offsetY, from: view.from, to: view.to,
             top: timeline.scroller.scrollTop, range: event.shiftKey, moved: false,
             time: timeline.timeAt(event.offsetX)};
  });
  canvas.addEventListener('pointermove', event => {
    if (!press)
      return app.hover(event);
    const dx = event.offsetX - press.x, dy = event.offsetY - press.y;
    press.moved ||= Math.abs(dx) > STILL || Math.abs(dy) > STILL;
    if (!press.moved)
      return;
    if (press.range) {
      app.setRange({from: press.time, to: timeline.timeAt(event.offsetX)}, {later: true});
    } else {
      const ns = dx / timeline.width * (press.to - press.from);
      timeline.scroller.scrollTop = press.top - dy;
      view.set(press.from - ns, press.to - ns);
    }
  });
  canvas.addEventListener('pointerup', event => {
    if (press && !press.moved)
      app.click(event.offsetX, event.offsetY);
    else if (press?.range)
      app.setRange(app.range);
    press = null;
  });
  canvas.addEventListener('pointercancel', () => press = null);
  canvas.addEventListener('pointerleave', () => app.hover(null));
  canvas.addEventListener('dblclick', ({offsetY}) => {
    if (['thread', 'cpu'].includes(timeline.rowAt(offsetY)?.type)) // other rows have no slices
      app.zoomToSelected();
  });
}

export function handleAxis(app) {
  const {canvas} = app.axis;
  let start = null;
  canvas.addEventListener('pointerdown', event => {
    if (event.button !== 0)
      return;
    canvas.setPointerCapture(event.pointerId);
    start = app.timeline.timeAt(event.offsetX);
  });
  canvas.addEventListener('pointermove', event => {
    if (start !== null)
      app.setRange({from: start, to: app.timeline.timeAt(event.offsetX)}, {later: true});
  });
  for (const type of ['pointerup', 'pointercancel'])
    canvas.addEventListener(type, () => start = null);
}

export function handleKeys(app) {
  const {view} = app;
  const actions = {
    w: () => view.zoom(0.7, app.pointerPart()), s: () => view.zoom(1 / 0.7, app.pointerPart()),
    a: () => view.move(-0.2), d: () => view.move(0.2), 0: () => view.showWhole(),
    ArrowLeft: () => app.follow('previous'), ArrowRight: () => app.follow('next'),
    ArrowUp: () => app.step(-1), ArrowDown: () => app.step(1),
    e: () => app.follow('waker'), q: () => app.follow('instead'), f: () => app.zoomToSelected(),
    r: () => app.extendRange(), p: () => app.showCritical(!app.trace.critical.shown), g: () => app.graphs.toggle(),
    n: () => writeNote(app), '/': () => byId('search').focus(), '?': () => byId('help').showModal(),
    Escape: () => app.marks ? app.mark(null) : app.range ? app.setRange(null) : app.select(null),
  };
  let pointed = false; // the last input was not a key
  document.addEventListener('pointerdown', () => pointed = true, true);
  // A menu takes letters as its own, so keys would stay dead after a choice by mouse.
  document.addEventListener('change', ({target}) => pointed && target.tagName === 'SELECT' && app.timeline.scroller.focus());
  document.addEventListener('keydown', event => {
    pointed = false;
    if (event.ctrlKey || event.metaKey || event.altKey || byId('help').open)
      return;
    const {tagName, type} = event.target;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(tagName) && type !== 'checkbox') {
      if (event.key === 'Escape' || (event.key === 'Enter' && event.target.id === 'search'))
        app.timeline.scroller.focus();
      return;
    }
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
}

export function fillHelp() {
  const list = element('dl');
  for (const [key, what] of [...KEYS, ...MOUSE])
    list.append(element('dt', {}, element('kbd', {}, key)), element('dd', {}, what));
  byId('help').replaceChildren(
      element('h2', {}, 'Keys and mouse'), list,
      element('p', {className: 'note'}, 'From afar a column of a row is divided by the shares of its ' +
              'states: how high the green is, so much of that time the thread ran.'),
      element('form', {method: 'dialog'}, element('button', {}, 'Close')));
}
