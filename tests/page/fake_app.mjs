// SPDX-License-Identifier: BSD-2-Clause
// A whole page on a trace that does not begin at 0, of two nodes with equal tids. Times are ns:
//
//            1000      1200      1400 1500 1550     1800      2000
//   main 10  Running 0 | Paused          |Warm| Running 1         |
//   work 11            | Running 0 |Cool.| Running 0 | Dead       |
//   main 10 of two   1300: | P. | Running 2 to 1500 | mixed       |
import {App} from '../../emulator/report/page/app.js';
import {COOLING, DEAD, MIXED, PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {ENDS, fakeDocument, makeTrace, STARTS, varints} from './fake.mjs';

export {STARTS, ENDS};
/// As Trace.startCause() takes them apart.
export const left = (reason, call = -1) => 1 + 2 * (reason + 16 * (call + 1));
export const woken = context => 2 + 2 * context;

const PALETTE = ['#000000', '#00ff00', '#4060ff', '#808080', '#ffa500', '#ffff00', '#aa5500'];
const THEME = {light: {row: '#ffffff', soft: 'soft', text: 'text', line: 'line', head: 'head', panel: 'panel',
                       accent: 'accent', critical: 'critical'}};
THEME.dark = {...THEME.light, row: '#101010'};

export const THREADS = [
  {tid: 10, pid: 10, name: 'main', start: 1000, latency: {count: 1, p50: 50, p99: 51, max: 52}, slices: [
    {state: RUNNING, length: 200, cpu: 1, flags: STARTS + ENDS},
    {state: PAUSED, length: 300, cpu: 1, flags: STARTS + ENDS, why: left(3, 1), peer: 2},
    {state: WARMING, length: 50, cpu: 1, flags: STARTS + ENDS, why: woken(0), peer: 2},
    {state: RUNNING, length: 450, cpu: 2, flags: STARTS},
  ]},
  {tid: 11, pid: 10, name: 'work', start: 1200, slices: [
    {state: RUNNING, length: 200, cpu: 1, flags: ENDS},
    {state: COOLING, length: 100, cpu: 1, flags: STARTS + ENDS, why: left(1), peer: 4},
    {state: RUNNING, length: 300, cpu: 1, flags: STARTS + ENDS},
    {state: DEAD, length: 200, cpu: 1, flags: STARTS, why: left(4)},
  ]},
  {tid: 10, pid: 10, node: 1, name: 'main', start: 1300, slices: [
    {state: PAUSED, length: 100, cpu: 0},
    {state: RUNNING, length: 100, cpu: 3, flags: STARTS},
    {state: MIXED, length: 300, cpu: 3, mix: [0, 100, 150, 0, 20, 30, 0]},
  ]},
];

const HEADER = {
  cpus: [{index: 0, node: 0}, {index: 1, node: 0}, {index: 0, node: 1}],
  calls: ['read', 'futex'], places: ['', 'lock.c:5'], untraced: [{tid: 77, name: 'other'}, {tid: 0, name: 'swapper'}],
  chains: [['start:interactive'], []], series: ['#112233', '#ddeeff'], alarm: '#ff0000',
  reasons: ['none', 'preempted', 'blocked', 'waits for', 'exited'],
  reason_names: ['none', 'preempted', 'blocked', 'waits', 'exited'],
  contexts: ['by a thread', 'in an interrupt'], context_names: ['task', 'irq'],
  counters: [{name: 'migrations', meaning: 'moved', is_switch: false},
             {name: 'yielded', meaning: 'yielded', is_switch: true},
             {name: 'faults', meaning: 'faulted', is_switch: false, if_any: true}],
  latency: {count: 1, p50: 50, p99: 51, max: 52}, load_steps: 4,
  critical_path: {paths: [{thread: 0, from: 1000, to: 2000, segments: 3}, {thread: 1, from: 1000, to: 1500, segments: 1}],
                  causes: ['runs', 'waits']},
  preemptions: [{thread: 1, by: null}, {thread: 2, by: null}], wakeups: [{thread: 0, by: 1}, {thread: 0, by: null}],
  waits: {sums: [{waiter: 1, thread: 0, name: 'main (10)', ns: 70, known: true},
                 {waiter: 1, thread: null, name: 'others', ns: 500, known: false},
                 {waiter: 2, thread: 1, name: 'work (11)', ns: 90, known: true}],
          left_out: 5},
};
const counted = {start_gate_ns: 0, migrations: 3, faults: 0, switches: {yielded: 2}};
const SUMMARY = {
  command: ['/usr/bin/app', '-x'], trace: 'dir', lost: 0, host: 'box', duration_ns: 1000, events: 1234,
  answer: {sentences: 'It ran.', advice: 'Pin it.'},
  preemptions: [{node: 0, tid: 11, by_tid: 77, by_name: 'other', count: 4},
                {node: 1, tid: 10, by_tid: null, by_name: '', count: 1}],
  wakeups: [{node: 0, tid: 10, by_tid: 11, by_name: 'work', count: 2},
            {node: 0, tid: 10, by_tid: 0, by_name: '', count: 9}],
  cpus: [{busy_ns: 700, switches: 4, unknown_ns: 10, lost: 0}, {busy_ns: 450, switches: 1, unknown_ns: 0, lost: 2},
         {busy_ns: null, switches: null, unknown_ns: null, lost: null}],
  regions: [{node: 0, pid: 10, tid: 10, of_thread: false, start_ns: 1100, length_ns: 100, chain: 1, started_by: 0},
            {node: 0, pid: 10, tid: 10, of_thread: false, start_ns: 1700, length_ns: 50, chain: 0, started_by: 'ctl'}],
};
const PARTS = {
  order: varints(0, 1, 2, 1, 0),
  load: varints(200, 250, 200, 50, 0, 0, 200, 250, 0, 50, 50, 0, 0, 100, 251, 0),
  events: varints(20, 1, 0xd9, 0, 5, 30, 1, 0xd9, 0, 6, 50, 1, 0xe9, 0, 5, 300, 1, 0x01, 42, 0, 0, 0, 0x01, 1, 0,
                  100, 2, 0x29, 7, 8),
  dark: varints(0, 1100, 100),
  critical_path: varints(200, 0, 0, 200, 1, 1, 600, 0, 0, 500, 1, 0),
};

/// Starts the page on a canvas with 400 pixels of time. draw() draws what is planned.
export function makeApp({threads = THREADS, header = {}, summary = {}, parts = {}, light = true, to = 2000} = {}) {
  fakeDocument();
  const {getElementById} = globalThis.document;
  Object.assign(getElementById('scroller'), {clientWidth: 610, clientHeight: 300});
  getElementById('overview').clientWidth = getElementById('axis').clientWidth = 610;
  const planned = [];
  Object.assign(globalThis, {
    window: {devicePixelRatio: 1}, innerWidth: 1000, innerHeight: 800,
    matchMedia: query => ({matches: query === '(prefers-color-scheme: light)' && light}),
    getComputedStyle: page => ({getPropertyValue: name => ' ' + THEME[page.dataset.theme][name.slice(2)]}),
    requestAnimationFrame: draw => planned.push(draw),
  });
  const trace = makeTrace(threads, {from: 1000, to, header: {...HEADER, ...header},
                                    summary: {...SUMMARY, ...summary}, parts: {...PARTS, ...parts}});
  trace.header.states.forEach((state, n) => Object.assign(state, {color: PALETTE[n], label: 'The ' + state.name}));
  trace.summary.threads.forEach(thread => Object.assign(thread, counted));
  trace.summary.threads[0].start_gate_ns = 25;
  const app = new App(trace);
  return {app, trace, planned, byId: getElementById, canvas: getElementById('rows'),
          draw: () => planned.splice(0).forEach(draw => draw())};
}
