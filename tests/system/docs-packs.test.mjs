// The examples of docs/packs are whole files: put into one folder they load, are certified, and their
// behaviour table holds.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT, run } from './programs.mjs';

let folder;
let pack;
const page = (name) => readFileSync(path.join(ROOT, 'docs/packs', name), 'utf8');

/** Writes the block of code that follows the first line that holds `mark`. */
function take(text, mark, file) {
  const from = text.indexOf(mark);
  assert.ok(from >= 0, mark);
  const block = /```(?:lua|json)\n([\s\S]*?)```/.exec(text.slice(from));
  mkdirSync(path.dirname(path.join(pack, file)), { recursive: true });
  writeFileSync(path.join(pack, file), block[1]);
}

before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-docs-'));
  pack = path.join(folder, 'my-pack');
  take(page('add-a-server.md'), '## A whole example', 'servers/room-booking.lua');
  take(page('add-a-server.md'), '## The behaviour table', 'tests/room-booking.json');
  take(page('add-an-attack.md'), '## A whole small example', 'attacks/st/held-room.lua');
  take(page('recipes.md'), '## The file', 'attacks/st/double-booking.lua');
});
after(() => rmSync(folder, { recursive: true, force: true }));

const bartizan = (...args) => run('bartizan', ['--store', path.join(folder, 'store.db'), ...args, '--pack', pack], { timeout: 240000 });

test('the examples are certified', async () => {
  const done = await bartizan('selftest', '--json');
  assert.equal(done.code, 0, done.out + done.err);
  const scenarios = ['held-room/v1', 'double-booking/v1', 'double-booking/v2', 'double-booking/v3', 'double-booking/v4'];
  for (const scenario of scenarios) {
    const checks = JSON.parse(done.out).checks.filter((c) => c.scenario === scenario);
    assert.ok(checks.filter((c) => !c.skipped).length > 20, scenario + JSON.stringify(checks.filter((c) => c.skipped)));
  }
});

test('the behaviour table holds', async () => {
  const done = await run('test_lab_extension', [], { env: { BTZ_TEST_PACK: pack } });
  assert.equal(done.code, 0, done.out + done.err);
});

test('the server answers as its page says', async () => {
  // How wide columns are depends on the other servers that are loaded.
  const narrow = (s) => s.replace(/ +/g, ' ').trimEnd();
  const text = narrow(page('add-a-server.md'));
  const line = (await bartizan('list', 'tools')).out.split('\n').filter((l) => l.startsWith('room-booking'));
  assert.equal(line.length, 2);
  for (const shown of line) {
    assert.ok(text.includes(narrow(shown)), shown);
  }
});

test('a run shows it', async () => {
  for (const [model, rate] of [['ref:reader', '1/1'], ['ref:floor', '0/1']]) {
    const done = await bartizan('run', 'quick', '-m', model, '--attack', 'held-room');
    assert.equal(done.code, 0, done.err);
    assert.match(done.out, new RegExp(`^held-room +${rate}`, 'm'));
  }
});
