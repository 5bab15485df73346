// SPDX-License-Identifier: BSD-2-Clause
// Makes the page of the selected slice and of the selected range.
import {COOLING, MIXED, RUNNING, STATES, WARMING} from './trace.js';
import {nameOf} from './trace.js';
import {causes, wakeupOf, ways} from './slices.js';
import {chainOf} from './chain.js';
import {element, button} from './dom.js';
import {lastUpTo} from './search.js';
import {duration, exactTime, percent} from './format.js';

const chip = color => {
  const made = element('span', {className: 'chip'});
  made.style.background = color;
  return made;
};

export class Details {
  constructor(app) {
    this.app = app;
  }

  peer(peer, time) {
    if (!peer)
      return 'not known';
    if (peer.thread < 0)
      return peer.tid === 0 ? 'nobody (the CPU was idle)' : nameOf(peer) + ', not traced';
    return button(nameOf(peer), () => this.app.selectAt(peer.thread, time), {className: 'link'});
  }

  /// Returns [term, description] pairs for a slice.
  facts(selected) {
    const {trace} = this.app, {slice, thread} = selected;
    const state = trace.state(slice), found = causes(trace, selected);
    const start = trace.start[slice], end = trace.end(slice);
    const seen = state === MIXED || trace.isLast(slice, thread);
    const facts = [
      ['Thread', nameOf(trace.threads[thread]) + ', process ' + trace.threads[thread].pid],
      ['From', exactTime(start) + (seen || trace.starts(slice) ? '' : ' (its start was not seen)')],
      ['To', exactTime(end) + (seen || trace.ends(slice) ? '' : ' (its end was not seen)')],
    ];
    const line = this.commandLine(trace.threads[thread]);
    if (line)
      facts.push(['Command line', line]);
    if (trace.threads[thread].summary?.cgroup)
      facts.push(['Cgroup', trace.threads[thread].summary.cgroup]);
    if (state === MIXED)
      return [...facts, ['Times', this.mixText(trace.mixes.get(slice))]];
    facts.push([state === RUNNING ? 'CPU' : 'Last CPU',
                trace.cpu[slice] ? trace.cpuName(trace.cpu[slice] - 1) : 'not known']);
    if (found.reason !== null) {
      const when = state === RUNNING ? end : start;
      facts.push([state === RUNNING ? 'Left the CPU' : 'Why off the CPU',
                  trace.header.reasons[found.reason] ?? 'reason ' + found.reason]);
      if (found.call !== null)
        facts.push(['Blocked in', found.call]);
      if (found.place !== null)
        facts.push(['At', found.place]);
      facts.push(['Ran instead', this.peer(found.peer, when)]);
    }
    const idle = this.app.whys.known ? this.app.whys.idleIn(slice) : undefined;
    if (idle)
      facts.push(['A CPU was idle', this.app.whys.lists.idle.map(({name}, n) => [name, idle[n]]).filter(([, ns]) => ns > 0)
          .map(([name, ns]) => duration(ns) + ' (' + name + ')').join(', ')]);
    const wakeup = wakeupOf(trace, selected);
    if (wakeup >= 0 || found.context !== null) {
      const at = wakeup >= 0 ? wakeup : slice + 1;
      this.addWakeup(facts, at, thread);
    }
    return facts;
  }

  /// Returns the command line of the thread's process, which its main thread has.
  commandLine(thread) {
    return this.app.trace.threads[thread.main].command_line;
  }

  mixText(times) {
    return this.app.stateNames.map((name, s) => [name, times[s]]).filter(([, ns]) => ns > 0)
        .map(([name, ns]) => name + ' ' + duration(ns)).join(', ');
  }

  addWakeup(facts, wakeup, thread) {
    const {trace} = this.app, cause = trace.startCause(wakeup);
    if (cause?.context !== undefined) {
      const byItself = cause.context === 0;
      facts.push([byItself ? 'Woken by' : 'Woken while ran',
                  this.peer(trace.peerOf(cause.peer), trace.start[wakeup])]);
      facts.push(['In context', trace.header.contexts[cause.context] ?? String(cause.context)]);
    }
    if (trace.isWait(wakeup, thread))
      facts.push(['Wakeup latency', duration(trace.end(wakeup) - trace.start[wakeup])]);
  }

  show(into) {
    const {selected, range} = this.app;
    into.replaceChildren();
    if (selected)
      this.showSlice(into, selected);
    else
      into.append(element('h2', {}, 'Nothing is selected'),
                  element('p', {className: 'note'},
                          'Click on a slice to see its facts. Hold Shift and drag, or drag on the ' +
                          'time axis, to sum up a range.'));
    if (range)
      this.showRange(into, range);
    if (!selected && !range)
      this.showRange(into, {from: this.app.trace.from, to: this.app.trace.to, whole: true});
  }

  showSlice(into, selected) {
    const {trace, colors} = this.app, {slice} = selected, state = trace.state(slice);
    const list = element('dl');
    for (const [term, description] of this.facts(selected))
      list.append(element('dt', {}, term), element('dd', {}, description));
    const label = state === MIXED ? 'Several states' : trace.header.states[state].label;
    const go = (way, text, key) => {
      const target = ways[way](trace, selected);
      return button(text + ' (' + key + ')', () => this.app.follow(way), {disabled: !target});
    };
    into.append(
        element('h2', {className: 'big', id: 'slice-title'}, chip(colors.css[state] ?? '#888'), label,
                ' for ', duration(trace.end(slice) - trace.start[slice])),
        list,
        element('div', {className: 'actions'}, go('previous', '← Previous', '←'),
                go('next', 'Next →', '→'), go('waker', 'Waker', 'e'),
                go('instead', 'Ran instead', 'q'),
                button('Zoom to it (f)', () => this.app.zoomToSelected())));
    this.showChain(into, selected);
  }

  /// Shows what the slice waited for, who woke the thread, and what that one had waited for.
  showChain(into, selected) {
    const {trace} = this.app, steps = chainOf(trace, selected);
    if (!steps.length)
      return;
    const list = element('ol', {id: 'chain'});
    for (const {thread, slice, call, context, waker} of steps) {
      const ran = waker && context !== 0 ? 'an interrupt while this ran: ' : '';
      list.append(element('li', {}, button(nameOf(trace.threads[thread]), () => this.app.goTo({thread, slice}), {className: 'link'}),
                          ' waited ' + duration(trace.end(slice) - trace.start[slice]) + ' for ' + (call ?? 'something not known') + ', woken by ' + ran,
                          this.peer(waker, trace.end(slice))));
    }
    into.append(element('h2', {}, 'What it waited for'), list);
  }

  showRange(into, range) {
    const {trace, sums, rows, colors, stateNames} = this.app;
    const total = new Float64Array(STATES), threads = [];
    for (const thread of rows.matching) {
      const times = sums.times(thread.index, range.from, range.to);
      times.forEach((ns, s) => total[s] += ns);
      threads.push({thread, times});
    }
    const length = range.to - range.from, alive = trace.countedStates.reduce((sum, s) => sum + total[s], 0);
    into.append(element('h2', {className: 'big'}, range.whole ? 'The whole run, ' : 'Range of ', duration(length)));
    if (!range.whole)
      into.append(element('p', {className: 'note'}, exactTime(range.from) + ' to ' + exactTime(range.to)),
                  element('div', {className: 'actions'},
                          button('Zoom to it', () => this.app.view.set(range.from, range.to)),
                          button('Clear (Esc)', () => this.app.setRange(null))));
    const states = element('table', {id: 'range-states'}, element('thead', {}, element('tr', {},
        element('th', {scope: 'col'}, 'State'), element('th', {scope: 'col'}, 'Time of ' + rows.matchingText()),
        element('th', {scope: 'col'}, 'Share'))));
    for (const s of trace.countedStates)
      states.append(element('tr', {}, element('td', {}, chip(colors.css[s]), stateNames[s]),
                            element('td', {}, duration(total[s])),
                            element('td', {}, percent(total[s], alive))));
    into.append(states);
    if (trace.cpus.length && !trace.header.coarse_threads) {
      const busyNs = this.busyBy(threads.map(({thread}) => thread.index), range);
      const cpus = element('table', {}, element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, 'CPU'),
          element('th', {scope: 'col'}, 'Busy with them'), element('th', {scope: 'col'}, 'Share'))));
      trace.cpus.slice(0, 64).forEach((_, cpu) => {
        const busy = busyNs[cpu];
        cpus.append(element('tr', {}, element('td', {}, trace.cpuName(cpu)), element('td', {}, duration(busy)),
                            element('td', {}, percent(busy, length))));
      });
      into.append(element('h2', {}, 'CPUs'), cpus);
    }
    this.showBusiest(into, threads);
  }

  /// Returns the ns in which CPUs ran some threads.
  busyBy(threads, {from, to}) {
    const {trace, runs} = this.app;
    if (threads.length === this.app.rows.shown.length)
      return trace.cpus.map((_, cpu) => runs.busyNs(cpu, from, to)); // of all, which is faster
    const busy = new Float64Array(trace.cpus.length + 1); // by 1 + index of the CPU; 0: not known
    for (const t of threads) {
      const last = trace.first[t + 1] - 1;
      for (let i = lastUpTo(trace.start, trace.first[t], last, from); i < last && trace.start[i] < to; i++)
        if (trace.state(i) === RUNNING)
          busy[trace.cpu[i]] += Math.max(0, Math.min(to, trace.start[i + 1]) - Math.max(from, trace.start[i]));
    }
    return busy.subarray(1);
  }

  showBusiest(into, threads) {
    const table = element('table', {}, element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, 'Thread'),
        element('th', {scope: 'col'}, 'Running'), element('th', {scope: 'col'}, 'Cooling'), element('th', {scope: 'col'}, 'Warming'))));
    threads.sort((a, b) => b.times[RUNNING] - a.times[RUNNING]);
    for (const {thread, times} of threads.slice(0, 20))
      table.append(element('tr', {}, element('td', {}, button(nameOf(thread), () => this.app.showThread(thread.index), {className: 'link'})),
                           ...[RUNNING, COOLING, WARMING].map(s => element('td', {}, duration(times[s])))));
    into.append(element('h2', {}, 'Threads that ran most'), table);
  }
}
