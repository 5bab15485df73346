// SPDX-License-Identifier: BSD-2-Clause
// Shows how long threads waited from woken to running: a histogram whose bars are a quarter of a
// power of two wide.
import {nameOf, WARMING} from './trace.js';
import {element, svgElement} from './dom.js';
import {duration, count} from './format.js';

const PER_OCTAVE = 4;
const bucketOf = ns => ns < 1 ? 0 : Math.floor(Math.log2(ns) * PER_OCTAVE) + 1;
const startOf = bucket => bucket === 0 ? 0 : 2 ** ((bucket - 1) / PER_OCTAVE);

function buckets(trace, threads) {
  const counts = [];
  for (const {index} of threads)
    for (let i = trace.first[index]; i < trace.first[index + 1] - 1; i++)
      if (trace.isWait(i, index)) {
        const bucket = bucketOf(trace.end(i) - trace.start[i]);
        counts[bucket] = (counts[bucket] ?? 0) + 1;
      }
  return counts;
}

function histogram(counts, figures, color) {
  const width = 430, height = 190, foot = 24, head = 26;
  const used = Object.keys(counts).map(Number);
  if (!used.length)
    return element('p', {className: 'note'}, 'No wakeup was seen from its start to its end.');
  const first = Math.min(...used) - 1, last = Math.max(...used) + 2;
  const most = Math.max(...used.map(bucket => counts[bucket]));
  const x = bucket => (bucket - first) / (last - first) * width;
  const y = number => height - foot - Math.sqrt(number / most) * (height - foot - head);
  const graph = svgElement('svg', {viewBox: '0 0 ' + width + ' ' + height, role: 'img',
                                   'aria-label': 'Histogram of wakeup latencies'});
  for (const bucket of used) {
    const bar = svgElement('rect', {x: x(bucket) + 0.5, y: y(counts[bucket]), width: Math.max(1, x(1) - x(0) - 1),
                                    height: height - foot - y(counts[bucket]), fill: color},
                           svgElement('title', {}, duration(startOf(bucket)) + ' to ' +
                                      duration(startOf(bucket + 1)) + ': ' + count(counts[bucket])));
    graph.append(bar);
  }
  const label = (at, text, anchor, row) => {
    graph.append(svgElement('text', {x: at, y: row, 'text-anchor': anchor}, text));
  };
  for (let power = 0, ns = 1; power < 12; power++, ns *= 10) {
    const at = x(Math.log2(ns) * PER_OCTAVE + 1);
    if (at < 0 || at > width - 20)
      continue;
    graph.append(svgElement('line', {x1: at, x2: at, y1: height - foot, y2: height - foot + 5, stroke: 'currentColor'}));
    label(at + 3, duration(ns).replace(/\.0+ /, ' '), 'start', height - 6);
  }
  for (const [name, ns, row] of [['p50', figures.p50, 10], ['p99', figures.p99, 22], ['max', figures.max, 10]]) {
    const at = Math.min(width - 1, x(Math.log2(Math.max(1, ns)) * PER_OCTAVE + 1));
    graph.append(svgElement('line', {x1: at, x2: at, y1: row + 2, y2: height - foot, stroke: 'currentColor',
                                     'stroke-dasharray': '3 3'}));
    label(at > width / 2 ? at - 3 : at + 3, name + ' ' + duration(ns), at > width / 2 ? 'end' : 'start', row);
  }
  return graph;
}

function figuresTable(rows) {
  const table = element('table', {}, element('thead', {}, element('tr', {},
      ...['', 'Wakeups', 'p50', 'p99', 'max'].map(text => element('th', {scope: 'col'}, text)))));
  for (const [name, figures] of rows)
    table.append(element('tr', {}, element('td', {}, name), element('td', {}, count(figures.count)),
                         ...['p50', 'p99', 'max'].map(key => element('td', {}, duration(figures[key])))));
  return table;
}

export function latencyPage(app) {
  const {trace, colors} = app;
  let overall;
  return into => {
    const color = colors.light ? colors.ui('accent') : colors.css[WARMING];
    overall ??= buckets(trace, app.rows.shown);
    into.replaceChildren(element('h2', {}, 'Wakeup latency of all threads: from woken to running'),
                         histogram(overall, trace.header.latency, color),
                         figuresTable([['All', trace.header.latency]]),
                         element('p', {className: 'note'}, 'The height of a bar is the square root of its ' +
                                 'count. p50 and p99 are within 1.6 %, max is exact.'));
    const thread = trace.threads[app.selected?.thread];
    if (!thread) {
      into.append(element('p', {className: 'note'}, 'Select a thread to see its own.'));
      return;
    }
    const figures = thread.summary.wakeup_latency_ns;
    into.append(element('h2', {}, nameOf(thread)), histogram(buckets(trace, [thread]), figures, color),
                figuresTable([['This thread', figures]]));
  };
}
