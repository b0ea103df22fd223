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
let recipes;
const page = (name) => readFileSync(path.join(ROOT, 'docs/packs', name), 'utf8');

/** Files of the page that add a variant each, v2 and so on. */
const EXTRA = ['held-room-memory', 'held-room-later', 'held-room-wire', 'held-room-command'];

/** Writes the block of code that follows the first line that holds `mark`. */
function take(text, mark, file, into = pack) {
  const from = text.indexOf(mark);
  assert.ok(from >= 0, mark);
  const block = /```(?:lua|json)\n([\s\S]*?)```/.exec(text.slice(from));
  mkdirSync(path.dirname(path.join(into, file)), { recursive: true });
  writeFileSync(path.join(into, file), block[1]);
}

before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-docs-'));
  pack = path.join(folder, 'my-pack');
  take(page('add-a-server.md'), '## A whole example', 'servers/room-booking.lua');
  take(page('add-a-server.md'), '## The behaviour table', 'tests/room-booking.json');
  take(page('add-an-attack.md'), '## A whole small example', 'attacks/st/held-room.lua');
  for (const name of EXTRA) {
    take(page('add-an-attack.md'), `\`my-pack/attacks/st/${name}.lua\``, `attacks/st/${name}.lua`);
  }
  // The page of recipes is an example of its own: both would book by the same prompt.
  recipes = path.join(folder, 'recipes');
  take(page('add-a-server.md'), '## A whole example', 'servers/room-booking.lua', recipes);
  take(page('recipes.md'), '## The file', 'attacks/st/double-booking.lua', recipes);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const bartizan = (...args) => run('bartizan', ['--store', path.join(folder, 'store.db'), ...args, '--pack', pack], { timeout: 240000 });

async function certified(from, attack, count) {
  const done = await run('bartizan', ['selftest', '--json', '--pack', from], { timeout: 240000 });
  assert.equal(done.code, 0, done.out + done.err);
  for (let v = 1; v <= count; v++) {
    const checks = JSON.parse(done.out).checks.filter((c) => c.scenario === `${attack}/v${v}`);
    assert.ok(checks.filter((c) => !c.skipped).length > 20, JSON.stringify(checks.filter((c) => c.skipped)));
  }
}

test('the examples are certified', () => certified(pack, 'held-room', 1 + EXTRA.length));
test('the recipes are certified', () => certified(recipes, 'double-booking', 4));

test('the behaviour table holds', async () => {
  const done = await run('test_lab_extension', [], { env: { BTZ_TEST_PACK: pack } });
  assert.equal(done.code, 0, done.out + done.err);
});

test('the server answers as its page says', async () => {
  // How wide columns are depends on all servers that are there.
  const narrow = (shown) => shown.trimEnd().replace(/ +/g, ' ');
  const text = narrow(page('add-a-server.md'));
  const line = (await bartizan('list', 'tools')).out.split('\n').filter((l) => l.startsWith('room-booking'));
  assert.equal(line.length, 2);
  for (const shown of line) {
    assert.ok(text.includes(narrow(shown)), shown);
  }
});

test('a run shows the conversion of its memory scenario', async () => {
  const done = await bartizan('run', 'all', '-m', 'ref:reader', '--attack', 'held-room', '--json');
  assert.equal(done.code, 0, done.err);
  const rows = JSON.parse(done.out).rows.filter((r) => r.attack === 'held-room');
  const { memory } = rows.find((r) => r.boundary === 'V');
  assert.deepEqual(memory, { trials: 1, seen_first: 1, stored: 1, recalled: 1, seen_second: 1, acted: 1, effect: 1, missing: 0 });
  assert.equal(rows.find((r) => r.boundary === 'B').memory, null);
});

test('a run shows it', async () => {
  for (const [model, rate] of [['ref:reader', '1/1'], ['ref:floor', '0/1']]) {
    const done = await bartizan('run', 'quick', '-m', model, '--attack', 'held-room');
    assert.equal(done.code, 0, done.err);
    assert.match(done.out, new RegExp(`^held-room +${rate}`, 'm'));
  }
});
