// The pack extended: asked for by name or by its study, in tables of its own, and nothing of the core
// pack changes by it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { run } from './programs.mjs';

let folder;
before(() => { folder = mkdtempSync(path.join(tmpdir(), 'btz-extended-')); });
after(() => rmSync(folder, { recursive: true, force: true }));

async function exits(code, ...args) {
  const done = await run('bartizan', ['--store', path.join(folder, 'store.db'), ...args], { timeout: 240000 });
  assert.equal(done.code, code, done.err + done.out);
  return done;
}
const bartizan = async (...args) => (await exits(0, ...args)).out;
const json = async (...args) => JSON.parse(await bartizan(...args, '--json'));

const ATTACKS = ['prompt-template-poisoning', 'terminal-escapes', 'denial-of-wallet', 'invisible-text', 'output-schema-poisoning',
  'preference-manipulation', 'resource-poisoning', 'skill-poisoning', 'toxic-flow', 'shared-cache-poisoning'];

test('it is off by default', async () => {
  const core = await json('list', 'attacks');
  assert.equal(core.length, 25);
  assert.equal(core.reduce((n, a) => n + a.variants, 0), 125);
  const both = await json('list', 'attacks', '--pack', 'extended');
  assert.deepEqual(both.slice(0, 25), core);
  assert.deepEqual(both.slice(25).map((a) => a.id), ATTACKS);
  for (const attack of both.slice(25)) {
    assert.ok(attack.variants >= 3 && attack.variants <= 5, attack.id);
    assert.ok(attack.owasp.length && attack.cwe.length, attack.id);
  }
  assert.ok((await json('list', 'studies')).some((s) => s.id === 'extended'));
  assert.match((await exits(2, 'run', 'quick', '-m', 'ref:floor', '--attack', 'skill-poisoning')).err, /matches no scenario/);
});

test('a folder of that name is given by its path', async () => {
  assert.match((await exits(2, 'list', 'attacks', '--pack', './extended')).err, /there is no such pack folder/);
});

test('the selftest of some attacks', async () => {
  const result = await json('selftest', '--pack', 'extended', '--attack', 'toxic-flow');
  assert.deepEqual([...new Set(result.checks.map((c) => c.scenario))], ['toxic-flow/v1', 'toxic-flow/v2', 'toxic-flow/v3', 'suite']);
  assert.ok(result.checks.every((c) => c.passed) && result.checks.some((c) => c.skipped && c.rule.startsWith('6 ')));
  const table = await bartizan('selftest', '--pack', 'extended', '--attack', 'toxic-flow');
  assert.match(table, /^toxic-flow\/v1 +certified/m);
  assert.doesNotMatch(table, /^tool-poisoning\/v1/m);
  assert.match((await exits(2, 'selftest', '--attack', 'toxic-flow')).err, /there is no attack "toxic-flow"/);
});

test('figures of the core pack are the same with it', async () => {
  const alone = await json('run', 'quick', '-m', 'ref:reader', '-m', 'ref:floor');
  const trials = (report) => report.trials.map((t) => [t.scenario, t.arm, t.model, t.outcome, t.trajectory])
    .map((t) => t.join(' ')).sort();
  const before = trials(await json('show', alone.run.id));
  const beside = await json('run', 'quick', '-m', 'ref:reader', '-m', 'ref:floor', '--pack', 'extended');
  const after = trials(await json('show', beside.run.id));

  assert.ok(alone.rows.length > 50 && alone.rows.every((r) => r.suite === undefined));
  assert.deepEqual(beside.rows.filter((r) => r.suite === undefined), alone.rows);
  const own = beside.rows.filter((r) => r.suite === 'extended');
  assert.deepEqual([...new Set(own.map((r) => r.attack).filter(Boolean))].sort(), [...ATTACKS].sort());
  assert.ok(own.some((r) => r.surface === null && r.attack === null), 'a total of its own');
  // The trials themselves, byte for byte as far as a trajectory goes.
  const extended = new Set(ATTACKS);
  assert.deepEqual(after.filter((t) => !extended.has(t.split('/')[0])), before);

  const text = await bartizan('report', beside.run.id);
  assert.match(text, /^ref:reader: attack success \(V\)$/m);
  assert.match(text, /^ref:reader, suite extended: competence/m);
  assert.match(text, /^ref:reader, suite extended: attack success \(V\)$/m);
  assert.match(text, /Inference\s+is\s+conditional\s+on\s+these\s+24\s+attacks\./);
  const headline = text.slice(text.indexOf('ref:reader: attack success (V)'), text.indexOf('ref:reader, suite extended'));
  for (const attack of ATTACKS) assert.ok(!headline.includes(`\n${attack} `), attack);
  const csv = (await bartizan('report', beside.run.id, '--csv')).trim().split('\n').map((l) => l.split(','));
  const at = csv[0].indexOf('suite');
  for (const line of csv.slice(1)) assert.equal(line[at], extended.has(line[csv[0].indexOf('attack')]) ? 'extended' : '');
});

test('its study loads it, and so does what is done with the run', async () => {
  const report = await json('run', 'extended', '-m', 'ref:reader');
  assert.deepEqual(report.provenance.packs, ['extended']);
  assert.ok(report.rows.every((r) => r.suite === 'extended'));
  for (const row of report.rows.filter((r) => r.attack)) {
    const rate = row.boundary === 'V' ? row.rates.asr : row.rates.exposure;
    assert.equal(rate.value, 1, row.attack);
    assert.equal(row.twins.clean.value, 1, row.attack);
    assert.equal(row.twins.benign.value, 1, row.attack);
  }
  const trials = (await json('show', report.run.id)).trials;
  const attack = trials.find((t) => t.scenario === 'skill-poisoning/v1' && t.arm === 'attack');
  assert.match(await bartizan('show', report.run.id, String(attack.n), '--annotate'), /The keeper of the books/);
  await bartizan('replay', report.run.id);
  assert.match(await bartizan('run', 'extended', '--print-study'), /^packs: \[extended\]$/m);
});

test('a run of it is resumed without naming it', async () => {
  await exits(4, 'run', 'extended', '-m', 'ref:reader', '--reps', '200', '--time-limit', '1');
  await exits(4, 'run', '--resume', 'last', '--time-limit', '1');
});
