// SPDX-License-Identifier: BSD-2-Clause
// The rows of the timeline: emulator/report/page/rows.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Rows} from '../../emulator/report/page/rows.js';
import {COOLING, PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {makeTrace} from './fake.mjs';

const lived = (running, cooling, warming) => [
  {state: RUNNING, length: running}, {state: COOLING, length: cooling},
  {state: WARMING, length: warming}, {state: PAUSED, length: 1000 - running - cooling - warming}];

/// Two processes with one pid on two nodes, and a thread alone.
const THREADS = [
  {tid: 10, pid: 10, name: 'Web', slices: lived(100, 5, 15), latency: {max: 15}},
  {tid: 11, pid: 10, name: 'pool', slices: lived(300, 40, 0), latency: {max: null}},
  {tid: 12, pid: 10, name: 'log', slices: lived(200, 0, 30), latency: {max: 9}},
  {tid: 10, pid: 10, node: 1, name: 'db', slices: lived(400, 0, 10), latency: {max: 10}},
  {tid: 25, pid: 25, node: 1, name: 'cron', slices: lived(0, 0, 0), latency: {}},
];
const make = (threads = THREADS, extra = {}) => {
  const trace = makeTrace(threads, extra);
  return new Rows(trace);
};
const texts = rows => rows.list.map(row => row.type === 'thread' ? row.thread :
    row.type === 'process' ? row.process.name + ' ' + row.count :
    row.type === 'cpu' ? 'cpu ' + row.cpu : row.type + (row.folded ? ' folded' : ''));
const search = text => {
  const rows = make();
  rows.search = text;
  rows.build();
  return rows.matching.map(thread => thread.index);
};
const sortedBy = sort => {
  const rows = make();
  rows.sort = sort;
  rows.build();
  return texts(rows);
};

test('threads are by process, of which only one with several threads has a row', () => {
  assert.deepEqual(texts(make()), ['Web 3', 0, 1, 2, 3, 4]);
});

test('two processes that had one pid are two groups, each with its own threads', () => {
  const rows = make([
    {tid: 10, pid: 10, name: 'old', main: 0, slices: lived(100, 0, 0)}, {tid: 10, pid: 10, name: 'new', birth: 500, main: 1, slices: lived(100, 0, 0)},
    {tid: 11, pid: 10, name: 'a', main: 0, slices: lived(100, 0, 0)}, {tid: 12, pid: 10, name: 'b', main: 1, slices: lived(100, 0, 0)}]);
  assert.deepEqual(texts(rows), ['old 2', 0, 2, 'new 2', 1, 3]);
});

test('a process has the name of its main thread, and none if the trace does not have that thread', () => {
  const io = {tid: 11, pid: 10, name: 'io', slices: lived(1, 0, 0)}, log = {tid: 12, pid: 10, name: 'log', slices: lived(1, 0, 0)};
  assert.deepEqual(texts(make([{tid: 10, pid: 10, name: '', slices: lived(1, 0, 0)}, io, log])), [' 3', 0, 1, 2]);
  assert.deepEqual(texts(make([io, log])), [' 2', 0, 1]);
  assert.deepEqual(texts(make([{...io, process: 'server'}, log])), ['server 2', 0, 1], 'it is not traced');
});

test('CPUs come first and can be folded', () => {
  const rows = make(THREADS.slice(3), {header: {cpus: [{index: 0, node: 0}, {index: 3, node: 1}]}});
  assert.deepEqual(texts(rows), ['head', 'cpu 0', 'cpu 1', 0, 1]);
  rows.fold(rows.list[0]);
  assert.deepEqual(texts(rows), ['head folded', 0, 1]);
});

test('rows lie below each other, and a height finds its row', () => {
  const rows = make();
  assert.deepEqual(rows.list.map(row => row.top), [0, 24, 46, 68, 90, 112]);
  assert.equal(rows.height, 134);
  assert.equal(rows.at(23).type, 'process');
  assert.equal(rows.at(24).thread, 0);
  assert.equal(rows.at(133).thread, 4);
  assert.equal(rows.at(134), undefined);
  assert.equal(rows.at(-1), undefined);
  assert.equal(rows.indexAt(-5), 0);
  assert.equal(rows.indexAt(46), 2);
  assert.equal(rows.indexAt(1000), 5);
});

test('sorted by a time, the longest is first and processes have no rows', () => {
  assert.deepEqual(sortedBy('running'), [3, 1, 2, 0, 4]);
  assert.deepEqual(sortedBy('waiting'), [1, 2, 0, 3, 4]);
  assert.deepEqual(sortedBy('latency'), [0, 3, 2, 1, 4]);
  assert.deepEqual(sortedBy('name'), [4, 3, 2, 1, 0]);
});

test('a word is searched in names, and at the start of numbers', () => {
  assert.deepEqual(search('web'), [0, 1, 2], 'also the name of the process');
  assert.deepEqual(search('POOL'), [1]);
  assert.deepEqual(search('1'), [0, 1, 2, 3]);
  assert.deepEqual(search('5'), []);
  assert.deepEqual(search('25'), [4]);
  assert.deepEqual(search('12'), [2], 'the number of a thread alone');
  assert.deepEqual(search('web  log '), [2], 'all words hold');
});

test('a condition holds for times and for shares, with and without the limit', () => {
  assert.deepEqual(search('running>200'), [1, 3]);
  assert.deepEqual(search('running>=200'), [1, 2, 3]);
  assert.deepEqual(search('running<200ns'), [0, 4]);
  assert.deepEqual(search('running<=200'), [0, 2, 4]);
  assert.deepEqual(search('running>=30%'), [1, 3]);
  assert.deepEqual(search('running>30%'), [3]);
  assert.deepEqual(search('warming>0.01us'), [0, 2]);
  assert.deepEqual(search('cooling>1ms'), []);
  assert.deepEqual(search('web running  >=200 '), search('web running>=200'), 'blanks beside the sign');
});

test('throttled is a state of its own', () => {
  const rows = make();
  for (const thread of rows.shown)
    thread.summary.throttling = {time_ns: 10 * thread.index};
  const found = text => {
    rows.search = text;
    rows.build();
    return [rows.matching.map(thread => thread.index), rows.matchingText()];
  };
  assert.deepEqual(found('throttled>20'), [[3, 4], '2 of 5 threads']);
  assert.deepEqual(found(''), [[0, 1, 2, 3, 4], '5 threads']);
  assert.deepEqual(found('throttled < 1 tool'), [[], '0 of 5 threads']);
});

test('a thread without a name is found by the word that its row has', () => {
  const rows = make();
  rows.shown[2].name = '';
  rows.search = 'threa';
  rows.build();
  assert.deepEqual(rows.matching.map(thread => thread.index), [2]);
});

test('a condition leaves out the start gate and the time outside regions, as the tables do', () => {
  const rows = make();
  Object.assign(rows.shown[0].summary, {start_gate_ns: 780}); // 100 running, 100 paused
  rows.shown[1].summary.time_ns.unknown = rows.shown[1].summary.outside_regions_ns = 4000;
  const found = text => {
    rows.search = text;
    rows.build();
    return rows.matching.map(thread => thread.index);
  };
  assert.deepEqual(found('running>=30%'), [0, 1, 3]);
  assert.deepEqual(found('paused<101'), [0]);
  assert.deepEqual(found('unknown>0'), []);
});

test('a thread with the tid of another, on another node or later, has its own times', () => {
  const rows = make();
  assert.equal(rows.shown[0].summary.time_ns.running, 100);
  assert.equal(rows.shown[3].summary.time_ns.running, 400);
  const again = make([...THREADS, {tid: 12, pid: 10, node: 1, name: 'x', birth: 100, slices: lived(7, 0, 5)},
                      {tid: 12, pid: 10, node: 1, name: 'y', birth: 200, slices: lived(7, 0, 9)}]);
  // They ran equally long.
  assert.deepEqual(again.shown.slice(5).map(({summary}) => summary.time_ns.warming), [5, 9]);
});

test('processes of a whole machine are in the order of info, by node', () => {
  const later = {tid: 25, pid: 25, node: 1, name: 'job', birth: 300, slices: lived(900, 0, 0), main: 5};
  const rows = make([...THREADS, later], {summary: {all_threads: true}});
  assert.deepEqual(texts(rows), [5, 'Web 3', 0, 1, 2, 3, 4], 'each of two processes with one pid by its own time');
  assert.deepEqual(rows.matching.map(thread => thread.index), [5, 0, 1, 2, 3, 4], 'so are the threads of tables');
});

test('idle threads are hidden where there are more than 40, and most are idle', () => {
  const many = (idle, busy) => Array.from({length: idle + busy}, (_, n) =>
      ({tid: n + 1, pid: n + 1, name: 't', slices: lived(n < busy ? 10 : 0, 0, 0)}));
  assert.equal(make(many(40, 5)).matching.length, 45);
  assert.equal(make(many(41, 5)).matching.length, 5);
  assert.equal(make(many(41, 41)).matching.length, 82);
  assert.equal(make(many(42, 41)).matching.length, 41);
});

test('a folded process hides its threads until one is shown again', () => {
  const rows = make();
  rows.fold(rows.list[0]);
  assert.deepEqual(texts(rows), ['Web 3', 3, 4]);
  rows.unhide(2);
  assert.deepEqual(texts(rows), ['Web 3', 0, 1, 2, 3, 4]);
  rows.foldAll(true);
  assert.deepEqual(texts(rows), ['Web 3', 3, 4], 'a process of one thread cannot be folded');
  rows.search = 'cron';
  rows.build();
  rows.unhide(1);
  assert.equal(rows.search, '');
  assert.equal(rows.rowOf.get(1).thread, 1);
});

test('rows are grouped by cgroup, each group below a head that folds', () => {
  const trace = makeTrace(THREADS), cgroups = ['/b', '/b', '/a', '/b', null];
  trace.summary.threads.forEach((thread, n) => thread.cgroup = cgroups[n]);
  const rows = new Rows(trace);
  rows.sort = 'cgroup';
  rows.build();
  assert.deepEqual(texts(rows), ['/a 1', 2, '/b 2', 0, 1, '/b 1', 3, 'cgroup not known 1', 4], 'each node has its own');
  rows.fold(rows.list[2]);
  assert.deepEqual(texts(rows), ['/a 1', 2, '/b 2', '/b 1', 3, 'cgroup not known 1', 4]);
  rows.unhide(1);
  assert.deepEqual(texts(rows).slice(2, 5), ['/b 2', 0, 1]);
  rows.foldAll(true);
  assert.deepEqual(texts(rows), ['/a 1', '/b 2', '/b 1', 'cgroup not known 1']);
  rows.search = '/b';
  rows.foldAll(false);
  assert.deepEqual(texts(rows), ['/b 2', 0, 1, '/b 1', 3]);
});

test('with filters alone, the process that ran longest is first, as in a trace of the machine', () => {
  const filters = ['--cpu 1'], late = [THREADS[4], ...THREADS.slice(0, 4)];
  const orderOf = summary => make(late, {summary}).processes.map(process => process.name);
  assert.deepEqual(orderOf({filters}), ['Web', 'db', 'cron']);
  assert.deepEqual(orderOf({filters, attached_pids: [10]}), ['cron', 'Web', 'db']);
  assert.deepEqual(orderOf({filters, command: ['x']}), ['cron', 'Web', 'db']);
});
