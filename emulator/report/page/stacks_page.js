// SPDX-License-Identifier: BSD-2-Clause
// Shows the tab "Stacks": a flame graph of the time off the CPU.
import {button, element} from './dom.js';
import {duration, counted, percent} from './format.js';
import {scopeSelect, timesOf} from './scope.js';
import {foundTime, stackTree} from './stacks.js';

const LINE = 20;       // CSS pixels of a frame
const FRAME_LEAST = 0.004;   // of the width: narrower frames are left out
const DEPTH_MOST = 40;

export function stacksPage(app) {
  const select = scopeSelect(app);
  const search = element('input', {type: 'search', placeholder: 'Search functions', 'aria-label': 'Search functions'});
  return into => {
    const {whose, threads} = select.chosen(), {from, to, words} = timesOf(app);
    const root = stackTree(app.trace, threads, from, to);
    const graph = element('div', {className: 'flame', role: 'list', 'aria-label': 'Flame graph of the time off the CPU'});
    const about = element('p', {className: 'note', role: 'status'});
    let deepest = 0;
    const add = (node, left, width, depth) => {
      if (width < FRAME_LEAST || depth > DEPTH_MOST)
        return;
      deepest = Math.max(deepest, depth);
      const text = node.name + ': ' + duration(node.ns) + ', ' + percent(node.ns, root.ns) + ', ' + counted(node.count, 'time');
      const frame = button(node.name, () => app.mark(depth ? {label: node.name, slices: node.slices(), only: true} : null),
                           {className: 'frame', title: text, 'aria-label': text, role: 'listitem'});
      Object.assign(frame.style, {left: 100 * left + '%', width: 100 * width + '%', top: depth * LINE + 'px'});
      const wanted = search.value.toLowerCase();
      frame.className = 'frame' + (depth === 1 ? ' cause' : '') + (wanted && node.name.toLowerCase().includes(wanted) ? ' found' : '');
      graph.append(frame);
      for (const child of node.children) {
        const part = width * child.ns / node.ns;
        add(child, left, part, depth + 1);
        left += part;
      }
    };
    const draw = () => {
      graph.replaceChildren();
      if (root.ns > 0)
        add(root, 0, 1, 0);
      graph.style.height = (deepest + 1) * LINE + 'px';
      const wanted = search.value.toLowerCase();
      about.textContent = 'Time off the CPU of ' + whose + ', ' + words + ': ' + duration(root.ns) + '. ' +
          (wanted ? percent(foundTime(root, wanted), root.ns) + ' of it has "' + search.value + '". ' : '') +
          'A click shows only the threads that were there, and marks when.';
    };
    search.oninput = draw;
    draw();
    const stacks = app.trace.header.places.some(place => place);
    into.replaceChildren(
        element('h2', {}, 'Stacks ', app.selected ? select.element : null), search, about,
        ...stacks ? [] : [element('p', {className: 'note'}, 'The trace has no stacks: record with --stacks to see functions.')],
        graph);
  };
}
