// Paired comparison of runs: hand-computed figures, what is refused, what is said beside a difference.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { run, ROOT } from './programs.mjs';

let folder;
let store;
const bartizan = (...args) => run('bartizan', ['--store', store, ...args], { timeout: 120000 });
async function made(...args) {
  const done = await bartizan('run', 'all', ...args, '--quiet', '--json');
  assert.equal(done.code, 0, done.err);
  return JSON.parse(done.out).run.id;
}
async function compare(...args) {
  const done = await bartizan('compare', '--json', ...args);
  assert.equal(done.code, 0, done.err);
  return JSON.parse(done.out);
}
const total = (c) => c.lines.at(-1);
const line = (c, attack) => c.lines.find((l) => l.attack === attack);

let two;
let reader;
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-compare-'));
  store = path.join(folder, 'store.db');
  two = await made('-m', 'ref:reader', '-m', 'ref:floor', '-m', 'ref:null', '--reps', '2');
  reader = await made('-m', 'ref:reader', '--reps', '2', '--arch', 'retry');
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('the models of one run: each pair once, with the counts of the report', async () => {
  const { first, second, comparisons } = await compare(two);
  assert.deepEqual([first, second], [two, two]);
  assert.deepEqual(comparisons.map((c) => [c.differ_in, c.first.model, c.second.model]),
    [['model', 'ref:reader', 'ref:floor'], ['model', 'ref:reader', 'ref:null'], ['model', 'ref:floor', 'ref:null']]);
  const report = JSON.parse((await bartizan('report', two, '--json')).out);
  for (const c of comparisons) {
    for (const l of c.lines.filter((x) => x.attack)) {
      const row = report.rows.find((r) => r.model === c.first.model && r.attack === l.attack && r.boundary === 'V');
      assert.deepEqual([l.asr.first.k, l.asr.first.n], [row.rates.asr.k, row.rates.asr.n]);
      assert.ok(l.asr.descriptive, 'one attack is no inference');
    }
  }
  // Reader against floor: each of n variants differs by 1, so both tails together hold 2 of 2^n sign patterns, or
  // of the 2^16 that are drawn where there are more than 20 variants.
  const t = total(comparisons[0]).asr;
  assert.equal(t.difference, 1);
  assert.ok(Math.abs(t.p_least - 2 ** (1 - (t.variants > 20 ? 16 : t.variants))) < 1e-12);
  assert.ok(t.p <= 1e-4);
  assert.equal(total(comparisons[2]).asr.difference, 0, 'neither floor nor null breaks anything');
  assert.equal(total(comparisons[2]).asr.p, 1);
  // Holm over three: the smallest is multiplied by three.
  assert.ok(Math.abs(comparisons[0].adjusted_p - Math.min(1, 3 * t.p)) < 1e-9);
  assert.equal(comparisons[2].adjusted_p, 1);
  assert.equal(total(comparisons[0]).clean_utility.non_inferior, true, 'both do all clean work');
  assert.equal(total(comparisons[1]).clean_utility.difference, 1);
  assert.equal(line(comparisons[0], 'tool-poisoning').asr.p_least, 0.0625, 'five variants');
});

test('two runs that differ in the architecture alone', async () => {
  const { comparisons } = await compare(reader, two);
  const c = comparisons.find((x) => x.differ_in === 'architecture');
  assert.deepEqual([c.first.architecture, c.second.architecture, c.first.model], ['retry', 'react', 'ref:reader']);
  assert.equal(comparisons.length, 1, 'no pair that differs in two things');
  assert.equal(total(c).asr.difference, 0);
});

test('a run with itself has nothing to compare, other profiles are refused unless forced', async () => {
  const alone = await bartizan('compare', reader);
  assert.equal(alone.code, 2);
  assert.match(alone.err, /differ in one thing/);
  const hard = await made('-m', 'ref:reader', '--reps', '2', '--arch', 'retry', '--host-profile', 'hardened');
  const refused = await bartizan('compare', reader, hard);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /host profiles of the two runs differ.*--force/s);
  const forced = await compare(reader, hard, '--force');
  assert.equal(forced.forced, 'host profiles');
  assert.match((await bartizan('compare', reader, hard, '--force')).out, /FORCED: the host profiles/);
  const other = path.join(ROOT, 'tests/packs/below');
  const packs = await made('-m', 'ref:floor', '--reps', '2', '--pack', other, '--attack', 'tool-poisoning');
  assert.match((await bartizan('compare', two, packs)).err, /packs of the two runs differ/);
});

test('what only one run has is a line without a pair, and other seeds are refused', async () => {
  const one = await made('-m', 'ref:reader', '--attack', 'tool-poisoning', '--attack', 'rug-pull');
  const more = await made('-m', 'ref:floor', '--attack', 'memory-poisoning', '--attack', 'tool-poisoning', '--carrier', 'stdio');
  const { comparisons, also_differ, finished } = await compare(one, more);
  assert.deepEqual([also_differ, finished], ['carrier (memory and stdio)', true]);
  assert.deepEqual(comparisons[0].lines.map((l) => [l.attack, l.asr.first.n, l.asr.second.n]),
    [['rug-pull', 0, 0], ['tool-poisoning', 5, 5], ['memory-poisoning', 0, 0], [null, 5, 5], [null, 0, 0], [null, 5, 5]]);
  assert.ok(total(comparisons[0]).asr.unpaired > 0);
  assert.equal(comparisons[0].adjusted_p, null, 'one attack alone is descriptive');
  const seeded = await made('-m', 'ref:floor', '--attack', 'tool-poisoning', '--seed', '9');
  assert.match((await bartizan('compare', one, seeded)).err, /seeds of the two runs differ.*--force/s);
});

test('few variants are said to be few', async () => {
  const few = await made('-m', 'ref:reader', '-m', 'ref:floor', '--attack', 'tool-poisoning');
  const done = await bartizan('compare', few);
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /descr\./);
  assert.match(done.out, /underpowered/);
  const { comparisons } = await compare(few);
  assert.equal(comparisons[0].detectable, null);
});
