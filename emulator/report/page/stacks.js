// SPDX-License-Identifier: BSD-2-Clause
// Sums up the time off the CPU by cause and by stack.
import {lastUpTo} from './search.js';
import {COOLING, PAUSED, THROTTLED, WARMING} from './trace.js';

const CALLERS = ' < '; // between the functions of a place, from the innermost outward

/// Returns the names on the way to a slice: its cause, then the functions from the outermost inward;
/// null if the thread was not off its CPU.
function wayTo(trace, slice) {
  const state = trace.state(slice);
  if (state !== PAUSED && state !== COOLING && state !== WARMING && state !== THROTTLED)
    return null;
  const label = trace.header.states[state].term;
  if (state !== PAUSED)
    return [label];
  const cause = trace.startCause(slice), name = cause?.call ? label + ': ' + cause.call : label;
  return cause?.place ? [name, ...cause.place.split(CALLERS).reverse()] : [name];
}

/// Returns the tree of threads between two times: {name, ns, count, slices(), children}. slices()
/// returns those that end in the node or below it, as [thread, slice, …]; children: most time first.
export function stackTree(trace, threads, from, to) {
  const make = name => {
    const node = {name, ns: 0, count: 0, byName: new Map(), children: [], slices: () => slicesOf(node)};
    return node;
  };
  const root = make('off the CPU'), ways = new Map(); // by state and cause: nodes from the root on
  const keyOf = slice => trace.state(slice) + 8 * (trace.state(slice) === PAUSED ? trace.why[slice] : 0);
  const eachSlice = put => {
    for (const t of threads) {
      if (!trace.hasSlices(t) || trace.threads[t].coarse)
        continue;
      const last = trace.first[t + 1] - 1;
      for (let i = lastUpTo(trace.start, trace.first[t], last, from); i < last && trace.start[i] < to; i++) {
        const ns = Math.min(to, trace.start[i + 1]) - Math.max(from, trace.start[i]);
        if (ns > 0)
          put(t, i, ns);
      }
    }
  };
  // Millions of slices would take much memory in each node above them, so they are found when asked for.
  const slicesOf = node => {
    const found = [];
    eachSlice((t, i) => ways.get(keyOf(i))?.includes(node) && found.push(t, i));
    return found;
  };
  eachSlice((_thread, i, ns) => {
    const key = keyOf(i);
    let nodes = ways.get(key);
    if (nodes === undefined) {
      const names = wayTo(trace, i);
      nodes = names && [root];
      for (const name of names ?? []) {
        const above = nodes[nodes.length - 1];
        if (!above.byName.has(name))
          above.byName.set(name, make(name));
        nodes.push(above.byName.get(name));
      }
      ways.set(key, nodes);
    }
    for (const node of nodes ?? []) {
      node.ns += ns;
      node.count++;
    }
  });
  const sort = node => {
    node.children = [...node.byName.values()].sort((a, b) => b.ns - a.ns);
    node.children.forEach(sort);
  };
  sort(root);
  return root;
}

/// Returns the ns of the outermost nodes whose name has the text.
export function foundTime(node, text) {
  return node.name.toLowerCase().includes(text) ? node.ns : node.children.reduce((ns, child) => ns + foundTime(child, text), 0);
}
