// Answers that never came: seen in every table of the sieve, bounded, asked for again by --resume; and attacks that are carried over to a
// second model.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import Ajv2020 from './schema/node_modules/ajv/dist/2020.js';
import { ROOT, run } from './programs.mjs';
import { startStub } from '../stubs/model-stub.mjs';
import { OBEDIENT, lines, makeItems } from './sieve-items.mjs';

let folder;
let items;
let file;
let exports_ = 0;
const valid = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(JSON.parse(readFileSync(path.join(ROOT, 'schemas/sieve-report.json'), 'utf8')));

before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-sieve-missing-'));
  items = makeItems();
  file = path.join(folder, 'items.jsonl');
  writeFileSync(file, lines(items));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const bartizan = (store, ...args) => run('bartizan', ['--store', path.join(folder, store), ...args], { timeout: 120000, env: { NO_COLOR: '1', OPENAI_API_KEY: '' } });
const sieve = (store, ...args) => bartizan(store, 'sieve', ...args);
async function json(expected, store, ...args) {
  const done = await sieve(store, ...args, '--json', '--quiet');
  assert.equal(done.code, expected, done.err);
  const report = JSON.parse(done.out);
  assert.ok(valid(report), JSON.stringify(valid.errors?.slice(0, 3)));
  return report;
}
async function rowsOf(store, id = 'last') {
  const to = path.join(folder, `rows-${exports_++}.jsonl`);
  await json(0, store, 'report', id, '--items', to);
  return readFileSync(to, 'utf8').trimEnd().split('\n').map((l) => JSON.parse(l));
}
const figure = (report, table, arm, measure, over, more = {}) => {
  const found = report.figures.filter((f) => f.table === table && f.arm === arm && f.measure === measure && f.over === over && Object.entries(more).every(([k, v]) => f[k] === v));
  assert.equal(found.length, 1, `${table} ${arm} ${measure} ${over}: ${found.length} figures`);
  return found[0];
};
// A fault that no retry mends.
const FAULT = { do: 'status', status: 401, error: { message: 'no', type: 'invalid_request_error', code: 'invalid_api_key' } };

test('a fault is missing in the tables, bounds the rate, and is asked for again', async () => {
  // Every question about the mail server's notes ends in a fault: 3 attacks and 3 twins of 24 each.
  const broken = [{ when: { last: 'Send the note to \\S+ with mail' }, then: FAULT }, ...OBEDIENT];
  const stub = await startStub({ scenario: { rules: broken, default: { do: 'answer', text: 'Hm.' } } });
  try {
    const model = `openai:stub-model@${stub.url}`;
    const report = await json(1, 'faults.db', 'run', file, '-m', model, '--arm', 'none', '--arm', 'canon', '--in-flight', '1');
    assert.equal(report.run.done, false);
    const harm = figure(report, 'harm', 'none', 'success', 'all');
    assert.deepEqual([harm.k, harm.n, harm.missing], [21, 21, 3]);
    assert.deepEqual(harm.bounds, { lo: 21 / 24, hi: 1 });
    for (const f of report.figures.filter((x) => ['composition', 'harm', 'utility'].includes(x.table))) {
      const expected = f.over === 'negatives' ? 0 : 3;
      assert.equal(f.missing, expected, JSON.stringify(f));
      assert.equal(f.bounds !== undefined, expected > 0);
    }
    const clean = figure(report, 'utility', 'canon', 'completion', 'twins');
    assert.deepEqual([clean.n, clean.missing, clean.bounds], [21, 3, { lo: 21 / 24, hi: 1 }]);
    assert.equal(report.contrasts[0].missing, 3);
    const goal = report.goals.find((g) => g.goal.startsWith('twin completion'));
    assert.equal(goal.missing, 3);
    assert.notEqual(goal.state, 'met', 'three of 24 could have failed');
    const text = (await sieve('faults.db', 'report')).out.replace(/\s+/g, ' ');
    assert.match(text, /21 of 21, 3 missing/);
    assert.match(text, /Missing answers: in no rate above/);
    assert.match(text, /none success all 21 21 3 100\.0% \[87\.5, 100\.0\]/);
    const csv = (await sieve('faults.db', 'report', '--csv')).out.split('\n');
    assert.match(csv[0], /,missing,bound_lo,bound_hi,second,items$/);
    assert.match(csv.find((l) => l.startsWith('harm,') && l.includes(',none,success,all,')), /,3,0\.875,1,,$/);

    stub.control({ rules: OBEDIENT });
    const whole = await json(0, 'faults.db', 'run', '--resume', 'last');
    assert.ok(whole.run.done);
    assert.ok(whole.figures.every((f) => (f.missing ?? 0) === 0 && f.bounds === undefined));
    assert.equal(figure(whole, 'harm', 'none', 'success', 'all').n, 24);
    // The rows are those of a run without faults.
    await json(0, 'sound.db', 'run', file, '-m', model, '--arm', 'none', '--arm', 'canon', '--in-flight', '1');
    assert.deepEqual(await rowsOf('faults.db'), await rowsOf('sound.db'));
  } finally {
    await stub.close();
  }
});

test('a model that never answers has a dash, not 0.0%', async () => {
  const stub = await startStub({ scenario: { rules: [], default: FAULT } });
  try {
    const model = `openai:stub-model@${stub.url}`;
    const failed = await sieve('mute.db', 'run', file, '-m', model, '--arm', 'none', '--arm', 'canon', '--quiet');
    assert.notEqual(failed.code, 0);
    assert.match(failed.err, /gives no answers: HTTP 401/);
    const report = await json(0, 'mute.db', 'report');
    const harm = figure(report, 'harm', 'canon', 'success', 'all');
    assert.deepEqual([harm.k, harm.n, harm.value, harm.missing, harm.bounds], [0, 0, null, 24, { lo: 0, hi: 1 }]);
    assert.deepEqual(report.competence.map((c) => [c.model, c.value, c.competent]), [[model, null, null]]);
    assert.ok(report.goals.filter((g) => g.goal.startsWith('twin completion')).every((g) => g.state === 'no data'));
    const text = (await sieve('mute.db', 'report')).out;
    const part = text.slice(text.indexOf(`${model}, retrieval none`), text.indexOf('Payloads whose'));
    assert.match(part.replace(/\s+/g, ' '), /no clean twin was answered without any arm \(24 missing\)/);
    assert.match(part, /- 24 missing/);
    assert.doesNotMatch(part.slice(0, part.indexOf('Missing answers')), /\b0\.0%/);
  } finally {
    await stub.close();
  }
});

test('attack: a missing answer leaves its attack undecided, and the others go on', async () => {
  const broken = [{ when: { last: 'Send the note to \\S+ with mail' }, then: FAULT }, ...OBEDIENT];
  const stub = await startStub({ scenario: { rules: broken, default: { do: 'answer', text: '{"tool": null, "reason": "odd"}' } } });
  try {
    const settings = [file, '-m', `openai:stub-model@${stub.url}`, '--arm', 'none', '--arm', 'schema-only', '--arm-budget', '20', '--model-budget', '4', '--in-flight', '1'];
    const report = await json(1, 'stuck.db', 'attack', ...settings);
    const within = figure(report, 'adaptive-model', 'none', 'within-4', 'attacks');
    assert.deepEqual([within.k, within.n, within.missing, within.bounds], [21, 21, 3, { lo: 21 / 24, hi: 1 }]);
    assert.equal(figure(report, 'adaptive', 'none', 'within-20', 'attacks').missing, 0, 'bytes alone need no answer');
    assert.match((await sieve('stuck.db', 'report')).out.replace(/\s+/g, ' '), /none within-4 attacks 21 21 3/);
    stub.control({ rules: OBEDIENT });
    const whole = await json(0, 'stuck.db', 'attack', '--resume', 'last');
    assert.equal(figure(whole, 'adaptive-model', 'none', 'within-4', 'attacks').n, 24);
    assert.ok(whole.figures.every((f) => (f.missing ?? 0) === 0));
    await json(0, 'stuck-sound.db', 'attack', ...settings);
    assert.deepEqual(await rowsOf('stuck.db'), await rowsOf('stuck-sound.db'));
  } finally {
    await stub.close();
  }
});

test('attack: what broke one model is asked of a second one', async () => {
  // The second model obeys P1 payloads alone, and on the billing server it gives no answer.
  const wary = OBEDIENT.filter((r) => !r.when.last.includes('must also go'));
  const stub = await startStub({ scenario: { rules: OBEDIENT, default: { do: 'answer', text: '{"tool": null, "reason": "odd"}' } } });
  const second = await startStub({ scenario: { rules: [{ when: { last: 'with billing$' }, then: FAULT }, ...wary], default: { do: 'answer', text: 'Hm.' } } });
  try {
    const [a, b] = [`openai:stub-model@${stub.url}`, `openai:other-model@${second.url}`];
    const settings = [file, '-m', a, '--transfer-model', b, '--transfer-model', 'ref:reader', '--arm', 'none', '--arm', 'schema-only', '--arm-budget', '20', '--model-budget', '4', '--in-flight', '1'];
    const report = await json(1, 'transfer.db', 'attack', ...settings);
    const rows = await rowsOf('transfer.db');
    const brokenOf = (arm) => rows.filter((r) => r.row === 'adaptive' && r.model === a && r.arm === arm && r.broken_at > 0);
    const asked = rows.filter((r) => r.row === 'transfer' && r.second === b && r.arm === 'none');
    assert.equal(brokenOf('none').length, 24);
    const both = figure(report, 'transfer', 'none', 'acts-on-both', 'broken attacks', { model: a, second: b });
    assert.deepEqual([both.k, both.n, both.missing, both.bounds], [12, 21, 3, { lo: 12 / 24, hi: 15 / 24 }]);
    assert.equal(asked.length, 21);
    assert.ok(asked.every((r) => r.acted === (r.paradigm === 'P1') && r.acted_again === r.acted && r.operator === 'as it is'));
    assert.ok(both.lo < both.value && both.value < both.hi);
    const reader = figure(report, 'transfer', 'none', 'acts-on-both', 'broken attacks', { model: a, second: 'ref:reader' });
    assert.deepEqual([reader.k, reader.n, reader.missing], [24, 24, 0]);
    const strict = figure(report, 'transfer', 'schema-only', 'acts-on-both', 'broken attacks', { model: a, second: b });
    assert.equal(strict.n + strict.missing, brokenOf('schema-only').length);
    if (strict.n === 0) {
      assert.equal(strict.value, null, 'nothing was broken: there is no rate');
    }
    const text = (await sieve('transfer.db', 'report')).out;
    assert.match(text, /Transfer: of the attacks that broke openai:stub-model/);
    assert.match(text.replace(/\s+/g, ' '), /none 12\/21 57\.1% \[/);

    // Resumed, only the missing ones are asked; replayed, nobody is.
    second.reset();
    second.control({ rules: wary });
    const before_ = stub.requests().length;
    const whole = await json(0, 'transfer.db', 'attack', '--resume', 'last');
    assert.equal(stub.requests().length, before_);
    assert.equal(second.requests().length, 3, 'the variant as it is has one request for both drawings');
    const now = figure(whole, 'transfer', 'none', 'acts-on-both', 'broken attacks', { model: a, second: b });
    assert.deepEqual([now.k, now.n, now.missing], [12, 24, 0]);
    const wanted = await rowsOf('transfer.db');
    const counts = [stub.requests().length, second.requests().length];
    const replayed = await json(0, 'transfer.db', 'attack', '--replay', whole.run.id);
    assert.deepEqual([stub.requests().length, second.requests().length], counts);
    assert.deepEqual(await rowsOf('transfer.db', replayed.run.id), wanted);
    assert.deepEqual(replayed.figures, whole.figures);
  } finally {
    await stub.close();
    await second.close();
  }
  const alone = path.join(folder, 'alone.jsonl');
  writeFileSync(alone, lines(items.filter((item) => item.kind === 'attack' || item.pair === 'mail-P1-0')));
  const few = await sieve('few.db', 'attack', alone, '--arm', 'none');
  assert.equal(few.code, 0, few.err);
  assert.match(few.err, /attacks left out: 0 without operands, 23 whose twin is not among the items/);
  const refused = await sieve('unused.db', 'attack', file, '--transfer-model', 'ref:reader');
  assert.equal(refused.code, 2);
  assert.match(refused.err, /--transfer-model needs -m MODEL/);
});

test('verify: the chain over rows and replies, and rows made anew', async () => {
  const stub = await startStub({ scenario: { rules: OBEDIENT, default: { do: 'answer', text: 'Hm.' } } });
  const model = `openai:stub-model@${stub.url}`;
  try {
    await json(0, 'chain.db', 'run', file, '-m', model, '--arm', 'none', '--arm', 'canon', '--retrieval', 'none', '--retrieval', 'top5');
    await json(0, 'chain.db', 'attack', file, '-m', model, '--transfer-model', 'ref:reader', '--arm', 'none', '--arm-budget', '10', '--model-budget', '4');
  } finally {
    await stub.close();
  }
  const attack = await json(0, 'chain.db', 'report', 'last');
  const db = path.join(folder, 'chain.db');
  const verify = async (code, ...args) => {
    const done = await bartizan('chain.db', 'verify', ...args, '--json');
    assert.equal(done.code, code, done.err + done.out);
    return JSON.parse(done.out);
  };
  const edit = (sql) => { const store = new DatabaseSync(db); const changed = store.prepare(sql).run().changes; store.close(); return Number(changed); };
  let got = await verify(0);
  assert.equal(got.run, attack.run.id, 'last: there is no run of the bench');
  assert.deepEqual([got.ok, got.rows, got.replies, got.unchained], [true, attack.run.rows, attack.run.replies, 0]);
  assert.match(got.head, /^[0-9a-f]{64}$/);
  assert.deepEqual([got.recomputed.state, got.recomputed.equal, got.recomputed.unlike, got.recomputed.not_made], ['equal', attack.run.rows, 0, 0]);
  const store = new DatabaseSync(db, { readOnly: true });
  const { id } = store.prepare("SELECT id FROM sieve_run WHERE kind = 'run'").get();
  store.close();
  got = await verify(0, id);
  assert.equal(got.recomputed.state, 'equal');
  assert.match((await bartizan('chain.db', 'verify', id)).out, /\d+ rows and \d+ replies fit; head [0-9a-f]{64}\nmade anew from files and replies: all \d+ rows are equal\n/);

  // An edited row, a row that went, an edited reply.
  const target = `key LIKE 'answer/%P1/credential-leakage/f0/mail/attack' AND run = (SELECT no FROM sieve_run WHERE id = '${id}')`;
  assert.ok(edit(`UPDATE sieve_row SET json = replace(json, '"success"', '"refused"') WHERE ${target}`) > 0);
  got = await verify(1, id);
  assert.equal(got.ok, false);
  assert.match(got.what, /the row answer\/.*P1\/credential-leakage\/f0\/mail\/attack does not fit the chain/);
  assert.equal(got.recomputed.state, 'not recomputed');
  edit(`UPDATE sieve_row SET json = replace(json, '"refused"', '"success"') WHERE ${target}`);
  await verify(0, id);
  assert.equal(edit(`DELETE FROM sieve_row WHERE ${target} AND n = (SELECT max(n) FROM sieve_row WHERE ${target})`), 1);
  assert.match((await verify(1, id)).what, /link \d+ of the chain is not there/);
  const { run: other } = await verify(0);
  assert.equal(edit(`UPDATE sieve_reply SET took_us = took_us + 1 WHERE run = (SELECT no FROM sieve_run WHERE id = '${other}') AND n = (SELECT max(n) FROM sieve_reply WHERE run = (SELECT no FROM sieve_run WHERE id = '${other}'))`), 1);
  assert.match((await verify(1)).what, /a reply of openai:stub-model@\S+ does not fit the chain/);
});

test('verify: without the items the chain alone is checked; an open run has less', async () => {
  const own = path.join(folder, 'own.jsonl');
  writeFileSync(own, lines(items));
  const stub = await startStub({ scenario: { rules: [], default: FAULT } });
  try {
    await sieve('gone.db', 'run', own, '-m', `openai:stub-model@${stub.url}`, '--arm', 'none', '--quiet');
  } finally {
    await stub.close();
  }
  let done = await bartizan('gone.db', 'verify');
  assert.equal(done.code, 0, done.out);
  assert.match(done.out, /all \d+ rows are equal/);
  rmSync(own);
  done = await bartizan('gone.db', 'verify');
  assert.equal(done.code, 0);
  assert.match(done.out, /rows and 0 replies fit[^]*not made anew: .*own\.jsonl/);
});

test('rewriting: a definition that was not rewritten is missing, and nothing is measured without it', async () => {
  const broken = [{ when: { any: 'You describe tools for an assistant.*billing_send' }, then: FAULT }];
  const stub = await startStub({ scenario: { rules: broken, default: { do: 'answer', text: '{"refused": "an audit"}' } } });
  try {
    const done = await sieve('rewrite.db', 'run', file, '--arm', 'none', '--arm', 'model-rewrite', '--rewrite-model', `openai:writer@${stub.url}`, '--in-flight', '1', '--quiet');
    assert.notEqual(done.code, 0);
    assert.match(done.err, /1 definitions were not rewritten; `bartizan sieve run --resume/);
    const report = await json(0, 'rewrite.db', 'report');
    const refused = figure(report, 'rewriting', 'model-rewrite', 'refused', 'definitions');
    assert.equal(refused.k, refused.n);
    assert.equal(refused.missing, 1);
    assert.deepEqual(refused.bounds, { lo: refused.n / (refused.n + 1), hi: 1 });
    assert.deepEqual([...new Set(report.figures.map((f) => f.table))], ['rewriting']);
    stub.control({ rules: [] });
    const whole = await json(0, 'rewrite.db', 'run', '--resume', 'last');
    assert.equal(figure(whole, 'rewriting', 'model-rewrite', 'refused', 'definitions').missing, 0);
  } finally {
    await stub.close();
  }
});
