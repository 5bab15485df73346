// SPDX-License-Identifier: BSD-2-Clause
// The elements of the tabs as a browser, and a screen reader, is given them.
import assert from 'node:assert/strict';
import test from 'node:test';
import {COOLING, PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {lines, markup, varints} from './fake.mjs';
import {makeApp} from './fake_app.mjs';

/// Returns elements as lines. Rows, frames and the like begin a line of their own.
const linesOf = elements => elements.map(markup).join('\n')
    .replace(/(.)(?=<(?:tr|h2|p|div|svg|polygon|rect|line|button role|button aria|li|dt|text)\b)/g, '$1\n').split('\n');

/// Returns the lines of a tab, once `prepare` has changed the page.
function tab(n, prepare = () => {}, options = {}) {
  const {app, byId, draw} = makeApp(options);
  prepare(app);
  app.panel.choose(n);
  draw();
  return linesOf(byId('pages').children);
}

test('the tab of the selection sums up the whole run while nothing is selected', () => {
  assert.deepEqual(tab(0), lines(`
<h2>Nothing is selected</h2>
<p className=note>Click on a slice to see its facts. Hold Shift and drag, or drag on the time axis, to sum up a range.</p>
<h2 className=big>The whole run, 1.000 µs</h2>
<table id=range-states><thead>
<tr><th scope=col>State</th><th scope=col>Time of 3 threads</th><th scope=col>Share</th></tr></thead>
<tr><td><span className=chip {background: rgb(0 255 0)}></span>The running</td><td>1.350 µs</td><td>65.1 %</td></tr>
<tr><td><span className=chip {background: rgb(255 165 0)}></span>The cooling</td><td>120 ns</td><td>5.8 %</td></tr>
<tr><td><span className=chip {background: rgb(255 255 0)}></span>The warming</td><td>80 ns</td><td>3.9 %</td></tr>
<tr><td><span className=chip {background: rgb(170 85 0)}></span>The throttled</td><td>0</td><td>0.0 %</td></tr>
<tr><td><span className=chip {background: rgb(205 214 255)}></span>The paused</td><td>525 ns</td><td>25.3 %</td></tr>
<tr><td><span className=chip {background: rgb(255 255 255)}></span>The unknown</td><td>0</td><td>0.0 %</td></tr></table>
<h2>CPUs</h2>
<table><thead>
<tr><th scope=col>CPU</th><th scope=col>Busy with them</th><th scope=col>Share</th></tr></thead>
<tr><td>CPU 0 of one</td><td>700 ns</td><td>70.0 %</td></tr>
<tr><td>CPU 1 of one</td><td>450 ns</td><td>45.0 %</td></tr>
<tr><td>CPU 0 of two</td><td>100 ns</td><td>10.0 %</td></tr></table>
<h2>Threads that ran most</h2>
<table><thead>
<tr><th scope=col>Thread</th><th scope=col>Running</th><th scope=col>Cooling</th><th scope=col>Warming</th></tr></thead>
<tr><td><button type=button className=link>main (10) of one</button></td><td>650 ns</td><td>0</td><td>50 ns</td></tr>
<tr><td><button type=button className=link>work (11) of one</button></td><td>500 ns</td><td>100 ns</td><td>0</td></tr>
<tr><td><button type=button className=link>main (10) of two</button></td><td>200 ns</td><td>20 ns</td><td>30 ns</td></tr></table>`));
});

test('the tab of the selection has the facts of a slice and what can be done', () => {
  assert.deepEqual(tab(0, app => app.select({thread: 0, slice: 1})), lines(`
<h2 className=big id=slice-title><span className=chip {background: rgb(205 214 255)}></span>The paused for 300 ns</h2>
<dl>
<dt>Thread</dt><dd>main (10) of one, process 10</dd>
<dt>From</dt><dd>0.000 001 200 s</dd>
<dt>To</dt><dd>0.000 001 500 s</dd>
<dt>Last CPU</dt><dd>CPU 0 of one</dd>
<dt>Why off the CPU</dt><dd>waits for</dd>
<dt>Blocked in</dt><dd>futex</dd>
<dt>At</dt><dd>lock.c:5</dd>
<dt>Ran instead</dt><dd><button type=button className=link>work (11) of one</button></dd>
<dt>Woken by</dt><dd><button type=button className=link>work (11) of one</button></dd>
<dt>In context</dt><dd>by a thread</dd>
<dt>Wakeup latency</dt><dd>50 ns</dd></dl>
<div className=actions><button type=button disabled=false>← Previous (←)</button><button type=button disabled=false>Next → (→)</button><button type=button disabled=false>Waker (e)</button><button type=button disabled=false>Ran instead (q)</button><button type=button>Zoom to it (f)</button></div>
<h2>What it waited for</h2>
<ol id=chain>
<li><button type=button className=link>main (10) of one</button> waited 300 ns for futex, woken by <button type=button className=link>work (11) of one</button></li></ol>`));
});

test('the tab of the selection has a range after the slice', () => {
  assert.deepEqual(tab(0, app => {
    app.select({thread: 2, slice: 8});
    app.setRange({from: 1100, to: 1600});
  }), lines(`
<h2 className=big id=slice-title><span className=chip {background: rgb(240 240 240)}></span>The dead for 200 ns</h2>
<dl>
<dt>Thread</dt><dd>main (10) of two, process 10</dd>
<dt>From</dt><dd>0.000 001 800 s</dd>
<dt>To</dt><dd>0.000 002 000 s (its end was not seen)</dd>
<dt>Last CPU</dt><dd>CPU 0 of one</dd></dl>
<div className=actions><button type=button disabled=false>← Previous (←)</button><button type=button disabled=false>Next → (→)</button><button type=button disabled=true>Waker (e)</button><button type=button disabled=true>Ran instead (q)</button><button type=button>Zoom to it (f)</button></div>
<h2 className=big>Range of 500 ns</h2>
<p className=note>0.000 001 100 s to 0.000 001 600 s</p>
<div className=actions><button type=button>Zoom to it</button><button type=button>Clear (Esc)</button></div>
<table id=range-states><thead>
<tr><th scope=col>State</th><th scope=col>Time of 3 threads</th><th scope=col>Share</th></tr></thead>
<tr><td><span className=chip {background: rgb(0 255 0)}></span>The running</td><td>583 ns</td><td>49.6 %</td></tr>
<tr><td><span className=chip {background: rgb(255 165 0)}></span>The cooling</td><td>107 ns</td><td>9.1 %</td></tr>
<tr><td><span className=chip {background: rgb(255 255 0)}></span>The warming</td><td>60 ns</td><td>5.1 %</td></tr>
<tr><td><span className=chip {background: rgb(170 85 0)}></span>The throttled</td><td>0</td><td>0.0 %</td></tr>
<tr><td><span className=chip {background: rgb(205 214 255)}></span>The paused</td><td>425 ns</td><td>36.2 %</td></tr>
<tr><td><span className=chip {background: rgb(255 255 255)}></span>The unknown</td><td>0</td><td>0.0 %</td></tr></table>
<h2>CPUs</h2>
<table><thead>
<tr><th scope=col>CPU</th><th scope=col>Busy with them</th><th scope=col>Share</th></tr></thead>
<tr><td>CPU 0 of one</td><td>400 ns</td><td>80.0 %</td></tr>
<tr><td>CPU 1 of one</td><td>50 ns</td><td>10.0 %</td></tr>
<tr><td>CPU 0 of two</td><td>100 ns</td><td>20.0 %</td></tr></table>
<h2>Threads that ran most</h2>
<table><thead>
<tr><th scope=col>Thread</th><th scope=col>Running</th><th scope=col>Cooling</th><th scope=col>Warming</th></tr></thead>
<tr><td><button type=button className=link>work (11) of one</button></td><td>300 ns</td><td>100 ns</td><td>0</td></tr>
<tr><td><button type=button className=link>main (10) of one</button></td><td>150 ns</td><td>0</td><td>50 ns</td></tr>
<tr><td><button type=button className=link>main (10) of two</button></td><td>133 ns</td><td>7 ns</td><td>10 ns</td></tr></table>`));
});

test('the tab of latencies has a histogram of all threads and of the selected one', () => {
  assert.deepEqual(tab(2, app => app.select({thread: 0, slice: 1})), lines(`
<h2>Wakeup latency of all threads: from woken to running</h2>
<svg viewBox="0 0 430 190" role=img aria-label="Histogram of wakeup latencies">
<rect x=143.83 y=26 width=142.33 height=140 fill=accent><title>45 ns to 54 ns: 1</title></rect>
<line x1=225.81 x2=225.81 y1=12 y2=166 stroke=currentColor stroke-dasharray="3 3"></line>
<text x=222.81 y=10 text-anchor=end>p50 50 ns</text>
<line x1=242.19 x2=242.19 y1=24 y2=166 stroke=currentColor stroke-dasharray="3 3"></line>
<text x=239.19 y=22 text-anchor=end>p99 51 ns</text>
<line x1=258.25 x2=258.25 y1=12 y2=166 stroke=currentColor stroke-dasharray="3 3"></line>
<text x=255.25 y=10 text-anchor=end>max 52 ns</text></svg>
<table><thead>
<tr><th scope=col></th><th scope=col>Wakeups</th><th scope=col>p50</th><th scope=col>p99</th><th scope=col>max</th></tr></thead>
<tr><td>All</td><td>1</td><td>50 ns</td><td>51 ns</td><td>52 ns</td></tr></table>
<p className=note>The height of a bar is the square root of its count. p50 and p99 are within 1.6 %, max is exact.</p>
<h2>main (10) of one</h2>
<svg viewBox="0 0 430 190" role=img aria-label="Histogram of wakeup latencies">
<rect x=143.83 y=26 width=142.33 height=140 fill=accent><title>45 ns to 54 ns: 1</title></rect>
<line x1=225.81 x2=225.81 y1=12 y2=166 stroke=currentColor stroke-dasharray="3 3"></line>
<text x=222.81 y=10 text-anchor=end>p50 50 ns</text>
<line x1=242.19 x2=242.19 y1=24 y2=166 stroke=currentColor stroke-dasharray="3 3"></line>
<text x=239.19 y=22 text-anchor=end>p99 51 ns</text>
<line x1=258.25 x2=258.25 y1=12 y2=166 stroke=currentColor stroke-dasharray="3 3"></line>
<text x=255.25 y=10 text-anchor=end>max 52 ns</text></svg>
<table><thead>
<tr><th scope=col></th><th scope=col>Wakeups</th><th scope=col>p50</th><th scope=col>p99</th><th scope=col>max</th></tr></thead>
<tr><td>This thread</td><td>1</td><td>50 ns</td><td>51 ns</td><td>52 ns</td></tr></table>`));
});

test('the tab of CPUs has a graph for each', () => {
  assert.deepEqual(tab(4), lines(`
<h2>CPUs, busy with threads of the trace</h2>
<div><table><thead>
<tr><th aria-sort=ascending className=text scope=col><button type=button>CPU ▴</button></th><th scope=col><button type=button>Busy</button></th><th scope=col><button type=button>%</button></th><th scope=col><button type=button>Switches</button></th><th scope=col><button type=button>Not seen</button></th><th scope=col><button type=button>Lost</button></th></tr></thead><tbody>
<tr><td className=text title="CPU 0 of one">CPU 0 of one</td><td>700 ns</td><td>70.0 %</td><td>4</td><td>10 ns</td><td>0</td></tr>
<tr><td className=text title="CPU 1 of one">CPU 1 of one</td><td>450 ns</td><td>45.0 %</td><td>1</td><td>0</td><td>2</td></tr>
<tr><td className=text title="CPU 0 of two">CPU 0 of two</td><td>–</td><td>–</td><td>unknown</td><td>–</td><td>unknown</td></tr></tbody></table>
<p className=note></p></div>
<h2>Load over the whole run (click goes there)</h2>
<p className=note>CPU 0 of one</p>
<svg viewBox="0 0 4 40" preserveAspectRatio=none role=img {height: 40px}>
<polygon points="0,40 0,9.7 1,2.2 2,9.7 3,32.4 4,40" fill="rgb(0 255 0)"></polygon></svg>
<p className=note>CPU 1 of one</p>
<svg viewBox="0 0 4 40" preserveAspectRatio=none role=img {height: 40px}>
<polygon points="0,40 0,40.0 1,40.0 2,9.7 3,2.2 4,40" fill="rgb(0 255 0)"></polygon></svg>
<p className=note>CPU 0 of two</p>
<svg viewBox="0 0 4 40" preserveAspectRatio=none role=img {height: 40px}>
<polygon points="0,40 0,40.0 1,32.4 2,32.4 3,40.0 4,40" fill="rgb(0 255 0)"></polygon></svg>
<p className=note>Threads that wait for a CPU, at most 1.0 at once on average</p>
<svg viewBox="0 0 4 40" preserveAspectRatio=none role=img {height: 40px}>
<polygon points="0,40 0,40.0 1,24.9 2,2.0 3,40.0 4,40" fill="rgb(255 165 0)"></polygon></svg>`));
});

test('the tab of waits has a choice of states', () => {
  assert.deepEqual(tab(5), lines(`
<h2>Longest waits <select aria-label="Which waits"><option>for a CPU</option><option>cooling</option><option>warming</option><option>throttled</option><option>paused</option></select></h2>
<p className=note>Of the whole run. The column Ran there is empty: the causes did not fit into --max-size.</p>
<div><table><thead>
<tr><th className=text scope=col><button type=button>Thread</button></th><th className=text scope=col><button type=button>State</button></th><th aria-sort=descending scope=col><button type=button>Length ▾</button></th><th scope=col><button type=button>From</button></th><th className=text scope=col title="Which threads had the CPU meanwhile"><button type=button>Ran there</button></th><th className=text scope=col title="Who preempted or woke it"><button type=button>By</button></th></tr></thead><tbody>
<tr><td className=text title="work (11) of one"><button type=button className=link>work (11) of one</button></td><td className=text title="The cooling">The cooling</td><td>100 ns</td><td>0.000001 s</td><td className="text wraps" title=–>–</td><td className="text wraps" title="other (77)">other (77)</td></tr>
<tr><td className=text title="main (10) of one"><button type=button className=link>main (10) of one</button></td><td className=text title="The warming">The warming</td><td>50 ns</td><td>0.000002 s</td><td className="text wraps" title=–>–</td><td className="text wraps" title="work (11) of one">work (11) of one</td></tr></tbody></table>
<p className=note></p></div>
<h2>Which threads ran while others waited for their CPU</h2>
<p className=note>Of the whole run, whatever range is selected. The search above chooses threads. Left out: 5 ns of shorter ones.</p>
<div><table><thead>
<tr><th className=text scope=col><button type=button>Thread</button></th><th className=text scope=col><button type=button>Waited while this had its CPU</button></th><th aria-sort=descending scope=col><button type=button>Time ▾</button></th></tr></thead><tbody>
<tr><td className=text title="main (10) of two"><button type=button className=link>main (10) of two</button></td><td className=text title="work (11)"><button type=button className=link>work (11)</button></td><td>90 ns</td></tr>
<tr><td className=text title="work (11) of one"><button type=button className=link>work (11) of one</button></td><td className=text title="main (10)"><button type=button className=link>main (10)</button></td><td>70 ns</td></tr>
<tr><td className=text title="work (11) of one"><button type=button className=link>work (11) of one</button></td><td className=text title=others>others</td><td>500 ns</td></tr></tbody></table>
<p className=note></p></div>`));
});

test('the tab of stacks has a frame for each function', () => {
  assert.deepEqual(tab(7), lines(`
<h2>Stacks </h2>
<input aria-label="Search functions" type=search placeholder="Search functions"></input>
<p role=status className=note>Time off the CPU of 3 threads, in the whole run: 550 ns. A click shows only the threads that were there, and marks when.</p>
<div role=list aria-label="Flame graph of the time off the CPU" className=flame {height: 60px}>
<button aria-label="off the CPU: 550 ns, 100.0 %, 4 times" role=listitem type=button className=frame title="off the CPU: 550 ns, 100.0 %, 4 times" {left: 0%, width: 100%, top: 0px}>off the CPU</button>
<button aria-label="paused: futex: 300 ns, 54.5 %, 1 time" role=listitem type=button className="frame cause" title="paused: futex: 300 ns, 54.5 %, 1 time" {left: 0%, width: 54.55%, top: 20px}>paused: futex</button>
<button aria-label="lock.c:5: 300 ns, 54.5 %, 1 time" role=listitem type=button className=frame title="lock.c:5: 300 ns, 54.5 %, 1 time" {left: 0%, width: 54.55%, top: 40px}>lock.c:5</button>
<button aria-label="cooling: 100 ns, 18.2 %, 1 time" role=listitem type=button className="frame cause" title="cooling: 100 ns, 18.2 %, 1 time" {left: 54.55%, width: 18.18%, top: 20px}>cooling</button>
<button aria-label="paused: 100 ns, 18.2 %, 1 time" role=listitem type=button className="frame cause" title="paused: 100 ns, 18.2 %, 1 time" {left: 72.73%, width: 18.18%, top: 20px}>paused</button>
<button aria-label="warming: 50 ns, 9.1 %, 1 time" role=listitem type=button className="frame cause" title="warming: 50 ns, 9.1 %, 1 time" {left: 90.91%, width: 9.09%, top: 20px}>warming</button></div>`));
});

test('the tab of stacks lets one choose whose time it is', () => {
  assert.deepEqual(tab(7, app => app.select({thread: 0, slice: 1})), lines(`
<h2>Stacks <select aria-label="Whose time"><option>selected thread</option><option>its process</option><option>all threads of the search</option></select></h2>
<input aria-label="Search functions" type=search placeholder="Search functions"></input>
<p role=status className=note>Time off the CPU of main (10) of one, in the whole run: 350 ns. A click shows only the threads that were there, and marks when.</p>
<div role=list aria-label="Flame graph of the time off the CPU" className=flame {height: 60px}>
<button aria-label="off the CPU: 350 ns, 100.0 %, 2 times" role=listitem type=button className=frame title="off the CPU: 350 ns, 100.0 %, 2 times" {left: 0%, width: 100%, top: 0px}>off the CPU</button>
<button aria-label="paused: futex: 300 ns, 85.7 %, 1 time" role=listitem type=button className="frame cause" title="paused: futex: 300 ns, 85.7 %, 1 time" {left: 0%, width: 85.71%, top: 20px}>paused: futex</button>
<button aria-label="lock.c:5: 300 ns, 85.7 %, 1 time" role=listitem type=button className=frame title="lock.c:5: 300 ns, 85.7 %, 1 time" {left: 0%, width: 85.71%, top: 40px}>lock.c:5</button>
<button aria-label="warming: 50 ns, 14.3 %, 1 time" role=listitem type=button className="frame cause" title="warming: 50 ns, 14.3 %, 1 time" {left: 85.71%, width: 14.29%, top: 20px}>warming</button></div>`));
});

test('the tab of notes has a field for a new one', () => {
  assert.deepEqual(tab(8), lines(`
<h2>Notes and marks</h2>
<p className=note>A new note is at the start of the selected range or slice, else in the middle. The address of the page keeps notes. Marks are those of \`ovnitrace ctl mark\`.</p>
<div className=actions><input aria-label="Text of a new note" type=text id=note maxLength=100></input><button type=button disabled=false>Add</button></div>

<table><thead>
<tr><th scope=col>Time</th><th className=text scope=col>Text</th><th scope=col></th></tr></thead><tbody></tbody></table>`));
});

const why = {
  culprits: [{text: 'idle', name: 'idle', kind: 3, known: true, thread: null},
             {text: 'a (1)', name: 'a', kind: 1, known: true, thread: 0},
             {text: 'hog (9), not traced', name: 'hog', kind: 2, known: true, thread: null, untraced: true},
             {text: 'hog (8), not traced', name: 'hog', kind: 2, known: true, thread: null, untraced: true}],
  blocks: ['futex', 'read (disk)'],
  idle: [{word: 'in_flight', name: 'wakeup in flight'}, {word: 'affinity', name: 'affinity'}],
  kinds: [{word: 'wakeup', name: 'after a wakeup'}, {word: 'preemption', name: 'after a preemption'}],
};
/// Thread a runs until 1100. Thread b is blocked until 1200, waits until 1400 and from 1450.
const causes = {
  threads: [
    {tid: 1, pid: 1, name: 'a', start: 1000, slices: [{state: RUNNING, length: 100, cpu: 1}]},
    {tid: 2, pid: 1, name: 'b', start: 960, slices: [
      {state: PAUSED, length: 40, cpu: 1},
      {state: PAUSED, length: 200, cpu: 1}, {state: WARMING, length: 200, cpu: 1},
      {state: RUNNING, length: 50, cpu: 2}, {state: COOLING, length: 50, cpu: 2}]}],
  header: {why, cpus: [{index: 1, node: 0}, {index: 2, node: 0}], critical_path: null, preemptions: [],
           wakeups: [], waits: {sums: [], left_out: 0}},
  summary: {regions: [], cpus: [], preemptions: [], wakeups: []},
  parts: {load: varints(), order: varints(0, 1), events: varints(), dark: varints(), critical_path: varints(),
          causes: varints(3, 100, 1, 120, 0, 280, 2, 2, 350, 0, 150, 3, 0,
                          4, 1, 2 + 1, 1, 0, 0, 2, 0, 1, 100, 2, 30, 0, 0, 1, 1, 0, 2, 5, 6)},
  to: 1500,
};

test('the tab of causes has them with their parts, and how long each thread ran alone', t => {
  t.mock.method(performance, 'now', () => 0); // all at once, however slow
  assert.deepEqual(tab(6, () => {}, causes), lines(`
<h2>Where the time went </h2>
<p className=note>Of 2 threads, in the whole run. Select a range (shift + drag) or a thread to see less. A click on a time marks its slices.</p>
<table><thead>
<tr><th className=text scope=col></th><th scope=col>Time</th><th scope=col>%</th></tr></thead><tbody>
<tr><td className=text {paddingLeft: 6px}>running</td><td>
<button aria-label="Mark running, 150 ns" type=button className=mark>150 ns</button></td><td>25.0 %</td></tr>
<tr><td className=text {paddingLeft: 6px}>waiting for a CPU</td><td>
<button aria-label="Mark waiting for a CPU, 250 ns" type=button className=mark>250 ns</button></td><td>41.7 %</td></tr>
<tr><td className=text {paddingLeft: 20px}>after a wakeup</td><td>
<button aria-label="Mark after a wakeup, 200 ns" type=button className=mark>200 ns</button></td><td>33.3 %</td></tr>
<tr><td className=text {paddingLeft: 34px}>held by: hog (2 threads), not traced</td><td>
<button aria-label="Mark held by: hog (2 threads), not traced, 130 ns" type=button className=mark>130 ns</button></td><td>21.7 %</td></tr>
<tr><td className=text {paddingLeft: 34px}>held by: idle</td><td>
<button aria-label="Mark held by: idle, 70 ns" type=button className=mark>70 ns</button></td><td>11.7 %</td></tr>
<tr><td className=text {paddingLeft: 20px}>after a preemption</td><td>
<button aria-label="Mark after a preemption, 50 ns" type=button className=mark>50 ns</button></td><td>8.3 %</td></tr>
<tr><td className=text {paddingLeft: 34px}>held by: hog (8), not traced</td><td>
<button aria-label="Mark held by: hog (8), not traced, 50 ns" type=button className=mark>50 ns</button></td><td>8.3 %</td></tr>
<tr><td className=text {paddingLeft: 6px}>blocked</td><td>
<button aria-label="Mark blocked, 200 ns" type=button className=mark>200 ns</button></td><td>33.3 %</td></tr>
<tr><td className=text {paddingLeft: 20px}>read (disk)</td><td>
<button aria-label="Mark read (disk), 200 ns" type=button className=mark>200 ns</button></td><td>33.3 %</td></tr>
<tr><td className=text {paddingLeft: 34px}><button type=button className=link>woken by: a (1)</button></td><td>
<button aria-label="Mark woken by: a (1), 200 ns" type=button className=mark>200 ns</button></td><td>33.3 %</td></tr></tbody></table>
<h2>Latency share</h2>
<p className=note>While n threads of the page run, each gets 1/n of the time. The others are no part of it.</p>
<table><thead>
<tr><th className=text scope=col>Thread</th><th scope=col>Share</th><th scope=col>% of the time</th><th scope=col>Running</th></tr></thead><tbody>
<tr><td className=text><button type=button className=link>a (1)</button></td><td>100 ns</td><td>20.0 %</td><td>100 ns</td></tr>
<tr><td className=text><button type=button className=link>b (2)</button></td><td>50 ns</td><td>10.0 %</td><td>50 ns</td></tr></tbody></table>`));
});

/// Thread n of `count` runs for 1 ns, then n ns more, and is blocked in call n.
const many = (count, blocks) => ({
  ...causes, summary: {...causes.summary, command: []},
  header: {...causes.header, why: {...why, blocks: Array.from({length: blocks}, (_, n) => 'call ' + n)}},
  threads: Array.from({length: count}, (_, n) => ({tid: n + 1, pid: n + 1, name: 't', start: 1000, slices: [
    {state: RUNNING, length: 1 + n, cpu: 1}, ...n < blocks ? [{state: PAUSED, length: 100 - n, cpu: 1}] : []]})),
  parts: {...causes.parts, order: Uint8Array.from({length: count}, (_, n) => n),
          causes: varints(0, 0, ...Array.from({length: count}, (_, n) => n < blocks ? [1, 2 + n, 0] : [0]).flat())},
});

test('a cause has eight parts, and the others are one line', t => {
  t.mock.method(performance, 'now', () => 0);
  const calls = blocks => tab(6, () => {}, many(10, blocks)).filter(line => / 20px/.test(line)).map(line => line.replace(/.*20px}>|<.*/g, ''));
  assert.deepEqual(calls(8), Array.from({length: 8}, (_, n) => 'call ' + n));
  assert.deepEqual(calls(9), [...calls(8), '1 others']);
  assert.deepEqual(calls(10), [...calls(8), '2 others']);
  assert.ok(tab(6, () => {}, many(10, 10)).some(line => line.includes('2 others</td><td>183 ns</td>')), '92 and 91');
});

test('the fifteen threads that ran alone most have a line, however short they ran', t => {
  t.mock.method(performance, 'now', () => 0);
  const threads = count => tab(6, () => {}, many(count, 0)).filter(line => /className=link>t \(/.test(line)).map(line => Number(/t \((\d+)/.exec(line)[1]));
  assert.deepEqual(threads(3), [3, 2, 1]);
  assert.deepEqual(threads(16), Array.from({length: 15}, (_, n) => 16 - n));
  const note = count => tab(6, () => {}, many(count, 0)).find(line => line.includes('While n threads'));
  assert.ok(note(16).includes(' The first 15 of 16 threads.'));
  assert.ok(!note(15).includes('The first'));
});

test('the tab of waits says who ran meanwhile', t => {
  t.mock.method(performance, 'now', () => 0); // all at once, however slow
  assert.deepEqual(tab(5, () => {}, causes), lines(`
<h2>Longest waits <select aria-label="Which waits"><option>for a CPU</option><option>cooling</option><option>warming</option><option>throttled</option><option>paused</option></select></h2>
<p className=note>Of the whole run.</p>
<div><table><thead>
<tr><th className=text scope=col><button type=button>Thread</button></th><th className=text scope=col><button type=button>State</button></th><th aria-sort=descending scope=col><button type=button>Length ▾</button></th><th scope=col><button type=button>From</button></th><th className=text scope=col title="Which threads had the CPU meanwhile"><button type=button>Ran there</button></th><th className=text scope=col title="Who preempted or woke it"><button type=button>By</button></th></tr></thead><tbody>
<tr><td className=text title="b (2)"><button type=button className=link>b (2)</button></td><td className=text title="The warming">The warming</td><td>200 ns</td><td>0.000001 s</td><td className="text wraps" title="hog (9), not traced 80 ns; idle 70 ns; hog (8), not traced 50 ns">hog (9), not traced 80 ns; idle 70 ns; hog (8), not traced 50 ns</td><td className="text wraps" title=–>–</td></tr>
<tr><td className=text title="b (2)"><button type=button className=link>b (2)</button></td><td className=text title="The cooling">The cooling</td><td>50 ns</td><td>0.000001 s</td><td className="text wraps" title="hog (8), not traced 50 ns">hog (8), not traced 50 ns</td><td className="text wraps" title=–>–</td></tr></tbody></table>
<p className=note></p></div>
<h2>Which threads ran while others waited for their CPU</h2>
<p className=note>Of the whole run, whatever range is selected. The search above chooses threads.</p>
<div><table><thead>
<tr><th className=text scope=col><button type=button>Thread</button></th><th className=text scope=col><button type=button>Waited while this had its CPU</button></th><th aria-sort=descending scope=col><button type=button>Time ▾</button></th></tr></thead><tbody></tbody></table>
<p className=note>None.</p></div>`));
});

test('the tabs say which of them is shown', () => {
  const {app, byId} = makeApp();
  app.panel.choose(2);
  assert.deepEqual(linesOf(byId('tabs').children), lines(`
<button role=tab aria-controls=pages aria-selected=false type=button id=tab-0 tabIndex=-1>Selection</button>
<button role=tab aria-controls=pages aria-selected=false type=button id=tab-1 tabIndex=-1>Threads</button>
<button role=tab aria-controls=pages aria-selected=true type=button id=tab-2 tabIndex=0>Latency</button>
<button role=tab aria-controls=pages aria-selected=false type=button id=tab-3 tabIndex=-1>Who</button>
<button role=tab aria-controls=pages aria-selected=false type=button id=tab-4 tabIndex=-1>CPUs</button>
<button role=tab aria-controls=pages aria-selected=false type=button id=tab-5 tabIndex=-1>Waits</button>
<button role=tab aria-controls=pages aria-selected=false type=button id=tab-6 tabIndex=-1>Why</button>
<button role=tab aria-controls=pages aria-selected=false type=button id=tab-7 tabIndex=-1>Stacks</button>
<button role=tab aria-controls=pages aria-selected=false type=button id=tab-8 tabIndex=-1>Notes</button>`));
});

test('a wait says for how long a CPU was idle, and why it was not used', () => {
  const facts = tab(0, app => app.select({thread: 1, slice: 4}), causes);
  assert.equal(facts.find(line => line.includes('A CPU was idle')), '<dt>A CPU was idle</dt><dd>30 ns (wakeup in flight)</dd></dl>');
  const run = tab(0, app => app.select({thread: 1, slice: 5}), causes);
  assert.equal(run.find(line => line.includes('A CPU was idle')), undefined);
});
