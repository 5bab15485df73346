// SPDX-License-Identifier: BSD-2-Clause
// Notes and marks at times: emulator/report/page/notes.js and picture.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import {pictureOf, savePicture} from '../../emulator/report/page/picture.js';
import {rowsOf} from './fake.mjs';
import {makeApp} from './fake_app.mjs';

function open() {
  const made = makeApp({header: {marks: [{time: 1400, text: 'new config'}]}}), page = made.byId('pages');
  made.app.panel.open('Notes');
  const press = text => page.all('button').find(button => button.text === text).onclick();
  const write = text => {
    page.all('input')[0].value = text;
    press('Add');
  };
  return {...made, page, press, write, shown: () => rowsOf(page.all('table')[0]).slice(1)};
}

test('a note is at the range, else the slice, else the middle, in order with the marks', () => {
  const {app, write, shown, press, page} = open();
  assert.deepEqual(shown(), ['0.000\u2009001\u2009400 s | new config | mark']);
  write('  ');
  write('middle');
  app.select({thread: 0, slice: 1});
  write('slice');
  app.setRange({from: 1100, to: 1300});
  write('range');
  assert.equal(page.all('input')[0].value, '');
  assert.deepEqual(app.notes.list, [{time: 1100, text: 'range'}, {time: 1200, text: 'slice'}, {time: 1400, text: 'new config'},
                                    {time: 1500, text: 'middle'}]);
  page.all('button').find(one => one.attributes['aria-label'] === 'Remove slice').onclick();
  assert.deepEqual(shown().map(row => row.split(' | ')[1]), ['range', 'new config', 'middle']);
  app.view.set(1000, 1200);
  press('0.000\u2009001\u2009400 s');
  assert.deepEqual([app.view.from, app.view.to], [1300, 1500]);
  for (let n = 2; n < 20; n++)
    write('n' + n);
  assert.equal(page.all('button').find(button => button.text === 'Add').disabled, true);
  assert.equal(app.notes.add(1000, 'too many'), false);
  assert.equal(page.all('p')[1].text, 'There is no room for more than 20 notes.');
  assert.equal(page.all('p')[1].className, 'note');
});

test('a note is as long as an address can bear, without blanks around it', () => {
  const {app, page} = open();
  assert.equal(app.notes.add(1000.6, '  ' + 'x'.repeat(101)), true);
  assert.deepEqual(app.notes.own, [{time: 1001, text: 'x'.repeat(100)}]);
  app.panel.show();
  assert.equal(page.all('p').length, 1, 'there is room for more');
});

test('notes beside the visible part are not drawn, those at its ends are', () => {
  const {app, draw, canvas} = open();
  for (const time of [1199, 1200, 1300, 1301])
    app.notes.add(time, 'at ' + time);
  app.view.set(1200, 1300);
  draw();
  canvas.calls.length = 0;
  app.redraw();
  draw();
  assert.deepEqual(canvas.calls.filter(call => call.startsWith('fillText at ')).map(call => call.slice(9, 16)), ['at 1300', 'at 1200']);
});

test('notes are lines through the rows, with texts that do not overlap: the newest has room', () => {
  const {app, draw, canvas} = open();
  app.notes.add(1405, 'near');
  app.notes.add(1800, 'far');
  app.notes.add(1995, 'last');
  app.redraw();
  draw();
  const texts = canvas.calls.filter(call => /^fillText (new config|near|far|last) /.test(call));
  assert.deepEqual(texts.map(call => call.split(' ').slice(1, -3).join(' ')), ['last', 'far', 'near']);
  const [x] = texts[0].split(' ').slice(-3);
  assert.equal(Number(x), 610 - 32 + 4, 'left of its line, within the page');
  const dashes = x => canvas.calls.filter(call => call.startsWith('fillRect ' + x + ' ') && call.includes(' 1 3 ')).length;
  assert.deepEqual([370, 372, 530].map(dashes), [50, 50, 50]);
});

test('a picture has the visible parts of the timeline below each other', () => {
  const {app, byId} = makeApp();
  Object.entries({overview: 54, axis: 26, graphs: 68, rows: 300}).forEach(([id, height]) =>
      Object.assign(byId(id), {width: id === 'rows' ? 600 : 610, height}));
  const picture = pictureOf(app);
  const drawn = picture.calls.filter(call => call.startsWith('drawImage')).map(call => call.split(' ').slice(-2));
  assert.deepEqual([picture.width, picture.height], [610, 448]);
  assert.deepEqual(drawn, [['0', '0'], ['0', '54'], ['0', '80'], ['0', '148']]);
  app.graphs.toggle();
  assert.equal(pictureOf(app).height, 380);
});

test('a picture that is saved shows the last changes, and has the name of the trace', t => {
  const {app, byId} = makeApp();
  const done = [], make = globalThis.document.createElement;
  byId('title').textContent = 'a b/c: ' + 'x'.repeat(80);
  app.draw = () => done.push('draw');
  globalThis.document.createElement = tag => Object.assign(make(tag), {
    toBlob(take, type) {
      done.push('picture ' + type);
      take('the bytes');
    },
    click() {
      done.push('click ' + this.href + ' ' + this.download);
    }});
  t.mock.method(URL, 'createObjectURL', blob => 'blob of ' + blob);
  t.mock.method(URL, 'revokeObjectURL', href => done.push('release ' + href));
  const waiting = [];
  t.mock.method(globalThis, 'setTimeout', callback => waiting.push(callback));
  savePicture(app);
  const name = 'a_b_c_' + 'x'.repeat(54) + '.png';
  assert.deepEqual(done, ['draw', 'picture image/png', 'click blob of the bytes ' + name]);
  waiting.forEach(callback => callback());
  assert.equal(done.at(-1), 'release blob of the bytes');
});
