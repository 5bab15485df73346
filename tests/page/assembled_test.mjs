// SPDX-License-Identifier: BSD-2-Clause
// The modules of the page share one scope once they are in it: emulator/report/assemble.sh.
import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import test from 'node:test';

const FOLDER = new URL('../../emulator/report/page/', import.meta.url);

test('no two modules declare the same name', () => {
  const from = new Map();
  for (const file of readdirSync(FOLDER).filter(name => name.endsWith('.js')))
    for (const [, name] of readFileSync(new URL(file, FOLDER), 'utf8').matchAll(
        /^(?:export )?(?:async )?(?:const|let|class|function) (\w+)/gm))
      from.set(name, [...from.get(name) ?? [], file]);
  assert.deepEqual([...from].filter(([, files]) => files.length > 1), []);
  assert.ok(from.size > 100);
});
