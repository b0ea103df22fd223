// Clients that are not TypeScript SDKs: the official Python SDK and the MCP Inspector's command
// line, over stdio and HTTP.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bartizan, calls, prompts, resources, ROOT, startArena, stopAll } from './arena.mjs';

const python = process.env.BTZ_PYTHON_SDK ?? path.join(ROOT, 'build/python-sdk/bin/python');
const inspector = path.join(ROOT, 'tests/peers/inspector/node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js');
after(stopAll);

function runProgram(command, args, input) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'pipe' });
    let out = '';
    let err = '';
    child.stdout.on('data', (data) => { out += data; });
    child.stderr.on('data', (data) => { err += data; });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
    child.stdin.end(input ?? '');
  });
}

describe('official Python SDK', () => {
  test('is installed from tests/peers/requirements.txt', () => assert.ok(existsSync(python), `${python} is missing`));
  for (const carrier of ['stdio', 'http']) {
    for (const mode of ['legacy', '2026-07-28']) {
      test(`${mode} over ${carrier}: all tools, resources, prompts`, { timeout: 60000 }, async () => {
        const arena = carrier === 'http' ? await startArena('--page-size', '3') : null;
        const servers = Object.fromEntries(Object.keys(calls).map((label) => [label, arena ? { url: arena.urls[label].href }
          : { command: bartizan, args: ['arena', '--stdio', '--server', label] }]));
        const done = await runProgram(python, [path.join(ROOT, 'tests/peers/python-client.py')], JSON.stringify({ mode, servers, calls, resources, prompts }));
        assert.equal(done.code, 0, done.err);
        let called = 0;
        for (const [label, seen] of Object.entries(JSON.parse(done.out))) {
          assert.deepEqual(seen.failed, [], label);
          assert.deepEqual(seen.tools, Object.keys(calls[label]).sort());
          assert.equal(seen.revision, mode === 'legacy' ? '2025-11-25' : mode);
          if (resources[label]) assert.ok(seen.resource > 20);
          if (prompts[label]) assert.ok(seen.prompt > 0 && (prompts[label][3] === null || seen.completed > 0), label);
          called += seen.called;
        }
        assert.equal(called, 75);
        if (arena) {
          arena.type('end');
          const end = await arena.ended;
          assert.equal(end.code, 0);
          assert.match(end.out, / 75 /);
        }
      });
    }
  }
});

describe('MCP Inspector', () => {
  let arena;
  before(async () => { arena = await startArena(); });
  after(() => arena.child.kill('SIGINT'));
  const inspect = async (...args) => {
    const done = await runProgram(process.execPath, [inspector, ...args]);
    assert.equal(done.code, 0, done.err + done.out);
    return JSON.parse(done.out);
  };
  test('lists the tools of every server', { timeout: 60000 }, async () => {
    let count = 0;
    for (const label of Object.keys(calls)) {
      const { tools } = await inspect(arena.urls[label].href, '--transport', 'http', '--method', 'tools/list');
      assert.deepEqual(tools.map((tool) => tool.name).sort(), Object.keys(calls[label]).sort());
      count += tools.length;
    }
    assert.equal(count, 75);
  });
  test('calls a tool, reads a resource, gets a prompt', { timeout: 30000 }, async () => {
    const sum = await inspect(arena.urls['calc-utils'].href, '--transport', 'http', '--method', 'tools/call', '--tool-name', 'add', '--tool-arg', 'numbers=[1,"2.5"]');
    assert.equal(sum.structuredContent.result, '3.5');
    const read = await inspect(arena.urls['sql-ledger'].href, '--transport', 'http', '--method', 'resources/read', '--uri', 'ledger://tables/customers');
    assert.match(read.contents[0].text, /,/);
    const prompt = await inspect(arena.urls.calendar.href, '--transport', 'http', '--method', 'prompts/get', '--prompt-name', 'plan_day', '--prompt-args', 'date=2026-03-09');
    assert.ok(prompt.messages.length > 0);
  });
  test('takes what `arena config` prints, for stdio and for HTTP', { timeout: 30000 }, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'btz-inspector-'));
    for (const more of [[], ['--http', arena.url.slice('http://'.length)]]) {
      const file = path.join(folder, 'mcp.json');
      const config = await runProgram(bartizan, ['arena', 'config', '--client', 'generic', '--server', 'mailroom', ...more]);
      writeFileSync(file, config.out);
      const listed = await inspect('--config', file, '--server', 'mailroom', '--method', 'tools/call', '--tool-name', 'list_mail');
      assert.ok(listed.structuredContent.messages.length > 0);
    }
    rmSync(folder, { recursive: true });
  });
});
