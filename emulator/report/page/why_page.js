// SPDX-License-Identifier: BSD-2-Clause
// Shows the tab "Why": where the time of a range went, of one thread or of several.
import {nameOf, RUNNING} from './trace.js';
import {button, element} from './dom.js';
import {counted, duration, percent} from './format.js';
import {scopeSelect, timesOf} from './scope.js';
import {doSoon} from './work.js';

const PARTS_MOST = 8; // of a node; the rest is one line

/// Adds the lines of a node and of its parts.
function addLines(body, node, depth, whole, app) {
  const show = ({label, ns, thread, slices}, at) => {
    const name = element('td', {className: 'text'});
    name.style.paddingLeft = 6 + 14 * at + 'px';
    name.append(thread !== null && thread !== undefined && app.trace.hasSlices(thread) ?
        button(label, () => app.showThread(thread), {className: 'link'}) : label);
    const mark = slices ? button(duration(ns), () => app.mark({label, slices: slices()}), {className: 'mark', 'aria-label': 'Mark ' + label + ', ' + duration(ns)}) : duration(ns);
    body.append(element('tr', {}, name, element('td', {}, mark), element('td', {}, percent(ns, whole))));
  };
  show(node, depth);
  for (const part of node.parts.slice(0, PARTS_MOST))
    addLines(body, part, depth + 1, whole, app);
  const rest = node.parts.slice(PARTS_MOST);
  if (rest.length)
    show({label: rest.length + ' others', ns: rest.reduce((ns, part) => ns + part.ns, 0)}, depth + 1);
}

const SHARES_MOST = 15;

/// Returns a table of the threads that ran alone most.
function sharesTable(app, threads, from, to) {
  const {trace} = app, body = element('tbody'), whole = to - from;
  const rows = threads.map(thread => ({thread, share: app.shares.of(thread, from, to),
                                       running: app.sums.times(thread, from, to)[RUNNING]}))
      .filter(row => row.running > 0).sort((a, b) => b.share - a.share);
  for (const {thread, share, running} of rows.slice(0, SHARES_MOST))
    body.append(element('tr', {}, element('td', {className: 'text'}, button(nameOf(trace.threads[thread]), () => app.showThread(thread), {className: 'link'})),
                        ...[duration(share), percent(share, whole), duration(running)].map(text => element('td', {}, text))));
  return [element('h2', {}, 'Latency share'),
          element('p', {className: 'note'}, 'While n threads of the page run, each gets 1/n of the time. The others are no part of it.' +
                  (rows.length > SHARES_MOST ? ' The first ' + SHARES_MOST + ' of ' + rows.length + ' threads.' : '')),
          element('table', {}, element('thead', {}, element('tr', {},
              ...['Thread', 'Share', '% of the time', 'Running'].map((text, n) => element('th', {className: n ? '' : 'text', scope: 'col'}, text)))), body)];
}

export function whyPage(app) {
  const {trace} = app, select = scopeSelect(app);
  const show = (into, heading, {whose, threads, from, to, words}) => {
    const tree = app.whys.tree(threads, from, to), body = element('tbody');
    for (const part of tree.parts)
      addLines(body, part, 0, tree.ns, app);
    const coarse = threads.filter(thread => trace.threads[thread].coarse).length;
    into.replaceChildren(
        heading,
        element('p', {className: 'note'}, 'Of ' + whose + ', ' + words + '. Select a range (shift + drag) or a thread to see less. A click on a time marks its slices.' +
                (coarse ? ' Left out: ' + counted(coarse, 'thread') + ' that the page does not have in detail (≈).' : '')),
        element('table', {}, element('thead', {}, element('tr', {},
            ...[['', 'text'], ['Time', ''], ['%', '']].map(([text, className]) => element('th', {className, scope: 'col'}, text)))), body),
        ...sharesTable(app, threads.filter(thread => app.whys.hasCauses(thread)), from, to));
  };
  return into => {
    const heading = element('h2', {}, 'Where the time went ', app.selected ? select.element : null);
    if (!app.whys.known) {
      into.replaceChildren(heading, element('p', {className: 'note'},
          'Left out: it did not fit into --max-size. `ovnitrace why --from --to` explains a range.'));
      return;
    }
    const chosen = {...select.chosen(), ...timesOf(app)}, bar = element('progress', {'aria-label': 'Sums up'});
    doSoon(app.stepsToWhy(chosen.threads, chosen.from, chosen.to), {
      told: part => {
        bar.value = part;
        if (!into.contains(bar))
          into.replaceChildren(heading, bar);
      },
      done: () => show(into, heading, chosen),
      isWanted: () => into.contains(bar),
    });
  };
}
