// SPDX-License-Identifier: BSD-2-Clause
// Starts the page.
import {readData} from './data.js';
import {Trace, nameOf} from './trace.js';
import {App} from './app.js';
import {SORTS} from './rows.js';
import {handleWheel, handlePointer, handleAxis, handleKeys, fillHelp} from './input.js';
import {keepPlace} from './place.js';
import {savePicture} from './picture.js';
import {byId, element} from './dom.js';
import {doWhileIdle} from './work.js';
import {duration, count, counted} from './format.js';

function showHead(trace) {
  const {summary} = trace;
  const command = summary.command.join(' ') || summary.trace;
  const [program, ...rest] = summary.command.length ? summary.command : [summary.trace];
  const {against} = trace.header;
  const short = against ? against.traces.map(name => name.replace(/.*\/(?=.)/, '')).join(' against ') : [program.replace(/.*\/(?=.)/, ''), ...rest].join(' ');
  byId('title').textContent = short;
  byId('title').title = command;
  document.title = short + ' – ovnitrace';
  const lost = summary.lost === null ? 'an unknown number of events lost' :
      summary.lost ? counted(summary.lost, 'event') + ' lost' : 'no event lost';
  byId('about').textContent = [
    summary.host, duration(summary.duration_ns), counted(summary.threads.length, 'thread'),
    counted(trace.header.cpu_count ?? trace.cpus.length, 'CPU'), counted(summary.events, 'event'), lost,
  ].filter(text => text).join(' · ');
  const {sentences, advice} = summary.answer;
  byId('answer').textContent = [sentences, advice].filter(text => text).join('\n');
  byId('answer').hidden = !sentences;
  const notices = [];
  if (trace.header.coarse_threads)
    notices.push(count(trace.header.coarse_threads) + ' of ' + counted(trace.threads.length, 'thread') +
                 ', marked ≈, are shown in steps of ' + duration(trace.header.grain) +
                 ': all detail did not fit into --max-size. Their latencies and waits are only in the tables ' +
                 'of threads; the CPUs show their runs as grey.');
  if (summary.lost !== 0)
    notices.push('Events were lost: there the page shows Unknown, and CPUs hatched.');
  if (trace.header.places_left_out)
    notices.push(counted(trace.header.places_left_out, 'stack') + ' of blocked threads had no room: the page shows their system calls alone.');
  byId('notice').textContent = notices.join(' ');
  byId('notice').hidden = notices.length === 0;
}

function setUpTools(app) {
  const sort = byId('sort'), search = byId('search'), collapse = byId('collapse');
  for (const [value, text] of Object.entries(SORTS))
    sort.append(element('option', {value}, text));
  sort.onchange = () => {
    app.rows.sort = sort.value;
    app.rebuild();
  };
  search.oninput = () => {
    app.rows.search = search.value;
    app.timeline.scroller.scrollTop = 0;
    app.rebuild();
  };
  byId('idle').checked = app.rows.hideIdle;
  byId('idle').onchange = event => {
    app.rows.hideIdle = event.target.checked;
    app.rebuild();
  };
  byId('critical-label').hidden = !app.trace.critical.about;
  byId('critical').checked = app.trace.critical.shown;
  for (const [n, {thread}] of (app.trace.critical.about?.paths ?? []).entries())
    byId('path').append(element('option', {value: String(n)}, 'of ' + nameOf(app.trace.threads[thread])));
  byId('path').hidden = byId('critical-label').hidden;
  byId('path').onchange = event => {
    app.trace.critical.choose(Number(event.target.value));
    app.showCritical(true);
  };
  byId('critical').onchange = event => app.showCritical(event.target.checked);
  collapse.onclick = () => {
    const fold = collapse.textContent === 'Collapse all';
    collapse.textContent = fold ? 'Expand all' : 'Collapse all';
    app.rows.foldAll(fold);
    app.rebuild();
  };
  byId('marked').onclick = () => app.mark(null);
  byId('whole').onclick = () => app.view.showWhole();
  byId('png').onclick = () => savePicture(app);
  byId('theme').onclick = () => app.toggleTheme();
  byId('help-button').onclick = () => byId('help').showModal();
}

/// Switches to light colours for printing: paper is white.
function setUpPrint(app) {
  let dark = false;
  addEventListener('beforeprint', () => {
    dark = !app.colors.light;
    if (dark)
      app.toggleTheme();
    app.draw();
  });
  addEventListener('afterprint', () => dark && app.toggleTheme());
}

async function start() {
  const {header, parts} = await readData(document);
  const trace = new Trace(header, parts);
  const app = new App(trace);
  showHead(trace);
  setUpTools(app);
  handleWheel(app);
  handlePointer(app);
  handleAxis(app);
  handleKeys(app);
  fillHelp();
  const resized = new ResizeObserver(() => app.redraw());
  ['left', 'scroller'].forEach(id => resized.observe(byId(id))); // the graphs above take room, too
  setUpPrint(app);
  byId('loading').hidden = true;
  if (header.against)
    app.panel.open('Differences');
  app.draw();
  window.ovnitrace = app.api();
  keepPlace(app);
  if (app.whys.known)
    doWhileIdle(app.stepsToWhy(trace.threads.map(thread => thread.index), trace.from, trace.to));
}

start().catch(error => {
  byId('loading').textContent = 'The trace cannot be shown: ' + error.message;
  console.error(error);
});
