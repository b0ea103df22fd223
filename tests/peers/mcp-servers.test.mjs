// Our C client machine (program mcp_driver) against servers on the official SDKs of both eras.
// Needs `npm ci` in this folder and the program: MCP_DRIVER=/path, default build/mcp_driver.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const driver = process.env.MCP_DRIVER ?? path('../../build/mcp_driver');
assert.ok(existsSync(driver), `${driver} does not exist; build it or set MCP_DRIVER`);

// Connects the two processes and gives what the driver saw.
function run(mode, server, ...args) {
  return pair([mode], server, args);
}

async function pair(options, server, args) {
  const peer = spawn(process.execPath, [path(`servers/${server}.mjs`), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const client = spawn(driver, options, { stdio: ['pipe', 'pipe', 'pipe'] });
  let report = '';
  client.stderr.setEncoding('utf8').on('data', (text) => {
    report += text;
  });
  for (const stream of [peer.stdin, client.stdin]) {
    stream.on('error', () => {}); // the other side may end first
  }
  client.stdout.pipe(peer.stdin);
  peer.stdout.pipe(client.stdin);
  const timer = setTimeout(() => client.kill(), 20_000);
  const code = await new Promise((resolve) => client.on('close', resolve));
  clearTimeout(timer);
  peer.kill();
  const events = report
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return { code, events };
}

const cases = [
  { mode: 'legacy', server: 'legacy', revision: '2025-11-25', fellBack: false },
  { mode: 'probe', server: 'legacy', revision: '2025-11-25', fellBack: true },
  { mode: 'legacy', server: 'modern', revision: '2025-11-25', fellBack: false },
  { mode: 'modern', server: 'modern', revision: '2026-07-28', fellBack: false },
  { mode: 'probe', server: 'modern', revision: '2026-07-28', fellBack: false },
  { mode: 'probe', server: 'modern', args: ['strict'], revision: '2026-07-28', fellBack: false },
];

for (const { mode, server, args = [], revision, fellBack } of cases) {
  test(`${mode} client, ${server} SDK server ${args.join(' ')}`, async () => {
    const { code, events } = await run(mode, server, ...args);
    const modern = revision === '2026-07-28';
    assert.equal(code, 0, JSON.stringify(events));
    assert.deepEqual(
      events.filter((e) => e.event === 'protocol error'),
      [],
      'the server breaks no rule we enforce',
    );
    const [ready, tools, resources, read, sum, none, last] = events;
    assert.equal(ready.event, 'ready');
    assert.equal(ready.revision, revision);
    assert.equal(ready.fellBack, fellBack);
    assert.equal(ready.serverInfo.name, server === 'legacy' ? 'sdk-v1' : 'sdk-v2');
    assert.equal(ready.value.instructions, 'add only');
    assert.deepEqual(tools.value.map((tool) => tool.name), ['add']);
    assert.equal(tools.value[0].inputSchema.type, 'object');
    assert.deepEqual(resources.value.map((r) => r.uri), ['peer://note']);
    assert.equal(read.value.contents[0].text, server === 'legacy' ? 'from v1' : 'from v2');
    assert.deepEqual(sum.value.structuredContent, { sum: 42 });
    // v1 reports an unknown tool as a failed result, v2 as an error.
    if (server === 'legacy') {
      assert.equal(none.value.isError, true);
    } else {
      assert.equal(none.code, -32602);
    }
    assert.equal(last.event, modern ? 'listening' : 'result');
  });
}

test('eras that do not fit fail with a reason', async () => {
  for (const [mode, server, ...args] of [
    ['modern', 'legacy'],
    ['legacy', 'modern', 'strict'],
  ]) {
    const { code, events } = await run(mode, server, ...args);
    assert.equal(code, 1);
    assert.equal(events.at(-1).event, 'failed');
    assert.ok(events.at(-1).message.length > 0);
  }
});

// Prompts, completion, and a tool that asks its user: by a request, or by input_required.
for (const era of ['legacy', 'modern']) {
  test(`${era} client is asked by an SDK server`, async () => {
    const { code, events } = await pair([era, 'asks'], 'asks', [era]);
    assert.equal(code, 0, JSON.stringify(events));
    const [ready, prompts, prompt, completion, asked, result] = events;
    assert.equal(ready.event, 'ready');
    assert.deepEqual(prompts.value.map((item) => item.name), ['greet']);
    assert.equal(prompt.value.messages[0].content.text, 'greet ann');
    assert.deepEqual(completion.value.completion.values, ['ann', 'andy']);
    assert.equal(asked.event, era === 'legacy' ? 'asked' : 'input');
    assert.equal(result.event, 'result');
    assert.equal(result.value.content[0].text, 'accept yes');
    assert.equal(events.length, 6);
  });
}
