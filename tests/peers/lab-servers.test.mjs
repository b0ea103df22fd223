// Official SDK clients of both eras list and call every tool of every server of the lab, over stdio
// and over Streamable HTTP, and use every resource, template, prompt and completion.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { bartizan, calls, prompts, resources, startArena, stopAll, template } from './arena.mjs';

const info = { name: 'peer-test', version: '1.0.0' };
const open = new Set();
after(async () => {
  await Promise.all([...open].map((client) => client.close()));
  stopAll();
});

const client = (era) => (era === 'legacy' ? new LegacyClient(info, { capabilities: {} })
  : new ModernClient(info, { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } }));

async function connect(era, transport) {
  const one = client(era);
  open.add(one);
  await one.connect(transport);
  return one;
}

// Every item of a list, page by page (the v2 SDK fetches all pages by itself).
async function all(list, key) {
  const items = [];
  let cursor;
  do {
    const result = await list(cursor === undefined ? undefined : { cursor });
    items.push(...result[key]);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return [...new Map(items.map((item) => [item.name, item])).values()];
}

async function callTools(peer, tools) {
  const listed = await all((page) => peer.listTools(page), 'tools');
  assert.deepEqual(listed.map((tool) => tool.name).sort(), Object.keys(tools).sort());
  for (const [name, args] of Object.entries(tools)) {
    const result = await peer.callTool({ name, arguments: args });
    assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
    assert.ok(result.content.length > 0);
  }
  const wrong = await peer.callTool({ name: Object.keys(tools)[0], arguments: { nonsense: 1 } });
  assert.equal(wrong.isError, true, 'arguments that break the schema are an error result');
  await assert.rejects(peer.callTool({ name: 'no_such_tool', arguments: {} }));
  return listed.length;
}

async function readResource(peer, uri) {
  const listed = await peer.listResources();
  assert.deepEqual(listed.resources.map((r) => r.uri), [uri]);
  const { contents } = await peer.readResource({ uri });
  assert.ok(contents[0].text.length > 20);
  await assert.rejects(peer.readResource({ uri: 'nowhere://at/all' }));
}

async function usePrompt(peer, [name, args, argument, typed]) {
  const listed = await peer.listPrompts();
  assert.deepEqual(listed.prompts.map((p) => p.name), [name]);
  const result = await peer.getPrompt({ name, arguments: args });
  assert.ok(result.messages.length > 0 && result.messages[0].content.text.length > 10);
  await assert.rejects(peer.getPrompt({ name, arguments: { ...args, nonsense: 'x' } }), /nonsense/);
  const { completion } = await peer.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value: typed ?? '' } });
  if (typed === null) {
    assert.deepEqual(completion.values, []);
  } else {
    assert.ok(completion.values.length > 0, `${name} completes ${argument}`);
    assert.equal(completion.hasMore, false);
    assert.equal(completion.total, completion.values.length);
  }
}

async function useTemplate(peer) {
  const listed = await peer.listResourceTemplates();
  assert.deepEqual(listed.resourceTemplates.map((t) => t.uriTemplate), [template.uriTemplate]);
  const { contents } = await peer.readResource({ uri: template.uri });
  assert.match(contents[0].text, /,.*\n/);
  const { completion } = await peer.complete({ ref: { type: 'ref/resource', uri: template.uriTemplate }, argument: { name: template.variable, value: template.typed } });
  assert.deepEqual(completion.values, [template.value]);
}

// A mail that arrives nowhere changes the mail room's world: its resource may have changed.
async function subscribe(era, peer) {
  const uri = resources.mailroom;
  const told = new Promise((resolve) => {
    const take = (message) => resolve(message.params.uri);
    if (era === 'legacy') peer.setNotificationHandler(ResourceUpdatedNotificationSchema, take);
    else peer.setNotificationHandler('notifications/resources/updated', take);
  });
  if (era === 'legacy') await peer.subscribeResource({ uri });
  else await peer.listen({ resourceSubscriptions: [uri] });
  await peer.callTool({ name: 'draft_mail', arguments: { subject: 's', body: 'b' } });
  assert.equal(await told, uri);
}

for (const carrier of ['stdio', 'http']) {
  for (const era of ['legacy', 'modern']) {
    describe(`${era} SDK client over ${carrier}`, () => {
      let arena;
      before(async () => {
        if (carrier === 'http') arena = await startArena('--page-size', '2');
      });
      after(async () => {
        if (!arena) return;
        arena.child.kill('SIGINT');
        assert.equal((await arena.ended).code, 130);
      });
      const to = (server) => {
        if (carrier === 'http') return new (era === 'legacy' ? LegacyHttp : ModernHttp)(arena.urls[server]);
        const command = { command: bartizan, args: ['arena', '--stdio', '--server', server, '--page-size', '2'], stderr: 'inherit' };
        return era === 'legacy' ? new LegacyStdio(command) : new ModernStdio(command);
      };
      test('all tools of all servers', { timeout: 60000 }, async () => {
        let count = 0;
        for (const [server, tools] of Object.entries(calls)) {
          const peer = await connect(era, to(server));
          count += await callTools(peer, tools);
          await peer.close();
        }
        assert.equal(count, 75);
      });
      test('resources', { timeout: 30000 }, async () => {
        for (const [server, uri] of Object.entries(resources)) await readResource(await connect(era, to(server)), uri);
      });
      test('prompts and their completion', { timeout: 30000 }, async () => {
        for (const [server, prompt] of Object.entries(prompts)) await usePrompt(await connect(era, to(server)), prompt);
      });
      test('templates and their completion', { timeout: 30000 }, async () => useTemplate(await connect(era, to(template.server))));
      test('subscriptions', { timeout: 30000 }, async () => subscribe(era, await connect(era, to('mailroom'))));
    });
  }
}
