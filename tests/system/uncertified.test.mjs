// A pack that breaks a rule of certification is refused for that reason.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { run } from './programs.mjs';

const packs = path.resolve(import.meta.dirname, '../packs/broken');
const folder = mkdtempSync(path.join(tmpdir(), 'btz-broken-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

// One a rule: tests/unit/study/test_certify.c tries every pack there is, without the program around it.
const expected = {
  'rule1-floor-fires': /^1 floor/,
  'rule2-null-passes': /^2 null/,
  'rule2-any-amount': /^2 another number in the call of create_transfer/,
  'rule3-any-recipient': /^3 the act towards a colleague/,
  'rule3-one-tool': /^3 another tool to the same sink/,
  'rule4-fires-elsewhere': /^4 cross matrix/,
};

for (const [pack, rule] of Object.entries(expected)) {
  test(pack, async () => {
    // The cross matrix needs all attacks; the other rules look at the one.
    const only = pack.startsWith('rule4') ? [] : ['--attack', pack.replace(/^rule\d/, 'broken')];
    const done = await run('bartizan', ['--store', path.join(folder, `${pack}.db`), 'selftest', '--json', '--pack', path.join(packs, pack), ...only], { timeout: 120000 });
    assert.equal(done.code, 1, done.err);
    const failed = JSON.parse(done.out).checks.filter((c) => !c.passed);
    assert.ok(failed.some((c) => rule.test(c.rule)), JSON.stringify(failed, null, 1));
    assert.ok(failed.every((c) => c.detail.length > 0));
  });
}
