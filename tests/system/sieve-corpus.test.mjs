// The corpus side of the sieve: harvest from real packages and our own lab servers, import, poison, freeze.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import Ajv2020 from './schema/node_modules/ajv/dist/2020.js';
import { ROOT, program, run } from './programs.mjs';

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const validators = new Map();
let folder;
before(() => { folder = mkdtempSync(path.join(tmpdir(), 'btz-sieve-')); });
after(() => rmSync(folder, { recursive: true, force: true }));

const at = (name) => path.join(folder, name);
const lines = (name) => readFileSync(at(name), 'utf8').split('\n').filter((line) => line).map((line) => JSON.parse(line));
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

function valid(name, value) {
  if (!validators.has(name)) {
    validators.set(name, ajv.compile(JSON.parse(readFileSync(path.join(ROOT, 'schemas', `${name}.json`), 'utf8'))));
  }
  assert.ok(validators.get(name)(value), `${name}: ${ajv.errorsText(validators.get(name).errors)}`);
}

async function sieve(code, ...args) {
  const done = await run('bartizan', ['sieve', ...args], { timeout: 120000, env: { OPENAI_API_KEY: 'sk-must-not-leave', TMPDIR: folder } });
  assert.equal(done.code, code, done.err + done.out);
  return done;
}

/** Keys in byte order, as the canonical form has them; the numbers of these servers are small integers. */
function canonical(value) {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(',')}]`;
  }
  if (value !== null && typeof value === 'object') {
    const keys = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

const REAL = [['everything', 'dist/index.js'], ['memory', 'dist/index.js'], ['sequential-thinking', 'dist/index.js']];

function real([name, file]) {
  const home = path.join(ROOT, 'tests/system/sieve/node_modules/@modelcontextprotocol', `server-${name}`);
  const version = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')).version;
  return { label: name, command: [process.execPath, path.join(home, file)],
    package: { registry: 'npm', name: `@modelcontextprotocol/server-${name}`, version } };
}

// Tells in its list what it was started with and what it was sent; lists in two pages, one tool each.
const TELLTALE = `
  const seen = [];
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    seen.push(message.method);
    const result = message.method === 'initialize'
      ? { protocolVersion: message.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'telltale', version: '' } }
      : message.params?.cursor
        ? { tools: [{ name: 'second', inputSchema: { type: 'object' } }] }
        : { tools: [{ name: 'first', description: JSON.stringify({ env: process.env, cwd: process.cwd(), seen }), inputSchema: { type: 'object' } }], nextCursor: 'x' };
    if (message.id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
  });`;

test('nothing is started without --yes', async () => {
  writeFileSync(at('list.yaml'), JSON.stringify({ servers: [{ label: 'a', command: ['sh', '-c', `touch ${at('started')}`] }] }));
  const done = await sieve(2, 'harvest', at('list.yaml'), '--out', at('none.jsonl'));
  assert.match(done.out, /^a: sh -c 'touch .*started'\n$/);
  assert.match(done.err, /nothing was started/);
  assert.ok(!existsSync(at('started')) && !existsSync(at('none.jsonl')));
});

test('real packages, lab servers and a URL are listed; what fails says why', async () => {
  const arena = spawn(program('bartizan'), ['--store', at('store.db'), 'arena', '--http', '127.0.0.1:0', '--server', 'calendar']);
  try {
    const url = await new Promise((resolve, reject) => {
      let said = '';
      const look = (text) => {
        said += text;
        const found = /http:\/\/127\.0\.0\.1:\d+\/\S*calendar\S*/.exec(said);
        if (found) resolve(found[0]);
      };
      arena.stdout.setEncoding('utf8').on('data', look);
      arena.stderr.setEncoding('utf8').on('data', look);
      arena.on('close', () => reject(new Error(said)));
    });
    const servers = [...REAL.map(real),
      { label: 'mailroom', command: [program('bartizan'), 'arena', '--stdio', '--server', 'mailroom'] },
      { label: 'calendar', url },
      { label: 'silent', command: ['sleep', '60'] },
      { label: 'broken', command: ['sh', '-c', 'echo "no key given" >&2; exit 3'] },
      { label: 'missing', command: ['btz-there-is-no-such-program'] }];
    writeFileSync(at('servers.json'), JSON.stringify({ env: { DUMMY: '1' }, servers }));
    const done = await sieve(1, 'harvest', at('servers.json'), '--out', at('harvest.jsonl'), '--yes', '--json', '--timeout', '20', '--jobs', '4',
      '--memory', '50000000'); // a lab server of a build with AddressSanitizer reserves 15 TiB
    const report = JSON.parse(done.out);
    valid('sieve-harvest', report);
    const rows = Object.fromEntries(report.servers.map((row) => [row.label, row]));
    assert.deepEqual(report.servers.filter((row) => row.listed).map((row) => row.label).sort(),
      ['calendar', 'everything', 'mailroom', 'memory', 'sequential-thinking'], done.out);
    assert.equal(rows.memory.tools, 9);
    assert.equal(rows['sequential-thinking'].tools, 1);
    assert.match(rows.silent.why, /no list within 20 s/);
    assert.equal(rows.broken.why, 'it exited with status 3');
    assert.equal(rows.broken.stderr, 'no key given\n');
    assert.equal(rows.missing.started, false);
    assert.match(rows.missing.why, /there is no program/);
    const definitions = lines('harvest.jsonl');
    assert.equal(definitions.length, report.definitions);
    for (const line of definitions) {
      valid('sieve-definition', line);
      assert.equal(line.hash, sha256(canonical(line.tool)), line.tool.name);
      assert.equal(line.id, sha256(`${line.source}\0${canonical(line.tool)}`).slice(0, 16));
    }
    const one = definitions.find((line) => line.source === 'npm:@modelcontextprotocol/server-memory');
    assert.equal(one.package.version, '2026.8.31');
    assert.equal(one.server.name, 'memory-server');

    const again = JSON.parse((await sieve(1, 'harvest', at('servers.json'), '--out', at('harvest.jsonl'), '--yes', '--json', '--timeout', '1')).out);
    assert.equal(again.skipped, 5);
    assert.equal(again.servers.length, 3);
    assert.equal(again.definitions, 0);
    assert.equal(lines('harvest.jsonl').length, definitions.length);
  } finally {
    arena.kill();
  }
});

test('a server gets a private folder, few variables, and no call', async () => {
  writeFileSync(at('tell.json'), JSON.stringify({ env: { A: '1', B: '1' }, servers: [{ label: 't', command: [process.execPath, '-e', TELLTALE], env: { B: '2' } }] }));
  await sieve(0, 'harvest', at('tell.json'), '--out', at('tell.jsonl'), '--yes', '--env', 'C=3', '--env', 'A=9');
  const [first, second] = lines('tell.jsonl');
  assert.equal(second.tool.name, 'second');
  assert.deepEqual(first.server, { name: 'telltale', version: '' });
  const { env, cwd, seen } = JSON.parse(first.tool.description);
  assert.deepEqual(seen, ['initialize', 'notifications/initialized', 'tools/list']);
  assert.equal(env.HOME, cwd);
  assert.equal(env.TMPDIR, cwd);
  assert.ok(cwd.startsWith(path.join(folder, 'bartizan-harvest-')) && !existsSync(cwd));
  assert.deepEqual([env.A, env.B, env.C], ['9', '2', '3']);
  assert.equal(env.OPENAI_API_KEY, undefined);
});

/** Command lines of the processes that run. */
const processes = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
});

/** Starts a harvest of a server that is fine and one that hangs; resolves once it hangs. */
async function hanging(name, mark) {
  writeFileSync(at(`${name}.json`), JSON.stringify({ servers: [
    { label: 'fine', command: [process.execPath, '-e', TELLTALE] },
    { label: 'stuck', command: ['sh', '-c', `setsid sleep ${mark} & sleep ${mark}`] }] }));
  const child = spawn(program('bartizan'), ['sieve', 'harvest', at(`${name}.json`), '--out', at(`${name}.jsonl`), '--yes', '--timeout', '60'],
    { env: { ...process.env, TMPDIR: folder }, stdio: 'ignore' });
  const closed = new Promise((resolve) => child.on('close', resolve));
  const until = Date.now() + 30000;
  const sleeping = () => processes().filter((line) => line.includes(mark) && line.startsWith('sleep')).length;
  while (sleeping() < 2 || !existsSync(at(`${name}.jsonl`)) || statSync(at(`${name}.jsonl`)).size === 0) {
    assert.ok(Date.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { child, closed, sleeping };
}

test('Ctrl-C leaves no process and no folder behind, and keeps what was listed', async () => {
  const { child, closed, sleeping } = await hanging('stop', `86400.${process.pid}`);
  child.kill('SIGINT');
  assert.equal(await closed, 130);
  assert.equal(sleeping(), 0);
  assert.deepEqual(readdirSync(folder).filter((name) => name.startsWith('bartizan-harvest-')), []);
  assert.equal(lines('stop.jsonl').length, 2);
});

test('a harvest that is killed takes its servers with it', async () => {
  const { child, closed, sleeping } = await hanging('kill', `86401.${process.pid}`);
  child.kill('SIGKILL');
  await closed;
  for (const until = Date.now() + 10000; sleeping() > 0;) {
    assert.ok(Date.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test('tools/harvest installs nothing without --yes', async () => {
  const done = await new Promise((resolve) => {
    const child = spawn('python3', [path.join(ROOT, 'tools/harvest'), '--work', at('work'), '--only', 'server-memory']);
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text) => { out += text; });
    child.on('close', (code) => resolve({ code, out }));
  });
  assert.equal(done.code, 2);
  assert.match(done.out, /^npm:@modelcontextprotocol\/server-memory \S+ /m);
  assert.ok(!existsSync(at('work/packages')));
  for (const line of readFileSync(path.join(ROOT, 'tools/harvest.d/servers.jsonl'), 'utf8').trim().split('\n')) {
    const server = JSON.parse(line);
    assert.ok(['npm', 'pypi'].includes(server.registry) && server.package && /^\d/.test(server.version), line);
  }
});

test('an import takes a list, and refuses another file than the known MCPTox', async () => {
  writeFileSync(at('tools.json'), JSON.stringify({ tools: [{ name: 'a' }, { name: 'b', inputSchema: { type: 'object' } }] }));
  const report = JSON.parse((await sieve(0, 'import', at('tools.json'), at('harvest.jsonl'), '--out', at('all.jsonl'), '--source', 'file:mine', '--json')).out);
  valid('sieve-import', report);
  assert.deepEqual(report.files.map((file) => file.kind), ['tools/list result', 'harvest']);
  assert.equal(lines('all.jsonl').length, lines('harvest.jsonl').length + 2);
  assert.equal(lines('all.jsonl')[0].source, 'file:mine');
  writeFileSync(at('tox.json'), JSON.stringify({ data_length: 0, attack_scopes: [], servers: {} }));
  assert.match((await sieve(2, 'import', at('tox.json'), '--out', at('all.jsonl'))).err, /not its sum/);
  const before = lines('all.jsonl').length;
  for (const [nothing, left] of [['{"tools":[]}', 0], ['[{"description":"no name"}]', 1]]) {
    writeFileSync(at('nothing.json'), nothing);
    assert.match((await sieve(2, 'import', at('nothing.json'), '--out', at('all.jsonl'))).err,
      new RegExp(`nothing\\.json: there is no definition in it; ${left} were left out`));
  }
  assert.equal(lines('all.jsonl').length, before);
});

test('nothing comes of nothing: no file, and the reason', async () => {
  writeFileSync(at('empty.jsonl'), '');
  writeFileSync(at('single.json'), JSON.stringify([{ name: 'x', inputSchema: { type: 'object', properties: { a: { enum: [] } }, required: ['a'] } }]));
  await sieve(0, 'import', at('single.json'), '--out', at('single.jsonl'));
  for (const [why, ...args] of [
    [/empty\.jsonl: there is no definition in it/, 'poison', at('empty.jsonl')],
    [/empty\.jsonl: there is no definition in it/, 'poison', at('single.jsonl'), at('empty.jsonl')],
    [/no item can be made of 1 definition of 1 server: too few tools \(1\), no arguments that fit \(1\)/, 'poison', at('single.jsonl')],
    [/empty\.jsonl: there is no definition in it/, 'import', at('empty.jsonl')],
    [/empty\.jsonl: there is nothing to freeze in it/, 'freeze', at('empty.jsonl')],
    [/names no server/, 'harvest', at('empty.jsonl'), '--yes'],
  ]) {
    assert.match((await sieve(2, ...args, '--out', at('nothing-at-all'))).err, why);
    assert.ok(!existsSync(at('nothing-at-all')), args.join(' '));
  }
  for (const command of ['run', 'attack']) {
    const done = await run('bartizan', ['--store', at('empty.db'), 'sieve', command, at('empty.jsonl')], { timeout: 60000 });
    assert.equal(done.code, 2, done.err);
    assert.match(done.err, /empty\.jsonl has no item/);
  }
  assert.match((await run('bartizan', ['--store', at('empty.db'), 'sieve', 'report'], { timeout: 60000 })).err, /no sieve run/);
});

test('poisoned items are the same for a seed, and a frozen set cannot be edited', async () => {
  const report = JSON.parse((await sieve(0, 'poison', at('harvest.jsonl'), '--out', at('items.jsonl'), '--per-definition', '3', '--json')).out);
  valid('sieve-poison', report);
  await sieve(0, 'poison', at('harvest.jsonl'), '--out', at('again.jsonl'), '--per-definition', '3');
  assert.ok(readFileSync(at('items.jsonl')).equals(readFileSync(at('again.jsonl'))));
  await sieve(2, 'poison', at('harvest.jsonl'), '--out', at('items.jsonl')); // never overwritten
  const items = lines('items.jsonl');
  assert.equal(items.length, report.items);
  for (const item of items) {
    valid('sieve-item', item);
    const twin = items.find((other) => other.pair === item.pair && other.kind === 'twin');
    if (item.kind === 'attack') {
      assert.ok(item.operands.every((operand) => JSON.stringify(item.poisoned).includes(JSON.stringify(operand).slice(1, -1))), item.id);
      assert.ok(item.operands.every((operand) => !JSON.stringify(twin.poisoned).includes(JSON.stringify(operand).slice(1, -1))), item.id);
      assert.ok(item.tools.some((tool) => tool.name === item.malicious.tool) && item.malicious.tool !== item.poisoned.name);
    }
  }
  const manifest = JSON.parse((await sieve(0, 'freeze', at('items.jsonl'), '--out', at('frozen'), '--method', 'paper', '--share', '0.3', '--json')).out);
  valid('sieve-manifest', manifest);
  assert.equal(manifest.dev.count + manifest.test.count, items.length);
  assert.equal(manifest.test.sha256, sha256(readFileSync(at('frozen/test.jsonl'))));
  const held = lines('frozen/test.jsonl');
  assert.ok(held.every((item) => item.split === 'test'));
  const pairs = new Set(held.map((item) => item.pair).filter((pair) => pair));
  assert.ok(lines('frozen/dev.jsonl').every((item) => !pairs.has(item.pair)));

  await sieve(0, 'freeze', at('items.jsonl'), '--out', at('grouped'));
  const clusters = new Set(lines('grouped/test.jsonl').map((item) => item.cluster));
  assert.ok(lines('grouped/dev.jsonl').every((item) => !clusters.has(item.cluster)));
  assert.ok(lines('grouped/test.jsonl').every((item) => item.held_out));

  assert.match((await sieve(2, 'freeze', at('items.jsonl'), '--out', at('frozen'))).err, /never written anew/);
  chmodSync(at('frozen/test.jsonl'), 0o644);
  appendFileSync(at('frozen/test.jsonl'), '\n');
  assert.match((await sieve(5, 'freeze', at('frozen/test.jsonl'), '--out', at('other'))).err, /not the one that was frozen/);
});

test('--held-out and --no-held-out divide the families, and exclude each other', async () => {
  const families = async (...args) => {
    const done = await run('bartizan', ['sieve', 'poison', '--list', ...args], { env: { NO_COLOR: '1', COLUMNS: '200' } });
    assert.equal(done.code, 0, done.err);
    return done.out.trimEnd().split('\n').slice(2).map((l) => l.split(/\s+/)[0]);
  };
  const [all, held, others] = [await families(), await families('--held-out'), await families('--no-held-out')];
  assert.ok(held.length > 0 && others.length > 0);
  assert.deepEqual([...held, ...others].sort(), [...all].sort());
  const both = await run('bartizan', ['sieve', 'poison', '--list', '--held-out', '--no-held-out']);
  assert.equal(both.code, 2);
  assert.match(both.err, /--held-out and --no-held-out leave no family together/);
});
