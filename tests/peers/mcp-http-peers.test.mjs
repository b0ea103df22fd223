// Official MCP clients of both eras, and plain fetch, against our C endpoint over HTTP (program
// mcp_http_fixture). Needs `npm ci` in this folder and the program: MCP_HTTP_FIXTURE=/path, default
// build/mcp_http_fixture.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

const program =
  process.env.MCP_HTTP_FIXTURE ??
  fileURLToPath(new URL('../../build/mcp_http_fixture', import.meta.url));
assert.ok(existsSync(program), `${program} does not exist; build it or set MCP_HTTP_FIXTURE`);

const info = { name: 'peer-test', version: '1.0.0' };
const limit = { timeout: 10_000 };
const open = new Set();
after(() => Promise.all([...open].map((client) => client.close())));

// A fixture for the tests of one group.
function fixture(...args) {
  const running = {};
  before(async () => {
    running.child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = await once(running.child.stdout, 'data');
    running.url = new URL(String(line).trim());
  });
  after(async () => {
    running.child.stdin.end();
    const [code] = running.child.exitCode === null ? await once(running.child, 'exit') : [0];
    assert.equal(code, 0);
  });
  return running;
}

async function connect(client, transport) {
  open.add(client);
  await client.connect(transport, limit);
  return client;
}

const call = (client, name, args, options) =>
  client.callTool({ name, arguments: args ?? {} }, undefined, { ...limit, ...options });
const text = (result) => result.content[0].text;

async function until(check) {
  for (let i = 0; i < 100 && !(await check()); i++) {
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.ok(await check());
}

describe('SDK v1 (legacy) over Streamable HTTP', () => {
  const server = fixture();
  const legacy = (capabilities = {}) =>
    connect(new LegacyClient(info, { capabilities }), new LegacyHttp(server.url));

  test('handshake, pages, calls, resources', async () => {
    const client = await legacy();
    assert.equal(client.getServerVersion().name, 'mcp_http_fixture');
    assert.match(client.transport.sessionId, /^[0-9a-f]{40}$/);
    const names = [];
    for (let cursor; ; ) {
      const page = await client.listTools({ cursor }, limit);
      names.push(...page.tools.map((tool) => tool.name));
      if (!(cursor = page.nextCursor)) break;
    }
    assert.ok(names.includes('echo') && names.includes('test_reconnection'));
    assert.equal(text(await call(client, 'echo', { text: 'héllo' })), 'héllo');
    const read = await client.readResource({ uri: 'fixture://greeting' }, limit);
    assert.equal(read.contents[0].text, 'hello from C');
  });

  test('progress comes on the stream of its call, calls run side by side', async () => {
    const client = await legacy();
    const steps = [];
    const slow = call(client, 'test_tool_with_progress', {}, { onprogress: (p) => steps.push(p.progress) });
    assert.equal(text(await call(client, 'echo', { text: 'meanwhile' })), 'meanwhile');
    assert.equal(text(await slow), 'done');
    assert.deepEqual(steps, [1, 2, 3]);
  });

  test('list_changed comes on the GET stream', async () => {
    const client = await legacy();
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    await call(client, 'test_trigger_tool_change');
    await until(() => changes === 1);
  });

  test('a question of the server is answered by POST', async () => {
    const client = await legacy({ roots: {} });
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///r' }] }));
    assert.equal(text(await call(client, 'roots')), '{"roots":[{"uri":"file:///r"}]}');
    assert.ok((await call(await legacy(), 'roots')).isError);
  });

  test('the client comes back for the answer of a stream that was ended early', async () => {
    const client = await legacy();
    assert.equal(text(await call(client, 'test_reconnection')), 'done');
  });

  test('aborting a call cancels it; ending the session ends it for good', async () => {
    const client = await legacy();
    const before = Number(text(await call(client, 'cancelled')));
    const stop = new AbortController();
    const waiting = call(client, 'wait', {}, { signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await assert.rejects(waiting);
    await until(async () => Number(text(await call(client, 'cancelled'))) === before + 1);
    const session = client.transport.sessionId;
    await client.transport.terminateSession();
    const response = await fetch(server.url, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-session-id': session,
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    assert.equal(response.status, 404);
  });
});

describe('SDK v1 over HTTP+SSE', () => {
  const server = fixture('--old-sse');

  test('handshake, calls, progress, list_changed', async () => {
    const client = await connect(
      new LegacyClient(info, { capabilities: {} }),
      new SSEClientTransport(server.url),
    );
    let changes = 0;
    const steps = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    assert.equal(text(await call(client, 'echo', { text: 'old' })), 'old');
    await call(client, 'test_tool_with_progress', {}, { onprogress: (p) => steps.push(p.progress) });
    assert.deepEqual(steps, [1, 2, 3]);
    await call(client, 'test_trigger_tool_change');
    await until(() => changes === 1);
  });
});

for (const [mode, args] of [
  ['auto', []],
  ['auto', ['--modern']],
  ['auto', ['--legacy']],
  ['legacy', []],
]) {
  describe(`SDK v2, mode ${mode}, fixture ${args.join(' ') || 'of both eras'}`, () => {
    const server = fixture(...args);
    const modern = mode === 'auto' && args[0] !== '--legacy';
    const make = () =>
      connect(
        new ModernClient(info, { capabilities: {}, versionNegotiation: { mode } }),
        new ModernHttp(server.url),
      );

    test('calls, mirrored arguments, progress', async () => {
      const client = await make();
      const steps = [];
      const names = (await client.listTools()).tools.map((tool) => tool.name);
      assert.ok(names.includes('region'));
      assert.equal(text(await client.callTool({ name: 'region', arguments: { text: 'eu é' } }, limit)), 'eu é');
      const result = await client.callTool(
        { name: 'test_tool_with_progress', arguments: {} },
        { ...limit, onprogress: (p) => steps.push(p.progress) },
      );
      assert.equal(text(result), 'done');
      assert.deepEqual(steps, [1, 2, 3]);
      assert.equal(client.transport.sessionId !== undefined, !modern);
    });

    test('aborting a call cancels it', async () => {
      const client = await make();
      const count = async () =>
        Number(text(await client.callTool({ name: 'cancelled', arguments: {} }, limit)));
      const before = await count();
      const stop = new AbortController();
      const waiting = client.callTool({ name: 'wait', arguments: {} }, { ...limit, signal: stop.signal });
      setTimeout(() => stop.abort(), 50);
      await assert.rejects(waiting);
      await until(async () => (await count()) === before + 1);
    });
  });
}
