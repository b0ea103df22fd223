// tools/new-server and tools/new-attack: what they write is certified as it stands and shows up in
// every table; what they refuse they say.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT, run } from './programs.mjs';

let folder;
before(() => { folder = mkdtempSync(path.join(tmpdir(), 'btz-scaffold-')); });
after(() => rmSync(folder, { recursive: true, force: true }));

const store = () => ['--store', path.join(folder, 'store.db')];
const guid = (file) => /guid = "([0-9a-f-]{36})"/.exec(readFileSync(file, 'utf8'))[1];

function tool(name, ...args) {
  return new Promise((resolve) => {
    const env = { ...process.env, XDG_STATE_HOME: path.join(folder, 'state') };
    execFile(path.join(ROOT, 'tools', name), args, { env, timeout: 120000 }, (error, out, err) => {
      resolve({ code: error ? error.code : 0, out, err });
    });
  });
}

async function bartizan(...args) {
  const done = await run('bartizan', [...store(), ...args], { timeout: 120000 });
  assert.equal(done.code, 0, done.err + done.out);
  return done.out;
}

test('an empty folder becomes a certified pack', async () => {
  const pack = path.join(folder, 'fresh');
  let done = await tool('new-server', pack, 'room-keys');
  assert.equal(done.code, 0, done.out + done.err);
  assert.match(done.out, /certified/);
  assert.match(done.out, /next: edit .*room-keys\.lua/);
  assert.deepEqual(JSON.parse(readFileSync(path.join(pack, 'tests/room-keys.json'), 'utf8')).server, 'room-keys');
  done = await tool('new-attack', pack, 'st', 'lent-key');
  assert.equal(done.code, 0, done.out + done.err);
  assert.match(done.out, /certified/);
  assert.match(done.out, /bartizan run quick -m ref:reader --pack .* --attack lent-key/);

  const checks = JSON.parse(await bartizan('selftest', '--json', '--pack', pack)).checks.filter((c) => c.scenario === 'lent-key/v1');
  assert.ok(checks.length > 20 && checks.every((c) => c.passed), JSON.stringify(checks.filter((c) => !c.passed)));
  const attacks = JSON.parse(await bartizan('list', 'attacks', '--json', '--pack', pack));
  assert.deepEqual(attacks.filter((a) => a.id === 'lent-key').map((a) => [a.surface, a.boundary, a.variants]), [['st', 'V', 1]]);
  const tools = await bartizan('list', 'tools', '--pack', pack);
  assert.match(tools, /room-keys +add_item .*room-keys\.items/);
  assert.match(await bartizan('run', 'quick', '-m', 'ref:reader', '--pack', pack, '--attack', 'lent-key'), /^lent-key +1\/1 +0 +100\.0%/m);
  assert.match(await bartizan('run', 'quick', '-m', 'ref:floor', '--pack', pack, '--attack', 'lent-key'), /^lent-key +0\/1 +0 +0\.0%/m);
});

// Where an attacker of a surface stands: the payload's address and who writes it.
const places = {
  ma: { at: /at = \{ turn = 1 \}/, attacker: 'user', boundary: 'V' },
  cl: { at: /at = \{ server = "addon-x", prompt = "polish_text", field = "name" \}/, attacker: 'addon-x', boundary: 'B' },
  st: { at: /at = \{ server = "addon-x", tool = "usage_metrics", field = "description" \}/, attacker: 'addon-x', boundary: 'V' },
  tr: { at: /at = \{ server = "fs-workspace", wire = "request" \}/, attacker: 'wire', boundary: 'B' },
};

test('every surface gives a certified attack of its own kind, with a mark of its own', async () => {
  const pack = path.join(folder, 'surfaces');
  const marks = new Set();
  const last = Object.keys(places).at(-1);
  const longest = (surface) => `${surface}-${'long-'.repeat(9)}`.slice(0, 40);
  for (const [surface, place] of Object.entries(places)) {
    for (const id of [`try-${surface}`, longest(surface)]) { // two of a surface, which must not set each other off
      // All eight are certified together, with the last.
      const whole = surface === last && id !== `try-${surface}`;
      const done = await tool('new-attack', pack, surface, id, ...(whole ? [] : ['--no-selftest']));
      assert.equal(done.code, 0, done.out + done.err);
      assert.equal(/certified: core pack and this one/.test(done.out), whole);
      const file = path.join(pack, 'attacks', surface, `${id}.lua`);
      const card = readFileSync(file, 'utf8');
      assert.deepEqual(card.match(/ at = \{[^}]*\}/g).length, 1);
      assert.match(card, place.at);
      assert.ok(card.includes(`attacker = "${place.attacker}"`), surface);
      assert.equal(/^ +relay = /m.test(card), surface === 'tr');
      marks.add(guid(file));
    }
  }
  assert.equal(marks.size, 8);
  const attacks = JSON.parse(await bartizan('list', 'attacks', '--json', '--pack', pack));
  for (const [surface, place] of Object.entries(places)) {
    const own = attacks.filter((a) => a.id === `try-${surface}`);
    assert.deepEqual(own.map((a) => [a.surface, a.boundary]), [[surface, place.boundary]]);
  }
});

test('printed commands can be pasted, whatever the folder is called', async () => {
  const pack = path.join(folder, "Jo's packs $HOME");
  const done = await tool('new-attack', pack, 'st', 'lent-key', '--no-selftest');
  assert.equal(done.code, 0, done.out + done.err);
  const [, command] = /^ {2}bartizan (run quick .*)$/m.exec(done.out);
  const words = await new Promise((resolve, reject) => {
    execFile('sh', ['-c', `printf '%s\\n' ${command}`], (error, out) => (error ? reject(error) : resolve(out.trim().split('\n'))));
  });
  assert.deepEqual(words, ['run', 'quick', '-m', 'ref:reader', '--pack', pack, '--attack', 'lent-key']);
});

test('what cannot be is refused and nothing is written', async () => {
  const pack = path.join(folder, 'refused');
  const cases = [
    [2, /there is no surface "web"; it is one of ma/, 'new-attack', pack, 'web', 'some-attack'],
    [2, /lower-case words with hyphens/, 'new-attack', pack, 'st', 'Some_Attack'],
    [2, /the core pack has an attack tool-poisoning; .*extends/, 'new-attack', pack, 'st', 'tool-poisoning'],
    [2, /lower-case words with hyphens/, 'new-server', pack, '../escape'],
    [2, /lower-case words with hyphens/, 'new-server', pack, 'x'.repeat(41)],
    [2, /the core pack has a server mailroom/, 'new-server', pack, 'mailroom'],
    [2, /are taken/, 'new-server', pack, 'wire'],
    [2, /required: ID/, 'new-server', pack],
    [2, /DIR: names no folder; write \. for the current one/, 'new-server', '', 'room-keys'],
    [2, /DIR: names no folder/, 'new-attack', '', 'st', 'lent-key'],
  ];
  for (const [code, message, ...args] of cases) {
    const done = await tool(...args);
    assert.equal(done.code, code, args.join(' '));
    assert.match(done.err, message);
    assert.equal(existsSync(pack), false, args.join(' '));
  }
  writeFileSync(path.join(folder, 'a-file'), '');
  assert.match((await tool('new-server', path.join(folder, 'a-file'), 'room-keys')).err, /is not a folder/);
  assert.match((await tool('new-server', path.join(folder, 'a-file/below'), 'room-keys')).err, /a-file is not a folder/);
});

test('a folder that cannot be written to is named', { skip: process.getuid() === 0 && 'root may write everywhere' }, async () => {
  const shut = path.join(folder, 'shut');
  mkdirSync(shut, { mode: 0o555 });
  for (const args of [['new-server', shut, 'room-keys'], ['new-attack', path.join(shut, 'deep/er'), 'st', 'lent-key']]) {
    const done = await tool(...args);
    assert.equal(done.code, 2, args.join(' '));
    assert.ok(done.err.includes(`the folder ${shut} cannot be written to; it must be writable`), done.err);
    assert.doesNotMatch(done.err, /Errno/);
  }
});

test('a file that exists is kept', async () => {
  const pack = path.join(folder, 'kept');
  mkdirSync(path.join(pack, 'servers'), { recursive: true });
  mkdirSync(path.join(pack, 'attacks/ma'), { recursive: true });
  writeFileSync(path.join(pack, 'servers/room-keys.lua'), '-- mine\n');
  writeFileSync(path.join(pack, 'attacks/ma/lent-key.lua'), '-- mine\n');
  let done = await tool('new-server', pack, 'room-keys');
  assert.equal(done.code, 2);
  assert.match(done.err, /room-keys\.lua exists already/);
  done = await tool('new-attack', pack, 'st', 'lent-key'); // on another surface
  assert.equal(done.code, 2);
  assert.match(done.err, /lent-key\.lua exists already/);
  assert.equal(readFileSync(path.join(pack, 'servers/room-keys.lua'), 'utf8'), '-- mine\n');
  assert.deepEqual(readdirSync(pack).sort(), ['attacks', 'servers']);
});

test('a pack that does not certify is told', async () => {
  const pack = path.join(folder, 'broken');
  mkdirSync(path.join(pack, 'servers'), { recursive: true });
  writeFileSync(path.join(pack, 'servers/bad.lua'), 'return server { id = "bad" }\n');
  const done = await tool('new-attack', pack, 'st', 'lent-key');
  assert.equal(done.code, 1);
  assert.match(done.out, /servers\/bad\.lua:1/);
  assert.match(done.out, /not certified/);
});

test('help has examples', async () => {
  for (const name of ['new-server', 'new-attack']) {
    const done = await tool(name, '--help');
    assert.equal(done.code, 0);
    assert.match(done.out, new RegExp(`examples:\\n +tools/${name} my-pack `));
  }
});
