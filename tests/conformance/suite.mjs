// Runs the official conformance suite, and our fixture server.
import { spawn } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { program } from '../system/programs.mjs';

export const HERE = path.dirname(fileURLToPath(import.meta.url));
const SUITE = path.join(HERE, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Ends with {code, out}; the exit code is the verdict. Results go to `folder`. */
export function suite(folder, args, timeout = 180_000) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SUITE, ...args, '-o', folder], { stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), timeout);
    let out = '';
    child.stdout.on('data', (d) => (out += d));
    child.stderr.on('data', (d) => (out += d));
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, out });
    });
  });
}

/** A fixture server: {url, lines, stop}. `lines` are the calls that reached it, see fixture.c. */
export async function startFixture() {
  const child = spawn(program('conformance_fixture'), [], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = [];
  const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal })));
  const url = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => reject(new Error(`the fixture ended at once with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('http')) resolve(line);
      else lines.push(line);
    });
  });
  return {
    url,
    lines,
    stop: async () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** One HTTP exchange, body as text and untouched: {status, headers, body}. */
export function exchange(url, method, headers, body = '') {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (d) => (text += d));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** A POST of one message in the legacy era; `session` once there is one. */
export function legacy(url, message, session) {
  const extra = session ? { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' } : {};
  return exchange(url, 'POST', { ...common, ...extra }, JSON.stringify({ jsonrpc: '2.0', ...message }));
}

/** A request of the modern era. */
export function modern(url, id, method, params, capabilities = {}) {
  const name = params.name ?? params.uri;
  const headers = { ...common, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name ? { 'mcp-name': name } : {}) };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  return exchange(url, 'POST', headers, JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }));
}
