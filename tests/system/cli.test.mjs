// The command line: what goes to stdout and stderr, exit codes, JSON shapes, errors that help.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync, existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ROOT, program, run } from './programs.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'btz-cli-'));
const store = path.join(folder, 'store.db');
const bartizan = (...args) => run('bartizan', ['--store', store, ...args], { env: { OPENAI_API_KEY: '', NO_COLOR: '1' } });
const json = async (...args) => {
  const done = await bartizan(...args, '--json');
  assert.equal(done.code, 0, done.err);
  return JSON.parse(done.out);
};
const tableFolder = fileURLToPath(new URL('../packs/tools', import.meta.url));
const tables = readdirSync(tableFolder).filter((name) => name.endsWith('.json')).map((name) => JSON.parse(readFileSync(path.join(tableFolder, name))));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

test('help and version', async () => {
  const help = await bartizan('--help');
  assert.equal(help.code, 0);
  for (const word of ['run', 'report', 'show', 'list', 'selftest', 'arena', 'rescore', 'agreement', 'doctor']) {
    assert.match(help.out, new RegExp(`^  ${word} `, 'm'));
    const one = await bartizan(word, '--help');
    assert.equal(one.code, 0);
    assert.match(one.out, /Examples:/);
  }
  const version = await bartizan('--version');
  assert.match(version.out, /^bartizan \d+\.\d+\.\d+\nlibuv /);
  assert.equal((await bartizan()).code, 2, 'no command is wrong use');
});

test('lists have the shapes of the command line contract', async () => {
  const servers = await json('list', 'servers');
  const tools = await json('list', 'tools');
  const resources = await json('list', 'resources');
  const attacks = await json('list', 'attacks');
  const scenarios = await json('list', 'scenarios');
  assert.deepEqual(servers.map((s) => s.id).sort(), tables.map((t) => t.server).sort(), 'one behaviour table for each server');
  for (const table of tables) {
    const names = Object.keys(table.tools).sort();
    assert.deepEqual(tools.filter((t) => t.server === table.server).map((t) => t.name).sort(), names);
    assert.equal(servers.find((s) => s.id === table.server).tools, names.length);
  }
  assert.equal(servers.length, 16);
  assert.equal(tools.length, 75);
  for (const tool of tools) {
    assert.deepEqual(Object.keys(tool), ['server', 'name', 'read_only', 'destructive', 'sink']);
    assert.equal(typeof tool.read_only, 'boolean');
    assert.ok(!(tool.read_only && tool.destructive), `${tool.name} cannot be both`);
  }
  const uris = {
    'fs-workspace': 'file://handbook/onboarding.md', mailroom: 'mail://inbox/unread', 'repo-host': 'repo://main/README.md', 'sql-ledger': 'ledger://schema',
    'notes-memory': 'notes://pinned', 'secrets-vault': 'vault://policy', 'gateway-auth': 'gateway://motd',
  };
  assert.deepEqual(resources.map((r) => r.uri).sort(), servers.map((s) => uris[s.id]).filter(Boolean).sort());
  assert.deepEqual(attacks.map((a) => a.id).sort(), ['configuration-drift', 'confused-agent-misuse', 'consent-fatigue',
    'credential-confusion', 'data-exfiltration', 'direct-prompt-injection', 'elicitation-phishing',
    'full-schema-poisoning', 'indirect-prompt-injection', 'mcp-rebinding', 'memory-poisoning', 'mitm-tamper',
    'protocol-downgrade', 'rug-pull', 'sampling-abuse', 'sandbox-escape', 'schema-inconsistency', 'server-name-squatting',
    'session-hijack', 'slash-command-overlap', 'tool-name-squatting', 'tool-poisoning', 'tool-shadowing', 'vulnerable-client',
    'vulnerable-server']);
  for (const attack of attacks) {
    assert.deepEqual(Object.keys(attack), ['id', 'surface', 'boundary', 'oracle', 'variants', 'owasp', 'atlas', 'cwe']);
    assert.equal(attack.variants, 5);
    const exact = ['schema-inconsistency', 'slash-command-overlap', 'sandbox-escape', 'vulnerable-server', 'mitm-tamper', 'credential-confusion', 'vulnerable-client', 'mcp-rebinding',
      'protocol-downgrade', 'session-hijack'].includes(attack.id);
    assert.equal(attack.oracle, exact ? 'deterministic' : 'semantic', attack.id);
    assert.ok(attack.owasp.every((o) => /^MCP\d\d /.test(o)), 'id and name');
  }
  assert.equal(scenarios.length, 5 * attacks.length);
  assert.ok(scenarios.every((s) => s.id === `${s.attack}/${s.variant}`));
});

test('errors name what was expected, on stderr, with exit 2', async () => {
  const cases = [
    [['rnu'], /did you mean "run"/],
    [['run'], /no model is given: use -m/],
    [['run', 'nosuch', '-m', 'ref:floor'], /no study "nosuch"; studies: quick, all/],
    [['run', 'quick', '-m', 'ref:nobody'], /floor/],
    [['run', 'quick', '-m', 'anthropic:x'], /anthropic/],
    [['run', 'quick', '-m', 'ref:floor', '--attack', 'nosuch'], /--attack nosuch matches no scenario/],
    [['run', 'quick', '-m', 'ref:floor', '--surface', 'st', '--surface', 'zz'], /--surface zz matches no scenario/],
    [['run', 'quick', '-m', 'ref:floor', '--host-profile', 'x'], /profiles: naive, spec, hardened/],
    [['run', 'quick', '-m', 'ref:floor', '--revision', '2023'], /modern \(2026-07-28\)/],
    [['run', 'quick', '-m', 'ref:floor', '--carrier', 'pigeon'], /memory, stdio or http/],
    [['run', 'quick', '-m', 'ref:floor', '--defence', 'gate'], /there is no defence "gate"/],
    [['run', 'quick', '-m', 'ref:floor', '--arch', 'tree'], /react, reflexion or retry/],
    [['run', 'quick', '-m', 'ref:floor', '--reps', '0'], /reps/],
    [['run', 'quick', '-m', 'ref:floor', '--reps', 'many'], /reps/],
    [['run', 'quick', '-m', 'ref:floor', '-m', 'ref:floor'], /given twice/],
    [['run', 'quick', '-m', 'ref:floor', '--in-fligth', '3'], /in-flight/],
    [['run', '--resume', 'last', '-m', 'ref:floor'], /--model cannot go with --resume/],
    [['run', '--resume', 'last'], /no runs yet/],
    [['run', 'qick', '-m', 'ref:floor'], /no study "qick"/],
    [['run', 'quick', '-m', 'openai:x@localhost:8080/v1'], /must begin with http/],
    [['run', 'quick', '-m', 'openai:x@ftp://localhost/v1'], /must begin with http/],
    [['selftest', '--csv'], /has no CSV/],
    [['list'], /./],
    [['list', 'tolls'], /did you mean "tools"/],
    [['run', 'quick', '-m', 'ref:floor', '--pack', path.join(folder, 'nowhere')], /nowhere/],
    [['run', 'quick', '-m', 'ref:floor', '--json', '--csv'], /cannot go together/],
  ];
  for (const [args, expected] of cases) {
    const done = await bartizan(...args);
    assert.equal(done.code, 2, `${args.join(' ')}: exit ${done.code}, ${done.err}`);
    assert.equal(done.out, '', args.join(' '));
    assert.match(done.err, expected, args.join(' '));
  }
  assert.equal((await bartizan('report')).code, 2, 'no run yet');
});

test('no text from outside steers the terminal through an error message or a note', async () => {
  const study = path.join(folder, 'steers.yaml');
  writeFileSync(study, '"na\\e[31mme": x\n"\\u009b\\u202e": y\n');
  const broken = path.join(folder, 'broken.yaml');
  writeFileSync(broken, 'name: least\nhost_profile: "\\e]0;title\\a\\x7f\\u2066"\n');
  const cases = [
    ['run', 'quick', '-m', 'ref:floor', '--defence', 'a\x1b[31m'],
    ['run', 'quick', '-m', 'ref:floor', '--defence', 'proxy:http://127.0.0.1:\x1b[31m/x'],
    ['run', 'quick', '-m', 'ref:floor', '--attack', '\u009b31m\u202e\u2069'],
    ['run', 'quick', '-m', 'nobody\x1b]0;x\x07:m'],
    ['run', study, '-m', 'ref:floor'],
    ['run', broken, '-m', 'ref:floor'],
    ['run', path.join(folder, 'no\x1b[2Jwhere.yaml'), '-m', 'ref:floor'],
    ['show', 'x\x07'],
    ['report', 'x\r\x7f\u0085'],
    ['l\x1b[1mist'],
    ['list', 'tools', '--\x1b[1m'],
  ];
  for (const args of cases) {
    const done = await bartizan(...args);
    const what = JSON.stringify([args, done.err]);
    assert.equal(done.code, 2, what);
    assert.match(done.err, /^bartizan: /, what);
    assert.doesNotMatch(done.err, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/u, what);
    assert.match(done.err, /\ufffd/, `${what} shows that something stood there`);
  }
  const named = path.join(folder, 'sto\x1b[31mre.db');
  const done = await run('bartizan', ['--store', named, 'report']);
  assert.equal(done.code, 2, done.err);
  assert.ok(done.err.includes('sto\ufffd[31mre.db'), JSON.stringify(done.err));
});

test('a closed standard output is an error of every command that prints', async () => {
  for (const words of ['run quick -m ref:floor --attack tool-poisoning', 'selftest', 'list servers', '--version']) {
    const done = await new Promise((resolve) => {
      const child = spawn('/bin/sh', ['-c', `exec "$0" --store "$1" ${words} >&-`, program('bartizan'), store]);
      let err = '';
      child.stderr.setEncoding('utf8').on('data', (d) => { err += d; });
      child.on('close', (code) => resolve({ code, err }));
    });
    assert.equal(done.code, 2, `${words}: ${done.err}`);
    assert.match(done.err, /standard output cannot be written/, words);
  }
});

test('run prints its table on stdout and the run id on stderr', async () => {
  const done = await bartizan('run', 'all', '-m', 'ref:floor', '-m', 'ref:reader', '-m', 'ref:null');
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /tool-poisoning/);
  const id = /run ([0-9a-z]{10}):/.exec(done.err)?.[1];
  assert.ok(id, done.err);
  assert.doesNotMatch(done.err, /\r/, 'no redrawn lines without a terminal');
  assert.equal((await bartizan('report', id)).out, done.out, 'report prints the same table');
  assert.equal((await bartizan('report', id.slice(0, 9))).out, done.out, 'a unique prefix is enough');

  const report = await json('report', 'last');
  const rows = report.rows.filter((r) => r.attack !== null);
  const scenarios = await json('list', 'scenarios');
  const kinds = new Map(); // attack and boundary -> variants that this run's era and carrier have
  for (const s of scenarios) {
    const kind = `${s.attack} ${s.boundary}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  assert.equal(rows.length, kinds.size * 3, 'attacks by boundary x three models');
  for (const row of rows) {
    const { asr, susceptibility, utility } = row.rates;
    const visible = row.boundary === 'V';
    assert.ok(asr.n >= 1 && asr.n <= kinds.get(`${row.attack} ${row.boundary}`) && asr.missing === 0, `${row.model} ${row.attack}`);
    if (visible) {
      assert.equal(asr.k, row.model === 'ref:reader' ? asr.n : 0, `${row.model} ${row.attack}`);
      assert.equal(susceptibility.k, row.model === 'ref:reader' ? asr.n : 0);
    } else if (row.model !== 'ref:null') {
      assert.equal(asr.k, asr.n, `${row.model} ${row.attack}: the host's leniency is enough`);
    }
    assert.equal(row.twins.clean.k, row.model === 'ref:null' ? 0 : asr.n);
    assert.equal(row.twins.benign.k, row.model === 'ref:null' ? 0 : asr.n);
    if (row.model === 'ref:null') {
      assert.equal(utility.k, 0);
    }
    const total = Object.values(row.outcomes).reduce((n, k) => n + k, 0);
    assert.equal(total, asr.n);
  }
  const file = path.join(folder, 'out.csv');
  assert.equal((await bartizan('report', 'last', '--csv', '-o', file)).code, 0);
  assert.ok(readFileSync(file, 'utf8').split('\n').length > 6);
  assert.ok(!existsSync(`${file}.part`));
});

test('show sets apart what the model saw and marks where the payload entered', async () => {
  const list = await json('show', 'last');
  const hit = list.trials.find((t) => t.model === 'ref:reader' && t.outcome === 'susceptible');
  assert.ok(hit);
  const shown = await bartizan('show', 'last', String(hit.n));
  assert.equal(shown.code, 0);
  assert.match(shown.out, /payload/i);
  assert.match(shown.out, /susceptible/);
  const both = await bartizan('show', `last/${hit.n}`);
  assert.equal(both.out, shown.out);
  assert.equal((await bartizan('show', 'last', '9999')).code, 2);
  assert.equal((await bartizan('show', 'last', '0')).code, 2);
});

test('selftest certifies everything and says so in JSON', async () => {
  const done = await bartizan('selftest', '--json');
  const report = JSON.parse(done.out);
  assert.deepEqual(report.checks.filter((c) => !c.passed), []);
  assert.equal(done.code, 0);
  const scenarios = await json('list', 'scenarios');
  assert.ok(scenarios.every((s) => s.certified === true));
});

test('a pack that certification refuses keeps a run from starting', async () => {
  const pack = path.resolve(import.meta.dirname, '../packs/broken/rule1-floor-fires');
  const own = path.join(folder, 'own.db');
  const test1 = await run('bartizan', ['--store', own, 'selftest', '--pack', pack]);
  assert.equal(test1.code, 1, test1.err);
  assert.match(test1.out, /FAILED .*1 floor/);
  const started = await run('bartizan', ['--store', own, 'run', 'quick', '-m', 'ref:floor', '--pack', pack]);
  assert.equal(started.code, 2);
  assert.match(started.err, /certification/);
});

test('a local model that is not running is missing, with the way to get it', async () => {
  const done = await run('bartizan', ['--store', store, 'run', 'quick', '-m', 'local'], { env: { BARTIZAN_LOCAL_DIR: folder } });
  assert.equal(done.code, 3, done.err);
  assert.match(done.err, /make local-model/);
});

test('doctor', async () => {
  const list = await json('doctor');
  assert.ok(list.find((f) => f.what === 'packs' && f.state === 'ok'));
  const blocked = await run('bartizan', ['--store', '/proc/nowhere/store.db', 'doctor']);
  assert.equal(blocked.code, 3);
});


test('the pages about attacks are what the cards give', async () => {
  const done = await new Promise((resolve) => {
    const child = spawn(path.join(ROOT, 'tools/attack-pages'), [program('bartizan'), '--check'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.on('data', (piece) => { err += piece; });
    child.on('close', (code) => resolve({ code, err }));
  });
  assert.equal(done.code, 0, done.err);
});

test('one attack has a page; a wrong name says which is near', async () => {
  const page = await run('bartizan', ['list', 'attacks', 'tool-name-squatting']);
  assert.equal(page.code, 0, page.err);
  assert.match(page.out, /a blind choice succeeds once in 2/);
  for (const [args, words] of [
    [['attacks', 'tool-name-squating'], /did you mean "tool-name-squatting"/],
    [['attacks', ''], /there is no attack ""/],
    [['servers', 'mailroom'], /only attacks have a page/],
    [['attacks', '--markdown'], /page of one attack/],
  ]) {
    const done = await run('bartizan', ['list', ...args]);
    assert.equal(done.code, 2, args.join(' '));
    assert.match(done.err, words);
  }
});

test('a report of selection attacks says what chance would give', async () => {
  const done = await bartizan('run', 'all', '-m', 'ref:floor', '--attack', 'tool-name-squatting', '--attack', 'tool-poisoning', '--quiet');
  assert.equal(done.code, 0, done.err);
  const page = done.out.replaceAll(/\s+/g, ' ');
  assert.match(page, /a blind choice succeeds in tool-name-squatting at v1 1\/2, v2 1\/2/);
  assert.doesNotMatch(page, /blind choice succeeds in tool-poisoning/);
});
