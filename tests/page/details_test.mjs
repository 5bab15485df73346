// SPDX-License-Identifier: BSD-2-Clause
// What the page says of the selected slice and range: emulator/report/page/details.js and slices.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {lines, makeTrace, rowsOf} from './fake.mjs';
import {makeApp, THREADS, woken} from './fake_app.mjs';
import {plainSlice, ways} from '../../emulator/report/page/slices.js';
import {PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';

/// Returns all slices as {thread, slice}.
const all = trace => trace.threads.flatMap((thread, index) => Array.from(
    {length: thread.slices}, (_, n) => ({thread: index, slice: trace.first[index] + n})));

test('each slice has its facts, and says what is not known', () => {
  const {app, trace} = makeApp();
  const facts = all(trace).map(selected => app.details.facts(selected)
      .map(([term, what]) => term + ': ' + (what.text ?? what)).join('; ').replaceAll('\u2009', ' '));
  assert.deepEqual(facts, lines(`
Thread: main (10) of one, process 10; From: 0.000 001 000 s; To: 0.000 001 200 s; CPU: CPU 0 of one; Left the CPU: waits for; Ran instead: work (11) of one
Thread: main (10) of one, process 10; From: 0.000 001 200 s; To: 0.000 001 500 s; Last CPU: CPU 0 of one; Why off the CPU: waits for; Blocked in: futex; At: lock.c:5; Ran instead: work (11) of one; Woken by: work (11) of one; In context: by a thread; Wakeup latency: 50 ns
Thread: main (10) of one, process 10; From: 0.000 001 500 s; To: 0.000 001 550 s; Last CPU: CPU 0 of one; Woken by: work (11) of one; In context: by a thread; Wakeup latency: 50 ns
Thread: main (10) of one, process 10; From: 0.000 001 550 s; To: 0.000 002 000 s; CPU: CPU 1 of one; Woken by: work (11) of one; In context: by a thread; Wakeup latency: 50 ns
Thread: work (11) of one, process 10; From: 0.000 001 200 s (its start was not seen); To: 0.000 001 400 s; CPU: CPU 0 of one; Left the CPU: preempted; Ran instead: other (77), not traced
Thread: work (11) of one, process 10; From: 0.000 001 400 s; To: 0.000 001 500 s; Last CPU: CPU 0 of one; Why off the CPU: preempted; Ran instead: other (77), not traced
Thread: work (11) of one, process 10; From: 0.000 001 500 s; To: 0.000 001 800 s; CPU: CPU 0 of one; Left the CPU: exited; Ran instead: not known
Thread: work (11) of one, process 10; From: 0.000 001 800 s; To: 0.000 002 000 s; Last CPU: CPU 0 of one
Thread: main (10) of two, process 10; From: 0.000 001 300 s (its start was not seen); To: 0.000 001 400 s (its end was not seen); Last CPU: not known
Thread: main (10) of two, process 10; From: 0.000 001 400 s; To: 0.000 001 500 s (its end was not seen); CPU: CPU 0 of two
Thread: main (10) of two, process 10; From: 0.000 001 500 s; To: 0.000 001 800 s; Times: The running 100 ns, The paused 150 ns, The cooling 20 ns, The warming 30 ns`));
});

test('each slice is the same for programs, and leads to its neighbours, waker and successor', () => {
  const {trace} = makeApp();
  const told = all(trace).map(selected => JSON.stringify([
    ...Object.values(plainSlice(trace, selected)),
    ...['previous', 'next', 'waker', 'instead'].map(way => ways[way](trace, selected)?.slice ?? null)]));
  assert.deepEqual(told, lines(`
[10,"running",0,1000,1200,"waits",null,11,null,null,null,1,null,5]
[10,"paused",0,1200,1500,"waits","futex",11,11,"task",0,2,7,5]
[10,"warming",0,1500,1550,null,null,null,11,"task",1,3,7,null]
[10,"running",1,1550,2000,null,null,null,null,null,2,null,7,null]
[11,"running",0,1200,1400,"preempted",null,77,null,null,null,6,null,null]
[11,"cooling",0,1400,1500,"preempted",null,77,null,null,5,7,null,null]
[11,"running",0,1500,1800,"exited",null,null,null,null,6,8,null,null]
[11,"dead",0,1800,2000,null,null,null,null,null,7,null,null,null]
[10,"paused",null,1300,1400,null,null,null,null,null,null,11,null,null]
[10,"running",0,1400,1500,null,null,null,null,null,10,12,null,null]
[10,"mixed",0,1500,1800,null,null,null,null,null,11,null,null,null]`));
});

test('a wakeup can be the first slice of the trace', () => {
  const [main, ...others] = THREADS;
  const {trace} = makeApp({threads: [{...main, start: 1500, slices: main.slices.slice(2)}, ...others]});
  assert.deepEqual(ways.waker(trace, {thread: 0, slice: 1}), {thread: 1, slice: 5});
});

test('a command line is that of the main thread, on the same node', () => {
  const threads = THREADS.map(thread => ({...thread}));
  const {app, trace} = makeApp({threads});
  trace.threads[0].command_line = 'app -x';
  trace.threads[1].command_line = 'none';
  trace.threads[2].command_line = 'app --two';
  const line = thread => app.details.facts({thread, slice: trace.first[thread]}).find(([term]) => term === 'Command line')[1];
  assert.deepEqual([0, 1, 2].map(line), ['app -x', 'app -x', 'app --two']);
  trace.threads[1].main = 2;
  assert.equal(line(1), 'app --two', 'a later process with the pid has its own');
});

test('a cgroup is that of the thread', () => {
  const {app, trace} = makeApp();
  trace.threads[1].summary.cgroup = '/b';
  const cgroups = all(trace).map(selected => app.details.facts(selected).filter(([term]) => term === 'Cgroup').map(([, what]) => what).join());
  assert.deepEqual(cgroups, ['', '', '', '', '/b', '/b', '/b', '/b', '', '', '']);
});

test('an unknown reason, context or state has its number', () => {
  const {app, trace} = makeApp();
  trace.header.reasons = trace.header.contexts = trace.header.reason_names = trace.header.context_names = [];
  const facts = Object.fromEntries(app.details.facts({thread: 0, slice: 1}));
  assert.deepEqual([facts['Why off the CPU'], facts['In context']], ['reason 3', '0']);
  const plain = plainSlice(trace, {thread: 0, slice: 1});
  assert.deepEqual([plain.reason, plain.context], ['3', '0']);
});

test('a wakeup in an interrupt has who was interrupted, and is told to programs', () => {
  const {app, trace} = makeApp();
  trace.why[2] = woken(1);
  const facts = Object.fromEntries(app.details.facts({thread: 0, slice: 2}));
  assert.deepEqual([facts['Woken while ran'].text, facts['In context'], facts['Woken by']],
                   ['work (11) of one', 'in an interrupt', undefined]);
  assert.equal(plainSlice(trace, {thread: 0, slice: 2}).context, 'irq');
  trace.peer[2] = 0;
  assert.equal(Object.fromEntries(app.details.facts({thread: 0, slice: 2}))['Woken while ran'], 'not known');
});

test('names of other threads lead to them at that time', () => {
  const {app, trace} = makeApp();
  const peers = [[1, 'Ran instead'], [1, 'Woken by'], [0, 'Ran instead'], [2, 'Woken by']].map(([slice, term]) => {
    const button = app.details.facts({thread: 0, slice}).find(([name]) => name === term)[1];
    button.onclick();
    return [button.text, app.selected.slice, app.selected.thread];
  });
  assert.deepEqual(peers, [['work (11) of one', 5, 1], ['work (11) of one', 7, 1], ['work (11) of one', 5, 1], ['work (11) of one', 7, 1]]);
  assert.equal(app.details.peer(trace.peerOf(0)), 'not known');
  assert.equal(app.details.peer(trace.peerOf(4)), 'other (77), not traced');
  assert.equal(app.details.peer(trace.peerOf(5)), 'nobody (the CPU was idle)');
});

test('a selected slice has a title, its facts and the ways from it', () => {
  const {app, byId} = makeApp();
  app.select({thread: 0, slice: 0});
  const page = byId('pages'), [title, list, actions] = page.children;
  assert.equal(title.text, 'The running for 200 ns');
  assert.equal(title.children[0].style.background, 'rgb(0 255 0)');
  assert.equal(list.all('dt').length, 6);
  assert.deepEqual(list.all('dd').map(what => what.text).at(-1), 'work (11) of one');
  assert.deepEqual(actions.children.map(button => [button.text, button.disabled]), [
    ['← Previous (←)', true], ['Next → (→)', false], ['Waker (e)', true], ['Ran instead (q)', false], ['Zoom to it (f)', undefined]]);
  actions.children[4].onclick();
  assert.deepEqual([app.view.from, app.view.to], [1000, 1320]);
  actions.children[1].onclick();
  assert.equal(app.selected.slice, 1);
  assert.equal(page.children[0].text, 'The paused for 300 ns');
  actions.children[3].onclick();
  assert.deepEqual(app.selected, {thread: 1, slice: 5});
  app.select({thread: 2, slice: 12});
  assert.equal(page.children[0].text, 'Several states for 300 ns');
  assert.equal(page.children[0].children[0].style.background, '#888');
});

test('a range has the times of all threads, of CPUs, and of those that ran most', () => {
  const {app, byId} = makeApp(), page = byId('pages');
  app.setRange({from: 1700, to: 1250});
  const shown = () => page.children.flatMap(part => part.all('tr').length ? rowsOf(part) : [part.text.replaceAll('\u2009', ' ')]);
  assert.equal(page.children[0].tag, 'h2');
  assert.deepEqual(shown(), lines(`
Nothing is selected
Click on a slice to see its facts. Hold Shift and drag, or drag on the time axis, to sum up a range.
Range of 450 ns
0.000 001 250 s to 0.000 001 700 s
Zoom to itClear (Esc)
State | Time of 3 threads | Share
The running | 667 ns | 52.1 %
The cooling | 113 ns | 8.9 %
The warming | 70 ns | 5.5 %
The throttled | 0 | 0.0 %
The paused | 429 ns | 33.6 %
The unknown | 0 | 0.0 %
CPUs
CPU | Busy with them | Share
CPU 0 of one | 350 ns | 77.8 %
CPU 1 of one | 150 ns | 33.3 %
CPU 0 of two | 100 ns | 22.2 %
Threads that ran most
Thread | Running | Cooling | Warming
work (11) of one | 350 ns | 100 ns | 0
main (10) of two | 167 ns | 13 ns | 20 ns
main (10) of one | 150 ns | 0 | 50 ns`));
  page.all('button').find(button => button.text === 'Zoom to it').onclick();
  assert.deepEqual([app.view.from, app.view.to], [1250, 1700]);
  page.all('button').find(button => button.text === 'work (11) of one').onclick();
  assert.deepEqual(app.selected, {thread: 1, slice: 6});
  page.all('button').find(button => button.text.startsWith('Clear')).onclick();
  assert.equal(app.range, null);
  app.select(null);
  assert.deepEqual(shown(), lines(`
Nothing is selected
Click on a slice to see its facts. Hold Shift and drag, or drag on the time axis, to sum up a range.
The whole run, 1.000 µs
State | Time of 3 threads | Share
The running | 1.350 µs | 65.1 %
The cooling | 120 ns | 5.8 %
The warming | 80 ns | 3.9 %
The throttled | 0 | 0.0 %
The paused | 525 ns | 25.3 %
The unknown | 0 | 0.0 %
CPUs
CPU | Busy with them | Share
CPU 0 of one | 700 ns | 70.0 %
CPU 1 of one | 450 ns | 45.0 %
CPU 0 of two | 100 ns | 10.0 %
Threads that ran most
Thread | Running | Cooling | Warming
main (10) of one | 650 ns | 0 | 50 ns
work (11) of one | 500 ns | 100 ns | 0
main (10) of two | 200 ns | 20 ns | 30 ns`));
  app.rows.search = 'work';
  app.rebuild();
  assert.match(shown().join('\n'), /Time of 1 of 3 threads \|/);
  assert.deepEqual(shown().filter(line => line.startsWith('CPU ')).slice(1), [
    'CPU 0 of one | 500 ns | 50.0 %', 'CPU 1 of one | 0 | 0.0 %', 'CPU 0 of two | 0 | 0.0 %'], 'busy with that thread');
  app.setRange({from: 1300, to: 1520});
  assert.match(shown().join('\n'), /CPU 0 of one \| 120 ns \|/);
  app.setRange(null);
  app.trace.header.coarse_threads = 1;
  app.panel.show();
  assert.doesNotMatch(shown().join('\n'), /CPUs/);
});

test('the waker of a blocked thread is found in the last slice, and not behind it', () => {
  const trace = makeTrace([
    {tid: 1, pid: 1, name: 'a', slices: [{state: PAUSED, length: 50}, {state: WARMING, length: 50, why: woken(0), peer: 2}]},
    {tid: 2, pid: 1, name: 'b', slices: [{state: RUNNING, length: 90}, {state: PAUSED, length: 10}]},
    {tid: 3, pid: 1, name: 'c', slices: [{state: WARMING, length: 100, why: woken(0), peer: 1}]},
  ], {to: 100});
  assert.deepEqual(ways.waker(trace, {thread: 0, slice: 0}), {thread: 1, slice: trace.first[1]});
  assert.equal(ways.waker(trace, {thread: 1, slice: trace.first[1] + 1}), null, 'nobody woke it yet');
  assert.equal(trace.cpuName(0), 'no CPU');
});
