// SPDX-License-Identifier: BSD-2-Clause
// What the page says where something is not known, left out, or chosen by a person.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Graphs} from '../../emulator/report/page/graphs.js';
import {COOLING, PAUSED, RUNNING, WARMING} from '../../emulator/report/page/trace.js';
import {Whys} from '../../emulator/report/page/why.js';
import {makeTrace, varints} from './fake.mjs';
import {makeApp, woken} from './fake_app.mjs';

/// Opens a tab. Returns its text.
function textOf(tab, prepare = () => {}, options = {}) {
  const {app, byId, draw} = makeApp(options);
  prepare(app);
  app.panel.open(tab);
  draw();
  return byId('pages').text;
}

test('a chain says what is not known, and who was interrupted', () => {
  const chain = change => textOf('Selection', app => {
    change(app.trace);
    app.select({thread: 0, slice: 1});
  }).replace(/.*What it waited for/, '');
  assert.equal(chain(() => {}), 'main (10) of one waited 300 ns for futex, woken by work (11) of one');
  assert.equal(chain(trace => trace.why[2] = woken(1)),
               'main (10) of one waited 300 ns for futex, woken by an interrupt while this ran: work (11) of one');
  assert.equal(chain(trace => trace.header.calls = []),
               'main (10) of one waited 300 ns for something not known, woken by work (11) of one');
});

test('what is marked has its label, and says if only that is shown', () => {
  const {app, byId} = makeApp(), told = marked => {
    app.mark(marked);
    return [byId('marked').hidden, byId('marked').text];
  };
  assert.deepEqual(told({label: 'futex', slices: [0, 1]}), [false, '✕ Marked: futex']);
  assert.deepEqual(told({label: 'futex', slices: [0, 1], only: true}), [false, '✕ Only: futex']);
  assert.deepEqual(told(null), [true, '']);
});

test('beside the critical path its graph says so', () => {
  const {app} = makeApp(), graphs = new Graphs(app);
  app.trace.critical.choose(1); // from 1000 to 1500
  graphs.draw();
  assert.match(graphs.words({offsetX: 400, offsetY: 40}), /^Critical path\n\w+ \(1[01]\) of one\n/);
  assert.equal(graphs.words({offsetX: 420, offsetY: 40}), 'Critical path\nnot here');
});

test('differences are headed, and say what a click does', () => {
  const text = textOf('Differences', () => {}, {header: {against: {traces: ['ra', 'rb'], a: 1000, b: 1000, conditions: [], causes: []}}});
  assert.equal(text, 'What changed on the critical pathA: ra, 1.000 µs; B: rb, 1.000 µs. The changes add up to 0. ' +
      'A click on a cause shows the longest part of both paths that has it. Esc shows all threads again.CauseChange ▾ABNone.');
});

test('the tab of latencies says what is missing', () => {
  const text = textOf('Latency');
  assert.ok(text.includes('Select a thread to see its own.'), text);
  const none = textOf('Latency', () => {}, {threads: [{tid: 1, pid: 1, name: 'a', start: 1000, slices: [{state: RUNNING, length: 1000, cpu: 1}]}],
                                           header: {critical_path: null, waits: {sums: [], left_out: 0}, preemptions: [], wakeups: []},
                                           summary: {regions: [], preemptions: [], wakeups: []},
                                           parts: {order: varints(0), critical_path: varints(), events: varints()}});
  assert.ok(none.includes('No wakeup was seen from its start to its end.'), none);
});

test('waits in a range are headed so, and have three holders at most', () => {
  const holders = count => textOf('Waits', app => {
    app.whys = {known: true, hasCauses: () => true, wokenBy: () => undefined,
                holders: () => Array.from({length: count}, (_, n) => ({text: 'h' + n, ns: 10 - n}))};
    app.setRange({from: 1400, to: 1600});
  });
  assert.ok(holders(3).includes('In the selected range.'));
  assert.ok(holders(3).includes('h0 10 ns; h1 9 ns; h2 8 nswork'), holders(3));
  assert.ok(holders(4).includes('h0 10 ns; h1 9 ns; h2 8 ns; others'), holders(4));
});

test('the tab Why is about a thread, its process or all, in a time', t => {
  t.mock.method(performance, 'now', () => 0);
  const about = (scope, range = null) => {
    const {app, byId} = makeApp();
    app.whys = {known: true, hasCauses: () => true, steps: () => [], tree: () => ({ns: 1, parts: []}), idleIn: () => undefined};
    app.shares = {steps: () => [], of: () => 0};
    app.trace.threads[1].coarse = true;
    app.select({thread: 0, slice: 1});
    app.setRange(range);
    app.panel.open('Why');
    const [select] = byId('pages').all('select');
    select.value = scope;
    select.onchange();
    return byId('pages').all('p')[0].text.replace(/ Select a range.*its slices\./, '');
  };
  assert.equal(about('thread'), 'Of main (10) of one, in the whole run.');
  assert.equal(about('process'), 'Of the process of main (10) of one, in the whole run. Left out: 1 thread that the page does not have in detail (≈).');
  assert.equal(about('all', {from: 1100, to: 1400}),
               'Of 3 threads, in the selected range of 300 ns. Left out: 1 thread that the page does not have in detail (≈).');
});

test('a page without causes says how else they are found', () => {
  assert.equal(textOf('Why'), 'Where the time went Left out: it did not fit into --max-size. `ovnitrace why --from --to` explains a range.');
});

test('nobody holds the CPU of a throttled thread, and holders may have no name', () => {
  const culprit = number => ({text: 'thread ' + number, name: '', kind: 2, known: true, thread: null, untraced: number > 5});
  const tree = (word, culprits) => {
    const why = {culprits, blocks: [], idle: [], kinds: [{word, name: 'the kind'}]};
    const trace = makeTrace([{tid: 2, pid: 1, name: 'b', slices: [
      {state: COOLING, length: 100, cpu: 1}, {state: RUNNING, length: 50, cpu: 1}, {state: PAUSED, length: 5}, {state: WARMING, length: 5, cpu: 1}]}],
        {to: 160, header: {why, cpus: [{index: 1, node: 0}]}, parts: {load: varints()}});
    // CPU 1: the first one to 40, the other one to 160.
    const whys = new Whys(trace, varints(2, 40, 0, 120, 1, 2, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1), {isOutside: () => false});
    plain = whys.plain([0], 0, 100).waiting;
    return whys.tree([0], 0, 100).parts.find(part => part.label === 'waiting for a CPU').parts;
  };
  let plain;
  const shown = parts => parts.map(({label, ns, parts: holders}) => [label, ns, ...holders.map(one => one.label)]);
  for (const word of ['throttling', 'budget', 'period']) {
    assert.deepEqual(shown(tree(word, [culprit(1), culprit(2)])), [['the kind', 100]], word);
    assert.deepEqual(plain, [{kind: word, holder: null, ns: 100}]);
  }
  assert.deepEqual(shown(tree('refill', [culprit(1), culprit(2)])), [['the kind', 100, 'held by: without a name (2 threads)']]);
  assert.deepEqual(plain, [{kind: 'refill', holder: 'thread 1', ns: 40}, {kind: 'refill', holder: 'thread 2', ns: 60}]);
  assert.deepEqual(shown(tree('wakeup', [culprit(6), culprit(7)])), [['the kind', 100, 'held by: without a name (2 threads), not traced']]);
});
