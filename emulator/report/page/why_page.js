// SPDX-License-Identifier: BSD-2-Clause
// Shows the tab "Why": where the time of a range went, of one thread or of several.
import {nameOf} from './trace.js';
import {button, element} from './dom.js';
import {counted, duration, percent} from './format.js';

const PARTS_MOST = 8; // of a node; the rest is one line

/// Returns whose time is explained: the selected thread, its process, or all that the search leaves.
const SCOPES = {
  thread: ({trace, selected}) => [nameOf(trace.threads[selected.thread]), [selected.thread]],
  process: ({trace, selected}) => {
    const {pid, node} = trace.threads[selected.thread];
    const of = trace.threads.filter(one => one.pid === pid && one.node === node);
    return ['the process of ' + nameOf(trace.threads[selected.thread]), of.map(one => one.index)];
  },
  all: ({rows}) => [counted(rows.matching.length, 'thread'), rows.matching.map(one => one.index)],
};

/// Adds the lines of a node and of its parts.
function addLines(body, node, depth, whole, app) {
  const show = ({label, ns, thread}, at) => {
    const name = element('td', {className: 'text'});
    name.style.paddingLeft = 6 + 14 * at + 'px';
    name.append(thread !== null && thread !== undefined && app.trace.hasSlices(thread) ?
        button(label, () => app.showThread(thread), {className: 'link'}) : label);
    body.append(element('tr', {}, name, element('td', {}, duration(ns)), element('td', {}, percent(ns, whole))));
  };
  show(node, depth);
  for (const part of node.parts.slice(0, PARTS_MOST))
    addLines(body, part, depth + 1, whole, app);
  const rest = node.parts.slice(PARTS_MOST);
  if (rest.length)
    show({label: rest.length + ' others', ns: rest.reduce((ns, part) => ns + part.ns, 0)}, depth + 1);
}

export function whyPage(app) {
  const {trace} = app, select = element('select', {'aria-label': 'Whose time'});
  for (const [value, text] of [['thread', 'selected thread'], ['process', 'its process'], ['all', 'all threads of the search']])
    select.append(element('option', {value}, text));
  return into => {
    select.onchange = () => app.panel.show();
    const scope = app.selected ? select.value : 'all';
    const heading = element('h2', {}, 'Where the time went ', app.selected ? select : null);
    if (!app.whys.known) {
      into.replaceChildren(heading, element('p', {className: 'note'},
          'Left out: it did not fit into --max-size. `ovnitrace why --from --to` explains a range.'));
      return;
    }
    const [whose, threads] = SCOPES[scope](app);
    const from = app.range?.from ?? trace.from, to = app.range?.to ?? trace.to;
    const tree = app.whys.tree(threads, from, to), body = element('tbody');
    for (const part of tree.parts)
      addLines(body, part, 0, tree.ns, app);
    const coarse = threads.filter(thread => trace.threads[thread].coarse).length;
    into.replaceChildren(
        heading,
        element('p', {className: 'note'}, 'Of ' + whose + (app.range ? ', in the selected range of ' +
                duration(to - from) : ', in the whole run') + '. Select a range (shift + drag) or a thread to see less.' +
                (coarse ? ' Left out: ' + counted(coarse, 'thread') + ' that the page does not have in detail (≈).' : '')),
        element('table', {}, element('thead', {}, element('tr', {},
            ...[['', 'text'], ['Time', ''], ['%', '']].map(([text, className]) => element('th', {className, scope: 'col'}, text)))), body));
  };
}
