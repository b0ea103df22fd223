// Whole trials against a model server that misbehaves in every way it can.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, before, after } from 'node:test';
import { run } from './programs.mjs';
import { startStub } from '../stubs/model-stub.mjs';

let stub;
let folder;
let counter = 0;
before(async () => {
  stub = await startStub();
  folder = mkdtempSync(path.join(tmpdir(), 'btz-trials-'));
});
after(async () => {
  await stub.close();
  rmSync(folder, { recursive: true, force: true });
});

const answer = { do: 'answer', text: 'Done.\nANSWER: none' };

// One attack, v1, three arms; returns the trials and the process.
async function trial(setup, ...more) {
  stub.reset();
  stub.control(setup);
  const store = path.join(folder, `${counter++}.db`);
  const done = await run('bartizan', ['--store', store, 'run', 'quick', '-m', `openai:stub-model@${stub.url}`, '--attack', 'tool-poisoning', '--quiet', ...more], { timeout: 120000, env: { OPENAI_API_KEY: 'not-for-loopback' } });
  const shown = await run('bartizan', ['--store', store, 'show', 'last', '--json']);
  return { done, store, trials: shown.code === 0 ? JSON.parse(shown.out).trials : [] };
}

test('a plain answer is an outcome, usage is counted, the key stays here', async () => {
  const { done, trials } = await trial({ default: answer });
  assert.equal(done.code, 0, done.err);
  assert.equal(trials.length, 3);
  assert.ok(trials.every((t) => t.outcome !== 'fault'));
  assert.ok(trials.every((t) => t.tokens.input > 0 && t.tokens.output > 0), JSON.stringify(trials[0].tokens));
  assert.equal(trials.find((t) => t.arm === 'attack').outcome, 'resisted');
  assert.ok(stub.requests().every((r) => r.headers.authorization === undefined));
  assert.ok(stub.requests().every((r) => r.body.temperature === 0 && r.refused === undefined));
});

test('calls of tools that do not exist and arguments that are no JSON are told to the model', async () => {
  for (const calls of [[{ name: 'no_such_tool', arguments: {} }], [{ name: 'fs-workspace__read_file', arguments: '{"path": ' }]]) {
    const { done, trials } = await trial({ default: { do: 'turns', turns: [{ do: 'call', calls }, answer] } });
    assert.equal(done.code, 0, done.err);
    assert.ok(trials.every((t) => t.outcome !== 'fault' && t.turns === 2));
    const told = stub.requests().at(-1).body.messages.at(-1);
    assert.equal(told.role, 'tool');
    assert.match(told.content, /^Error: /);
  }
});

test('three unusable replies in a row end a trial as unfinished', async () => {
  const { trials } = await trial({ default: { do: 'call', calls: [{ name: 'no_such_tool', arguments: {} }] } });
  assert.ok(trials.every((t) => t.stop === 'malformed' && t.turns === 3));
  assert.equal(trials.find((t) => t.arm === 'attack').outcome, 'unfinished');
});

test('a model that never ends uses up its budget', async () => {
  const { trials } = await trial({ default: { do: 'call', calls: [{ name: 'fs-workspace__list_dir', arguments: { path: '/' } }] } });
  assert.ok(trials.every((t) => t.stop === 'budget' && t.outcome !== 'fault'));
});

test('429, 500, dropped, cut and garbled replies are tried again and then count as answered', async () => {
  const bad = [
    { do: 'status', status: 429, retry_after: '0' }, { do: 'status', status: 500 }, { do: 'drop' },
    { do: 'half' }, { do: 'half_chunked' }, { do: 'not_http' }, { do: 'raw', status: 200, body: 'garbage' },
  ];
  for (const one of bad) {
    const { done, trials } = await trial({ queue: [one], default: answer });
    assert.equal(done.code, 0, done.err);
    assert.equal(trials.filter((t) => t.outcome === 'fault').length, 0, JSON.stringify(one));
    assert.equal(stub.requests().length, 4, `one more request than trials: ${JSON.stringify(one)}`);
  }
});

test('a provider that refuses the content is contained by the stack, never missing', async () => {
  const { trials } = await trial({ default: { do: 'status', status: 400, error: { message: 'content policy', type: 'invalid_request_error' } } });
  const attack = trials.find((t) => t.arm === 'attack');
  assert.equal(attack.outcome, 'contained');
  assert.equal(attack.sub, 'stack');
});

test('a filter that ends the reply is an outcome', async () => {
  const { trials } = await trial({ default: { do: 'answer', text: '', finish_reason: 'content_filter' } });
  assert.ok(trials.every((t) => t.stop === 'filtered' && t.outcome !== 'fault'));
});

test('a server that is not there is a fault that says so', async () => {
  const store = path.join(folder, 'nobody.db');
  const done = await run('bartizan', ['--store', store, 'run', 'quick', '-m', 'openai:m@http://127.0.0.1:9/v1', '--attack', 'tool-poisoning', '--json'], { timeout: 280000 });
  assert.equal(done.code, 1, done.err);
  assert.match(done.err, /every trial ended in a fault/);
  const report = JSON.parse(done.out);
  const row = report.rows.find((r) => r.attack === 'tool-poisoning');
  assert.equal(row.outcomes.fault, 1);
  assert.deepEqual([row.rates.asr.n, row.rates.asr.missing], [0, 1]);
  assert.match(done.err, /fault/);
});

test('the parts of one conversation grow by messages, in JSON-action mode too', async () => {
  const text = '{"action":"fs-workspace__list_dir","arguments":{"path":"/"}}';
  const { trials } = await trial({ default: { do: 'turns', turns: [{ do: 'answer', text }, { do: 'answer', text: '{"answer":"Done.\\nANSWER: none"}' }] } }, '--actions', 'json', '--in-flight', '1');
  assert.ok(trials.every((t) => t.turns === 2 && t.stop === 'final_answer'));
  const [first, second] = stub.requests();
  assert.equal(first.body.tools, undefined);
  assert.doesNotMatch(first.body.messages[0].content, /fs-workspace/, 'the system message is constant');
  assert.equal(first.body.messages[1].role, 'user');
  assert.match(first.body.messages[1].content, /^Host context\.[^]*fs-workspace__list_dir/);
  assert.deepEqual(second.body.messages.slice(0, 3), first.body.messages);
  assert.match(second.body.messages.at(-1).content, /^Result of fs-workspace__list_dir:/);
});

test('--time-limit keeps what finished, ends with 4, and resume goes on under a limit of its own', async () => {
  stub.reset();
  stub.control({ default: { do: 'delay', ms: 120, then: answer } });
  const store = path.join(folder, 'limited.db');
  const bartizan = (...args) => run('bartizan', ['--store', store, ...args], { timeout: 60000 });
  await bartizan('selftest', '--quiet');
  const begun = Date.now();
  const first = await bartizan('run', 'all', '-m', `openai:stub-model@${stub.url}`, '--attack', 'tool-poisoning', '--attack', 'indirect-prompt-injection', '--in-flight', '1', '--time-limit', '1');
  assert.equal(first.code, 4, first.err);
  assert.ok(Date.now() - begun < 20000, 'the limit is kept');
  assert.equal(first.out, '', 'no table of a run that is not done');
  const said = /time limit: (\d+) of 30 trials are kept; go on with `bartizan run --resume ([0-9a-z]{10})`/.exec(first.err);
  assert.ok(said, first.err);
  const state = async () => JSON.parse((await bartizan('show', 'last', '--json')).out);
  const before = await state();
  assert.equal(before.run.status, 'interrupted');
  assert.equal(before.run.id, said[2]);
  assert.equal(before.trials.length, Number(said[1]));
  assert.ok(before.trials.length >= 1 && before.trials.length < 30, `${before.trials.length} of 30`);

  stub.reset();
  stub.control({ default: { do: 'hang' } });
  const stuck = await bartizan('run', '--resume', said[2], '--time-limit', '1');
  assert.equal(stuck.code, 4, stuck.err);
  assert.match(stuck.err, /no trial ended within the limit/);
  assert.deepEqual(await state(), before, 'a trial that was given up leaves nothing');

  stub.reset();
  stub.control({ default: answer });
  const done = await bartizan('run', '--resume', said[2], '--time-limit', '50', '--json');
  assert.equal(done.code, 0, done.err);
  const after = await state();
  assert.equal(after.trials.length, 30);
  assert.deepEqual(after.trials.slice(0, before.trials.length), before.trials);
  assert.equal(stub.requests().length, 30 - before.trials.length, 'no finished cell is asked again');
  assert.equal((await bartizan('verify', 'last')).code, 0);
});

test('Ctrl-C keeps what finished, says how to go on, and resume ends the run', async () => {
  stub.reset();
  stub.control({ default: { do: 'delay', ms: 150, then: answer } });
  const store = path.join(folder, 'interrupted.db');
  const { spawn } = await import('node:child_process');
  const { program } = await import('./programs.mjs');
  const child = spawn(program('bartizan'), ['--store', store, 'run', 'all', '-m', `openai:stub-model@${stub.url}`, '--attack', 'tool-poisoning', '--attack', 'indirect-prompt-injection', '--in-flight', '2']);
  let err = '';
  child.stderr.on('data', (d) => { err += d; if (/run [0-9a-z]{10}:/.test(err) && !child.sent) { child.sent = true; setTimeout(() => child.kill('SIGINT'), 700); } });
  const code = await new Promise((resolve) => child.on('exit', resolve));
  assert.equal(code, 130, err);
  assert.match(err, /go on with `bartizan run --resume/);
  stub.control({ default: answer });
  const done = await run('bartizan', ['--store', store, 'run', '--resume', 'last', '--json'], { timeout: 60000 });
  assert.equal(done.code, 0, done.err);
  const { trials } = JSON.parse((await run('bartizan', ['--store', store, 'show', 'last', '--json'])).out);
  assert.equal(trials.length, 2 * 5 * 3, 'each cell of two attacks has its trial');
});
