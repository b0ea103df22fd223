// Certification by several processes: how many there are does not show, and none is left behind.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { program, run } from './programs.mjs';

const pack = path.resolve(import.meta.dirname, '../packs/broken/rule4-fires-elsewhere');
const folder = mkdtempSync(path.join(tmpdir(), 'btz-workers-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

test('the number of workers does not show', { timeout: 300000 }, async () => {
  const results = [];
  for (const workers of ['1', '3']) {
    const store = path.join(folder, `${workers}.db`);
    const done = await run('bartizan', ['--store', store, 'selftest', '--json', '--pack', pack, '--workers', workers], { timeout: 140000 });
    assert.equal(done.code, 1, done.err);
    results.push(JSON.parse(done.out));
  }
  assert.ok(results[0].checks.some((c) => !c.passed) && results[0].checks.some((c) => c.skipped));
  assert.deepEqual(results[1], results[0]);
});

const childrenOf = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
const lives = (pid) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL']) {
  test(`${signal} ends the workers with the program, and the store can be written again`, { timeout: 120000 }, async () => {
    const store = path.join(folder, `${signal}.db`);
    const child = spawn(program('bartizan'), ['--store', store, 'selftest', '--workers', '3'], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.on('exit', (code, by) => resolve(by)));
    let workers = [];
    for (let i = 0; i < 3000 && workers.length < 3; i++) {
      workers = childrenOf(child.pid);
      await sleep(10);
    }
    assert.equal(workers.length, 3);
    child.kill(signal);
    assert.equal(await ended, signal);
    for (let i = 0; i < 500 && workers.some(lives); i++) {
      await sleep(10);
    }
    assert.deepEqual(workers.filter(lives), []);
    const next = await run('bartizan', ['--store', store, 'run', 'quick', '-m', 'ref:floor', '--attack', 'tool-poisoning', '--quiet'], { timeout: 60000 });
    assert.equal(next.code, 0, next.err);
  });
}
