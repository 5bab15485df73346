// SPDX-License-Identifier: BSD-2-Clause
// Chooses the threads and the time that a tab is about.
import {nameOf} from './trace.js';
import {element} from './dom.js';
import {duration} from './format.js';

/// Returns whose time is explained: the selected thread, its process, or all that the search leaves.
const SCOPES = {
  thread: ({trace, selected}) => [nameOf(trace.threads[selected.thread]), [selected.thread]],
  process: ({trace, selected}) => {
    const {main} = trace.threads[selected.thread], of = trace.threads.filter(one => one.main === main);
    return ['the process of ' + nameOf(trace.threads[selected.thread]), of.map(one => one.index)];
  },
  all: ({rows}) => [rows.matchingText(), rows.matching.map(one => one.index)],
};

/// Makes a menu of scopes: {element, chosen()}. chosen() returns {whose, threads}.
export function scopeSelect(app) {
  const select = element('select', {'aria-label': 'Whose time', onchange: () => app.panel.show()});
  for (const [value, text] of [['thread', 'selected thread'], ['process', 'its process'], ['all', 'all threads of the search']])
    select.append(element('option', {value}, text));
  return {element: select, chosen: () => {
    const [whose, threads] = SCOPES[app.selected ? select.value : 'all'](app);
    return {whose, threads};
  }};
}

/// Returns the selected range, or the whole run: {from, to, words}.
export function timesOf({trace, range}) {
  const {from, to} = range ?? trace;
  return {from, to, words: range ? 'in the selected range of ' + duration(to - from) : 'in the whole run'};
}
