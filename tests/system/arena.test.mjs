// The arena as a program: what it says of faults, of typed words, and of a model that nobody reached.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { program, ROOT, run } from './programs.mjs';

const limit = { timeout: 60000 };
const packs = ['--pack', path.join(ROOT, 'tests/packs/trial')];
const children = new Set();
after(() => { for (const child of children) child.kill('SIGKILL'); });

const message = (id, method, params) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
const hello = [
  message(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }),
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
];
const call = (id, name) => message(id, 'tools/call', { name, arguments: {} });

// Answers by id; every line of standard output has to be a message.
async function serveLines(input, ...options) {
  const done = await run('bartizan', ['arena', '--stdio', '--server', 'kiosk', ...packs, ...options], { input });
  const lines = done.out.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  return { ...done, answers: Object.fromEntries(lines.map((line) => [line.id, line])) };
}

// `type` writes to the console; `ended` resolves to { code, out, err }.
async function startArena(...options) {
  const child = spawn(program('bartizan'), ['arena', '--http', '127.0.0.1:0', ...options]);
  const arena = { out: '', err: '', type: (text) => child.stdin.write(text), endInput: () => child.stdin.end() };
  children.add(child);
  child.stdin.on('error', () => {});
  child.stdout.on('data', (data) => { arena.out += data; });
  arena.ended = new Promise((resolve) => { child.on('close', (code) => { children.delete(child); resolve({ code, out: arena.out, err: arena.err }); }); });
  await new Promise((resolve, reject) => {
    child.stderr.on('data', (data) => { arena.err += data; if (/^type .*$/m.test(arena.err)) resolve(); });
    child.on('close', () => reject(new Error(`the arena did not start: ${arena.err}`)));
  });
  arena.url = /http:\/\/127\.0\.0\.1:\d+/.exec(arena.err)[0];
  arena.get = async (what) => (await fetch(arena.url + what)).json();
  return arena;
}

describe('standard input and output', () => {
  test('a fault of a script is told: exit code 5 and the name of the script', limit, async () => {
    for (const quiet of [[], ['--quiet']]) {
      const done = await serveLines([...hello, call(2, 'crash'), call(3, 'stamp'), ''].join('\n'), ...quiet);
      assert.equal(done.code, 5, done.err);
      assert.match(done.err, /^bartizan: fault: .*kiosk\.lua:\d+: the till is stuck\n$/);
      assert.match(done.answers[2].error.message, /script failed/);
      assert.equal(done.answers[3].result.content[0].text, 'Stamped.', 'the server goes on');
    }
  });
  test('without a fault: exit code 0 and nothing on standard error', limit, async () => {
    const done = await serveLines([...hello, call(2, 'stamp'), ''].join('\n'));
    assert.deepEqual([done.code, done.err], [0, '']);
  });
  test('the last line needs no newline', limit, async () => {
    const done = await serveLines([...hello, call(2, 'stamp')].join('\n'));
    assert.equal(done.code, 0, done.err);
    assert.equal(done.answers[2].result.content[0].text, 'Stamped.');
  });
  test('a last line that is cut short is answered as what it is: no JSON', limit, async () => {
    const done = await serveLines([...hello, call(2, 'stamp').slice(0, -1)].join('\n'));
    assert.equal(done.code, 0, done.err);
    assert.equal(done.answers[2], undefined);
    assert.equal(done.answers[undefined].error.code, -32700);
  });
});

describe('typed words', () => {
  test('an unknown word and an answer without a text are told', limit, async () => {
    const arena = await startArena('--scenario', 'tool-poisoning/v1', '--json');
    arena.type(`foo\nanswer\nanswer   \n\u001b[2J\n${'w'.repeat(3000)}\n`);
    arena.type('end\n');
    const { code, out, err } = await arena.ended;
    assert.equal(code, 0, err);
    assert.match(err, /^"foo" is not known\ntype task, answer TEXT, next, verdict or end$/m);
    assert.equal(err.match(/^answer needs the text/gm).length, 2);
    assert.match(err, /^"\ufffd\[2J" is not known$/m);
    assert.match(err, /^"w{60}\.\.\." is not known$/m);
    assert.ok(!JSON.parse(out).trajectory.some((note) => note.kind === 'answer'));
  });
  test('plain servers know only end', limit, async () => {
    const arena = await startArena('--server', 'mailroom');
    arena.type('verdict\nend\n');
    const { code, err } = await arena.ended;
    assert.equal(code, 0, err);
    assert.match(err, /^"verdict" is not known\ntype end$/m);
  });
  test('a line that is too long is told once, and no part of it is a command', limit, async () => {
    const arena = await startArena('--scenario', 'tool-poisoning/v1', '--json');
    arena.type(`answer ${'x'.repeat(4096 * 2 - 7)}end\nanswer short\nend\n`);
    const { code, out, err } = await arena.ended;
    assert.equal(code, 0, err);
    assert.equal(err.match(/4095 bytes at most/g).length, 1);
    assert.ok(!/not known/.test(err), err);
    assert.deepEqual(JSON.parse(out).trajectory.filter((note) => note.kind === 'answer').map((note) => note.text), ['short']);
  });
  test('the last line needs no newline', limit, async () => {
    const arena = await startArena('--scenario', 'tool-poisoning/v1', '--json');
    arena.type('answer Done.\nend');
    arena.endInput();
    const { code, out, err } = await arena.ended;
    assert.equal(code, 0, err);
    assert.equal(JSON.parse(out).trajectory.at(-1).text, 'Done.');
  });
});

describe('observed', () => {
  const ask = async (arena, body) => (await fetch(`${arena.url}/llm/v1/chat/completions`, { method: 'POST', body })).status;
  const observed = async (arena) => { const v = await arena.get('/verdict'); return [v.observed, v.observed_request, v.model_requests]; };

  test('stays unknown while the model cannot be reached', limit, async () => {
    const arena = await startArena('--scenario', 'tool-poisoning/v1', '--llm-proxy', 'http://127.0.0.1:1/v1');
    assert.equal(await ask(arena, '{}'), 502);
    assert.deepEqual(await observed(arena), ['unknown', null, 1]);
    arena.type('end\n');
    assert.match((await arena.ended).out, /^tool-poisoning\/v1 .* unknown +false$/m);
  });
  // errand/v4 has its payload in the second turn of the user, so that a request can be made of what the arena shows.
  test('stays unknown while the model answers with errors', limit, async () => {
    const statuses = [500, 302, 200, 200];
    const model = createServer((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(statuses.shift(), { 'content-type': 'application/json' }).end('{}'));
    });
    await new Promise((resolve) => { model.listen(0, '127.0.0.1', resolve); });
    model.unref(); // a failed test must not keep the process
    const arena = await startArena(...packs, '--scenario', 'errand/v4', '--llm-proxy', `http://127.0.0.1:${model.address().port}/v1`);
    await fetch(`${arena.url}/next`, { method: 'POST' });
    const payload = JSON.stringify({ messages: [{ role: 'user', content: (await arena.get('/task')).text }] });
    assert.equal(await ask(arena, payload), 500);
    assert.deepEqual(await observed(arena), ['unknown', null, 1]);
    assert.equal(await ask(arena, payload), 302);
    assert.deepEqual(await observed(arena), ['unknown', null, 2]);
    assert.equal(await ask(arena, '{}'), 200);
    assert.deepEqual(await observed(arena), ['no', null, 3]);
    assert.equal(await ask(arena, payload), 200);
    assert.deepEqual(await observed(arena), ['yes', 4, 4]);
    arena.type('end\n');
    await arena.ended;
    model.close();
  });
  test('of a memory scenario only the second session counts', limit, async () => {
    const model = createServer((request, response) => { request.resume(); request.on('end', () => response.end('{}')); });
    await new Promise((resolve) => { model.listen(0, '127.0.0.1', resolve); });
    model.unref(); // a failed test must not keep the process
    const arena = await startArena('--scenario', 'memory-poisoning/v1', '--llm-proxy', `http://127.0.0.1:${model.address().port}/v1`);
    assert.equal(await ask(arena, '{}'), 200);
    assert.deepEqual(await observed(arena), ['unknown', null, 1]);
    assert.equal((await (await fetch(`${arena.url}/next`, { method: 'POST' })).json()).session, 2);
    assert.deepEqual(await observed(arena), ['unknown', null, 1]);
    assert.equal(await ask(arena, '{}'), 200);
    assert.deepEqual(await observed(arena), ['no', null, 2]);
    arena.type('end\n');
    await arena.ended;
    model.close();
  });
});

describe('revision 2024-11-05', () => {
  const initialize = message(1, 'initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'test', version: '1' } });

  test('over HTTP its own transport is refused, Streamable HTTP is not', limit, async () => {
    const arena = await startArena('--server', 'mailroom');
    const url = `${arena.url}/mailroom/mcp`;
    const old = await fetch(url, { headers: { accept: 'text/event-stream' } });
    assert.equal(old.status, 400);
    assert.match((await old.json()).error.message, /Session-Id/);
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const answer = await (await fetch(url, { method: 'POST', headers, body: initialize })).json();
    assert.equal(answer.result.protocolVersion, '2024-11-05');
    arena.type('end\n');
    assert.equal((await arena.ended).code, 0);
  });
  test('over stdio it is served', limit, async () => {
    const done = await serveLines(`${initialize}\n`);
    assert.equal(done.answers[1].result.protocolVersion, '2024-11-05');
  });
});
