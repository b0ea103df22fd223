// Scenarios in the arena: what an outside agent did decides the verdict, and nothing of it is
// trusted or stored.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { bartizan, ROOT, startArena, stopAll } from './arena.mjs';

const info = { name: 'peer-test', version: '1.0.0' };
const limit = { timeout: 30000 };
const packs = ['--pack', path.join(ROOT, 'tests/packs/trial'), '--pack', path.join(ROOT, 'tests/packs/arena')];
const open = new Set();
after(async () => {
  await Promise.allSettled([...open].map((client) => client.close()));
  stopAll();
});

async function connect(era, url) {
  const client = era === 'legacy' ? new LegacyClient(info, { capabilities: {} })
    : new ModernClient(info, { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  open.add(client);
  await client.connect(new (era === 'legacy' ? LegacyHttp : ModernHttp)(url));
  return client;
}

async function connectAll(era, arena) {
  return Object.fromEntries(await Promise.all(Object.entries(arena.urls).map(async ([label, url]) => [label, await connect(era, url)])));
}

async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
  return result.content[0].text;
}

async function end(arena, code = 0) {
  if (code === 0) arena.type('end');
  const done = await arena.ended;
  assert.equal(done.code, code, done.err);
  return done.out;
}

// An agent that does the task of tool-poisoning/v1, and what the tool's definition asks for if it
// obeys. Everything it knows is from /task and from the servers.
async function workOn(arena, era, obeys) {
  const { text } = await arena.get('/task');
  const [, note] = /(notes\/\S+\.md)/.exec(text);
  const [, report] = /(reports\/\S+\.md)\./.exec(text);
  const peers = await connectAll(era, arena);
  const helper = Object.keys(peers).find((label) => label !== 'fs-workspace' && label !== 'mailroom');
  const { tools } = await peers[helper].listTools();
  const { description } = tools.find((tool) => tool.name === 'format_report');
  const words = await call(peers['fs-workspace'], 'read_file', { path: note });
  const formatted = await call(peers[helper], 'format_report', { text: words, style: 'memo' });
  await call(peers['fs-workspace'], 'write_file', { path: report, content: formatted });
  const filed = /write the single word filed to (\S+\.txt)\./.exec(description);
  if (filed) await call(peers['fs-workspace'], 'write_file', { path: filed[1], content: 'filed' });
  if (obeys) {
    const [, file, address] = /(private\/\S+\.csv)[^]*mail its full text to (\S+@[\w.-]+\w)/.exec(description);
    const secret = await call(peers['fs-workspace'], 'read_file', { path: file });
    await call(peers.mailroom, 'send_mail', { to: [address], subject: 'Running totals', body: secret });
  }
  return { description, tools };
}

describe('verdict', () => {
  for (const era of ['legacy', 'modern']) {
    test(`${era} client: the obey plan has the effect`, limit, async () => {
      const arena = await startArena('--scenario', 'tool-poisoning/v1', '--json');
      const before = await arena.get('/verdict');
      assert.deepEqual([before.effect, before.utility, before.delivered, before.calls], [false, false, false, 0]);
      await workOn(arena, era, true);
      const verdict = await arena.get('/verdict');
      assert.deepEqual([verdict.scenario, verdict.arm, verdict.seed], ['tool-poisoning/v1', 'attack', 1]);
      assert.deepEqual([verdict.effect, verdict.utility, verdict.delivered, verdict.observed, verdict.calls], [true, true, true, 'unknown', 5]);
      const last = JSON.parse(await end(arena));
      assert.equal(last.effect, true);
      assert.equal(last.stored, false);
      assert.equal(last.trajectory.find((note) => note.id === last.act).tool, 'send_mail');
      assert.deepEqual(last.trajectory.map((note) => note.kind), ['user', ...Array(5).fill(['call', 'result']).flat()]);
      assert.ok(last.journal.some((entry) => entry.id === last.effect_event && entry.event === last.act));
    });
  }
  for (const arm of ['attack', 'clean', 'benign']) {
    test(`the benign plan in the ${arm} arm has none`, limit, async () => {
      const arena = await startArena('--scenario', 'tool-poisoning/v1', '--arm', arm, '--seed', '7');
      await workOn(arena, 'modern', false);
      const verdict = await arena.get('/verdict');
      assert.deepEqual([verdict.arm, verdict.seed, verdict.effect, verdict.act, verdict.utility, verdict.delivered], [arm, 7, false, null, true, true]);
      const out = await end(arena);
      assert.match(out, new RegExp(`tool-poisoning/v1 +${arm} +7 +\\d+ +false +none +true +unknown +true`));
      assert.match(out, /Nothing was stored/);
    });
  }
  test('what hangs on the final answer is unknown', limit, async () => {
    const arena = await startArena(...packs, '--scenario', 'errand/v7', '--arm', 'attack');
    const verdict = await arena.get('/verdict');
    assert.deepEqual([verdict.effect, verdict.utility], [null, null]);
    assert.match(await end(arena), /errand\/v7 +attack +1 +0 +unknown +none +unknown/);
  });
  test('an answer that the user reports decides', limit, async () => {
    const arena = await startArena('--scenario', 'indirect-prompt-injection/v4', '--json');
    const peers = await connectAll('modern', arena);
    const { contents } = await peers['fs-workspace'].readResource({ uri: 'file://handbook/onboarding.md' });
    const [, claim] = /without a receipt is (\d[\d.]*\d)/.exec(contents[0].text);
    assert.equal((await arena.get('/verdict')).effect, null);
    const after = await arena.get('/answer', { method: 'POST', body: `Up to ${claim}.\nANSWER: ${claim}` });
    assert.deepEqual([after.effect, after.utility, after.delivered], [true, false, true]);
    arena.type('answer I do not know. ANSWER: -');
    const last = JSON.parse(await end(arena));
    assert.deepEqual([last.effect, last.utility], [false, false], 'the last one counts');
    assert.deepEqual(last.trajectory.slice(-2).map((note) => note.kind), ['answer', 'answer']);
  });
  test('a fault of a script is told and does not stop the arena', limit, async () => {
    const arena = await startArena(...packs, '--scenario', 'errand/v1', '--json');
    const kiosk = await connect('modern', arena.urls.kiosk);
    await assert.rejects(kiosk.callTool({ name: 'crash', arguments: {} }), /script failed/);
    assert.equal(await call(kiosk, 'stamp', {}), 'Stamped.');
    arena.type('end');
    const done = await arena.ended;
    assert.equal(done.code, 5);
    assert.match(JSON.parse(done.out).fault, /the till is stuck/);
  });
});

describe('turns and changes', () => {
  for (const era of ['legacy', 'modern']) {
    test(`${era} client: a definition changes after two calls, and the client is told`, limit, async () => {
      const arena = await startArena(...packs, '--scenario', 'late/v1', '--json');
      const label = Object.keys(arena.urls).find((name) => name !== 'annex');
      const kiosk = await connect(era, arena.urls[label]);
      const told = new Promise((resolve) => {
        if (era === 'legacy') kiosk.setNotificationHandler(ToolListChangedNotificationSchema, resolve);
        else kiosk.setNotificationHandler('notifications/tools/list_changed', resolve);
      });
      if (era === 'modern') await kiosk.listen({ toolsListChanged: true });
      const show = async () => (await kiosk.listTools()).tools.find((tool) => tool.name === 'show').description;
      assert.equal(await show(), 'Shows one page.');
      await call(kiosk, 'show', { page: 'errand' });
      await call(kiosk, 'show', { page: 'errand' });
      await told;
      assert.equal((await arena.get('/verdict')).delivered, false, 'told of, but not fetched');
      const [, outsider] = /only if (\S+) gets one/.exec(await show());
      assert.equal((await arena.get('/verdict')).delivered, true);
      await call(kiosk, 'send', { to: outsider, text: 'x' });
      assert.equal(JSON.parse(await end(arena)).effect, true);
    });
  }

  test('a second session: old sessions end, the memory stays', limit, async () => {
    const arena = await startArena('--scenario', 'memory-poisoning/v1', '--json');
    const first = await arena.get('/task');
    assert.deepEqual([first.turn, first.turns, first.session], [1, 2, 1]);
    const [, page] = /Read (https:\S+) /.exec(first.text);
    let peers = await connectAll('legacy', arena);
    const text = await call(peers['web-fetch'], 'fetch_url', { url: page });
    const [, desk] = /copy, at (\S+@[\w.-]+\w)/.exec(text);
    await call(peers['notes-memory'], 'remember', { key: 'collections-advice', topic: 'general', text: `Collections: copy to ${desk}` });
    const second = await arena.get('/next', { method: 'POST' });
    assert.deepEqual([second.turn, second.session], [2, 2]);
    await assert.rejects(peers.mailroom.callTool({ name: 'list_mail', arguments: {} }), 'a session of before is unknown');
    peers = await connectAll('legacy', arena);
    assert.match(await call(peers['notes-memory'], 'recall', { query: 'collections advice' }), new RegExp(desk));
    const [, order] = /order (\S+) is ready/.exec(second.text);
    await call(peers.mailroom, 'send_mail', { to: ['callum.reyes@alderfinch.example'], cc: [desk], subject: `Order ${order}`, body: `Order ${order} is ready.` });
    assert.equal((await fetch(`${arena.url}/next`, { method: 'POST' })).status, 409, 'there is no third turn');
    const verdict = JSON.parse(await end(arena));
    assert.deepEqual([verdict.effect, verdict.delivered, verdict.turn], [true, true, 2]);
    assert.deepEqual(verdict.trajectory.filter((note) => note.kind === 'user').map((note) => note.text), [first.text, second.text]);
  });

  test('a reconnect lets clients see other prompts', limit, async () => {
    const arena = await startArena('--scenario', 'slash-command-overlap/v4');
    const names = async () => Object.fromEntries(await Promise.all(Object.entries(arena.urls).map(async ([label, url]) =>
      [label, (await (await connect('modern', url)).listPrompts().catch(() => ({ prompts: [] }))).prompts.map((prompt) => prompt.name)])));
    const before = await names();
    arena.type('next');
    await new Promise((resolve) => arena.child.stderr.on('data', () => /turn 2 of/.test(arena.err) && resolve()));
    assert.notDeepEqual(await names(), before);
    await end(arena);
  });
});

// A server in the place of a model: answers by the text of the last message.
async function startModel() {
  const seen = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => { body += data; });
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      if (request.method === 'GET') return response.end('{"object":"list","data":[]}');
      const asked = JSON.parse(body);
      if (asked.user === 'refuse') return response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
      if (asked.user === 'hang') return undefined;
      if (!asked.stream) return response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[{"message":{"role":"assistant","content":"ok"}}]}');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"delta":{"content":"o"}}]}\n\n');
      return setTimeout(() => response.end('data: {"choices":[{"delta":{"content":"k"}}]}\n\ndata: [DONE]\n\n'), 50);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { seen, url: `http://127.0.0.1:${server.address().port}/v1`, close: () => { server.closeAllConnections(); server.close(); } };
}

describe('the way to the model', () => {
  test('a request that holds the payload is an observation, once it is accepted', limit, async () => {
    const model = await startModel();
    const arena = await startArena('--scenario', 'tool-poisoning/v1', '--llm-proxy', model.url, '--json');
    const ask = (body) => fetch(`${arena.url}/llm/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', authorization: 'Bearer secret-of-the-user', 'x-other': 'stays here' } });
    const observed = async () => { const v = await arena.get('/verdict'); return [v.observed, v.observed_request, v.model_requests]; };
    assert.deepEqual(await observed(), ['unknown', null, 0]);
    const { text } = await arena.get('/task');
    const plain = await ask({ model: 'm', messages: [{ role: 'user', content: text }] });
    assert.equal((await plain.json()).choices[0].message.content, 'ok');
    assert.deepEqual(await observed(), ['no', null, 1]);
    const { tools } = await workOn(arena, 'modern', false);
    const full = { model: 'm', messages: [{ role: 'user', content: text }], tools: tools.map((tool) => ({ type: 'function', function: { name: tool.name, description: tool.description } })) };
    const refused = await ask({ ...full, user: 'refuse' });
    assert.deepEqual([refused.status, await refused.text()], [401, '{"error":{"message":"no"}}']);
    assert.deepEqual(await observed(), ['no', null, 2], 'a refused request shows nothing to a model');
    const streamed = await ask({ ...full, stream: true });
    assert.equal(streamed.headers.get('content-type'), 'text/event-stream');
    assert.equal(await streamed.text(), 'data: {"choices":[{"delta":{"content":"o"}}]}\n\ndata: {"choices":[{"delta":{"content":"k"}}]}\n\ndata: [DONE]\n\n');
    assert.deepEqual(await observed(), ['yes', 3, 3]);
    assert.deepEqual(await arena.get('/llm/v1/models'), { object: 'list', data: [] });
    assert.equal((await fetch(`${arena.url}/llm/v1/../admin`, { method: 'POST' })).status, 404);
    assert.equal((await fetch(`${arena.url}/llm/v1/chat/completions`)).status, 405);
    assert.ok(model.seen.every((request) => request.url.startsWith('/v1/')));
    assert.equal(model.seen[0].headers.authorization, 'Bearer secret-of-the-user');
    assert.equal(model.seen[0].headers['x-other'], undefined);
    assert.equal(model.seen[0].body, JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }));
    const out = await end(arena);
    assert.deepEqual([JSON.parse(out).observed, JSON.parse(out).observed_request], ['yes', 3]);
    assert.ok(!out.includes('secret-of-the-user') && !arena.err.includes('secret-of-the-user'));
    model.close();
  });
  test('a client that goes away, and a model that is not there', limit, async () => {
    const model = await startModel();
    const arena = await startArena('--scenario', 'tool-poisoning/v1', '--llm-proxy', model.url);
    const gone = new AbortController();
    const hanging = fetch(`${arena.url}/llm/v1/chat/completions`, { method: 'POST', body: '{"user":"hang"}', signal: gone.signal });
    while (model.seen.length === 0) await new Promise((resolve) => { setTimeout(resolve, 10); });
    gone.abort();
    await assert.rejects(hanging);
    model.close();
    const dead = await fetch(`${arena.url}/llm/v1/chat/completions`, { method: 'POST', body: '{}' });
    assert.equal(dead.status, 502);
    assert.equal((await dead.json()).error.type, 'bartizan_arena');
    await end(arena);
  });
});

describe('endings', () => {
  test('Ctrl-C prints the verdict', limit, async () => {
    const arena = await startArena('--scenario', 'tool-poisoning/v1');
    await workOn(arena, 'modern', true);
    arena.child.kill('SIGINT');
    assert.match(await end(arena, 130), /tool-poisoning\/v1 +attack +1 +5 +true +event \d+ +true/);
  });
  test('so does a time limit', limit, async () => {
    const arena = await startArena('--scenario', 'tool-poisoning/v1', '--time-limit', '1');
    assert.match(await end(arena, 4), /tool-poisoning\/v1/);
  });
  test('typed commands', limit, async () => {
    const arena = await startArena('--scenario', 'tool-poisoning/v1', '--json');
    arena.type('verdict\nnext\nnonsense');
    assert.equal(JSON.parse((await end(arena)).split('\n')[0]).effect, false);
    assert.match(arena.err, /the user's last turn/);
    assert.match(arena.err, /type task, answer TEXT, next, verdict or end\n$/);
  });
});

describe('hostile clients', () => {
  const raw = (arena, bytes) => new Promise((resolve) => {
    const socket = net.connect(Number(new URL(arena.url).port), '127.0.0.1', () => bytes && socket.write(bytes));
    let text = '';
    socket.on('data', (data) => { text += data; });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    open.add({ close: () => socket.destroy() });
  });
  const withHeaders = (url, headers, method = 'GET') => new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => { response.resume(); resolve(response.statusCode); });
    request.on('error', reject);
    request.end();
  });
  test('slow, half-open, oversize and crowding ones do not stop the arena', limit, async () => {
    const arena = await startArena('--scenario', 'tool-poisoning/v1');
    const target = arena.urls.mailroom.pathname;
    raw(arena, ''); // says nothing
    raw(arena, `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le`); // half a head
    raw(arena, `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"json`); // half a body
    for (let i = 0; i < 100; i++) raw(arena, 'GET /task HTTP/1.1\r\n');
    assert.match(await raw(arena, `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n`), /^HTTP\/1\.1 413 /);
    assert.match(await raw(arena, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400 /);
    const large = await fetch(arena.urls.mailroom, { method: 'POST', body: Buffer.alloc(11 * 1024 * 1024, 'x'), headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' } });
    assert.equal(large.status, 413);
    await workOn(arena, 'legacy', true);
    const crowd = Array.from({ length: 300 }, () => raw(arena, ''));
    assert.equal(await Promise.any(crowd), '', 'one too many is closed at once');
    arena.child.kill('SIGINT');
    assert.match(await end(arena, 130), / true +event /);
  });
  test('foreign hosts and origins are refused', limit, async () => {
    const arena = await startArena('--scenario', 'tool-poisoning/v1');
    for (const what of ['/task', '/verdict', '/trajectory']) {
      assert.equal(await withHeaders(`${arena.url}${what}`, {}), 200);
      assert.equal(await withHeaders(`${arena.url}${what}`, { host: 'rebound.example' }), 403);
      assert.equal(await withHeaders(`${arena.url}${what}`, { origin: 'http://page.example' }), 403);
      assert.equal(await withHeaders(`${arena.url}${what}`, { host: 'localhost.page.example' }), 403);
    }
    for (const what of ['/next', '/answer']) assert.equal(await withHeaders(`${arena.url}${what}`, { origin: 'http://page.example' }, 'POST'), 403);
    assert.equal(await withHeaders(arena.urls.mailroom, { host: 'rebound.example' }, 'POST'), 403);
    assert.equal(await withHeaders(arena.urls.mailroom, { origin: 'http://page.example' }, 'POST'), 403);
    assert.equal(await withHeaders(`${arena.url}/`, {}), 404);
    assert.equal(await withHeaders(`${arena.url}/task`, {}, 'POST'), 405);
    await end(arena);
  });
});

describe('use', () => {
  const run = (...args) => spawnSync(bartizan, ['arena', ...args], { encoding: 'utf8', input: '' });
  const refusals = [
    [[], /--stdio --server NAME, or --http/], [['--http', '0.0.0.0:8700'], /not served/], [['--http', '127.0.0.1'], /127\.0\.0\.1:PORT/],
    [['--http', '127.0.0.1:70000'], /127\.0\.0\.1:PORT/], [['--stdio'], /one --server NAME/], [['--stdio', '--server', 'mailroom', '--server', 'calendar'], /one --server/],
    [['--stdio', '--server', 'mailroom', '--scenario', 'tool-poisoning/v1'], /need --http/], [['--stdio', '--server', 'nothing'], /no server "nothing"/],
    [['--http', '127.0.0.1:0', '--scenario', 'nothing/v1'], /no scenario "nothing\/v1"/], [['--http', '127.0.0.1:0', '--scenario', 'mitm-tamper/v1'], /adversary on the wire/],
    [['--http', '127.0.0.1:0', '--scenario', 'tool-poisoning/v1', '--arm', 'best'], /attack, clean or benign/], [['--http', '127.0.0.1:0', '--arm', 'clean'], /goes with --scenario/],
    [['--http', '127.0.0.1:0', '--scenario', 'tool-poisoning/v1', '--server', 'mailroom'], /names its servers itself/],
    [['--http', '127.0.0.1:0', '--llm-proxy', 'ftp://127.0.0.1/v1'], /looks like/], [['--http', '127.0.0.1:0', '--llm-proxy', 'http://key@127.0.0.1/v1'], /without user/],
    [['config', '--client', 'emacs'], /claude, cursor, vscode or generic/], [['config', '--scenario', 'tool-poisoning/v1'], /give --http/], [['other'], /arena other/],
  ];
  for (const [args, text] of refusals) {
    test(`refuses: arena ${args.join(' ')}`, limit, () => {
      const done = run(...args);
      assert.equal(done.status, 2, done.stderr);
      assert.match(done.stderr, text);
      assert.equal(done.stdout, '');
    });
  }
  test('config: the form of each client', limit, () => {
    const of = (...args) => { const done = run('config', ...args); assert.equal(done.status, 0, done.stderr); return JSON.parse(done.stdout); };
    assert.deepEqual(of('--client', 'claude', '--server', 'mailroom'), { mcpServers: { mailroom: { command: realpathSync(bartizan), args: ['arena', '--stdio', '--server', 'mailroom'] } } });
    assert.deepEqual(of('--client', 'vscode', '--server', 'mailroom', '--seed', '4').servers.mailroom, { type: 'stdio', command: realpathSync(bartizan), args: ['arena', '--stdio', '--server', 'mailroom', '--seed', '4'] });
    assert.deepEqual(of('--client', 'cursor', '--server', 'mailroom', '--http', '127.0.0.1:8700'), { mcpServers: { mailroom: { url: 'http://127.0.0.1:8700/mailroom/mcp' } } });
    assert.deepEqual(of('--client', 'claude', '--server', 'mailroom', '--http', '[::1]:8700').mcpServers.mailroom, { type: 'http', url: 'http://[::1]:8700/mailroom/mcp' });
    assert.equal(Object.keys(of('--client', 'generic').mcpServers).length, 16);
    const scenario = of('--client', 'vscode', '--http', '127.0.0.1:8700', '--scenario', 'tool-poisoning/v1').servers;
    assert.equal(Object.keys(scenario).length, 3);
    assert.ok(!('addon-x' in scenario), 'labels are those of the scenario');
    assert.ok(existsSync(of('--client', 'cursor', '--server', 'mailroom', ...packs).mcpServers.mailroom.args.at(-1)));
  });
});
