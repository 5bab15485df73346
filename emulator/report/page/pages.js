// SPDX-License-Identifier: BSD-2-Clause
// Makes the tables beside the timeline: threads, who did what to whom, CPUs, longest waits.
import {nameOf, timeIn, COOLING, PAUSED, RUNNING, WARMING} from './trace.js';
import {causes} from './slices.js';
import {element, svgElement} from './dom.js';
import {SortedTable} from './tables.js';
import {duration, percent, count} from './format.js';

/// Returns the columns of the states whose times `info` sums up.
function stateColumns({header, summary: {threads: [first]}}) {
  return header.state_order.map(state => header.states[state])
      .filter(({name}) => name in (first?.time_ns ?? {}))
      .map(({name, label, meaning}) => ({
        title: label, hint: meaning, value: thread => timeIn(thread.summary, name),
        text: thread => duration(timeIn(thread.summary, name)),
      }));
}

function counterColumns({header, summary: {threads}}) {
  return header.counters.map(({name, meaning, is_switch, if_any}) => {
    const of = summary => (is_switch ? summary.switches : summary)[name];
    return {title: name[0].toUpperCase() + name.slice(1), hint: 'How often it ' + meaning,
            value: thread => of(thread.summary), text: thread => count(of(thread.summary)),
            shown: !if_any || threads.some(of)};
  }).filter(column => column.shown);
}

export function threadsPage(app) {
  const latency = key => ({
    value: thread => thread.summary.wakeup_latency_ns[key],
    text: thread => duration(thread.summary.wakeup_latency_ns[key]),
  });
  const table = new SortedTable([
    {title: 'Thread', words: true, value: nameOf, click: thread => app.showThread(thread.index)},
    ...stateColumns(app.trace),
    ...counterColumns(app.trace),
    {title: 'p50', ...latency('p50'), hint: 'Half of the wakeup latencies are shorter'},
    {title: 'p99', ...latency('p99')},
    {title: 'max', ...latency('max')},
  ], {sort: 1, isSelected: thread => thread.index === app.selected?.thread});
  return into => into.replaceChildren(
      element('h2', {}, 'Time in states and wakeup latency, by thread'),
      element('p', {className: 'note'}, 'Of the whole run. The search above chooses threads.'),
      table.show(app.rows.matching));
}

export function whoPage(app) {
  const {trace} = app;
  const nameAt = index => nameOf(trace.threads[index]);
  const by = row => row.by !== null ? nameAt(row.by) : row.by_tid === null ? 'an interrupt' :
      nameOf({tid: row.by_tid, name: row.by_name});
  const columns = (whom, who) => [
    {title: whom, words: true, value: row => nameAt(row.thread),
     click: row => app.showThread(row.thread), can: row => trace.hasSlices(row.thread)},
    {title: who, words: true, value: by, click: row => app.showThread(row.by),
     can: row => row.by !== null && trace.hasSlices(row.by)},
    {title: 'Times', value: row => row.count, text: row => count(row.count)},
  ];
  const preempted = new SortedTable(columns('Thread', 'Preempted by'), {sort: 2});
  const woken = new SortedTable(columns('Thread', 'Woken by'), {sort: 2});
  return into => {
    const chosen = new Set(app.rows.matching.map(thread => thread.index));
    const of = list => trace.summary[list].map((row, n) => ({...row, ...trace.header[list][n]}))
        .filter(row => chosen.has(row.thread) || chosen.has(row.by));
    into.replaceChildren(element('h2', {}, 'Who got the CPU of a thread that was preempted'),
                         preempted.show(of('preemptions')),
                         element('h2', {}, 'Who woke whom'), woken.show(of('wakeups')));
  };
}

/// Draws a small graph of a row of the load.
function loadGraph(app, steps, most, color) {
  const points = Array.from(steps, (ns, n) => n + ',' + (40 - 38 * Math.min(1, ns / most)).toFixed(1));
  const graph = svgElement('svg', {viewBox: '0 0 ' + steps.length + ' 40', preserveAspectRatio: 'none',
                                   role: 'img'},
                           svgElement('polygon', {points: '0,40 ' + points.join(' ') + ' ' + steps.length + ',40',
                                                  fill: color}));
  graph.style.height = '40px';
  graph.addEventListener('click', event => {
    const {view} = app, part = event.offsetX / graph.clientWidth;
    const middle = view.least + part * (view.most - view.least);
    view.set(middle - view.span / 2, middle + view.span / 2);
  });
  return graph;
}

export function cpusPage(app) {
  const {trace, colors} = app, length = trace.to - trace.from;
  const table = new SortedTable([
    {title: 'CPU', words: true, value: row => row.number, text: row => trace.cpuName(row.number)},
    {title: 'Busy', value: row => row.busy_ns, text: row => duration(row.busy_ns)},
    {title: '%', value: row => row.busy_ns, text: row => row.busy_ns === null ? '–' : percent(row.busy_ns, length)},
    {title: 'Switches', value: row => row.switches, text: row => count(row.switches)},
    {title: 'Not seen', value: row => row.unknown_ns, text: row => duration(row.unknown_ns)},
    {title: 'Lost', value: row => row.lost, text: row => count(row.lost)},
  ], {sort: 0, down: false});
  return into => {
    into.replaceChildren(element('h2', {}, 'CPUs, busy with threads of the trace'),
                         table.show(trace.summary.cpus.map((cpu, number) => ({...cpu, number}))));
    into.append(element('h2', {}, 'Load over the whole run (click goes there)'));
    trace.cpus.slice(0, 64).forEach((_, cpu) => into.append(
        element('p', {className: 'note'}, trace.cpuName(cpu)),
        loadGraph(app, trace.load[cpu], trace.stepNs, colors.css[RUNNING])));
    const waiting = trace.load[trace.cpus.length], most = Math.max(...waiting, 1);
    into.append(element('p', {className: 'note'}, 'Threads that wait for a CPU, at most ' +
                        (most / trace.stepNs).toFixed(1) + ' at once on average'),
                loadGraph(app, waiting, most, colors.css[COOLING]));
  };
}

const WAITS_MOST = 100;

/// Returns the longest slices of some states, longest first.
function longest(app, states) {
  const {trace} = app, from = app.range?.from ?? trace.from, to = app.range?.to ?? trace.to;
  let kept = [], least = 0;
  const trim = () => {
    kept.sort((a, b) => b.ns - a.ns);
    kept.length = Math.min(kept.length, WAITS_MOST);
    least = kept.length === WAITS_MOST ? kept[WAITS_MOST - 1].ns : 0;
  };
  for (const {index} of app.rows.matching) {
    for (let i = trace.first[index]; i < trace.first[index + 1] - 1; i++) {
      const ns = trace.start[i + 1] - trace.start[i];
      if (ns <= least || !states.includes(trace.state(i)) || trace.start[i] < from || trace.end(i) > to)
        continue;
      kept.push({slice: i, thread: index, ns});
      if (kept.length === 4 * WAITS_MOST)
        trim();
    }
  }
  trim();
  return kept;
}

const HOLDERS_MOST = 3;

/// Names the threads that ran for most of a wait for a CPU.
function holdersText({trace, whys}, {slice, thread}) {
  const state = trace.state(slice);
  if (!whys.known || !whys.hasCauses(thread) || (state !== COOLING && state !== WARMING))
    return '–';
  const parts = whys.holders(slice).map(({text, ns}) => text + ' ' + duration(ns));
  return parts.slice(0, HOLDERS_MOST).join('; ') + (parts.length > HOLDERS_MOST ? '; others' : '') || '–';
}

export function waitsPage(app) {
  const {trace} = app, {sums, left_out} = trace.header.waits;
  const holders = new SortedTable([
    {title: 'Thread', words: true, value: row => nameOf(trace.threads[row.waiter]),
     click: row => app.showThread(row.waiter)},
    {title: 'Waited while this had its CPU', words: true, value: row => row.name,
     click: row => app.showThread(row.thread),
     can: row => row.thread !== null && trace.hasSlices(row.thread)},
    {title: 'Time', value: row => row.known ? row.ns : row.ns - 1e18, text: row => duration(row.ns)},
  ], {sort: 2});
  const {states, state_order} = trace.header;
  const waits = state_order.filter(state => states[state].waits);
  const choices = {
    cpu: ['for a CPU', waits.filter(state => state !== PAUSED)],
    ...Object.fromEntries(waits.map(state => [states[state].name, [states[state].term, [state]]])),
  };
  const select = element('select', {'aria-label': 'Which waits'});
  for (const [value, [text]] of Object.entries(choices))
    select.append(element('option', {value}, text));
  const table = new SortedTable([
    {title: 'Thread', words: true, value: row => nameOf(trace.threads[row.thread]), click: row => app.goTo(row)},
    {title: 'State', words: true, value: row => trace.header.states[trace.state(row.slice)].label},
    {title: 'Length', value: row => row.ns, text: row => duration(row.ns)},
    {title: 'From', value: row => trace.start[row.slice], text: row => (trace.start[row.slice] / 1e9).toFixed(6) + ' s'},
    {title: 'Ran there', hint: 'Which threads had the CPU meanwhile', words: true, wraps: true, value: row => holdersText(app, row)},
    {title: 'By', hint: 'Who preempted or woke it', words: true, wraps: true, value: row => {
      const {peer, context, waker} = causes(trace, row);
      if (context > 0)
        return app.whys.wokenBy(row) ?? trace.header.contexts[context] ?? String(context);
      const who = trace.state(row.slice) === COOLING ? peer : waker;
      return who ? nameOf(who) : '–';
    }},
  ], {sort: 2});
  const chosen = () => new Set(app.rows.matching.map(thread => thread.index));
  return into => {
    const show = () => table.show(longest(app, choices[select.value][1]));
    select.onchange = show;
    into.replaceChildren(element('h2', {}, 'Longest waits ', select),
                         element('p', {className: 'note'}, (app.range ? 'In the selected range.' : 'Of the whole run.') +
                                 (app.whys.known ? '' : ' The column Ran there is empty: the causes did not fit into --max-size.')),
                         show(),
                         element('h2', {}, 'Which threads ran while others waited for their CPU'),
                         element('p', {className: 'note'}, 'Of the whole run, whatever range is selected. The search above chooses threads.' +
                                 (left_out ? ' Left out: ' + duration(left_out) + ' of shorter ones.' : '')),
                         holders.show(sums.filter(sum => chosen().has(sum.waiter))));
  };
}
