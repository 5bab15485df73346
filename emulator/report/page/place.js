// SPDX-License-Identifier: BSD-2-Clause
// Keeps what is shown in the fragment of the page's address, so that a place can be shared.
import {SORTS} from './rows.js';

const DELAY = 250; // ms without a change, before the address changes

const span = ({from, to}) => Math.floor(from) + '-' + Math.ceil(to);
const parseSpan = text => {
  const match = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? '');
  return match && Number(match[1]) < Number(match[2]) ? {from: Number(match[1]), to: Number(match[2])} : null;
};

/// Returns the fragment without its #; empty for the place with which the page opens.
export function placeOf(app) {
  const {view, range, selected, rows, panel, trace} = app, words = new URLSearchParams();
  if (view.from !== view.least || view.to !== view.most)
    words.set('view', span(view));
  if (range)
    words.set('range', span(range));
  if (selected)
    words.set('at', selected.thread + '@' + trace.start[selected.slice]);
  if (panel.chosen)
    words.set('tab', panel.tab.title);
  if (rows.sort !== 'process')
    words.set('sort', rows.sort);
  if (rows.search)
    words.set('search', rows.search);
  for (const {time, text} of app.notes.own)
    words.append('note', time + ':' + text);
  return words.toString();
}

/// Goes to a place. Leaves out what the fragment says wrong, or does not say. Without a view it shows
/// the whole run.
export function goToPlace(app, fragment) {
  const words = new URLSearchParams(fragment), {rows, panel, trace} = app;
  const sort = words.get('sort'), tab = panel.pages.findIndex(({title}) => title === words.get('tab'));
  if (sort && Object.hasOwn(SORTS, sort))
    rows.sort = sort;
  app.notes.own = [];
  for (const note of words.getAll('note')) {
    const [, time, text] = /^(\d{1,16}):(.+)$/s.exec(note) ?? [];
    if (text && Number(time) >= trace.from && Number(time) <= trace.to)
      app.notes.add(Number(time), text);
  }
  rows.search = words.get('search') ?? rows.search;
  document.getElementById('search').value = rows.search;
  document.getElementById('sort').value = rows.sort;
  app.rebuild();
  const at = /^(\d+)@(\d+)$/.exec(words.get('at') ?? ''), thread = at ? Number(at[1]) : -1;
  if (at && thread < trace.threads.length && trace.hasSlices(thread))
    app.selectAt(thread, Number(at[2]));
  const range = parseSpan(words.get('range')), view = parseSpan(words.get('view'));
  app.setRange(range);
  if (view)
    app.view.set(view.from, view.to);
  else
    app.view.showWhole();
  if (tab >= 0)
    panel.choose(tab);
}

/// Follows the address, and keeps it up to date.
export function keepPlace(app) {
  goToPlace(app, location.hash.slice(1));
  let timer = 0, written = placeOf(app);
  const write = () => {
    const place = placeOf(app);
    if (place === written)
      return;
    written = place;
    history.replaceState(null, '', '#' + place);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(write, DELAY);
  };
  app.drawn = later;
  for (const type of ['click', 'keyup', 'change'])
    document.addEventListener(type, later);
  addEventListener('hashchange', () => {
    const asked = location.hash.slice(1);
    if (asked === written)
      return;
    written = asked;
    goToPlace(app, asked);
  });
}
