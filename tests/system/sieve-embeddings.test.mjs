// sieve run --embeddings: what is asked of the endpoint, what its vectors do to retrieval, resume and replay, and bad replies.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import Ajv2020 from './schema/node_modules/ajv/dist/2020.js';
import { ROOT, run } from './programs.mjs';
import { lines, makeItems } from './sieve-items.mjs';

let folder;
let file;
let exports_ = 0;
const valid = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(JSON.parse(readFileSync(path.join(ROOT, 'schemas/sieve-report.json'), 'utf8')));

before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-sieve-embeddings-'));
  file = path.join(folder, 'items.jsonl');
  writeFileSync(file, lines(makeItems()));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const sieve = (store, ...args) => run('bartizan', ['--store', path.join(folder, store), 'sieve', ...args], { timeout: 120000, env: { NO_COLOR: '1', OPENAI_API_KEY: '' } });
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

// An endpoint that counts words: a dimension each for the server, the verb, and everything else. `spoil` may change a reply.
const AXES = ['mail', 'files', 'calendar', 'billing', 'list', 'send', 'read', 'audit'];
const vectorOf = (text) => [...AXES.map((axis) => text.toLowerCase().split(/[^a-z]+/).filter((w) => w.startsWith(axis)).length), 0.25];
async function startEndpoint() {
  const state = { requests: [], spoil: null, status: 200 };
  const server = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) { chunks.push(chunk); }
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    state.requests.push({ url: req.url, method: req.method, key: req.headers.authorization, body });
    let reply = { object: 'list', data: body.input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })).reverse(),
      model: `${body.model}-0613`, usage: { prompt_tokens: body.input.length, total_tokens: body.input.length } };
    reply = state.spoil ? state.spoil(reply, body, state.requests.length) : reply;
    const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
    res.writeHead(state.status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    res.end(text);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { state, url: `http://127.0.0.1:${server.address().port}/v1`, close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}

test('vectors of an endpoint take the place of n-grams; each text is asked once', async () => {
  const endpoint = await startEndpoint();
  try {
    const model = `openai:embed@${endpoint.url}`;
    const settings = [file, '--arm', 'none', '--arm', 'canon', '--arm', 'schema-only'];
    const report = await json(0, 'e.db', 'run', ...settings, '--embeddings', model);
    const asked = endpoint.state.requests;
    assert.ok(asked.every((r) => r.url === '/v1/embeddings' && r.method === 'POST' && r.key === undefined));
    assert.ok(asked.every((r) => r.body.model === 'embed' && r.body.encoding_format === 'float' && r.body.input.length >= 1 && r.body.input.length <= 32));
    const texts = asked.flatMap((r) => r.body.input);
    assert.equal(new Set(texts).size, texts.length, 'each text once');
    assert.ok(texts.includes('Call the mail_list tool with limit 5'));
    assert.equal(report.card.embeddings, model);
    assert.deepEqual(report.embedding, { row: 'embedding', model, returned_models: ['embed-0613'], dimension: 9, texts: texts.length, requests: asked.length, tokens_in: texts.length });
    assert.match((await sieve('e.db', 'report')).out.replace(/\s+/g, ' '), /embeddings openai:embed@\S+, returned as embed-0613: \d+ texts in 9 dimensions/);

    // The ranks are those of the fusion of BM25 with these vectors: here every query names server and verb, so the vectors alone find the target.
    const plain = await json(0, 'n.db', 'run', ...settings);
    assert.equal(plain.embedding, null);
    const of = (r) => r.figures.filter((f) => f.table === 'retrieval');
    assert.notDeepEqual(of(report), of(plain), 'other vectors, other ranks');
    const rest = (r) => r.figures.filter((f) => f.table !== 'retrieval');
    assert.deepEqual(rest(report), rest(plain), 'and nothing else changes');
    const hit = report.figures.find((f) => f.table === 'retrieval' && f.arm === 'none' && f.index === 'raw' && f.measure === 'hit@5' && f.over === 'twins');
    assert.equal(hit.value, 1);

    // Resumed and replayed, nothing is asked again, and the rows are the same.
    const rows = await rowsOf('e.db');
    const count = asked.length;
    await json(0, 'e.db', 'run', '--resume', 'last');
    assert.equal(asked.length, count);
    await endpoint.close();
    const replayed = await json(0, 'e.db', 'run', '--replay', report.run.id);
    assert.notEqual(replayed.run.id, report.run.id);
    assert.deepEqual(await rowsOf('e.db', replayed.run.id), rows);
    assert.deepEqual(replayed.embedding, report.embedding);
  } finally {
    await endpoint.close().catch(() => {});
  }
});

test('bad replies are clear errors, and none of them is kept', async () => {
  const endpoint = await startEndpoint();
  try {
    const settings = [file, '--arm', 'none', '--embeddings', `openai:embed@${endpoint.url}`, '--quiet', '--in-flight', '1'];
    const other = (change) => (reply, body, n) => (n > 1 ? change(reply) : reply);
    // A wrong dimension in the second reply, and what the provider refuses: said at once.
    endpoint.state.spoil = other((reply) => ({ ...reply, data: reply.data.map((d) => ({ ...d, embedding: [1, 2] })) }));
    let done = await sieve('bad.db', 'run', ...settings);
    assert.notEqual(done.code, 0);
    assert.match(done.err, /vectors of 2 numbers, and before that of 9: they cannot be compared/);
    endpoint.state.requests.length = 0;
    endpoint.state.spoil = () => ({ error: { message: 'input 3 is too long', type: 'invalid_request_error' } });
    endpoint.state.status = 400;
    done = await sieve('bad.db', 'run', '--resume', 'last', '--quiet');
    assert.match(done.err, /refuses to embed: input 3 is too long/);
    assert.notEqual(done.code, 0);
    // An endpoint that is none: a fault after the first request, no retry.
    endpoint.state.status = 404;
    endpoint.state.spoil = () => ({ error: { message: 'no such route', type: 'not_found' } });
    done = await sieve('bad.db', 'run', '--resume', 'last', '--quiet');
    assert.notEqual(done.code, 0);
    assert.match(done.err, /no such route/);
    endpoint.state.status = 200;
    // Too large: 9 MiB.
    endpoint.state.spoil = (reply) => JSON.stringify({ ...reply, padding: 'x'.repeat(9 * 1024 * 1024) });
    done = await sieve('bad.db', 'run', '--resume', 'last', '--quiet');
    assert.notEqual(done.code, 0);
    assert.match(done.err, /8388608|too large|bytes/);
    // Mended, the run goes on from the one reply that was good.
    endpoint.state.spoil = null;
    endpoint.state.requests.length = 0;
    const report = await json(0, 'bad.db', 'run', '--resume', 'last');
    assert.ok(report.run.done);
    assert.equal(endpoint.state.requests.length, report.embedding.requests - 1);
  } finally {
    await endpoint.close();
  }
});

test('a reply that is wrong now and then is asked again', async () => {
  const endpoint = await startEndpoint();
  try {
    endpoint.state.spoil = (reply, body, n) => (n === 1 ? { ...reply, data: reply.data.slice(1) } : n === 3 ? JSON.stringify(reply).replace('0.25', 'NaN') : reply);
    const report = await json(0, 'again.db', 'run', file, '--arm', 'none', '--embeddings', `openai:embed@${endpoint.url}`, '--in-flight', '1');
    assert.equal(endpoint.state.requests.length, report.embedding.requests + 2);
  } finally {
    await endpoint.close();
  }
});

test('wrong use is refused', async () => {
  const done = await sieve('unused.db', 'run', file, '--embeddings', 'ref:reader');
  assert.equal(done.code, 2);
  assert.match(done.err, /a reference agent makes no embeddings/);
});
