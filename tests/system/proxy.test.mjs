// `run --defence proxy:`: trials through gateways of other people (two from npm, a filter from PyPI),
// through one that runs already, and through programs that do everything wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { ROOT, program, run } from './programs.mjs';

const bin = (name) => path.join(ROOT, 'tests/system/node_modules/.bin', name);
const python = process.env.BTZ_PYTHON_SDK ?? path.join(ROOT, 'build/python-sdk/bin/python');
const filter = path.join(path.dirname(python), 'bastiongate');
const quoted = (word) => `'${word}'`;
const stub = (words) => `proxy:${quoted(program('gateway_stub'))} ${words}`;

let folder;
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'btz-proxy-'));
  const done = await run('bartizan', ['--store', path.join(folder, 'certified.db'), 'selftest', '--quiet'], { timeout: 240000 });
  assert.equal(done.code, 0, done.err); // once for all stores
});
after(() => rmSync(folder, { recursive: true, force: true }));

function bartizan(store, ...args) {
  if (!existsSync(path.join(folder, store))) {
    copyFileSync(path.join(folder, 'certified.db'), path.join(folder, store));
  }
  return run('bartizan', ['--store', path.join(folder, store), ...args], { timeout: 240000 });
}
const TWO = ['-m', 'ref:reader', '--attack', 'tool-poisoning', '--attack', 'indirect-prompt-injection', '--variant', 'v1', '--revision', 'legacy'];

const rows = async (store, sql) => {
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(path.join(folder, store), { readOnly: true });
  const found = db.prepare(sql).all();
  db.close();
  return found;
};
/** Every trial of a defence, by attack and arm: {outcome, sub, counts}. */
async function trials(store, defence) {
  const found = await rows(store, `SELECT c.attack, c.arm, t.outcome, t.sub, t.utility, v.data FROM trial t
    JOIN cell c ON c.id = t.cell LEFT JOIN verdict v ON v.trial = t.id AND v.source = 'defence' AND v.name = 'counts'
    WHERE c.defence = '${defence.replaceAll("'", "''")}' ORDER BY t.id`);
  return Object.fromEntries(found.map((r) => [`${r.attack} ${r.arm}`,
    { outcome: r.outcome, sub: r.sub, utility: r.utility, counts: r.data ? JSON.parse(Buffer.from(r.data).toString()) : null }]));
}

/** Processes that live and have `word` in their command line. */
function living(word) {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && Number(pid) !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(word);
    } catch {
      return false;
    }
  });
}
const connecting = () => living('connect').filter((pid) => {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === program('bartizan');
  } catch {
    return false;
  }
});
async function noneLives(word) {
  for (let i = 0; i < 200 && living(word).length + connecting().length; i++) {
    await sleep(25);
  }
  assert.deepEqual([living(word), connecting()], [[], []]);
}

test('nothing is lost in two gateways from npm', { timeout: 600000 }, async () => {
  const gateways = [
    // stdio behind it, HTTP before it
    `proxy:${quoted(process.execPath)} ${quoted(bin('mcp-proxy'))} --port {port} -- {command}`,
    // HTTP behind it, stdio before it
    `proxy:${quoted(process.execPath)} ${quoted(bin('supergateway'))} --streamableHttp {url} --logLevel none`,
  ];
  const done = await bartizan('npm.db', 'run', 'quick', ...TWO, '--in-flight', '1', '--json', '--quiet',
    '--defence', 'none', ...gateways.flatMap((g) => ['--defence', g]));
  assert.equal(done.code, 0, done.err);
  const plain = await trials('npm.db', 'none');
  assert.equal(Object.keys(plain).length, 6);
  assert.equal(plain['tool-poisoning attack'].outcome, 'susceptible');
  for (const gateway of gateways) {
    const through = await trials('npm.db', gateway);
    assert.equal(Object.keys(through).length, 6);
    for (const [cell, t] of Object.entries(through)) {
      assert.deepEqual([cell, t.outcome, t.utility], [cell, plain[cell].outcome, plain[cell].utility]);
      assert.ok(t.counts.scans >= 4, cell);
      assert.deepEqual([t.counts.detected, t.counts.blocked, t.counts.failed], [0, 0, 0], `${cell} ${gateway}`);
    }
  }
  await noneLives('--streamableHttp');
});

test('a filter from PyPI', { timeout: 300000 }, async () => {
  assert.ok(existsSync(filter), `${filter} is missing: tests/peers/requirements.txt`);
  const defence = `proxy:${quoted(filter)} run -- {command}`;
  const done = await bartizan('filter.db', 'run', 'quick', ...TWO, '--in-flight', '1', '--quiet', '--defence', defence);
  assert.equal(done.code, 0, done.err);
  const through = await trials('filter.db', defence);
  // It takes e-mail addresses out of what a call sends: of the attacker's mail as of any other.
  assert.equal(through['tool-poisoning attack'].outcome, 'prevented');
  assert.ok(through['tool-poisoning attack'].counts.blocked >= 1);
  assert.equal(through['indirect-prompt-injection attack'].outcome, 'susceptible');
  const found = await rows('filter.db', 'SELECT stage, action FROM finding');
  assert.ok(found.some((f) => f.stage === 'argument' && f.action === 'block'), JSON.stringify(found));
});

/** A gateway that runs already: sends each request on to the address where the trial's servers are. */
function reverseProxy(port) {
  const seen = new Set();
  const server = http.createServer((request, response) => {
    seen.add(request.url);
    const onward = http.request({ host: '127.0.0.1', port, path: request.url.replace('/through', ''), method: request.method,
      headers: { ...request.headers, host: `127.0.0.1:${port}` } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({ server, seen, port: server.address().port })));
}

async function freePort() {
  const server = http.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a gateway that runs already', { timeout: 300000 }, async () => {
  const listen = await freePort();
  const gateway = await reverseProxy(listen);
  const defence = `proxy:http://127.0.0.1:${gateway.port}/through/{server}/mcp`;
  try {
    for (const revision of ['legacy', 'modern']) {
      const store = `url-${revision}.db`;
      const done = await bartizan(store, 'run', 'quick', ...TWO.slice(0, -1), revision, '--in-flight', '1', '--quiet', '--defence', 'none',
        '--defence', defence, '--defence-listen', `127.0.0.1:${listen}`);
      assert.equal(done.code, 0, done.err);
      const plain = await trials(store, 'none');
      for (const [cell, t] of Object.entries(await trials(store, defence))) {
        assert.deepEqual([cell, t.outcome], [cell, plain[cell].outcome]);
        assert.deepEqual([t.counts.detected, t.counts.failed], [0, 0]);
      }
    }
    assert.ok(gateway.seen.has('/through/mailroom/mcp'), [...gateway.seen].join());
  } finally {
    gateway.server.closeAllConnections();
    gateway.server.close();
  }
});

test('what is no gateway is refused before anything runs', async () => {
  const wrong = [
    ['proxy:', /has no word/],
    ['proxy:gateway', /put \{url\} or \{command\} into it/],
    ["proxy:gateway 'x {url}", /quote \('\) is not closed/],
    ['proxy:gateway {url} @/mcp', /with \{port\} only/],
    ['proxy:https://127.0.0.1/mcp', /must begin with http:/],
    ['proxy:http://gateway.example/mcp', /127\.0\.0\.1, localhost/],
    ['proxy:http://127.0.0.1:9/mcp', /--in-flight 1/],
  ];
  for (const [defence, why] of wrong) {
    const done = await bartizan('refused.db', 'run', 'quick', '-m', 'ref:reader', '--defence', defence);
    assert.equal(done.code, 2, `${defence}: ${done.err}`);
    assert.match(done.err, why);
  }
  const url = ['run', 'quick', '-m', 'ref:reader', '--in-flight', '1', '--defence', 'proxy:http://127.0.0.1:9/mcp'];
  assert.match((await bartizan('refused.db', ...url)).err, /needs --defence-listen/);
  assert.match((await bartizan('refused.db', ...url, '--defence-listen', '0.0.0.0:8750')).err, /no authentication/);
  assert.match((await bartizan('refused.db', ...url, '--defence-listen', '8750')).err, /HOST:PORT/);
  assert.match((await bartizan('refused.db', 'run', '-m', 'ref:reader', '--defence-listen', '127.0.0.1:8750')).err, /proxy:URL only/);
});

test('gateways that never come up', { timeout: 300000 }, async () => {
  const one = ['-m', 'ref:reader', '--attack', 'tool-poisoning', '--variant', 'v1'];
  const cases = [
    ['proxy:no-such-gateway {url}', /there is no program "no-such-gateway" in PATH/],
    [stub('exit {url}'), /the gateway exited with status 3; its stderr ends with "stub: no licence"/],
    [stub('endless {url}'), /a line that is too long/],
  ];
  for (const [defence, why] of cases) {
    const done = await bartizan('down.db', 'run', 'quick', ...one, '--defence', defence);
    assert.equal(done.code, 1, done.err);
    assert.match(done.err, why);
    for (const t of Object.values(await trials('down.db', defence))) {
      assert.equal(t.outcome, 'fault');
    }
  }
});

test('a gateway that does not come up at first is started again', { timeout: 120000 }, async () => {
  const count = path.join(folder, 'starts');
  const flaky = path.join(folder, 'flaky.sh');
  writeFileSync(flaky, `#!/bin/sh\n[ -e '${count}' ] || { : > '${count}'; exit 3; }\nexec "$@"\n`, { mode: 0o755 });
  const defence = `proxy:${flaky} {command}`;
  const done = await bartizan('flaky.db', 'run', 'quick', '-m', 'ref:reader', '--attack', 'tool-poisoning', '--variant', 'v1', '--in-flight', '1', '--quiet', '--defence', defence);
  assert.equal(done.code, 0, done.err);
  const all = Object.values(await trials('flaky.db', defence));
  assert.equal(all.length, 3);
  for (const t of all) {
    assert.notEqual(t.outcome, 'fault');
  }
});

test('a gateway that dies in mid-trial is a failure of the defence, not a fault', { timeout: 120000 }, async () => {
  const defence = stub('die -- {command}');
  const done = await bartizan('dies.db', 'run', 'quick', ...TWO, '--quiet', '--defence', defence);
  assert.equal(done.code, 0, done.err);
  const through = await trials('dies.db', defence);
  for (const t of Object.values(through)) {
    assert.notEqual(t.outcome, 'fault');
    assert.ok(t.counts.failed >= 1);
    assert.ok(t.counts.failed <= t.counts.scans, 'what never came was to be judged too');
    assert.equal(t.counts.blocked, 0);
  }
  const shown = await bartizan('dies.db', 'show', 'last', '1');
  assert.match(shown.out, /the connection to the server was lost/);
});

test('scenarios on the wire do not apply', { timeout: 120000 }, async () => {
  const defence = stub('pass -- {command}');
  const done = await bartizan('wire.db', 'run', 'quick', '-m', 'ref:reader', '--surface', 'tr', '--surface', 'ma', '--variant', 'v1',
    '--quiet', '--defence', defence);
  assert.equal(done.code, 0, done.err);
  const why = await rows('wire.db', `SELECT surface, applicable, why FROM cell WHERE surface = 'tr'`);
  assert.ok(why.length > 0);
  for (const cell of why) {
    assert.equal(cell.applicable, 0);
    assert.match(cell.why, /not defined for|adversary is on the wire/);
  }
  assert.ok(why.some((c) => /adversary is on the wire/.test(c.why)));
});

test('Ctrl-C while a gateway is waited for leaves no child, and the run goes on later', { timeout: 120000 }, async () => {
  const store = path.join(folder, 'stopped.db');
  const word = 'word-of-this-test';
  const defence = stub(`hang ${word} {url}`);
  await bartizan('stopped.db', 'list', 'studies');
  for (const signal of ['SIGINT', 'SIGKILL']) {
    const child = spawn(program('bartizan'), ['--store', store, 'run', 'quick', ...TWO, '--in-flight', '1', '--quiet', '--defence', defence], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.on('exit', (code, by) => resolve([code, by])));
    for (let i = 0; i < 400 && living(word).length < 2; i++) {
      await sleep(25); // one is bartizan itself, by its own command line
    }
    await sleep(300);
    const begun = Date.now();
    child.kill(signal);
    assert.deepEqual(await ended, signal === 'SIGINT' ? [130, null] : [null, 'SIGKILL']);
    assert.ok(Date.now() - begun < 8000, 'it did not wait for the gateway');
    await noneLives(word);
    const kept = await rows('stopped.db', 'SELECT count(*) AS n FROM trial');
    assert.equal(kept[0].n, 0, 'no trial was stored');
  }
});

test('a time limit is kept while a gateway is waited for', { timeout: 120000 }, async () => {
  const defence = stub('hang limit {url}');
  await bartizan('limit.db', 'list', 'studies');
  const begun = Date.now();
  const done = await bartizan('limit.db', 'run', 'quick', ...TWO, '--in-flight', '1', '--defence', defence, '--time-limit', '2');
  assert.equal(done.code, 4, done.err);
  assert.ok(Date.now() - begun < 12000, 'a handshake alone may take 20 s');
  assert.equal((await rows('limit.db', 'SELECT count(*) AS n FROM trial'))[0].n, 0, 'no trial was stored');
});

test('a run that was stopped is resumed through its gateway; a replay is refused', { timeout: 120000 }, async () => {
  const store = path.join(folder, 'resumed.db');
  const defence = stub('pass -- {command}');
  await bartizan('resumed.db', 'list', 'studies');
  const child = spawn(program('bartizan'), ['--store', store, 'run', 'quick', '-m', 'ref:reader', '--variant', 'v1', '--in-flight', '1', '--quiet', '--defence', defence], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
  await sleep(700);
  child.kill('SIGINT');
  const code = await ended;
  assert.ok(code === 130 || code === 0, `exit ${code}`);
  const done = await bartizan('resumed.db', 'run', '--resume', 'last', '--quiet');
  assert.ok(done.code === 0 || (code === 0 && done.code === 2), done.err);
  const open = await rows('resumed.db', 'SELECT count(*) AS n FROM cell c WHERE c.applicable AND NOT EXISTS (SELECT 1 FROM trial t WHERE t.cell = c.id)');
  assert.equal(open[0].n, 0);
  const faults = await rows('resumed.db', `SELECT count(*) AS n FROM trial WHERE outcome = 'fault'`);
  assert.equal(faults[0].n, 0);
  const replayed = await bartizan('resumed.db', 'replay');
  assert.equal(replayed.code, 2, replayed.out);
  assert.match(replayed.err, /went through a gateway of somebody else/);
  const verified = await bartizan('resumed.db', 'verify');
  assert.equal(verified.code, 0, verified.err);
});
