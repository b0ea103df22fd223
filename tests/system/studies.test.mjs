// Studies as files: what they say is run, options override them, the card keeps them, mistakes in them are named.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { ROOT, program, run } from './programs.mjs';

let folder;
let store;
const bartizan = (...args) => run('bartizan', ['--store', store, ...args], { timeout: 240000, env: { OPENAI_API_KEY: '' } });
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-studies-'));
  store = path.join(folder, 'store.db');
  const done = await bartizan('selftest', '--quiet');
  assert.equal(done.code, 0, done.err);
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function json(...args) {
  const done = await bartizan(...args, '--json', '--quiet');
  assert.equal(done.code, 0, done.err);
  return JSON.parse(done.out);
}

/** Writes a study and gives its path. */
function study(name, text) {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

const BUILT_IN = ['quick', 'all', 'calibrate', 'main', 'architectures', 'oracles', 'defences', 'layers', 'extended'];
const distinct = (rows, key) => [...new Set(rows.map((r) => r[key]))];

/** A model server that takes 40 ms a reply and knows how many requests of each model ran at a time. */
async function slowServer() {
  const seen = {};
  const server = createServer((req, res) => {
    let text = '';
    req.on('data', (d) => { text += d; });
    req.on('end', async () => {
      const body = JSON.parse(text);
      const s = (seen[body.model] ??= { now: 0, most: 0, count: 0, max_tokens: new Set(), native: new Set() });
      s.most = Math.max(s.most, ++s.now);
      s.count += 1;
      s.max_tokens.add(body.max_tokens);
      s.native.add(body.tools !== undefined);
      await sleep(40);
      s.now -= 1;
      const content = body.tools === undefined ? '{"answer": "Done."}' : 'Done.';
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({
        id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: body.model,
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { seen, url: `http://127.0.0.1:${server.address().port}/v1`, close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}

test('the built-in studies are the files of the source, and a printed one is the same study', async () => {
  assert.deepEqual((await json('list', 'studies')).map((s) => s.id), BUILT_IN);
  for (const id of BUILT_IN) {
    const text = readFileSync(path.join(ROOT, 'studies', `${id}.yaml`), 'utf8');
    const printed = await bartizan('run', id, '--print-study');
    assert.equal(printed.code, 0, printed.err);
    assert.equal(printed.out, text);
  }
  const copy = study('copy.yaml', (await bartizan('run', '--print-study')).out);
  assert.equal((await bartizan('run', copy, '--print-study')).out, readFileSync(copy, 'utf8'));
  const named = await json('run', 'quick', '-m', 'ref:reader');
  const filed = await json('run', copy, '-m', 'ref:reader');
  assert.equal(named.run.study, 'quick');
  assert.equal(named.provenance.study_text, readFileSync(copy, 'utf8'));
  assert.deepEqual(filed.rows, named.rows);
  const hashes = async (r) => (await json('show', r.run.id)).trials.map((t) => t.trajectory);
  assert.deepEqual(await hashes(filed), await hashes(named));
});

test('the built-in studies run', async (t) => {
  for (const id of BUILT_IN) {
    const models = id === 'calibrate' ? [] : ['-m', 'ref:null'];
    const began = performance.now();
    const { run: r, rows, provenance } = await json('run', id, ...models);
    t.diagnostic(`${id}: ${r.trials} trials in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    assert.equal(r.study, id);
    assert.equal(r.finished, r.planned);
    assert.equal(r.faults, 0);
    assert.deepEqual(distinct(rows, 'architecture'), id === 'architectures' ? ['react', 'reflexion', 'retry'] : ['react']);
    assert.deepEqual(distinct(rows, 'model'), id === 'calibrate' ? ['ref:floor', 'ref:reader', 'ref:insider', 'ref:null'] : ['ref:null']);
    assert.equal(provenance.repetitions, ['main', 'architectures', 'oracles', 'defences', 'layers'].includes(id) ? 3 : 1);
    assert.deepEqual(provenance.arms, ['attack', 'clean', 'benign']);
  }
});

test('what is known of the reference agents is in the table of calibrate', async () => {
  const { rows } = await json('run', 'calibrate');
  const asr = (model) => rows.find((r) => r.model === model && r.surface === null && r.boundary === 'V').rates.asr;
  assert.match((await bartizan('show', 'last')).out, /^ *n +model +scenario +arm +rep /m, 'one architecture and revision need no column');
  assert.equal(asr('ref:floor').k, 0);
  assert.equal(asr('ref:null').k, 0);
  for (const model of ['ref:reader', 'ref:insider']) {
    assert.equal(asr(model).k, asr(model).n);
    assert.ok(asr(model).n >= 20);
  }
});

test('the example of the page runs as the page says, with rows for each architecture and revision', async () => {
  const page = readFileSync(path.join(ROOT, 'docs/user/studies.md'), 'utf8');
  const file = study('page.yaml', /```yaml\n([\s\S]*?)```/.exec(page)[1]);
  const report = await json('run', file);
  assert.equal(report.run.trials, Number(/= (\d+) trials/.exec(page)[1]));
  assert.equal(report.run.study, 'second-attempts');
  const subjects = new Set(report.rows.map((r) => `${r.model} ${r.architecture} ${r.revision}`));
  assert.equal(subjects.size, 8);
  assert.deepEqual(distinct(report.rows, 'attack').filter(Boolean).sort(), ['indirect-prompt-injection', 'tool-poisoning']);
  const shown = await bartizan('report', 'last');
  assert.match(shown.out, /^ref:reader, revision 2026-07-28: attack success/m);
  assert.match(shown.out, /^ref:reader, retry, revision 2025-11-25: attack success/m);
  const { comparisons } = await json('compare', 'last');
  assert.ok(comparisons.some((c) => c.differ_in === 'architecture' && c.first.architecture !== c.second.architecture && c.first.revision === c.second.revision));
  assert.ok(comparisons.some((c) => c.differ_in === 'revision'));
  const { trials } = await json('show', 'last');
  assert.deepEqual(distinct(trials, 'arm').sort(), ['attack', 'clean']);
  assert.deepEqual(distinct(trials, 'architecture').sort(), ['react', 'retry']);
  assert.deepEqual(distinct(trials, 'revision').sort(), ['2025-11-25', '2026-07-28']);
  assert.equal(new Set(trials.map((x) => JSON.stringify([x.model, x.scenario, x.arm, x.architecture, x.revision, x.repetition]))).size, trials.length);
  assert.match((await bartizan('show', 'last')).out, /^ *n +model +scenario +arm +architecture +revision +rep /m);
  // The documented keys are those of the schema.
  const keys = [...page.slice(page.indexOf('## Keys')).matchAll(/^\| `([a-z_]+)` \|/gm)].map((m) => m[1]);
  const schema = JSON.parse(readFileSync(path.join(ROOT, 'schemas/study.json'), 'utf8'));
  assert.deepEqual(keys.sort(), Object.keys(schema.properties).sort());
  assert.equal((await bartizan('replay', 'last')).code, 0, 'a run of several subjects is replayed');
});

test('options count before the file, and the card says what was run', async () => {
  const text = 'name: mine\nvariants: [v1, v2]\nattacks: [tool-poisoning]\nrepetitions: 3\nseed: 5\narms: [attack]\narchitectures: [react, retry]\nrevisions: [legacy]\nhost_profile: spec\nmax_tokens: 700\nmodels:\n  - model: ref:floor\n    max_tokens: 600\n  - model: ref:null\n';
  const file = study('options.yaml', text);
  const own = await json('run', file);
  assert.equal(own.run.planned, 2 * 3 * 2 * 2);
  const c = own.provenance;
  assert.equal(c.study_text, text);
  assert.deepEqual([c.study, c.seed, c.repetitions, c.host_profile, c.carrier], ['mine', '5', 3, 'spec', 'memory']);
  assert.deepEqual([c.arms, c.architectures, c.revisions, c.only_variants], [['attack'], ['react', 'retry'], ['2025-11-25'], ['v1', 'v2']]);
  assert.deepEqual(c.models.map((m) => [m.reference, m.max_tokens]), [['ref:floor', 600], ['ref:null', 700]]);
  assert.equal(c.max_tokens, undefined, 'there is not one number for all');

  const other = await json('run', file, '-m', 'ref:reader', '-m', 'ref:floor', '--reps', '1', '--seed', '6', '--variant', 'v3', '--arch', 'reflexion', '--revision', 'modern', '--host-profile', 'naive', '--carrier', 'stdio', '--attack', 'indirect-prompt-injection');
  assert.equal(other.run.planned, 2);
  const d = other.provenance;
  assert.equal(d.study_text, text, 'the file as it is');
  assert.deepEqual([d.study, d.seed, d.repetitions, d.host_profile, d.carrier], ['mine', '6', 1, 'naive', 'stdio']);
  assert.deepEqual([d.arms, d.architectures, d.revisions, d.only_variants, d.only_attacks], [['attack'], ['reflexion'], ['2026-07-28'], ['v3'], ['indirect-prompt-injection']]);
  assert.deepEqual(d.models.map((m) => [m.reference, m.max_tokens]), [['ref:reader', 700], ['ref:floor', 600]], 'floor keeps the limit of the file');
  const third = await json('run', file, '--max-tokens', '50', '--reps', '1');
  assert.deepEqual(third.provenance.models.map((m) => m.max_tokens), [50, 50]);
  assert.equal(third.provenance.max_tokens, 50);
});

test('each model has its own limits', async () => {
  const server = await slowServer();
  try {
    const file = study('limits.yaml', `name: limits\nvariants: [v1]\nin_flight: 4\nmax_tokens: 300\nmodels:\n  - model: openai:narrow@${server.url}\n    in_flight: 1\n    max_tokens: 90\n    actions: json\n  - model: openai:wide@${server.url}\n`);
    const report = await json('run', file);
    assert.equal(report.run.faults, 0);
    const { narrow, wide } = server.seen;
    assert.equal(narrow.most, 1);
    assert.equal(wide.most, 4);
    assert.deepEqual([[...narrow.max_tokens], [...wide.max_tokens]], [[90], [300]]);
    assert.deepEqual([[...narrow.native], [...wide.native]], [[false], [true]]);
    assert.deepEqual(report.provenance.models.map((m) => [m.in_flight, m.max_tokens, m.actions]), [[1, 90, 'json'], [4, 300, 'native']]);
    assert.equal((await bartizan('replay', 'last')).code, 0, 'and is replayed with them');
    for (const s of [narrow, wide]) { s.most = 0; }
    await json('run', file, '--in-flight', '2');
    assert.deepEqual([narrow.most, wide.most], [2, 2], 'the option counts for both');
  } finally {
    await server.close();
  }
});

test('a run is resumed from its card, whatever became of the file', async () => {
  const server = await slowServer();
  try {
    const file = study('resume.yaml', `name: broken-off\nvariants: [v1]\nattacks: [tool-poisoning, indirect-prompt-injection]\narms: [attack, clean]\nrepetitions: 4\nseed: 12\narchitectures: [react, retry]\nmodels:\n  - model: openai:narrow@${server.url}\n    in_flight: 1\n    max_tokens: 90\n  - model: openai:wide@${server.url}\n    in_flight: 2\n`);
    const child = spawn(program('bartizan'), ['--store', store, 'run', file, '--quiet'], { stdio: 'ignore', env: { ...process.env, OPENAI_API_KEY: '' } });
    const ended = new Promise((resolve) => child.on('exit', resolve));
    while ((server.seen.narrow?.count ?? 0) < 5) {
      assert.equal(child.exitCode, null);
      await sleep(10);
    }
    child.kill('SIGINT');
    assert.equal(await ended, 130);
    const first = await json('report', 'last');
    assert.equal(first.run.status, 'interrupted');
    assert.ok(first.run.finished > 0 && first.run.finished < first.run.planned);
    const kept = (await json('show', 'last')).trials.map((t) => t.trajectory);
    rmSync(file);
    for (const s of Object.values(server.seen)) { s.most = 0; s.max_tokens.clear(); }
    const refused = await bartizan('run', '--resume', 'last', '--arch', 'react');
    assert.equal(refused.code, 2);
    const whole = await json('run', '--resume', 'last');
    assert.equal(whole.run.id, first.run.id);
    assert.equal(whole.run.planned, 2 * 2 * 4 * 2 * 2);
    assert.equal(whole.run.finished, whole.run.planned);
    assert.deepEqual(whole.provenance, first.provenance);
    assert.equal(whole.provenance.study, 'broken-off');
    assert.deepEqual((await json('show', 'last')).trials.slice(0, kept.length).map((t) => t.trajectory), kept);
    const { narrow, wide } = server.seen;
    assert.deepEqual([narrow.most, wide.most], [1, 2], 'in_flight comes from the card');
    assert.deepEqual([[...narrow.max_tokens], [...wide.max_tokens]], [[90], [1024]]);
    assert.equal((await bartizan('verify', 'last')).code, 0);
  } finally {
    await server.close();
  }
});

test('a mistake is named with file, line and remedy, and nothing is left behind', async () => {
  const mistakes = [
    ['name: x\nvariants: [v1]\nrepetition: 3\n', '3: there is no key "repetition"; did you mean "repetitions"?'],
    ['name: x\nattack:\n  - tool-poisoning\n', '2: there is no key "attack"; did you mean "attacks"?'],
    ['name: x\nattacks:\n  - memory-poisoning\n  - tool-poisonin\n', '4: attacks: there is no attack "tool-poisonin"; did you mean "tool-poisoning"? `bartizan list attacks` names them'],
    ['name: x\nrepetitions: 0\n', '2: repetitions: expected a number of at least 1, got 0'],
    ['name: x\nrepetitions: many\n', '2: repetitions: expected integer, got "many"'],
    ['name: x\narchitectures: [react, reflection]\n', '2: architectures: expected one of react, reflexion, retry, got "reflection"; did you mean "reflexion"?'],
    ['name: x\n\n# ours\ndefence: gate\n', '4: defences: expected none, input, context or combined; behind one of the latter three :model, then +rescan (not of input), then +closed; or canon:ARM, behind it + and any of these; got "gate"'],
    ['name: x\nmodels:\n  - model: ref:reader\n    inflight: 3\n', '4: there is no key "inflight"; did you mean "in_flight"?'],
    ['name: x\nmodels:\n  - model: ref:reader\n  - model: ref:reader\n', '4: models: "ref:reader" stands in line 3 already'],
    ['name: x\nrepetitions: 2\nrepetitions: 3\n', '3:1: key "repetitions" stands here a second time; remove one'],
  ];
  for (const [text, says] of mistakes) {
    const file = study('wrong.yaml', text);
    const unused = path.join(folder, 'unused.db');
    for (const more of [['-m', 'ref:null'], ['--print-study']]) {
      const done = await run('bartizan', ['--store', unused, 'run', file, ...more]);
      assert.equal(done.code, 2, done.out + done.err);
      assert.equal(done.out, '');
      assert.equal(done.err, `bartizan: ${file}:${says}\n`);
      assert.ok(!existsSync(unused));
    }
  }
  const model = await bartizan('run', study('wrong.yaml', 'name: x\nmodels:\n  - model: ref:raeder\n'));
  assert.equal(model.code, 2);
  assert.match(model.err, /wrong\.yaml:3: .*ref:/);
  const runs = (await bartizan('report', 'last', '--json')).out;
  const empty = await bartizan('run', study('wrong.yaml', 'name: x\nattacks: [tool-poisoning]\nsurfaces: [tr]\n'), '-m', 'ref:null');
  assert.equal(empty.code, 2);
  assert.match(empty.err, /the filters leave no scenario/);
  assert.equal((await bartizan('report', 'last', '--json')).out, runs, 'no run was begun');
  for (const [word, says] of [['qick', /there is no study "qick"; did you mean "quick"\?/], ['no-such.yaml', /no-such\.yaml: the file cannot be opened/], [folder + '/', /a folder is not a regular file/]]) {
    const done = await bartizan('run', word, '-m', 'ref:null');
    assert.equal(done.code, 2);
    assert.match(done.err, says);
  }
});
