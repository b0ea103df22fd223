// The sample trajectory of the documents is what the commands in it print.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT, run } from './programs.mjs';

let folder;
let page;
const bartizan = (...args) => run('bartizan', ['--store', path.join(folder, 'store.db'), ...args], { timeout: 120000 });
const made = (line) => bartizan(...line.replace(/^bartizan /, '').split(' '));

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-story-'));
  page = readFileSync(path.join(ROOT, 'docs/results/sample-trajectory.md'), 'utf8');
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('the sample trajectory is the output of its commands', async () => {
  const commands = [...page.matchAll(/^bartizan .*$/gm)].map((m) => m[0]);
  assert.equal(commands.length, 2);
  const [begin, show] = commands;
  const done = await made(`${begin} -q`);
  assert.equal(done.code, 0, done.err);
  const story = await made(show);
  assert.equal(story.code, 0, story.err);
  const id = /^# Trial ([0-9a-z]{10})\/\d+:/.exec(story.out)[1];
  const sample = page.slice(page.indexOf('# Trial '));
  const sampleId = /^# Trial ([0-9a-z]{10})\/\d+:/.exec(sample)[1];
  assert.equal(sample.replaceAll(sampleId, id), story.out, `docs/results/sample-trajectory.md is behind: make it anew with its commands`);
  assert.match(page, /scripted/, 'whose trial it is is said');
});

test('a story needs a trial, and Markdown and JSON exclude each other', async () => {
  for (const [args, says] of [[['last', '--annotate'], /name it, as in RUN\/N/], [['last/1', '--markdown'], /give both/], [['last/1', '--annotate', '--json'], /--json alone/], [['last/9999', '--annotate'], /has no trial 9999/]]) {
    const done = await bartizan('show', ...args);
    assert.deepEqual([done.out, says.test(done.err)], ['', true], done.err);
    assert.equal(done.code, 2);
  }
});

test('each trial of each arm has a story; where other packs are loaded it says what is left out', async () => {
  const done = await bartizan('run', 'quick', '-m', 'ref:reader', '--defence', 'combined', '-q');
  assert.equal(done.code, 0, done.err);
  const { trials } = JSON.parse((await bartizan('show', 'last', '--json')).out);
  for (const t of trials) {
    const { code, out, err } = await bartizan('show', `last/${t.n}`, '--annotate', '--markdown');
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`^# Trial [0-9a-z]{10}/${t.n}: ${t.scenario}\n`));
    assert.match(out, /^## Verdicts on the attack$/m);
    assert.match(out, /^Texts that it looked at: \d+;/m);
    assert.equal(/- the act$/m.test(out), t.acted && (t.arm === 'attack' || t.effect), `${t.scenario} ${t.arm}`);
    assert.equal(/^## The payload and its way$/m.test(out), t.arm === 'attack');
    if (t.arm === 'attack' && t.observed) {
      assert.match(out, /^\* put before the model in event \d+: /m, t.scenario);
    }
  }
  const other = await bartizan('--pack', path.join(ROOT, 'tests/packs/unit'), 'show', 'last/1', '--annotate');
  assert.equal(other.code, 0, other.err);
  assert.match(other.out, /packs at hand are not those of the run/);
});
