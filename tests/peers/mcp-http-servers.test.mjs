// Our HTTP client session (program mcp_http_driver) against servers on the official SDKs: both eras,
// resumption of a closed stream, the transport of 2024-11-05. Needs `npm ci` in this folder and the
// program in the folder BARTIZAN_PROGRAMS, default build.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const driver = `${process.env.BARTIZAN_PROGRAMS ?? path('../../build')}/mcp_http_driver`;
assert.ok(existsSync(driver), `${driver} does not exist; build it or set BARTIZAN_PROGRAMS`);

function text(stream, done) {
  let all = '';
  stream.setEncoding('utf8').on('data', (part) => {
    all += part;
    done?.(all);
  });
  return () => all;
}

async function run(kind, mode, transport) {
  const peer = spawn(process.execPath, [path('servers/http.mjs'), kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise((resolve, reject) => {
    text(peer.stdout, (all) => all.includes('\n') && resolve(all.trim()));
    peer.on('exit', () => reject(new Error(`the server ${kind} ended`)));
  });
  const client = spawn(driver, [mode, port, '/mcp', transport], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const report = text(client.stdout);
  const timer = setTimeout(() => client.kill(), 30_000);
  const code = await new Promise((resolve) => client.on('close', resolve));
  clearTimeout(timer);
  peer.kill();
  const events = report()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return { code, events };
}

const legacy = { revision: '2025-11-25', session: false, fellBack: false, resumed: 0 };
const modern = { ...legacy, revision: '2026-07-28' };
const cases = [
  { kind: 'v1', mode: 'legacy', transport: 'streamable', ...legacy, session: true, resumed: 1 },
  {
    ...legacy,
    kind: 'v1',
    mode: 'probe',
    transport: 'streamable',
    session: true,
    fellBack: true,
    resumed: 1,
  },
  { kind: 'v1-json', mode: 'legacy', transport: 'streamable', ...legacy, session: true },
  { kind: 'v1-sse', mode: 'legacy', transport: 'sse', ...legacy },
  { kind: 'v1-sse', mode: 'legacy', transport: 'then-sse', ...legacy },
  { kind: 'v1-sse', mode: 'probe', transport: 'then-sse', ...legacy, fellBack: true },
  { kind: 'v2', mode: 'legacy', transport: 'streamable', ...legacy },
  { kind: 'v2', mode: 'modern', transport: 'streamable', ...modern },
  { kind: 'v2', mode: 'probe', transport: 'streamable', ...modern },
  { kind: 'v2-strict', mode: 'probe', transport: 'streamable', ...modern },
];

for (const expected of cases) {
  const { kind, mode, transport } = expected;
  test(`${mode} client over ${transport}, SDK server ${kind}`, async () => {
    const { code, events } = await run(kind, mode, transport);
    const of = (name) => events.filter((event) => event.event === name);
    const [ready] = of('ready');
    const [sum, none, slow] = of('result');
    const [closed] = of('closed');
    assert.equal(code, 0, JSON.stringify(events));
    assert.deepEqual(of('protocol error'), [], 'the server breaks no rule we enforce');
    assert.equal(ready.revision, expected.revision);
    assert.equal(ready.fellBack, expected.fellBack);
    assert.equal(ready.session !== '', expected.session);
    assert.deepEqual(of('tools')[0].value.map((tool) => tool.name), ['add', 'slow']);
    assert.equal(sum.value.content[0].text, '42');
    assert.ok(none.code === -32602 || none.value.isError);
    assert.equal(of('progress').length, kind === 'v1-json' ? 0 : 1);
    assert.equal(slow.value.content[0].text, 'done');
    assert.equal(closed.resumed, expected.resumed);
    assert.equal(closed.flags, transport === 'then-sse' ? 2 : 0);
    assert.equal(of('listening').length, expected.revision === '2026-07-28' ? 1 : 0);
  });
}

test('eras that do not fit fail with a reason', async () => {
  for (const [kind, mode] of [
    ['v1', 'modern'],
    ['v2-strict', 'legacy'],
  ]) {
    const { code, events } = await run(kind, mode, 'streamable');
    const failed = events.find((event) => event.event === 'failed');
    assert.equal(code, 1);
    assert.ok(failed.message.length > 0);
  }
});
