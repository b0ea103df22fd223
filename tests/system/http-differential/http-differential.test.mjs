// Compares our HTTP parser with node's (llhttp, as http.createServer and http.request use it) on the
// cases of cases.txt and on connections made by a seeded generator, whole and spoilt. Whatever node
// refuses we must refuse, and what we take node must read the same; we may refuse more.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const programs = process.env.BARTIZAN_PROGRAMS ?? join(here, "../../../build/test-release");
const AT_ONCE = 16;
const DEADLINE_MS = 10_000;
const ANSWER = 299; // what our handlers answer, so that a status of node's own is told from it
const STRICT = { insecureHTTPParser: false, maxHeaderSize: 65536 };

/** Our verdicts: an array of { ok, why, messages }. */
function ask(cases) {
  const input = Buffer.concat(cases.flatMap((c) => [Buffer.from(`${c.kind} ${c.bytes.length}\n`), c.bytes]));
  const run = spawnSync(join(programs, "http_check"), { input, maxBuffer: 1 << 30, timeout: 60_000 });
  assert.equal(run.error, undefined);
  assert.equal(run.status, 0, String(run.stderr));
  const lines = run.stdout.toString("utf8").split("\n");
  assert.equal(lines.pop(), "");
  assert.equal(lines.length, cases.length);
  const text = (hex) => Buffer.from(hex, "hex").toString("latin1");
  return lines.map((line) => {
    const { ok, why, messages } = JSON.parse(line);
    return {
      ok,
      why: text(why),
      messages: messages.map((m) => ({
        start: m.status ? [m.status, text(m.reason)] : [text(m.method), text(m.target)],
        fields: m.fields.flatMap((f) => [text(f.name), text(f.value)]),
        body: m.body,
        close: m.close,
      })),
    };
  });
}

function readBody(stream, whole) {
  const parts = [];
  stream.on("data", (part) => parts.push(part));
  stream.on("error", () => {});
  stream.on("end", () => whole(Buffer.concat(parts).toString("hex"), stream.complete));
}

/** Node's verdict of requests: `judge(bytes)` gives { ok, why, messages } as ask does. */
async function nodeServer() {
  const connections = new Map();
  const server = http.createServer(STRICT);
  server.httpAllowHalfOpen = true; // so that the end of the bytes does not break off what is under way
  const handle = (request, response) => {
    const record = connections.get(request.socket.remotePort);
    const message = {
      start: [request.method, request.url],
      fields: request.rawHeaders,
      close: !response.shouldKeepAlive,
    };
    record.open.push(message);
    readBody(request, (body, complete) => {
      if (complete) message.body = body;
      response.statusCode = ANSWER;
      response.end();
    });
  };
  server.on("request", handle);
  server.on("checkContinue", handle);
  server.on("checkExpectation", handle);
  server.on("clientError", (error, socket) => {
    const record = connections.get(socket.remotePort);
    if (record) record.errors.push(error.code ?? error.message);
    setTimeout(() => socket.destroy(), 2); // what was whole before still has to come through
  });
  server.on("connection", (socket) => {
    if (!connections.has(socket.remotePort)) connections.set(socket.remotePort, { open: [], errors: [] });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const judge = async ({ bytes }) => {
    const socket = net.connect({ port: server.address().port, host: "127.0.0.1", allowHalfOpen: true });
    const answers = [];
    await once(socket, "connect");
    const port = socket.localPort;
    const record = { open: [], errors: [] };
    connections.set(port, record);
    socket.on("data", (part) => answers.push(part));
    socket.on("error", (error) => answers.push(Buffer.from(`\n${error.code}`)));
    socket.on("end", () => socket.end());
    const timer = setTimeout(() => {
      record.errors.push("no end");
      socket.destroy();
    }, DEADLINE_MS);
    socket.end(bytes);
    await once(socket, "close");
    clearTimeout(timer);
    connections.delete(port);
    assert.ok(!record.errors.includes("no end"), `node did not end the connection of ${show(bytes)}`);
    const own = Buffer.concat(answers).toString("latin1").match(/HTTP\/1\.1 (?!299|100)\d+/);
    if (own) record.errors.push(own[0]);
    const messages = record.open.filter((m) => m.body !== undefined);
    if (messages.length < record.open.length) record.errors.push("not whole");
    return { ok: record.errors.length === 0, why: record.errors.join(" "), messages };
  };
  return { judge, close: () => server.close() };
}

/** Node's verdict of responses, read by http.request from a raw socket. */
async function nodeClient() {
  const waiting = [];
  const server = net.createServer((socket) => {
    let seen = "";
    socket.on("error", () => {});
    socket.on("data", (part) => {
      seen += part.toString("latin1");
      const id = /^\w+ \/(\d+) [^]*\r\n\r\n$/.exec(seen)?.[1];
      if (id !== undefined) socket.end(waiting[id]);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const judge = ({ kind, bytes }) =>
    new Promise((resolve, reject) => {
      const id = waiting.push(bytes) - 1;
      const messages = [];
      const message = (r, body) => ({ start: [r.statusCode, r.statusMessage], fields: r.rawHeaders, body });
      const timer = setTimeout(() => reject(new Error(`node hangs on ${show(bytes)}`)), DEADLINE_MS);
      const finish = (why) => {
        clearTimeout(timer);
        request.destroy();
        resolve({ ok: !why, why, messages });
      };
      const request = http.request({
        ...STRICT, host: "127.0.0.1", port: server.address().port, agent: false, path: `/${id}`,
        method: kind === "H" ? "HEAD" : "GET",
      });
      request.on("information", (info) => messages.push(message(info, "")));
      request.on("response", (response) => {
        readBody(response, (body, complete) => {
          if (complete) messages.push(message(response, body));
          finish(complete ? "" : "not whole");
        });
        response.on("aborted", () => finish("aborted"));
        response.on("error", (error) => finish(error.code ?? error.message));
      });
      request.on("error", (error) => finish(error.code ?? error.message));
      request.on("close", () => finish("closed"));
      request.end();
    });
  return { judge, close: () => server.close() };
}

function show(bytes) {
  return JSON.stringify(bytes.toString("latin1").slice(0, 600));
}

/** Judges all cases, a few at once, in order. */
async function judgeAll(peer, cases) {
  const verdicts = [];
  let next = 0;
  const work = async () => {
    while (next < cases.length) {
      const i = next++;
      verdicts[i] = await peer.judge(cases[i]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return verdicts;
}

/** Holds our verdicts against node's; returns how many fell into each class. */
function compareAll(cases, ours, theirs, requests) {
  const tally = { both: 0, neither: 0, onlyNode: 0, messages: 0 };
  const plain = (m) => {
    const { close, ...rest } = m;
    return requests ? m : rest; // node does not say it of a response
  };
  for (const [i, { bytes }] of cases.entries()) {
    const shown = `${show(bytes)}: we ${ours[i].why || "take it"}, node ${theirs[i].why || "takes it"}`;
    assert.ok(!ours[i].ok || theirs[i].ok, `only we take ${shown}`);
    tally[ours[i].ok ? "both" : theirs[i].ok ? "onlyNode" : "neither"]++;
    // A failing http.request drops what it had read of a body: there is nothing to compare then.
    if (!requests && !theirs[i].ok) continue;
    // What we read before a refusal, too, node must have read, and the same.
    assert.ok(ours[i].messages.length <= theirs[i].messages.length, `we read more messages in ${shown}`);
    for (const [j, message] of ours[i].messages.entries()) {
      assert.deepEqual(plain(message), plain(theirs[i].messages[j]), shown);
      tally.messages++;
    }
    if (ours[i].ok) assert.equal(ours[i].messages.length, theirs[i].messages.length, shown);
  }
  return tally;
}

async function compare(t, peer, cases, requests) {
  const tally = compareAll(cases, ask(cases), await judgeAll(peer, cases), requests);
  t.diagnostic(
    `${cases.length} cases: ${tally.both} taken by both (${tally.messages} equal messages), ` +
      `${tally.neither} refused by both, ${tally.onlyNode} refused by us alone`,
  );
  return tally;
}

const NAMED = { r: "\r", n: "\n", t: "\t", "\\": "\\" };

function readCases() {
  const lines = readFileSync(join(here, "cases.txt"), "latin1").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({
      kind: line[0],
      accept: line[1] === "+",
      bytes: Buffer.from(
        line.slice(3).replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex, name) =>
          hex ? String.fromCharCode(parseInt(hex, 16)) : NAMED[name]),
        "latin1",
      ),
    }));
}

/** Counter-based random numbers, so that a failure can be repeated. */
function random(seed) {
  let state = BigInt(seed);
  return (bound) => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return Number(BigInt.asUintN(53, z ^ (z >> 31n)) % BigInt(bound));
  };
}

const METHODS = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD", "TRACE"];
const TARGETS = ["/", "/mcp", "/a/b?c=d", "/%2f%41", "//x", "/a;b=(c)!$&'*+,:@", "/?", "/x?/?"];
const HOSTS = ["a", "a.example", "127.0.0.1:80", "[::1]", "[2001:db8::1]:8080", "localhost:65535", "a-b_c"];
const NAMES = ["X", "Accept", "Content-Type", "Mcp-Session-Id", "Origin", "x-y_z", "Cookie", "TE", "Via", "Trailer"];
const VALUES = ["", "a", "application/json, text/event-stream", "a\tb  c", "\xc3\xa4\xff", "chunked", "5", '"q, \\""', ":", "=;,"];
const pick = (next, list) => list[next(list.length)];

function makeFields(next) {
  let text = "";
  for (let i = next(4); i > 0; i--) {
    text += `${pick(next, NAMES)}:${pick(next, ["", " ", "\t ", " "])}${pick(next, VALUES)}${pick(next, ["", "", " ", "\t"])}\r\n`;
  }
  return text;
}

/** [field line, bytes of the body] */
function makeBody(next) {
  const bytes = () => Array.from({ length: next(next(30) + 1) }, () => pick(next, "ab0\r\n\0{}\xff".split(""))).join("");
  if (next(2) === 0) {
    const body = bytes();
    return [`${pick(next, ["Content-Length", "content-length"])}: ${body.length}\r\n`, body];
  }
  let text = "";
  for (let i = next(4); i > 0; i--) {
    const run = bytes() + "x";
    const size = run.length.toString(16);
    text += `${pick(next, ["", "", "0", "00"])}${next(2) ? size : size.toUpperCase()}\r\n${run}\r\n`;
  }
  return [`Transfer-Encoding: ${pick(next, ["chunked", "Chunked", "chunked"])}\r\n`, `${text}0\r\n\r\n`];
}

function makeRequest(next, last) {
  const [framing, body] = next(3) > 0 ? makeBody(next) : ["", ""];
  const connection = last && next(4) === 0 ? "Connection: close\r\n" : next(5) === 0 ? "Connection: keep-alive, x\r\n" : "";
  return `${pick(next, METHODS)} ${pick(next, TARGETS)} HTTP/1.1\r\n${makeFields(next)}Host: ${pick(next, HOSTS)}\r\n` +
    `${makeFields(next)}${framing}${connection}\r\n${body}`;
}

function makeResponse(next, kind) {
  const status = pick(next, [200, 200, 202, 204, 304, 400, 404, 500]);
  let [framing, body] = next(4) > 0 ? makeBody(next) : ["", "to the end"];
  if (status === 204) framing = "";
  if (kind === "H" || status === 204 || status === 304) body = "";
  if (status === 304) framing = "";
  const interim = next(6) === 0 ? "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" : "";
  return `${interim}HTTP/1.1 ${status} ${pick(next, ["OK", "", "so  so", "\xe4"])}\r\n${makeFields(next)}${framing}\r\n${body}`;
}

const TROUBLE = ["\r", "\n", "\r\n", " ", "\t", "\0", ":", ",", ";", "0", "5", "x", "\x0b", "\x7f", "\xff", "+", "-", "#", "HTTP/1.0",
  "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n", "Host: b\r\n", " folded\r\n",
  ", chunked", "0\r\n\r\n", "Upgrade: x\r\n", "\r\n\r\n", "X : y\r\n", "Connection: upgrade\r\n", "1\r\nz\r\n"];

/** One to three pieces put in, often at the start of a line; bytes taken out or a line repeated. */
function spoil(text, next) {
  for (let i = 1 + (next(2) ? 0 : next(3)); i > 0; i--) {
    const starts = [...text.matchAll(/\r\n/g)].map((m) => m.index + 2);
    const at = starts.length > 0 && next(2) ? pick(next, starts) : next(text.length + 1);
    const kind = next(7);
    if (kind < 5) text = text.slice(0, at) + pick(next, TROUBLE) + text.slice(at + (kind === 4 ? 1 : 0));
    else if (kind === 5) text = text.slice(0, at) + text.slice(at + 1 + next(3));
    else text = text.slice(0, at) + text.slice(at, text.indexOf("\r\n", at) + 2) + text.slice(at);
  }
  return text;
}

function generate(kinds, count, make) {
  const next = random(20250611);
  const cases = [];
  for (let i = 0; i < count; i++) {
    const kind = kinds[i % kinds.length];
    const text = make(next, kind);
    for (const bytes of [text, spoil(text, next), spoil(text, next)]) {
      cases.push({ kind, bytes: Buffer.from(bytes, "latin1"), whole: bytes === text });
    }
  }
  return cases;
}

test("cases.txt: our verdicts are the listed ones", () => {
  const cases = readCases();
  assert.ok(cases.length > 150);
  for (const [i, verdict] of ask(cases).entries()) {
    assert.equal(verdict.ok, cases[i].accept, `${cases[i].kind} ${show(cases[i].bytes)}: ${verdict.why}`);
  }
});

test("requests: what node refuses we refuse, and what we take node reads the same", async (t) => {
  const peer = await nodeServer();
  try {
    const tally = await compare(t, peer, readCases().filter((c) => c.kind === "Q"), true);
    assert.ok(tally.both >= 15 && tally.neither >= 50 && tally.onlyNode >= 20, JSON.stringify(tally));
  } finally {
    peer.close();
  }
});

test("responses: what node refuses we refuse, and what we take node reads the same", async (t) => {
  const peer = await nodeClient();
  try {
    const tally = await compare(t, peer, readCases().filter((c) => c.kind !== "Q"), false);
    assert.ok(tally.both >= 12 && tally.neither >= 10, JSON.stringify(tally));
  } finally {
    peer.close();
  }
});

test("generated requests, whole and spoilt", async (t) => {
  const peer = await nodeServer();
  try {
    const cases = generate("Q", 1500, (next) => {
      const count = 1 + next(3);
      return Array.from({ length: count }, (_, i) => makeRequest(next, i === count - 1)).join("");
    });
    for (const [i, verdict] of ask(cases).entries()) {
      assert.ok(verdict.ok || !cases[i].whole, `${show(cases[i].bytes)}: ${verdict.why}`);
    }
    const tally = await compare(t, peer, cases, true);
    assert.ok(tally.both > 1200 && tally.neither > 500, JSON.stringify(tally));
  } finally {
    peer.close();
  }
});

test("generated responses, whole and spoilt", async (t) => {
  const peer = await nodeClient();
  try {
    const cases = generate("RRRH", 1000, makeResponse);
    for (const [i, verdict] of ask(cases).entries()) {
      assert.ok(verdict.ok || !cases[i].whole, `${show(cases[i].bytes)}: ${verdict.why}`);
    }
    const tally = await compare(t, peer, cases, false);
    assert.ok(tally.both > 600 && tally.neither > 200, JSON.stringify(tally));
  } finally {
    peer.close();
  }
});
