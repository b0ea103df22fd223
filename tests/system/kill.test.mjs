// kill -9 at random moments: no finished trial is lost or asked again, and the end is the same as
// without a kill.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { program, run } from './programs.mjs';
import { startStub } from '../stubs/model-stub.mjs';

const WANTED_KILLS = 30;
const REPS = 17; // 10 scenarios x 3 arms x 17 = 510 trials, one request each

const print = (r) => createHash('sha256').update(JSON.stringify(r.body.messages) + JSON.stringify(r.body.tools ?? null)).digest('hex');
const cellOf = (t) => `${t.scenario} ${t.arm} ${t.repetition}`;

async function trials(store) {
  const done = await run('bartizan', ['--store', store, 'show', 'last', '--json']);
  assert.equal(done.code, 0, done.err);
  return JSON.parse(done.out).trials;
}

test('random kills', { timeout: 300000 }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'btz-kill-'));
  const stub = await startStub({ scenario: { default: { do: 'answer', text: 'Nothing to do.\nANSWER: none' } } });
  const model = `openai:stub-model@${stub.url}`;
  try {
    const whole = path.join(folder, 'whole.db');
    const args = ['run', 'all', '-m', model, '--attack', 'tool-poisoning', '--attack', 'indirect-prompt-injection', '--reps', String(REPS), '--quiet'];
    const first = await run('bartizan', ['--store', whole, ...args, '--in-flight', '1'], { timeout: 120000 });
    assert.equal(first.code, 0, first.err);
    const expected = await trials(whole);
    assert.ok(expected.length >= 500);
    assert.equal(stub.requests().length, expected.length, 'one request a trial');
    const fingerprint = new Map(expected.map((t, i) => [cellOf(t), print(stub.requests()[i])]));
    // Arms whose payload comes later in the trial begin alike: a request tells a group of cells.
    const group = new Map();
    for (const [cell, f] of fingerprint) {
      group.set(f, [...(group.get(f) ?? []), cell]);
    }
    assert.ok([...group.values()].filter((cells) => cells.length === 1).length >= 150, 'most requests tell one cell');

    stub.reset();
    stub.control({ default: { do: 'delay', ms: 90, then: { do: 'answer', text: 'Nothing to do.\nANSWER: none' } } });
    const broken = path.join(folder, 'broken.db');
    await run('bartizan', ['--store', broken, 'selftest', '--quiet'], { timeout: 120000 });
    let kills = 0;
    let begun = false;
    let patience = 0; // grows where the machine is too busy for a trial to end in time
    let finished = new Set();
    for (let round = 0; round < 400; round++) {
      const seen = stub.requests().length;
      const command = !begun ? args : ['run', '--resume', 'last', '--quiet'];
      const child = spawn(program('bartizan'), ['--store', broken, ...command, '--in-flight', '4'], { stdio: 'ignore' });
      const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
      const killed = await Promise.race([ended, sleep(250 + patience + Math.random() * 350).then(() => 'kill')]);
      if (killed === 'kill') {
        child.kill('SIGKILL');
        await ended;
      } else {
        assert.equal(killed, 0);
      }
      for (const request of stub.requests().slice(seen)) {
        assert.ok(!group.get(print(request)).every((cell) => finished.has(cell)), 'a finished cell was asked again');
      }
      let now;
      try {
        now = await trials(broken);
      } catch (e) {
        if (!begun) { patience += 50; continue; } // killed before the run was written
        throw e;
      }
      begun = true;
      const nowFinished = new Set(now.map(cellOf));
      for (const f of finished) {
        assert.ok(nowFinished.has(f), 'a finished trial was lost');
      }
      if (killed === 'kill' && now.length > 0 && now.length < expected.length) {
        kills += 1;
      }
      patience += nowFinished.size === finished.size ? 50 : 0;
      finished = nowFinished;
      if (killed !== 'kill') {
        break;
      }
    }
    assert.ok(kills >= WANTED_KILLS, `only ${kills} kills between the first and the last commit`);
    const verified = await run('bartizan', ['--store', broken, 'verify', '--json']);
    assert.equal(verified.code, 0, verified.out);
    const key = (t) => [cellOf(t), t.trajectory, t.outcome, t.utility].join(' ');
    assert.deepEqual((await trials(broken)).map(key).sort(), expected.map(key).sort());
  } finally {
    await stub.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
