// Defences in trials: by the program's rules, and by a guard model behind HTTP that answers well, badly or not at all.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { run } from './programs.mjs';
import { startStub } from '../stubs/model-stub.mjs';

let folder;
let stub;
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-defences-'));
  stub = await startStub();
});
after(async () => {
  await stub.close();
  rmSync(folder, { recursive: true, force: true });
});

const bartizan = (store, ...args) => run('bartizan', ['--store', path.join(folder, store), ...args], { timeout: 120000 });
const verdict = (unsafe, evidence = '') =>
  ({ do: 'answer', text: JSON.stringify({ verdict: unsafe ? 'unsafe' : 'safe', reason: 'r', evidence }) });
const guard = () => ['--guard-model', `openai:guard@${stub.url}`];
// Of the payload of indirect-prompt-injection/v1.
const payload = 'Registering takes one request.';

async function reader(store, ...more) {
  const done = await bartizan(store, 'run', 'quick', '-m', 'ref:reader', '--attack', 'indirect-prompt-injection', '--json', '--quiet', ...more);
  assert.equal(done.code, 0, done.err);
  const { rows } = JSON.parse(done.out);
  return Object.fromEntries(rows.filter((r) => r.attack).map((r) => [r.defence, r]));
}

const rows = async (store, sql) => {
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(path.join(folder, store), { readOnly: true });
  const found = db.prepare(sql).all();
  db.close();
  return found;
};
const counts = async (store, defence, arm = 'attack') => {
  const found = await rows(store, `SELECT v.data AS data FROM verdict v JOIN trial t ON t.id = v.trial JOIN cell c ON c.id = t.cell
    WHERE v.source = 'defence' AND v.name = 'counts' AND c.defence = '${defence}' AND c.arm = '${arm}'`);
  return JSON.parse(Buffer.from(found[0].data).toString());
};

test('a guard model that finds the payload', async () => {
  stub.reset();
  stub.control({ rules: [{ when: { last: payload.replaceAll('.', '\\.') }, then: verdict(true, payload) }], default: verdict(false) });
  const by = await reader('finds.db', '--defence', 'none', '--defence', 'context:model', ...guard());
  assert.equal(by.none.outcomes.susceptible, 1);
  assert.equal(by['context:model'].outcomes.contained, 1);
  const attack = await counts('finds.db', 'context:model');
  assert.deepEqual([attack.detected, attack.blocked, attack.failed], [1, 1, 0]);
  const clean = await counts('finds.db', 'context:model', 'clean');
  assert.deepEqual([clean.detected, clean.blocked], [0, 0]);
  // The same definitions in three trials were asked about once.
  const asked = stub.requests().length;
  assert.ok(attack.scans + clean.scans > asked, `${asked} requests`);
  assert.ok(stub.requests().every((r) => r.body.model === 'guard' && r.body.temperature === 0));
  const findings = await rows('finds.db', "SELECT stage, action FROM finding WHERE action = 'block'");
  assert.deepEqual(findings.map((f) => f.stage), ['result']);
  // Offline, byte by byte, nobody is asked.
  const replay = await bartizan('finds.db', 'replay', 'last', '--json');
  assert.equal(replay.code, 0, replay.err);
  assert.deepEqual(JSON.parse(replay.out).equal, 6);
  assert.equal(stub.requests().length, asked);
});

test('a user turn that is blocked ends the trial before the model is asked', async () => {
  stub.reset();
  stub.control({ default: verdict(true, 'When does the exhibition') });
  const by = await reader('turn.db', '--defence', 'input:model', ...guard());
  assert.equal(by['input:model'].outcomes.not_exercised + by['input:model'].outcomes.contained, 1);
  const shown = await bartizan('turn.db', 'show', 'last/1', '--json');
  assert.equal(JSON.parse(shown.out).trials?.[0]?.stop ?? JSON.parse(shown.out).stop, 'defended');
});

for (const [name, way] of [
  ['prose', { do: 'answer', text: 'Looks fine to me!' }],
  ['evidence that is not in the text', verdict(true, 'nowhere to be found')],
  ['a verdict in a list', { do: 'answer', text: '[{"verdict":"safe","reason":"","evidence":""}]' }],
  ['a refusal by the provider', { do: 'status', status: 400, error: { message: 'policy', type: 'invalid_request_error' } }],
]) {
  test(`a guard model that fails: ${name}`, async () => {
    stub.reset();
    stub.control({ default: way });
    const store = `fails-${name.length}.db`;
    const by = await reader(store, '--defence', 'context:model', '--defence', 'context:model+closed', ...guard());
    assert.equal(by['context:model'].outcomes.susceptible, 1, 'it fails open');
    const open = await counts(store, 'context:model');
    assert.ok(open.failed > 5 && open.failed === open.scans, JSON.stringify(open));
    assert.deepEqual([open.detected, open.blocked], [0, 0]);
    assert.equal(by['context:model+closed'].outcomes.susceptible, 0, 'it fails closed');
    const closed = await counts(store, 'context:model+closed');
    assert.equal(closed.blocked, closed.failed);
    const page = (await bartizan(store, 'report', 'last')).out.replaceAll(/\s+/g, ' ');
    assert.match(page, /scanner failed on (\d+) of \1 \(100\.0%\) of the texts: nothing came of it/);
    const replay = await bartizan(store, 'replay', 'last', '--json');
    assert.equal(replay.code, 0, replay.err + replay.out);
  });
}

test('an unreachable guard model is a failure of the scanner, not of the trial', async () => {
  const by = await reader('gone.db', '--defence', 'input:model', '--request-timeout', '1', '--guard-model', 'openai:guard@http://127.0.0.1:9/v1');
  assert.equal(by['input:model'].outcomes.susceptible, 1);
  assert.equal((await counts('gone.db', 'input:model')).failed, 1);
});

test('a guard model that is gone stops the run, which goes on once it is back', async () => {
  stub.reset();
  stub.control({ default: { do: 'drop' } });
  const done = await bartizan('down.db', 'run', 'quick', '-m', 'ref:reader', '--surface', 'st', '--defence', 'context:model', '--request-timeout', '2', ...guard());
  assert.equal(done.code, 3, done.err);
  assert.match(done.err, /guard model gives no answers: .*--resume/s);
  stub.reset();
  stub.control({ default: verdict(false) });
  const rest = await bartizan('down.db', 'run', '--resume', 'last', '--json', '--quiet');
  assert.equal(rest.code, 0, rest.err);
  assert.equal(JSON.parse(rest.out).rows.filter((r) => r.attack).every((r) => r.not_run === 0), true);
});

test('a resumed run asks the guard model nothing that its finished trials were told', async () => {
  const study = ['run', 'quick', '-m', 'ref:reader', '--surface', 'st', '--defence', 'context:model', '--in-flight', '1', '--request-timeout', '2', ...guard()];
  const answers = 40;
  stub.reset();
  stub.control({ queue: Array(answers).fill(verdict(false)), default: { do: 'drop' } });
  assert.equal((await bartizan('told.db', ...study)).code, 3);
  const words = (requests) => requests.map((r) => JSON.stringify(r.body.messages));
  const told = words(stub.requests()).slice(0, answers);
  assert.equal(new Set(told).size, answers, 'equal questions are asked once');
  stub.reset();
  stub.control({ default: verdict(false) });
  const rest = await bartizan('told.db', 'run', '--resume', 'last', '--json', '--quiet');
  assert.equal(rest.code, 0, rest.err);
  // One trial was under way, and what it had been told went with it.
  const again = words(stub.requests()).filter((w) => told.includes(w));
  const most = await rows('told.db', `SELECT max(n) AS n FROM (SELECT count(*) AS n FROM exchange WHERE role = 'guard' GROUP BY trial)`);
  assert.ok(again.length <= most[0].n && most[0].n < answers, `${again.length} asked again, ${most[0].n} in a trial`);
  assert.equal((await bartizan('told.db', 'replay', 'last')).code, 0);
});

test('a study file names the guard model; the command line overrides it', async () => {
  const file = path.join(folder, 'guarded.yaml');
  const write = (model) => writeFileSync(file, `name: guarded\nattacks: [indirect-prompt-injection]\nvariants: [v1]\ndefence: input:model\nguard_model: ${model}\n`);
  stub.reset();
  stub.control({ default: verdict(false) });
  write(`openai:guard@${stub.url}`);
  const done = await bartizan('file.db', 'run', file, '-m', 'ref:reader', '--json', '--quiet');
  assert.equal(done.code, 0, done.err);
  assert.ok(stub.requests().length > 0 && stub.requests().every((r) => r.body.model === 'guard'));
  const asked = stub.requests().length;
  const other = await bartizan('file.db', 'run', file, '-m', 'ref:reader', '--quiet', '--guard-model', `openai:other@${stub.url}`);
  assert.equal(other.code, 0, other.err);
  assert.ok(stub.requests().slice(asked).every((r) => r.body.model === 'other'));
  write('nonsense');
  const refused = await bartizan('file.db', 'run', file, '-m', 'ref:reader');
  assert.equal(refused.code, 2);
  assert.match(refused.err, /guarded\.yaml:5.*nonsense/s);
});

test('what cannot be is refused before anything is run', async () => {
  for (const [args, words] of [
    [['--defence', 'gate'], /there is no defence "gate"/],
    [['--defence', 'input', '--defence', 'input'], /given twice/],
    [['--defence', 'input:model'], /needs a guard model/],
    [['--defence', 'input', ...guard()], /no defence asks it/],
    [['--defence', 'input:model', '--guard-model', 'ref:reader'], /reference agent/],
    [['--defence', 'input:model', '--guard-model', 'nonsense'], /nonsense/],
    [['--defence', 'none+closed'], /there is no defence/],
    ...['99999', '0', '65536', '-1', '', 'x', '80@gateway.example', '999999999999999999999'].map((port) =>
      [['--defence', `proxy:http://127.0.0.1:${port}/x`, '--in-flight', '1', '--defence-listen', '127.0.0.1:8750'], /port from 1 to 65535/]),
  ]) {
    const done = await bartizan('refused.db', 'run', 'quick', '-m', 'ref:null', ...args);
    assert.equal(done.code, 2, args.join(' '));
    assert.match(done.err, words);
  }
});

test('a model under test does not guard itself, however its place is written', async () => {
  const place = new URL(stub.url);
  const other = `http://${place.hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${place.port}${place.pathname}`;
  for (const same of [`openai:guard@${stub.url}`, `openai:guard@${stub.url}/`, `openai:guard@${other}`, `openai:maker/Guard@${stub.url}`,
    'openai:guard@http://127.0.0.1:9/v1']) {
    const done = await bartizan('itself.db', 'run', 'quick', '-m', same, '--defence', 'input:model', ...guard());
    assert.equal(done.code, 2, `${same}: ${done.err}`);
    assert.match(done.err, /cannot guard itself/, same);
  }
});

test('rules of the program raise no alarm on the twins, and their run is replayed', async () => {
  const done = await bartizan('rules.db', 'run', 'all', '-m', 'ref:reader', '--defence', 'combined', '--json', '--quiet');
  assert.equal(done.code, 0, done.err);
  const twins = await rows('rules.db', `SELECT count(*) AS n FROM verdict v JOIN trial t ON t.id = v.trial JOIN cell c ON c.id = t.cell
    WHERE v.source = 'defence' AND v.name = 'counts' AND v.success = 1 AND c.arm <> 'attack'`);
  assert.equal(twins[0].n, 0, 'false alarms on twins');
  const replay = await bartizan('rules.db', 'replay', 'last', '--json');
  assert.equal(replay.code, 0, replay.err);
});
