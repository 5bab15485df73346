// SPDX-License-Identifier: BSD-2-Clause
// The tabs, their tables and the legend: emulator/report/page/pages.js, tables.js, panel.js and colors.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {fakeDocument, lines, rowsOf} from './fake.mjs';
import {makeApp, THREADS, woken} from './fake_app.mjs';
import {SortedTable} from '../../emulator/report/page/tables.js';

/// Opens a tab. shown() returns its lines, press() clicks on the first button with a text.
function open(n, options) {
  const made = makeApp(options), page = made.byId('pages');
  made.app.panel.choose(n);
  const press = text => page.all('button').find(button => button.text === text).onclick();
  return {...made, page, press,
          shown: () => page.children.flatMap(part => part.all('tr').length ? rowsOf(part) : [part.text])};
}

test('the threads have their times, counters and latencies, and a name leads to its thread', () => {
  const {app, shown, press, page} = open(1);
  assert.deepEqual(shown(), lines(`
Time in states and wakeup latency, by thread
Of the whole run. The search above chooses threads.
Thread | The running ▾ | The cooling | The warming | The throttled | The paused | The dead | The unknown | Migrations | Yielded | p50 | p99 | max
main (10) of one | 650 ns | 0 | 50 ns | 0 | 275 ns | 0 | 0 | 3 | 2 | 50 ns | 51 ns | 52 ns
work (11) of one | 500 ns | 100 ns | 0 | 0 | 0 | 200 ns | 0 | 3 | 2 | – | – | –
main (10) of two | 100 ns | 0 | 0 | 0 | 100 ns | 0 | 0 | 3 | 2 | – | – | –`));
  press('work (11) of one');
  assert.deepEqual(app.selected, {thread: 1, slice: 7}, 'in the middle of what is shown');
  app.view.set(1000, 1010);
  press('work (11) of one');
  assert.equal(app.selected.slice, 5, 'its first');
  app.panel.choose(1);
  assert.deepEqual(page.all('tr').slice(1).map(row => row.className), ['', 'selected', '']);
  assert.deepEqual(page.all('th').map(head => head.title).slice(0, 2), ['', 'running']);
  assert.deepEqual(page.all('th').map(head => head.title).slice(8), [
    'How often it moved', 'How often it yielded', 'Half of the wakeup latencies are shorter', '', '']);
});

test('the time outside the regions of --control is not unknown', () => {
  const {app, shown} = open(1);
  Object.assign(app.trace.summary.threads[1], {outside_regions_ns: 40});
  app.trace.summary.threads[1].time_ns.unknown = 42;
  app.panel.show();
  assert.match(shown()[4], /^work \(11\) of one \| 500 ns \| 100 ns \| 0 \| 0 \| 0 \| 200 ns \| 2 ns \|/);
});

test('a counter that no thread has is shown where it always is', () => {
  const {shown} = open(1, {header: {counters: [{name: 'refills', meaning: 'x', if_any: true},
                                               {name: 'faults', meaning: 'x', if_any: false}]}});
  assert.match(shown()[2], /The unknown \| Faults \| p50/);
});

test('who preempted and woke whom, each on its own node', () => {
  const {app, shown, press, page} = open(3);
  assert.deepEqual(shown(), lines(`
Who got the CPU of a thread that was preempted
Thread | Preempted by | Times ▾
work (11) of one | other (77) | 4
main (10) of two | an interrupt | 1
Who woke whom
Thread | Woken by | Times ▾
main (10) of one | idle | 9
main (10) of one | work (11) of one | 2`));
  assert.deepEqual(page.all('th').map(head => head.className), ['text', 'text', '', 'text', 'text', '']);
  const links = page.all('button').map(button => button.text).filter(text => /\d/.test(text));
  assert.deepEqual(links, ['work (11) of one', 'main (10) of two', 'main (10) of one', 'main (10) of one', 'work (11) of one'], 'no link to what is not traced');
  press('work (11) of one');
  assert.equal(app.selected.thread, 1);
  page.all('button').filter(button => button.text === 'main (10) of two')[0].onclick();
  assert.equal(app.selected.thread, 2, 'of the other node');
  app.rows.search = 'work';
  app.rebuild();
  assert.deepEqual(shown().filter(line => /\d/.test(line)), ['work (11) of one | other (77) | 4', 'main (10) of one | work (11) of one | 2']);
});

test('who woke whom is known by thread where a tid was used again', () => {
  const threads = [...THREADS.slice(0, 2), {...THREADS[1], node: 0, pid: 10, name: 'later', birth: 1900, start: 1900, slices: [{state: 1, length: 100, cpu: 1}]}];
  const {app, shown, press} = open(3, {threads, parts: {order: Uint8Array.of(0, 1, 1, 0, 2)}, header: {
    preemptions: [], wakeups: [{thread: 0, by: 1}, {thread: 2, by: 0}],
    critical_path: null, waits: {sums: [], left_out: 0}},
    summary: {preemptions: [], wakeups: [{node: 0, tid: 10, by_tid: 11, by_name: 'later', count: 2}, {node: 0, tid: 11, by_tid: 10, by_name: 'main', count: 1}]}});
  assert.deepEqual(shown().slice(-2), ['main (10) | work (11) | 2', 'later (11) | main (10) | 1']);
  press('later (11)');
  assert.equal(app.selected.thread, 2);
});

test('CPUs have their times and losses, and a click on their load goes there', () => {
  const {app, shown, page} = open(4);
  assert.deepEqual(shown(), lines(`
CPUs, busy with threads of the trace
CPU ▴ | Busy | % | Switches | Not seen | Lost
CPU 0 of one | 700 ns | 70.0 % | 4 | 10 ns | 0
CPU 1 of one | 450 ns | 45.0 % | 1 | 0 | 2
CPU 0 of two | – | – | unknown | – | unknown
Load over the whole run (click goes there)
CPU 0 of one

CPU 1 of one

CPU 0 of two

Threads that wait for a CPU, at most 1.0 at once on average
`));
  const graphs = page.all('svg');
  assert.deepEqual(graphs.map(graph => graph.attributes.viewBox + ' ' + graph.style.height), Array(4).fill('0 0 4 40 40px'));
  assert.deepEqual(graphs.map(graph => graph.all('polygon')[0].attributes.points), [
    '0,40 0,9.7 1,2.2 2,9.7 3,32.4 4,40', '0,40 0,40.0 1,40.0 2,9.7 3,2.2 4,40',
    '0,40 0,40.0 1,32.4 2,32.4 3,40.0 4,40', '0,40 0,40.0 1,24.9 2,2.0 3,40.0 4,40']);
  assert.deepEqual(graphs.map(graph => graph.all('polygon')[0].attributes.fill),
                   [...Array(3).fill('rgb(0 255 0)'), 'rgb(255 165 0)']);
  app.view.set(1000, 1100);
  graphs[0].clientWidth = 200;
  graphs[0].listeners.click({offsetX: 50});
  assert.deepEqual([app.view.from, app.view.to], [1200, 1300]);
});

test('the longest waits are of the chosen states, range and threads', () => {
  const {app, byId, shown, press, page} = open(5);
  assert.deepEqual(shown(), lines(`
Longest waits for a CPUcoolingwarmingthrottledpaused
Of the whole run. The column Ran there is empty: the causes did not fit into --max-size.
Thread | State | Length ▾ | From | Ran there | By
work (11) of one | The cooling | 100 ns | 0.000001 s | – | other (77)
main (10) of one | The warming | 50 ns | 0.000002 s | – | work (11) of one
Which threads ran while others waited for their CPU
Of the whole run, whatever range is selected. The search above chooses threads. Left out: 5 ns of shorter ones.
Thread | Waited while this had its CPU | Time ▾
main (10) of two | work (11) | 90 ns
work (11) of one | main (10) | 70 ns
work (11) of one | others | 500 ns`));
  const [select] = page.all('select');
  assert.deepEqual(select.all('option').map(option => [option.value, option.text]), [
    ['cpu', 'for a CPU'], ['cooling', 'cooling'], ['warming', 'warming'], ['throttled', 'throttled'], ['paused', 'paused']]);
  const waits = () => shown().filter(line => / s \| /.test(line)).map(line => line.split(' | ').slice(0, 3).join(' '));
  select.value = 'paused';
  select.onchange();
  assert.deepEqual(waits(), ['main (10) of one The paused 300 ns', 'main (10) of two The paused 100 ns']);
  select.value = 'warming';
  select.onchange();
  assert.deepEqual(waits(), ['main (10) of one The warming 50 ns']);
  app.setRange({from: 1500, to: 1550});
  assert.deepEqual(waits(), ['main (10) of one The warming 50 ns']);
  assert.match(shown()[1], /^In the selected range/);
  for (const range of [{from: 1501, to: 1600}, {from: 1500, to: 1549}]) {
    app.setRange(range);
    assert.deepEqual(waits(), [], 'cut by the range');
  }
  app.setRange(null);
  app.rows.search = 'work';
  byId('search').value = 'work';
  app.rebuild();
  assert.deepEqual(waits(), []);
  assert.deepEqual(shown().slice(-2), ['work (11) of one | main (10) | 70 ns', 'work (11) of one | others | 500 ns']);
  app.rows.search = '';
  app.rebuild();
  press('main (10) of one');
  assert.deepEqual(app.selected, {thread: 0, slice: 2}, 'the slice itself');
});

test('a wait names who preempted the thread, or who woke it, and never who ran at an interrupt', () => {
  const threads = THREADS.map(thread => ({...thread, slices: thread.slices.map(slice => ({...slice}))}));
  threads[0].slices[1].peer = 4; // other (77) got the CPU of main, which work (11) woke
  const who = (state, change = () => {}) => {
    change();
    const {page, shown} = open(5, {threads}), [select] = page.all('select');
    select.value = state;
    select.onchange();
    return shown().find(line => line.startsWith('main (10) of one') && / s \| /.test(line)).split(' | ').at(-1);
  };
  assert.equal(who('paused'), 'work (11) of one');
  assert.equal(who('paused', () => threads[0].slices[2].why = woken(1)), 'in an interrupt');
  assert.equal(who('warming'), 'in an interrupt');
  assert.equal(who('warming', () => threads[0].slices[2].why = woken(7)), '7');
});

test('of many waits the longest hundred are kept', () => {
  const slices = Array.from({length: 900}, (_, n) => ({state: n % 2 ? 4 : 1, length: 1 + (n * 37) % 451, cpu: 1}));
  const {shown} = open(5, {
    to: 1e6, threads: [{tid: 1, pid: 1, name: 'a', start: 1000, slices}],
    header: {critical_path: null, waits: {sums: [], left_out: 0}},
    parts: {order: Uint8Array.from({length: 450}, () => 0), critical_path: new Uint8Array(), events: new Uint8Array()},
  });
  const lengths = shown().filter(line => line.startsWith('a (1) | The cooling')).map(line => parseInt(line.split(' | ')[2]));
  const all = slices.filter(slice => slice.state === 4).map(slice => slice.length).sort((a, b) => b - a);
  assert.deepEqual(lengths, all.slice(0, 100));
  assert.doesNotMatch(shown().join(), /Left out/);
});

test('among the waits for a CPU are those for quota, which nobody holds', () => {
  const {shown} = open(5, {
    to: 2000, threads: [{tid: 1, pid: 1, name: 'a', start: 1000, slices: [
      {state: 1, length: 10, cpu: 1}, {state: 6, length: 70, cpu: 1}, {state: 4, length: 20, cpu: 1}, {state: 1, length: 10, cpu: 1}]}],
    header: {critical_path: null, waits: {sums: [], left_out: 0}},
    parts: {order: Uint8Array.from({length: 2}, () => 0), critical_path: new Uint8Array(), events: new Uint8Array()},
  });
  assert.deepEqual(shown().filter(line => line.startsWith('a (1) | ')).map(line => line.split(' | ').slice(1, 3).join(' ')),
                   ['The throttled 70 ns', 'The cooling 20 ns']);
});

test('a table sorts numbers from the largest and words from the first, and turns by a second click', () => {
  fakeDocument();
  const chosen = [];
  const table = new SortedTable([
    {title: 'Name', words: true, value: row => row.name, click: row => chosen.push(row.name), can: row => row.name !== 'b'},
    {title: 'Size', value: row => row.size, hint: 'in m'},
    {title: 'Text', value: row => row.size, text: row => row.size + '!'},
  ], {sort: 1, isSelected: row => row.name === 'c'});
  const rows = [{name: 'b', size: 2}, {name: 'a', size: null}, {name: 'c', size: 10}];
  const shown = () => rowsOf(table.box).map(row => row.replaceAll(' | ', ' '));
  const press = n => table.box.all('th')[n].all('button')[0].onclick();
  table.show(rows);
  assert.deepEqual(shown(), ['Name Size ▾ Text', 'c 10 10!', 'b 2 2!', 'a null null!']);
  press(1);
  assert.deepEqual(shown(), ['Name Size ▴ Text', 'a null null!', 'b 2 2!', 'c 10 10!']);
  press(0);
  assert.deepEqual(shown().slice(1), ['a null null!', 'b 2 2!', 'c 10 10!']);
  press(0);
  assert.deepEqual(shown().slice(1), ['c 10 10!', 'b 2 2!', 'a null null!']);
  press(2);
  assert.deepEqual(shown(), ['Name Size Text ▾', 'c 10 10!', 'b 2 2!', 'a null null!']);
  table.show([{name: 'z', size: 3}, {name: 'y', size: 3}, {name: 'x', size: 3}, {name: 'w', size: 4}]);
  assert.deepEqual(shown().slice(1), ['w 4 4!', 'z 3 3!', 'y 3 3!', 'x 3 3!'], 'equal ones stay as they are');
  table.show(rows);
  const heads = table.box.all('th');
  assert.deepEqual(heads.map(head => [head.className, head.scope, head.title, head.attributes['aria-sort']]), [
    ['text', 'col', '', undefined], ['', 'col', 'in m', undefined], ['', 'col', '', 'descending']]);
  press(2);
  assert.equal(table.box.all('th')[2].attributes['aria-sort'], 'ascending');
  assert.deepEqual(table.box.all('td').slice(0, 2).map(cell => [cell.className, cell.title]), [['text', 'a'], ['', '']]);
  assert.deepEqual(table.box.all('td').flatMap(cell => cell.all('button')).map(button => button.className + ' ' + button.text),
                   ['link a', 'link c']);
  table.box.all('td')[0].all('button')[0].onclick();
  assert.deepEqual(chosen, ['a']);
});

test('a table says what it leaves out, and that it is empty', () => {
  fakeDocument();
  const table = new SortedTable([{title: 'n', value: row => row}]);
  const note = count => table.show(Array.from({length: count}, (_, n) => n)).children[1].text;
  assert.deepEqual([note(0), note(1), note(300), note(301), note(1500)],
                   ['None.', '', '', '1 more: search to see others.', '1,200 more: search to see others.']);
  assert.equal(table.box.all('tr').length, 301);
});

test('tabs are chosen by click and by arrow keys, round and round', () => {
  const {app, byId} = makeApp(), tabs = byId('tabs').children, page = byId('pages');
  assert.deepEqual(tabs.map(tab => tab.text), ['Selection', 'Threads', 'Latency', 'Who', 'CPUs', 'Waits', 'Why', 'Stacks', 'Notes']);
  assert.deepEqual(tabs.map(tab => tab.id), tabs.map((_, n) => 'tab-' + n));
  const state = () => tabs.map(tab => tab.attributes['aria-selected'] === 'true' ? tab.tabIndex : 'x' + tab.tabIndex).join(' ');
  assert.equal(state(), '0 x-1 x-1 x-1 x-1 x-1 x-1 x-1 x-1');
  page.scrollTop = 9;
  tabs[3].onclick();
  assert.equal(state(), 'x-1 x-1 x-1 0 x-1 x-1 x-1 x-1 x-1');
  assert.equal(page.scrollTop, 0);
  assert.deepEqual(tabs[3].fire('keydown', {key: 'ArrowRight'}), ['stopped']);
  assert.equal(app.panel.chosen, 4);
  assert.equal(globalThis.document.focused, tabs[4]);
  tabs[0].fire('keydown', {key: 'ArrowLeft'});
  assert.equal(app.panel.chosen, 8);
  tabs[8].fire('keydown', {key: 'ArrowRight'});
  assert.equal(app.panel.chosen, 0);
  assert.deepEqual(tabs[0].fire('keydown', {key: 'x'}), []);
  assert.deepEqual([page.attributes.role, page.attributes['aria-live']], ['tabpanel', 'polite']);
});

test('the legend has the colour and meaning of each state', () => {
  const {app, byId} = makeApp({light: false});
  const items = byId('legend').children;
  assert.deepEqual(items.map(item => item.text), ['The running running', 'The cooling cooling', 'The warming warming',
    'The throttled throttled', 'The paused paused', 'The dead dead', 'The unknown unknown']);
  const [canvas] = items[0].children;
  assert.deepEqual([canvas.width, canvas.height], [22, 13]);
  assert.ok(canvas.calls.includes('putImageData [object Object] 0 0'));
  app.trace.header.states[1].pattern = 'vertical';
  app.toggleTheme();
  const {data} = byId('legend').children[0].children[0].context.image;
  const greens = Array.from({length: 22 * 13}, (_, n) => data[4 * n + 1] === 158 ? '#' : '.').join('').match(/.{22}/g);
  assert.deepEqual(greens, Array(13).fill('#...#...#...#...#...#.'));
  app.toggleTheme();
  assert.equal(byId('legend').children.length, 7);
});

test('colours fit a dark page, and on a light one what does not run is pale', () => {
  const {app} = makeApp({light: false}), {colors} = app;
  assert.equal(globalThis.document.documentElement.dataset.theme, 'dark');
  assert.deepEqual(colors.css, ['rgb(16 16 16)', 'rgb(0 255 0)', 'rgb(64 96 255)', 'rgb(128 128 128)', 'rgb(255 165 0)',
                                'rgb(255 255 0)', 'rgb(170 85 0)']);
  assert.deepEqual(colors.ink, ['#fff', '#000', '#fff', '#000', '#000', '#000', '#fff']);
  assert.deepEqual(colors.quiet, {0: 'soft', 2: 'rgb(150 168 255)', 3: 'soft'});
  assert.deepEqual([...colors.pixel].map(pixel => pixel.toString(16)),
                   ['ff101010', 'ff00ff00', 'ffff6040', 'ff808080', 'ff00a5ff', 'ff00ffff', 'ff0055aa']);
  assert.deepEqual([...colors.marks].map(pixel => pixel.toString(16)),
                   ['ff0a0a0a', 'ff009e00', 'ff9e3c28', 'ff4f4f4f', 'ff00669e', 'ff009e9e', 'ff003569']);
  assert.deepEqual([...colors.seriesPixel].map(pixel => pixel.toString(16)), ['ff332211', 'ffffeedd']);
  assert.deepEqual([colors.seriesInk, colors.row.toString(16), colors.alarmPixel.toString(16)],
                   [['#fff', '#000'], 'ff101010', 'ff0000ff']);
  colors.toggle();
  assert.equal(globalThis.document.documentElement.dataset.theme, 'light');
  assert.deepEqual(colors.css.slice(0, 4), ['rgb(255 255 255)', 'rgb(0 255 0)', 'rgb(205 214 255)', 'rgb(240 240 240)']);
  assert.equal(colors.quiet[2], 'rgb(113 118 140)');
});

test('patterns have their marks at their places of the screen', () => {
  const {app, trace} = makeApp({light: false}), {colors} = app;
  const marks = (pattern, state = 1) => {
    trace.header.states[state].pattern = pattern;
    return Array.from({length: 9}, (_, y) => Array.from({length: 9}, (_, x) =>
        colors.at(state, x, y) === colors.pixel[state] ? '.' : '#').join(''));
  };
  assert.deepEqual(marks('hatched').slice(0, 3), ['##....##.', '#....##..', '....##...']);
  assert.deepEqual(marks('vertical').slice(0, 2), ['#...#...#', '#...#...#']);
  assert.deepEqual(marks('horizontal').slice(0, 5), ['#########', '.........', '.........', '.........', '#########']);
  assert.deepEqual(marks('dots'), [...Array(4).fill('.........'), '#.......#', ...Array(4).fill('.........')]);
  assert.deepEqual(marks('none'), Array(9).fill('.........'));
  marks('vertical', 0);
  assert.equal(colors.at(0, 0, 0), colors.marks[2], 'of the background: as a mark of Paused');
});
