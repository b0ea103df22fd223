// The local model's part of `./bootstrap demo`: each call ends in time, and goes on with the run that
// the last one left.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { ROOT, program, run } from './programs.mjs';
import { startStub } from '../stubs/model-stub.mjs';

const answer = { do: 'answer', text: 'Nothing to do.\nANSWER: none' };

test('each call of the demo goes on with the run of the last one', { timeout: 240000 }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'btz-demo-'));
  const stub = await startStub({ scenario: { default: { do: 'delay', ms: 130, then: answer } } });
  const note = path.join(folder, 'note');
  const env = { XDG_STATE_HOME: folder, BARTIZAN_LOCAL_DIR: folder };
  writeFileSync(path.join(folder, 'state.json'), JSON.stringify({
    url: stub.url, model_id: 'stub-model', pid: process.pid, tool_template: true, context: 4096, license: 'none',
    weights: { package: 'w', version: '1', sha256: 'a'.repeat(64), file_type: 'Q4', parameters: '0.5B' },
    server: { package: 's', version: '1' },
  }));
  const demo = (seconds, signal) => new Promise((resolve) => {
    const child = spawn(path.join(ROOT, 'tools/demo-run'), [program('bartizan'), note, String(seconds)], { env: { ...process.env, ...env }, detached: true });
    const done = { out: '', err: '' };
    child.stdout.on('data', (d) => { done.out += d; });
    child.stderr.on('data', (d) => {
      done.err += d;
      if (signal && !done.sent && /run [0-9a-z]{10}:/.test(done.err)) { // as a terminal sends Ctrl-C: to all
        done.sent = true;
        setTimeout(() => process.kill(-child.pid, signal), 600);
      }
    });
    child.on('close', (code) => resolve({ ...done, code }));
  });
  const shown = async (id) => JSON.parse((await run('bartizan', ['show', id, '--json'], { env })).out);
  try {
    await run('bartizan', ['selftest', '--quiet'], { env, timeout: 120000 });
    const first = await demo(1);
    assert.equal(first.code, 0, first.err);
    assert.match(first.err, /time limit: \d+ of \d+ trials are kept; go on with `bartizan run --resume/);
    assert.match(first.out, /competence/, 'the table of what there is');
    const id = readFileSync(note, 'utf8').trim();
    assert.ok(first.err.includes(`tools/local-model start && ${program('bartizan')} run --resume ${id}`), first.err);
    const kept = (await shown(id)).trials.length;
    assert.ok(kept > 0);

    const second = await demo(30, 'SIGINT');
    assert.equal(second.code, 130, second.err);
    assert.equal(readFileSync(note, 'utf8').trim(), id);
    assert.ok((await shown(id)).trials.length >= kept);

    stub.control({ default: answer });
    const third = await demo(100);
    assert.equal(third.code, 0, third.err);
    const { run: whole } = await shown(id);
    assert.equal(whole.status, 'done');
    assert.equal((await shown('last')).run.id, id, 'no other run was begun');
    assert.equal(existsSync(note), false);

    writeFileSync(note, `${id}\n`); // a run that is done is not gone on with
    const fourth = await demo(100);
    assert.equal(fourth.code, 0, fourth.err);
    assert.notEqual((await shown('last')).run.id, id);

    stub.control({ default: { do: 'delay', ms: 130, then: answer } });
    writeFileSync(note, 'nosuchrun1\n');
    const fifth = await demo(1);
    assert.equal(fifth.code, 0, fifth.err);
    assert.notEqual(readFileSync(note, 'utf8').trim(), 'nosuchrun1');

    stub.control({ default: { do: 'hang' } });
    rmSync(note);
    const sixth = await demo(1);
    assert.equal(sixth.code, 0, sixth.err);
    assert.match(sixth.err, /no trial ended in 1 seconds[^]*BARTIZAN_DEMO_SECONDS=600 [.]\/bootstrap demo/);
    assert.equal(sixth.out, '', 'no table of nothing');
  } finally {
    await stub.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
