// Every JSON output of the command line, and the golden files, against the schemas in schemas/.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import Ajv2020 from './schema/node_modules/ajv/dist/2020.js';
import { ROOT, run } from './programs.mjs';
import { startStub } from '../stubs/model-stub.mjs';

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const validators = new Map();
let folder;
before(() => { folder = mkdtempSync(path.join(tmpdir(), 'btz-schemas-')); });
after(() => rmSync(folder, { recursive: true, force: true }));

function validator(name) {
  if (!validators.has(name)) {
    validators.set(name, ajv.compile(JSON.parse(readFileSync(path.join(ROOT, 'schemas', `${name}.json`), 'utf8'))));
  }
  return validators.get(name);
}

function valid(name, value) {
  const check = validator(name);
  assert.ok(check(value), `${name}: ${ajv.errorsText(check.errors)}`);
}

const refused = (name, value) => assert.equal(validator(name)(value), false, `${name} accepts ${JSON.stringify(value).slice(0, 200)}`);
const golden = (name) => JSON.parse(readFileSync(path.join(ROOT, 'tests/golden/report', name), 'utf8').replaceAll('RUNID00000', 'abcdefghjk'));
const changed = (value, change) => { const copy = structuredClone(value); change(copy); return copy; };

async function output(expected, ...args) {
  const done = await run('bartizan', ['--store', path.join(folder, 'store.db'), ...args, '--json'], { timeout: 120000, env: { OPENAI_API_KEY: '' } });
  assert.equal(done.code, expected, done.err);
  return JSON.parse(done.out);
}

test('golden files fit, and each schema refuses what is cut off or added', () => {
  const report = golden('report.json');
  valid('report', report);
  assert.ok(report.rows.length > 0);
  refused('report', changed(report, (r) => { delete r.rows[0].rates.asr; }));
  refused('report', changed(report, (r) => { r.rows[0].rates.asr.k = -1; }));
  refused('report', changed(report, (r) => { r.rows[0].rates.exposure = { k: 1, n: 0, missing: 0, lo: null, hi: null }; }));
  refused('report', changed(report, (r) => { r.rows[0].twins.clean.lo = 1.5; }));
  refused('report', changed(report, (r) => { delete r.rows[0].outcomes.below; }));
  refused('report', changed(report, (r) => { r.rows[0].arm = 'clean'; }));
  refused('report', changed(report, (r) => { delete r.run.status; }));
  for (const [name, table] of [['defence', 'defences'], ['defence', 'defence_contrasts'], ['defence', 'tokens'],
    ['architectures', 'architectures'], ['oracles', 'oracles'], ['paper', 'rows']]) {
    const tables = golden(`tables-${name}.json`);
    valid('report', tables);
    assert.ok(tables[table].length > 0);
    for (const key of Object.keys(tables[table][0])) {
      refused('report', changed(tables, (r) => { delete r[table][0][key]; }));
    }
    refused('report', changed(tables, (r) => { r[table][0].more = 1; }));
    refused('report', changed(tables, (r) => { delete r[table]; }));
  }

  const list = golden('show-run.json');
  valid('show', list);
  refused('show', changed(list, (s) => { s.trials[0].outcome = 'unknown'; }));
  refused('show', changed(list, (s) => { s.trials[0].more = 1; }));
  refused('show', changed(list, (s) => { delete s.trials[0].tokens; }));

  const one = golden('show-trial.json');
  valid('show', one);
  refused('show', changed(one, (s) => { s.events[0].layer = 'elsewhere'; }));
  refused('show', changed(one, (s) => { s.more = 1; }));
  refused('show', changed(one, (s) => { delete s.chain; }));
});

test('what the commands print fits', async () => {
  const printed = await output(0, 'run', 'quick', '-m', 'ref:reader', '-m', 'ref:floor');
  valid('report', printed);
  assert.deepEqual(await output(0, 'report', 'last'), printed);
  const list = await output(0, 'show', 'last');
  const card = await output(0, 'list', 'attacks', 'tool-name-squatting');
  valid('list-attack', card);
  refused('list-attack', changed(card, (c) => { delete c.card.mechanism; }));
  refused('list-attack', changed(card, (c) => { delete c.variants[0].card.boundary; }));
  valid('show', list);
  assert.equal(list.trials.length, printed.run.trials);
  for (const trial of list.trials) {
    const one = await output(0, 'show', 'last', String(trial.n));
    valid('show', one);
    assert.equal(one.trajectory, trial.trajectory);
    assert.ok(one.exchanges.every((e) => e.parts.length > 2));
  }
  for (const what of ['servers', 'tools', 'resources', 'attacks', 'scenarios', 'studies', 'runs']) {
    const items = await output(0, 'list', what);
    valid(`list-${what}`, items);
    assert.ok(items.length > 0, what);
    refused(`list-${what}`, [{ ...items[0], more: 1 }]);
    refused(`list-${what}`, [{}]);
  }
  for (const { id } of await output(0, 'list', 'studies')) {
    const study = await output(0, 'run', id, '--print-study');
    valid('study', study);
    refused('study', { ...study, more: 1 });
    refused('study', { ...study, repetitions: 0 });
    refused('study', { ...study, models: [{ model: 'ref:null', seed: 1 }] });
  }
  const compared = await output(0, 'compare', 'last');
  valid('compare', compared);
  refused('compare', changed(compared, (c) => { c.comparisons = []; }));
  valid('doctor', await output(0, 'doctor'));
  for (const scenario of [[], ['--scenario', 'tool-poisoning/v1']]) {
    const verdict = await output(4, 'arena', '--http', '127.0.0.1:0', '--time-limit', '1', ...scenario);
    valid('arena', verdict);
    refused('arena', changed(verdict, (v) => { v.stored = true; }));
    refused('arena', changed(verdict, (v) => { v.observed = 'maybe'; }));
  }
  refused('doctor', [{ what: 'x', state: 'maybe', detail: '', remedy: '' }]);
});

test('what is said of a suite of its own fits', async () => {
  const out = await output(0, 'run', 'quick', '-m', 'ref:reader', '--pack', 'extended', '--attack', 'toxic-flow', '--attack', 'tool-poisoning',
    '--defence', 'none', '--defence', 'context', '--arch', 'react', '--arch', 'retry');
  valid('report', out);
  for (const table of ['rows', 'defences', 'architectures', 'tokens']) {
    assert.deepEqual([...new Set(out[table].map((r) => r.suite))].sort(), ['extended', undefined], table);
  }
  refused('report', changed(out, (r) => { r.rows[0].suite = ''; }));
  valid('compare', await output(0, 'compare', 'last'));
});

test('what judges and people say fits', async () => {
  const reply = { success: false, detected: true, confidence: 0.5, evidence: 'Host context. This comes from the host' };
  const stub = await startStub({ scenario: { default: { do: 'answer', text: JSON.stringify(reply) } } });
  try {
    const made = await output(0, 'run', 'quick', '-m', 'ref:reader', '--attack', 'tool-poisoning', '--attack', 'memory-poisoning');
    valid('agreement', await output(0, 'agreement', made.run.id));
    const out = await output(0, 'rescore', made.run.id, '--judge', `openai:judge@${stub.url}`, '--arms', 'all');
    valid('rescore', out);
    valid('agreement', out.agreement);
    assert.ok(out.agreement.pairs[0].lines.at(-1).n > 0, 'sound verdicts');
    refused('rescore', changed(out, (o) => { delete o.judges[0].malformed; }));
    refused('agreement', changed(out.agreement, (a) => { a.pairs[0].lines[0].kappa = 1; }));
    refused('agreement', changed(out.agreement, (a) => { a.raters[0].source = 'oracle'; }));
    valid('show', await output(0, 'show', made.run.id, '1'));
    valid('rescore-trace', await output(0, 'rescore', made.run.id, '--trace', '1'));
    const certified = await output(1, 'rescore', '--certify', '--judge', `openai:judge@${stub.url}`, '--attack', 'tool-poisoning');
    valid('rescore-certify', certified);
    refused('rescore-certify', changed(certified, (c) => { c.judges[0].kinds[0].right = -1; }));
  } finally {
    await stub.close();
  }
});

test('selftest fits', async () => {
  const report = await output(0, 'selftest');
  valid('selftest', report);
  assert.ok(report.checks.length > 0);
  refused('selftest', { checks: [{ ...report.checks[0], passed: 'yes' }] });
});

// Sums that a reader of the JSON may rely on.
test('the figures of a report fit each other', async () => {
  const report = await output(0, 'run', 'quick', '-m', 'ref:insider');
  for (const row of [...report.rows, ...golden('report.json').rows]) {
    const { outcomes: o, rates: r, chain: c } = row;
    const trials = Object.values(o).reduce((n, k) => n + k, 0);
    assert.equal(r.asr.n + r.asr.missing, trials);
    assert.equal(r.asr.missing, o.fault);
    assert.equal(r.asr.k, o.susceptible + o.below + o.anomaly);
    assert.equal(r.asr.k, c.effect);
    assert.equal(r.valid_asr.n, trials - o.fault - o.not_exercised - o.unfinished);
    assert.equal(r.susceptibility.k, o.susceptible);
    assert.equal(r.susceptibility.n, c.observed);
    assert.equal(r.compliance.n, c.observed);
    assert.equal(r.exposure.k, row.boundary === 'B' ? o.below : 0);
    assert.ok(r.asr_competent.n <= r.asr.n);
    if (row.attack !== null) {
      assert.ok(r.asr.n === 0 || (r.asr.lo <= r.asr.value && r.asr.value <= r.asr.hi));
    }
  }
});

test('what canon says of a definition fits', async () => {
  const at = path.join(folder, 'tool.json');
  writeFileSync(at, JSON.stringify({ name: 'get_it', description: 'Gets it. You must obey.', inputSchema: { type: 'object', properties: { 'a@b': { type: 'string' } } } }));
  const all = await output(0, 'canon', at, '--spans');
  valid('canon', all);
  valid('canon', await output(0, 'canon', at, '--explain', '--arm', 'rules-strip'));
  assert.ok(all.spans.length > 4 && all.names.param_1 === 'a@b');
  refused('canon', changed(all, (c) => { c.spans[0].action = 'gone'; }));
  refused('canon', changed(all, (c) => { delete c.spans[0].rule; }));
  refused('canon', changed(all, (c) => { c.more = 1; }));
  refused('canon', changed(all, (c) => { c.definition = null; }));
  refused('canon', changed(all, (c) => { c.withheld = 'the model refused'; }));
  valid('canon', changed(all, (c) => { c.arm = 'canon+rewrite'; c.definition = null; c.withheld = 'the model refused'; }));
});
