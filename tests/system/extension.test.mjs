// A folder of a user with a sixth variant of a core attack and an attack of its own: both stand in
// every table, without a change of the program.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT, run } from './programs.mjs';

const pack = path.join(ROOT, 'tests/packs/extension');
let folder;
before(() => { folder = mkdtempSync(path.join(tmpdir(), 'btz-extension-')); });
after(() => rmSync(folder, { recursive: true, force: true }));

async function bartizan(...args) {
  const done = await run('bartizan', ['--store', path.join(folder, 'store.db'), ...args], { timeout: 240000 });
  assert.equal(done.code, 0, done.err + done.out);
  return done.out;
}
const json = async (...args) => JSON.parse(await bartizan(...args, '--json'));
const packed = (...args) => [...args, '--pack', pack];

test('lists', async () => {
  const before = (await json('list', 'attacks'));
  const after = (await json(...packed('list', 'attacks')));
  const by = (items) => Object.fromEntries(items.map((i) => [i.id, i.variants]));
  assert.deepEqual(by(after), { ...by(before), 'tool-poisoning': by(before)['tool-poisoning'] + 1, 'copied-report': 1 });
  // The card is the core's.
  const { variants: _, ...card } = before.find((i) => i.id === 'tool-poisoning');
  const { variants: __, ...extended } = after.find((i) => i.id === 'tool-poisoning');
  assert.deepEqual(extended, card);
  assert.match(await bartizan(...packed('list', 'attacks')), /^tool-poisoning .* 6 /m);
  const scenarios = (await json(...packed('list', 'scenarios'))).map((i) => i.id);
  assert.equal(scenarios.indexOf('tool-poisoning/v6'), scenarios.indexOf('tool-poisoning/v5') + 1);
  assert.ok(scenarios.includes('copied-report/v1'));
  assert.match(await bartizan(...packed('list', 'scenarios', '--csv')), /^tool-poisoning\/v6,/m);
  assert.ok((await json(...packed('list', 'servers'))).some((i) => i.id === 'tea-orders'));
});

test('selftest certifies them with the core pack', async () => {
  const result = await json(...packed('selftest'));
  for (const id of ['tool-poisoning/v6', 'copied-report/v1']) {
    const checks = result.checks.filter((c) => c.scenario === id);
    assert.ok(checks.length > 20 && checks.every((c) => c.passed), id);
  }
  assert.match(await bartizan(...packed('selftest', '--attack', 'tool-poisoning')), /^tool-poisoning\/v6 +certified/m);
});

test('run, report and show', async () => {
  const chosen = ['--attack', 'tool-poisoning', '--attack', 'copied-report'];
  const table = await bartizan(...packed('run', 'all', '-m', 'ref:reader', ...chosen));
  assert.match(table, /^tool-poisoning +6\/6 +0 +100\.0%/m);
  assert.match(table, /^copied-report +1\/1 +0 +100\.0%/m);

  const report = await json('report', 'last');
  const row = (attack) => report.rows.find((r) => r.attack === attack);
  assert.ok(row('tool-poisoning') && row('copied-report'));
  assert.ok(report.provenance.attacks.some((a) => a.id === 'copied-report'));
  const csv = (await bartizan('report', 'last', '--csv')).split(/\r?\n/).map((l) => l.split(','));
  assert.deepEqual(csv.slice(1).map((l) => l[csv[0].indexOf('attack')]).filter(Boolean).sort(), ['copied-report', 'tool-poisoning']);

  const trials = (await json('show', 'last')).trials;
  for (const scenario of ['tool-poisoning/v6', 'copied-report/v1']) {
    const arms = trials.filter((t) => t.scenario === scenario);
    assert.deepEqual(arms.map((t) => t.arm).sort(), ['attack', 'benign', 'clean']);
    const attack = arms.find((t) => t.arm === 'attack');
    assert.equal(attack.outcome, 'susceptible');
    assert.match(await bartizan(...packed('show', 'last', String(attack.n))), new RegExp(scenario));
  }
  assert.match(await bartizan('show', 'last'), /tool-poisoning\/v6 +attack/);

  const only = await bartizan(...packed('run', 'quick', '-m', 'ref:floor', '--attack', 'tool-poisoning', '--variant', 'v6'));
  assert.match(only, /^tool-poisoning +0\/1 +0 +0\.0%/m);
});

test('the packs are part of the provenance', async () => {
  const hash = async () => (await json('report', 'last')).provenance.pack_hash;
  const chosen = ['run', 'quick', '-m', 'ref:null', '--attack', 'tool-poisoning'];
  await bartizan(...chosen);
  const core = await hash();
  await bartizan(...packed(...chosen));
  const extended = await hash();
  assert.match(core, /^[0-9a-f]{64}$/);
  assert.notEqual(extended, core);
});
