// Reflexion and its control arm: two attempts in one world, with and without a note in between.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { run } from './programs.mjs';
import { startStub } from '../stubs/model-stub.mjs';

let folder;
let stub;
let counter = 0;
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-attempts-'));
  stub = await startStub();
});
after(async () => {
  await stub.close();
  rmSync(folder, { recursive: true, force: true });
});

const NOTE = 'I should have looked twice.';

async function trials(arch, rule, scenario = ['tool-poisoning', 'v1'], ...more) {
  const store = path.join(folder, `${counter++}.db`);
  stub.reset();
  stub.control({ default: rule });
  const done = await run('bartizan', ['--store', store, 'run', 'all', '-m', `openai:stub-model@${stub.url}`, '--attack', scenario[0], '--variant', scenario[1],
    '--arch', arch, '--in-flight', '1', '--quiet', ...more], { timeout: 120000 });
  assert.equal(done.code, 0, done.err);
  const shown = JSON.parse((await run('bartizan', ['--store', store, 'show', 'last', '--json'])).out);
  const one = JSON.parse((await run('bartizan', ['--store', store, 'show', 'last', '1', '--json'])).out);
  const replayed = await run('bartizan', ['--store', store, 'replay']);
  assert.equal(replayed.code, 0, replayed.out);
  return { trials: shown.trials, one, requests: stub.requests().map((r) => r.body) };
}

const text = (body) => JSON.stringify(body.messages);

test('reflexion: the critic sees the trajectory and no tools, its note joins the second attempt', async () => {
  const { trials: list, requests } = await trials('reflexion', { do: 'answer', text: NOTE });
  assert.equal(list.length, 3);
  assert.equal(requests.length, 9, 'attempt, critique, attempt for each arm');
  for (let i = 0; i < 9; i += 3) {
    const [first, critic, second] = requests.slice(i, i + 3);
    assert.ok(first.tools.length > 5 && second.tools.length === first.tools.length);
    assert.equal(critic.tools, undefined);
    assert.ok(text(critic).includes(`Answered: ${NOTE}`) && text(critic).includes('Asked: '));
    assert.ok(!text(first).includes('second attempt') && text(second).includes(`second attempt at the same work. Your note about the first:\\n${NOTE}`));
    assert.equal(second.messages.at(-1).content, first.messages.at(-1).content, 'the same task');
    assert.equal(second.messages.filter((m) => m.role === 'assistant').length, 0, 'a new conversation');
  }
  assert.ok(list.every((t) => t.turns === 2), 'the critique is no turn');
});

test('retry: two attempts that know nothing of each other', async () => {
  const { trials: list, requests } = await trials('retry', { do: 'answer', text: NOTE });
  assert.equal(requests.length, 6);
  for (let i = 0; i < 6; i += 2) { assert.deepEqual(requests[i].messages, requests[i + 1].messages); }
  assert.ok(list.every((t) => t.turns === 2 && t.outcome !== 'fault'));
});

test('the world goes on between attempts', async () => {
  const write = { do: 'call', calls: [{ name: 'fs-workspace__write_file', arguments: { path: 'tmp/mark.txt', content: 'was here' } }] };
  const read = { do: 'call', calls: [{ name: 'fs-workspace__read_file', arguments: { path: 'tmp/mark.txt' } }] };
  const say = { do: 'answer', text: 'Done.' };
  // The stub counts assistant messages of a request: the first attempt writes; so does the second, which reads before it.
  const { requests } = await trials('retry', { do: 'turns', turns: [read, write, say] });
  const results = requests.map((r) => r.messages.at(-1)).filter((m) => m.role === 'tool').map((m) => m.content);
  assert.match(results[0], /^Error|No such/i);
  assert.ok(results.some((r) => r.includes('was here')), 'the second attempt finds what the first wrote');
});

test('every budget and every unusable reply ends an attempt, not the trial', async () => {
  const bad = { do: 'call', calls: [{ name: 'no_such_tool', arguments: {} }] };
  for (const arch of ['reflexion', 'retry']) {
    const { trials: list } = await trials(arch, bad);
    assert.ok(list.every((t) => t.stop === 'malformed' && t.turns === 6), JSON.stringify(list.map((t) => [t.stop, t.turns])));
  }
});

test('two sessions in each attempt', async () => {
  const { trials: list, requests } = await trials('retry', { do: 'answer', text: 'Done.\nANSWER: none' }, ['memory-poisoning', 'v1']);
  assert.ok(list.every((t) => t.turns === 4 && t.outcome !== 'fault'));
  assert.equal(requests.length, 12);
});

test('an unknown architecture is refused', async () => {
  const done = await run('bartizan', ['--store', path.join(folder, 'x.db'), 'run', 'quick', '-m', 'ref:floor', '--arch', 'tree']);
  assert.equal(done.code, 2);
  assert.match(done.err, /react, reflexion or retry/);
});

test('the last attempt counts what it does a second time, though nothing changes by it', async () => {
  const store = path.join(folder, 'repeated.db');
  const attacks = ['memory-poisoning', 'configuration-drift', 'vulnerable-server'];
  const done = await run('bartizan', ['--store', store, 'run', 'all', '-m', 'ref:insider', '--arch', 'retry', '--quiet',
    ...attacks.flatMap((attack) => ['--attack', attack])], { timeout: 120000 });
  assert.equal(done.code, 0, done.err);
  const shown = JSON.parse((await run('bartizan', ['--store', store, 'show', 'last', '--json'])).out);
  const acted = shown.trials.filter((t) => t.arm === 'attack' && t.boundary === 'V' && t.effect);
  assert.ok(acted.length >= 12, `${acted.length} attacks had an effect`);
  for (const t of acted) {
    const { verdicts } = JSON.parse((await run('bartizan', ['--store', store, 'show', 'last', String(t.n), '--json'])).out);
    const last = verdicts.find((v) => v.source === 'oracle' && v.name === 'last attempt');
    assert.ok(last, `${t.scenario} has a verdict on its last attempt`);
    assert.equal(last.success, true, `${t.scenario}: the insider obeys in each attempt`);
  }
});
