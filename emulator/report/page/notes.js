// SPDX-License-Identifier: BSD-2-Clause
// Keeps notes at times: marks of the capture, and notes of the reader, which the page's address has.
import {byId, button, element} from './dom.js';
import {NAMES} from './layout.js';
import {exactTime} from './format.js';

export const NOTES_MOST = 20, NOTE_LETTERS = 100; // an address must not become too long

export class Notes {
  constructor(trace) {
    this.marks = trace.header.marks ?? []; // {time, text}, by time
    this.own = [];
  }
  /// Returns all marks and notes, by time.
  get list() {
    return [...this.marks, ...this.own].sort((a, b) => a.time - b.time);
  }
  /// Adds a note. Returns false if it has no text, or if there are too many.
  add(time, text) {
    const words = text.trim().slice(0, NOTE_LETTERS);
    if (!words || this.own.length >= NOTES_MOST)
      return false;
    this.own.push({time: Math.round(time), text: words});
    return true;
  }
  remove(note) {
    this.own = this.own.filter(one => one !== note);
  }
}

/// Draws a line through all rows for each note, with its text at the foot if there is room. The newest
/// note comes first; at the right edge, its text is left of its line.
export function drawNotes(timeline, height) {
  const {notes, view, colors} = timeline.app, {context} = timeline;
  const right = NAMES + timeline.width;
  let free = right;
  for (const {time, text} of notes.list.reverse()) {
    if (time < view.from || time > view.to)
      continue;
    const x = timeline.xOf(time);
    context.fillStyle = colors.ui('text');
    for (let y = 0; y < height; y += 6)
      context.fillRect(x, y, 1, 3);
    const width = context.measureText(text).width + 8;
    const left = Math.max(NAMES, Math.min(x, right - width));
    if (left + width > free)
      continue;
    free = left;
    context.fillRect(left, height - 17, width, 17);
    context.fillStyle = colors.ui('panel');
    context.fillText(text, left + 4, height - 8);
  }
}

/// Returns the time that a new note is at.
function timeOfNote({range, selected, trace, view}) {
  return range ? range.from : selected ? Math.max(view.least, trace.start[selected.slice]) : (view.from + view.to) / 2;
}

export function notesPage(app) {
  const input = element('input', {type: 'text', id: 'note', maxLength: NOTE_LETTERS, 'aria-label': 'Text of a new note'});
  const change = () => {
    app.panel.show();
    app.redraw();
  };
  const add = () => {
    if (app.notes.add(timeOfNote(app), input.value))
      input.value = '';
    change();
  };
  const show = time => app.view.set(time - app.view.span / 2, time + app.view.span / 2);
  input.addEventListener('keydown', event => event.key === 'Enter' && add());
  return into => {
    const body = element('tbody'), full = app.notes.own.length >= NOTES_MOST;
    for (const note of app.notes.list) {
      const isOwn = app.notes.own.includes(note);
      const remove = () => {
        app.notes.remove(note);
        change();
      };
      body.append(element('tr', {},
          element('td', {}, button(exactTime(note.time), () => show(note.time), {className: 'link'})),
          element('td', {className: 'text'}, note.text),
          element('td', {}, isOwn ? button('✕', remove, {'aria-label': 'Remove ' + note.text}) : 'mark')));
    }
    into.replaceChildren(
        element('h2', {}, 'Notes and marks'),
        element('p', {className: 'note'}, 'A new note is at the start of the selected range or slice, else in the middle. ' +
                'The address of the page keeps notes. Marks are those of `ovnitrace ctl mark`.'),
        element('div', {className: 'actions'}, input, button('Add', add, {disabled: full})),
        full ? element('p', {className: 'note'}, 'There is no room for more than ' + NOTES_MOST + ' notes.') : '',
        element('table', {}, element('thead', {}, element('tr', {},
            ...['Time', 'Text', ''].map((text, n) => element('th', {className: n === 1 ? 'text' : '', scope: 'col'}, text)))), body));
  };
}

/// Opens the tab, ready to type.
export function writeNote(app) {
  app.panel.open('Notes');
  byId('note').focus();
}
