// The official suite against our server core, and exact answers where the suite looks too lightly.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { legacy, modern, startFixture, suite } from './suite.mjs';

const REVISIONS = ['2025-11-25', '2026-07-28'];
// Asked for by the revision's list of optional scenarios; these have to pass all the same.
const OPTIONAL = {
  '2025-11-25': ['server-session-lifecycle', 'json-schema-2020-12', 'server-sse-polling'],
  '2026-07-28': ['json-schema-2020-12', 'http-header-validation', 'http-custom-header-server-validation'],
};

let folder;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-conformance-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

describe('the suite against our server', { concurrency: 2 }, () => {
  for (const revision of REVISIONS) {
    test(`requirements of ${revision}: none fails`, async () => {
      const fixture = await startFixture();
      const results = path.join(folder, revision);
      const { code, out } = await suite(results, ['server', '--url', fixture.url, '--requirements', revision]);
      const ended = await fixture.stop();
      assert.equal(code, 0, out.slice(-4000));
      assert.equal(ended.code, 0); // and the server was still well
      assert.ok(fixture.lines.some((line) => line === `call test_simple_text ${revision}`));
      for (const scenario of OPTIONAL[revision]) {
        const own = readdirSync(results).filter((name) => name.startsWith(`server-${scenario}-`));
        assert.equal(own.length, 1, scenario);
        const checks = JSON.parse(readFileSync(path.join(results, own[0], 'checks.json'), 'utf8'));
        assert.ok(checks.some((check) => check.status === 'SUCCESS'), scenario);
        assert.deepEqual(checks.filter((check) => ['FAILURE', 'WARNING'].includes(check.status)), [], scenario);
      }
    });
  }
});

describe('where the suite would be content with less', () => {
  let fixture;
  let session;
  before(async () => {
    fixture = await startFixture();
    const hello = await legacy(fixture.url, {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    });
    session = hello.headers['mcp-session-id'];
    assert.match(session, /^[0-9a-f]{40}$/);
    assert.equal((await legacy(fixture.url, { method: 'notifications/initialized' }, session)).status, 202);
  });
  after(() => fixture.stop());

  const info = '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bartizan-conformance","version":"1.0.0"}}';
  // tools-call-simple-text and tools-call-error pass on a server that has neither tool.
  const exact = {
    test_simple_text: '"content":[{"type":"text","text":"This is a simple text response for testing."}]',
    test_error_handling:
      '"isError":true,"content":[{"type":"text","text":"This tool intentionally returns an error for testing"}]',
  };
  for (const [name, result] of Object.entries(exact)) {
    test(`${name}: its result and nothing else, in both eras`, async () => {
      const old = await legacy(fixture.url, { id: 'a', method: 'tools/call', params: { name, arguments: {} } }, session);
      assert.equal(old.status, 200);
      assert.equal(old.headers['content-type'], 'application/json');
      assert.equal(old.body, `{"jsonrpc":"2.0","id":"a","result":{${result}}}`);
      const now = await modern(fixture.url, 5, 'tools/call', { name, arguments: {} });
      assert.equal(now.status, 200);
      assert.equal(now.headers['mcp-session-id'], undefined);
      assert.equal(now.body, `{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete",${result},${info}}}`);
    });
  }

  test('a tool that does not exist is an error, not a result', async () => {
    const old = await legacy(fixture.url, { id: 9, method: 'tools/call', params: { name: 'nowhere' } }, session);
    assert.equal(JSON.parse(old.body).error.code, -32602);
    const now = await modern(fixture.url, 9, 'tools/call', { name: 'nowhere' });
    assert.equal(JSON.parse(now.body).error.code, -32602);
  });

  // These pass when nothing listens at all, so it is shown that the server was really asked.
  const scenarios = {
    'input-required-result-missing-input-response': 1,
    'input-required-result-ignore-extra-params': 1,
    'input-required-result-validate-input': 1, // null instead of an object does not reach the tool
  };
  for (const [scenario, calls] of Object.entries(scenarios)) {
    test(`${scenario} reaches the tool`, async () => {
      const own = await startFixture();
      const { code, out } = await suite(folder, [
        ...['server', '--url', own.url, '--scenario', scenario, '--spec-version', '2026-07-28'],
      ]);
      await own.stop();
      assert.equal(code, 0, out);
      assert.deepEqual(own.lines, Array(calls).fill('call test_input_required_result_elicitation 2026-07-28'));
    });
  }

  const tool = 'test_input_required_result_elicitation';
  const able = { elicitation: { form: {} } };
  const ask = (params) => modern(fixture.url, 3, 'tools/call', { name: tool, arguments: {}, ...params }, able);
  const question =
    '{"jsonrpc":"2.0","id":3,"result":{"resultType":"input_required","inputRequests":{"user_name":{"method":' +
    '"elicitation/create","params":{"mode":"form","message":"What is your name?","requestedSchema":{"type":"object",' +
    `"properties":{"name":{"type":"string"}},"required":["name"]}}}},${info}}}`;
  const named = { user_name: { action: 'accept', content: { name: 'Alice' } } };
  const rounds = [
    ['without answers', {}, question],
    ['with an answer to something else', { inputResponses: { wrong_key: named.user_name } }, question],
    ['with an answer that lacks the field', { inputResponses: { user_name: { action: 'accept', content: {} } } }, question],
    [
      'with the answer, and more that nobody asked for',
      { inputResponses: { ...named, extra: { action: 'accept', content: { foo: 'bar' } } } },
      `{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[{"type":"text","text":"Hello, Alice!"}],${info}}}`,
    ],
    [
      'declined',
      { inputResponses: { user_name: { action: 'decline' } } },
      '{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[{"type":"text",' +
        `"text":"The question was not answered."}],"isError":true,${info}}}`,
    ],
  ];
  for (const [what, params, body] of rounds) {
    test(`a question ${what}`, async () => {
      const got = await ask(params);
      assert.equal(got.status, 200);
      assert.equal(got.body, body);
    });
  }

  test('answers that are none are refused', async () => {
    for (const inputResponses of [{ user_name: 12345 }, null]) {
      const got = await ask({ inputResponses });
      const answer = JSON.parse(got.body);
      assert.notEqual(answer.result?.resultType, 'complete', got.body);
    }
    assert.equal(JSON.parse((await ask({ inputResponses: null })).body).error.code, -32602);
  });

  test('a state is good for its own request only', async () => {
    const call = (name, params) => modern(fixture.url, 4, 'tools/call', { name, arguments: {}, ...params }, able);
    const first = JSON.parse((await call('test_input_required_result_request_state', {})).body).result;
    const answers = { inputResponses: { confirm: { action: 'accept', content: { ok: true } } } };
    const right = await call('test_input_required_result_request_state', { ...answers, requestState: first.requestState });
    assert.match(right.body, /state-ok: confirmed/);
    // Without it the answers count for nothing; for another tool or changed it is refused.
    const without = JSON.parse((await call('test_input_required_result_request_state', answers)).body).result;
    assert.equal(without.resultType, 'input_required');
    for (const [name, requestState] of [
      ['test_input_required_result_tampered_state', first.requestState],
      ['test_input_required_result_request_state', `${first.requestState}x`],
      ['test_input_required_result_request_state', first.requestState.slice(0, -1)],
    ]) {
      const wrong = JSON.parse((await call(name, { ...answers, requestState })).body);
      assert.equal(wrong.error?.code, -32602, name);
    }
  });
});
