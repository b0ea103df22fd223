// Replay: a run comes out of its recorded replies byte by byte, offline, and a changed record does not.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { run, ROOT } from './programs.mjs';
import { startStub } from '../stubs/model-stub.mjs';

let folder;
let stub;
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-replay-'));
  stub = await startStub();
});
after(async () => {
  await stub.close();
  rmSync(folder, { recursive: true, force: true });
});

const bartizan = (store, ...args) => run('bartizan', ['--store', store, ...args], { timeout: 120000 });

async function replay(store, ...more) {
  const done = await bartizan(store, 'replay', '--json', ...more);
  assert.ok([0, 1].includes(done.code), done.err);
  return { code: done.code, ...JSON.parse(done.out) };
}

for (const carrier of ['memory', 'http']) {
  test(`reference agents over ${carrier}`, async () => {
    const store = path.join(folder, `${carrier}.db`);
    const done = await bartizan(store, 'run', 'all', '-m', 'ref:reader', '-m', 'ref:null', '--carrier', carrier, '--quiet',
      ...(carrier === 'http' ? ['--variant', 'v1', '--variant', 'v2'] : []));
    assert.equal(done.code, 0, done.err);
    const { code, equal, differs, skipped } = await replay(store);
    assert.deepEqual([code, differs, skipped], [0, 0, 0]);
    assert.ok(equal >= (carrier === 'http' ? 200 : 600), String(equal));
  });
}

test('a model server that answers in every way, and is gone afterwards', async () => {
  const say = { do: 'answer', text: 'Done.\nANSWER: none' };
  const ways = [say, { do: 'turns', turns: [{ do: 'call', calls: [{ name: 'no_such_tool', arguments: {} }] }, say] },
    { do: 'call', calls: [{ name: 'no_such_tool', arguments: {} }] }, { do: 'error', status: 400 }, { do: 'error', status: 500 }];
  for (const [i, way] of ways.entries()) {
    const store = path.join(folder, `way${i}.db`);
    stub.reset();
    stub.control({ default: way });
    await bartizan(store, 'run', 'quick', '-m', `openai:stub-model@${stub.url}`, '--attack', 'tool-poisoning', '--request-timeout', '2', '--quiet');
    const before = stub.requests().length;
    const { code, equal, differs, skipped } = await replay(store);
    assert.deepEqual([code, differs, equal + skipped], [0, 0, 3], JSON.stringify(way));
    assert.equal(stub.requests().length, before, 'nobody was asked');
  }
});

test('requests that the provider refuses in the midst of a trial', async () => {
  const refused = { do: 'status', status: 400, error: { message: 'content policy', type: 'invalid_request_error' } };
  const say = { do: 'answer', text: 'Done.\nANSWER: none' };
  const runs = [['retry', { queue: [refused, say, refused, say, refused, say], default: say }],
    ['reflexion', { rules: [{ when: { any: 'You review your own work' }, then: refused }], default: say }]];
  for (const [arch, how] of runs) {
    const store = path.join(folder, `refused-${arch}.db`);
    stub.reset();
    stub.control(how);
    await bartizan(store, 'run', 'quick', '-m', `openai:stub-model@${stub.url}`, '--attack', 'tool-poisoning', '--arch', arch, '--in-flight', '1', '--quiet');
    assert.ok(stub.requests().length >= 6, arch);
    const { code, equal, differs, skipped } = await replay(store);
    assert.deepEqual([code, equal, differs, skipped], [0, 3, 0, 0], arch);
  }
});

test('what was changed in the store is named', async () => {
  const { DatabaseSync } = await import('node:sqlite');
  const store = path.join(folder, 'changed.db');
  await bartizan(store, 'run', 'quick', '-m', 'ref:reader', '--attack', 'tool-poisoning', '--quiet');
  const db = new DatabaseSync(store);
  db.exec("UPDATE trial SET outcome = 'resisted' WHERE n = 1");
  db.exec('UPDATE verdict SET success = 1 - success WHERE trial = (SELECT id FROM trial WHERE n = 2) AND source = \'utility\'');
  db.exec('UPDATE trial SET seed = seed + 1 WHERE n = 3');
  db.close();
  const { code, equal, differs, differences } = await replay(store);
  assert.deepEqual([code, equal, differs], [1, 0, 3]);
  assert.match(differences[1].what, /verdict of utility/);
  assert.match(differences[2].what, /seed/);
  assert.ok(differences[0].what.length > 0);
});

test('other packs and unknown runs are refused', async () => {
  const store = path.join(folder, 'packs.db');
  await bartizan(store, 'run', 'quick', '-m', 'ref:reader', '--attack', 'tool-poisoning', '--quiet');
  const other = await bartizan(store, 'replay', '--pack', path.join(ROOT, 'tests/packs/below'));
  assert.equal(other.code, 2, other.err);
  assert.match(other.err, /packs or prompts/);
  assert.equal((await bartizan(store, 'replay', 'zzz')).code, 2);
});
