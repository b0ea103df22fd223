// The official suite against our client core; and our client against our own server, for what the
// suite does not ask of a client.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { program, run } from '../system/programs.mjs';
import { startFixture, suite } from './suite.mjs';

const REVISIONS = ['2025-11-25', '2026-07-28'];
const OPTIONAL = ['json-schema-2020-12-preservation', 'auth/client-credentials-basic'];
// Authorization as it was before protected-resource metadata: in no frozen list of requirements.
const OLD = ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'];

let folder;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-conformance-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

describe('the suite against our client', { concurrency: 2 }, () => {
  for (const revision of REVISIONS) {
    test(`requirements of ${revision}`, async () => {
      const results = path.join(folder, revision);
      const { code, out } = await suite(results, [
        ...['client', '--command', program('conformance_client'), '--requirements', revision],
      ]);
      assert.equal(code, 0, out.slice(-4000));
      for (const scenario of OPTIONAL) {
        const parent = path.join(results, path.dirname(scenario));
        const own = readdirSync(parent).filter((name) => name.startsWith(`${path.basename(scenario)}-`));
        assert.equal(own.length, 1, scenario);
        const checks = JSON.parse(readFileSync(path.join(parent, own[0], 'checks.json'), 'utf8'));
        assert.ok(checks.some((check) => check.status === 'SUCCESS'), scenario);
        assert.deepEqual(checks.filter((check) => ['FAILURE', 'WARNING'].includes(check.status)), [], scenario);
      }
    });
  }

  for (const scenario of OLD) {
    test(scenario, async () => {
      const { code, out } = await suite(path.join(folder, 'old'), [
        ...['client', '--command', program('conformance_client'), '--scenario', scenario],
        ...['--spec-version', '2025-03-26'],
      ]);
      assert.equal(code, 0, out.slice(-4000));
    });
  }
});

describe('our client uses everything that our server offers', () => {
  for (const revision of REVISIONS) {
    test(`in ${revision}`, async () => {
      const fixture = await startFixture();
      const done = await run('conformance_client', [fixture.url], {
        env: { MCP_CONFORMANCE_PROTOCOL_VERSION: revision, MCP_CONFORMANCE_CONTEXT: '' },
      });
      const ended = await fixture.stop();
      assert.equal(done.code, 0, done.err);
      assert.equal(done.err, '');
      assert.equal(ended.code, 0);
      const lines = done.out.trimEnd().split('\n');
      const modern = revision === '2026-07-28';
      const head = modern ? '{"resultType":"complete",' : '{';
      const said = (text) => lines.filter((line) => line.startsWith(`${head}"content":[{"type":"text","text":${JSON.stringify(text)}}]`)).length;
      // Asked on the way: by a request of the server in one era, by input_required in the other.
      assert.equal(said('LLM response: This is what the model says.'), 2);
      assert.equal(said('User response: action=accept, content={"username":"something","email":"something"}'), 1);
      assert.equal(said('Elicitation completed: action=accept, content={"name":"John Doe","age":30,"score":95.5,"status":"active","verified":true}'), 1);
      assert.equal(said('Hello, something!'), 2);
      assert.equal(said('0 root(s): []'), 1);
      assert.equal(said('state-ok: confirmed'), 2);
      assert.equal(said('something likes something.'), modern ? 1 : 0);
      assert.equal(said('This tool needs revision 2026-07-28.'), modern ? 0 : 3);
      // On streams: one that is closed and taken up again (or stays, in the modern era), and others.
      assert.equal(said('Fetched after the stream was closed.'), 1);
      assert.equal(said('Logged three lines.'), 1);
      assert.equal(said('Progress is complete.'), 1);
      assert.equal(lines.filter((line) => line.includes('"contents":[')).length, 3);
      // One more prompt comes and goes with a tool that is called meanwhile.
      const prompts = lines.filter((line) => line.includes('"messages":[') && !line.includes('I am here for the moment.'));
      assert.equal(prompts.length, 5);
      assert.ok(fixture.lines.every((line) => line.endsWith(` ${revision}`)));
    });
  }
});
