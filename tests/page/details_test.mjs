// SPDX-License-Identifier: BSD-2-Clause
// What the page says of the selected slice and range: emulator/report/page/details.js and slices.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {lines, rowsOf} from './fake.mjs';
import {makeApp, THREADS} from './fake_app.mjs';
import {plainSlice, ways} from '../../emulator/report/page/slices.js';

/// Returns all slices as {thread, slice}.
const all = trace => trace.threads.flatMap((thread, index) => Array.from(
    {length: thread.slices}, (_, n) => ({thread: index, slice: trace.first[index] + n})));

test('each slice has its facts, and says what is not known', () => {
  const {app, trace} = makeApp();
  const facts = all(trace).map(selected => app.details.facts(selected)
      .map(([term, what]) => term + ': ' + (what.text ?? what)).join('; ').replaceAll('\u2009', ' '));
  assert.deepEqual(facts, lines(`@`));
});

test('each slice is the same for programs, and leads to its neighbours, waker and successor', () => {
  const {trace} = makeApp();
  const told = all(trace).map(selected => JSON.stringify([
    ...Object.values(plainSlice(trace, selected)),
    ...['previous', 'next', 'waker', 'instead'].map(way => ways[way](trace, selected)?.slice ?? null)]));
  assert.deepEqual(told, lines(`@`));
});

test('a command line is that of the main thread, on the same node', () => {
  const threads = THREADS.map(thread => ({...thread}));
  const {app, trace} = makeApp({threads});
  trace.threads[0].command_line = 'app -x';
  trace.threads[1].command_line = 'none';
  trace.threads[2].command_line = 'app --two';
  const line = thread => app.details.facts({thread, slice: trace.first[thread]}).find(([term]) => term === 'Command line')[1];
  assert.deepEqual([0, 1, 2].map(line), ['app -x', 'app -x', 'app --two']);
});

test('an unknown reason, context or state has its number', () => {
  const {app, trace} = makeApp();
  trace.header.reasons = trace.header.contexts = trace.header.reason_names = trace.header.context_names = [];
  const facts = Object.fromEntries(app.details.facts({thread: 0, slice: 1}));
  assert.deepEqual([facts['Why off the CPU'], facts['In context']], ['reason 3', '0']);
  const plain = plainSlice(trace, {thread: 0, slice: 1});
  assert.deepEqual([plain.reason, plain.context], ['3', '0']);
});

test('names of other threads lead to them at that time', () => {
  const {app, trace} = makeApp();
  const peers = [[1, 'Ran instead'], [1, 'Woken by'], [0, 'Ran instead'], [2, 'Woken by']].map(([slice, term]) => {
    const button = app.details.facts({thread: 0, slice}).find(([name]) => name === term)[1];
    button.onclick();
    return [button.text, app.selected.slice, app.selected.thread];
  });
  assert.deepEqual(peers, [['work (11)', 4, 1], ['work (11)', 6, 1], ['work (11)', 4, 1], ['work (11)', 6, 1]]);
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
  assert.equal(list.all('dt').length, 5);
  assert.deepEqual(list.all('dd').map(what => what.text).at(-1), 'work (11)');
  assert.deepEqual(actions.children.map(button => [button.text, button.disabled]), [
    ['← Previous (←)', true], ['Next → (→)', false], ['Waker (e)', true], ['Ran instead (q)', false], ['Zoom to it (f)', undefined]]);
  actions.children[4].onclick();
  assert.deepEqual([app.view.from, app.view.to], [1000, 1320]);
  actions.children[1].onclick();
  assert.equal(app.selected.slice, 1);
  assert.equal(page.children[0].text, 'The paused for 300 ns');
  actions.children[3].onclick();
  assert.deepEqual(app.selected, {thread: 1, slice: 4});
  app.select({thread: 2, slice: 12});
  assert.equal(page.children[0].text, 'Several states for 300 ns');
  assert.equal(page.children[0].children[0].style.background, '#888');
});

test('a range has the times of all threads, of CPUs, and of those that ran most', () => {
  const {app, byId} = makeApp(), page = byId('pages');
  app.setRange({from: 1700, to: 1250});
  const shown = () => page.children.flatMap(part => part.all('tr').length ? rowsOf(part) : [part.text.replaceAll('\u2009', ' ')]);
  assert.deepEqual(shown(), lines(`@`));
  page.all('button').find(button => button.text === 'Zoom to it').onclick();
  assert.deepEqual([app.view.from, app.view.to], [1250, 1700]);
  page.all('button').find(button => button.text === 'work (11)').onclick();
  assert.deepEqual(app.selected, {thread: 1, slice: 5});
  page.all('button').find(button => button.text.startsWith('Clear')).onclick();
  assert.equal(app.range, null);
  app.select(null);
  assert.deepEqual(shown(), lines(`@`));
  app.rows.search = 'work';
  app.rebuild();
  assert.match(shown().join('\n'), /Time of 1 thread \|/);
  app.trace.header.coarse_threads = 1;
  app.panel.show();
  assert.doesNotMatch(shown().join('\n'), /CPUs/);
});
