// SPDX-License-Identifier: BSD-2-Clause
// Shows what changed between two runs on one page: `report A --against B`.
import {element} from './dom.js';
import {SortedTable} from './tables.js';
import {duration} from './format.js';

const SIDES = ['A', 'B'];
const signed = ns => ns === 0 ? '0' : (ns > 0 ? '+' : '−') + duration(Math.abs(ns));

const folded = thread => thread.name.replace(/\d+/g, '*');

/// Returns the threads of the other run that have the name of a thread, with digits folded.
function partners({threads}, thread) {
  const one = threads[thread];
  return threads.filter(other => other.node !== one.node && folded(other) === folded(one)).map(other => other.index);
}

/// Shows the longest part with a cause in both runs: only its threads, with the slices marked. If one run
/// lacks the cause, shows the threads of the same name there.
function showPlaces(app, {cause, places}) {
  const {trace} = app, found = places.filter(Boolean);
  const marked = found.map(({thread, from, to}) => ({thread, slice: trace.find(thread, (from + to) / 2)}))
      .filter(({slice}) => slice >= 0);
  app.mark({label: cause, only: true, also: found.length === 1 ? partners(trace, found[0].thread) : [],
            slices: marked.flatMap(({thread, slice}) => [thread, slice])});
  if (marked.length)
    app.select(marked.at(-1));
  const from = Math.min(...found.map(place => place.from)), to = Math.max(...found.map(place => place.to));
  const room = Math.max(20, (to - from) * 0.2);
  app.view.set(from - room, to + room);
}

export function differencesPage(app) {
  const {against} = app.trace.header;
  const table = new SortedTable([
    {title: 'Cause', words: true, wraps: true, value: row => row.thread + ': ' + row.cause, click: row => showPlaces(app, row), can: row => row.places.some(Boolean)},
    {title: 'Change', value: row => Math.abs(row.b - row.a), text: row => signed(row.b - row.a)},
    ...SIDES.map((side, n) => ({title: side, value: row => row[n ? 'b' : 'a'], text: row => duration(row[n ? 'b' : 'a'])})),
  ], {sort: 1});
  return into => into.replaceChildren(
      element('h2', {}, 'What changed on the critical path'),
      element('p', {className: 'note'}, SIDES.map((side, n) => side + ': ' + against.traces[n] + ', ' + duration(against[n ? 'b' : 'a'])).join('; ') +
              '. The changes add up to ' + signed(against.b - against.a) +
              '. A click on a cause shows the longest part of both paths that has it. Esc shows all threads again.'),
      ...against.conditions.map(text => element('p', {className: 'note'}, 'Another condition: ' + text)),
      table.show(against.causes));
}
