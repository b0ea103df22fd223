// Official MCP clients of both eras against our C server machine (mcp_fixture --full): prompts,
// completion, templates, subscriptions, log levels, and a tool that asks its user first.
// Needs `npm ci` in this folder and the program: MCP_FIXTURE=/path, default build/mcp_fixture.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

const fixture =
  process.env.MCP_FIXTURE ?? fileURLToPath(new URL('../../build/mcp_fixture', import.meta.url));
assert.ok(existsSync(fixture), `${fixture} does not exist; build it or set MCP_FIXTURE`);

const info = { name: 'peer-test', version: '1.0.0' };
const limit = { timeout: 10_000 };
const open = new Set();
after(() => Promise.all([...open].map((client) => client.close())));

async function connect(era, capabilities, answer) {
  const client =
    era === 'legacy'
      ? new LegacyClient(info, { capabilities })
      : new ModernClient(info, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const Stdio = era === 'legacy' ? LegacyStdio : ModernStdio;
  open.add(client);
  if (answer) {
    client.setRequestHandler(era === 'legacy' ? ElicitRequestSchema : 'elicitation/create', answer);
  }
  await client.connect(new Stdio({ command: fixture, args: ['--full'], stderr: 'inherit' }), limit);
  return client;
}

for (const era of ['legacy', 'modern']) {
  describe(`${era} client`, () => {
    test('prompts, completion and templates', async () => {
      const client = await connect(era, {});
      const { prompts } = await client.listPrompts();
      assert.deepEqual(prompts.map((prompt) => prompt.name), ['greet']);
      const got = await client.getPrompt({ name: 'greet', arguments: { who: 'ann' } }, limit);
      assert.equal(got.description, 'ann');
      assert.equal(got.messages[0].content.text, 'Please greet.');
      await assert.rejects(client.getPrompt({ name: 'greet' }, limit), { code: -32602 });
      await assert.rejects(client.getPrompt({ name: 'nobody' }, limit), { code: -32602 });
      const { completion } = await client.complete(
        { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'an' } },
        limit,
      );
      assert.deepEqual(completion, { values: ['ann', 'andy'], total: 2, hasMore: false });
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.equal(resourceTemplates[0].uriTemplate, 'fixture://item/{id}');
      const read = await client.readResource({ uri: 'fixture://item/7' }, limit);
      assert.equal(read.contents[0].text, '7');
      await assert.rejects(client.readResource({ uri: 'fixture://none' }, limit), {
        code: era === 'legacy' ? -32002 : -32602,
      });
    });

    test('a tool that asks its user', async () => {
      const asked = [];
      const client = await connect(era, { elicitation: {} }, async (request) => {
        asked.push(request.params.message);
        return { action: 'accept', content: { yes: true } };
      });
      const result = await client.callTool({ name: 'confirm', arguments: {} }, undefined, limit);
      assert.deepEqual(asked, ['Go on?']);
      assert.equal(result.content[0].text, 'accept yes');
    });

    test('a client that cannot be asked', async () => {
      const client = await connect(era, {});
      const call = client.callTool({ name: 'confirm', arguments: {} }, undefined, limit);
      if (era === 'legacy') {
        assert.equal((await call).isError, true);
      } else {
        await assert.rejects(call, (error) => {
          assert.equal(error.code, -32021);
          assert.deepEqual(error.data.requiredCapabilities, { elicitation: { form: {} } });
          return true;
        });
      }
    });
  });
}

test('legacy client: levels and subscriptions', async () => {
  const client = await connect('legacy', {});
  const logs = [];
  const updates = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, (note) => {
    logs.push(note.params);
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (note) => {
    updates.push(note.params.uri);
  });
  const echo = () => client.callTool({ name: 'echo', arguments: { text: 'x' } }, undefined, limit);
  await client.setLoggingLevel('error', limit);
  await echo();
  await client.setLoggingLevel('warning', limit);
  await client.subscribeResource({ uri: 'fixture://greeting' }, limit);
  await echo();
  await client.unsubscribeResource({ uri: 'fixture://greeting' }, limit);
  await echo();
  await client.ping(limit);
  assert.deepEqual(logs.map((log) => log.level), ['warning', 'warning']);
  assert.deepEqual(logs[0].data, { text: 'x' });
  assert.deepEqual(updates, ['fixture://greeting']);
});
