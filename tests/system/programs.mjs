// Finds and runs the programs of the build.
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Path of a built program: in BTZ_BUILD_DIR if set, else the newest one under build/. */
export function program(name) {
  const builds = path.join(ROOT, 'build');
  const folders = process.env.BTZ_BUILD_DIR
    ? [path.resolve(process.env.BTZ_BUILD_DIR)]
    : [builds, ...(existsSync(builds) ? readdirSync(builds).map((d) => path.join(builds, d)) : [])];
  const found = folders
    .map((d) => path.join(d, name))
    .filter((f) => existsSync(f) && statSync(f).isFile());
  if (found.length === 0) {
    throw new Error(
      `${name} is not built: run ninja in a build folder under build/, or set BTZ_BUILD_DIR`,
    );
  }
  return found.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
}

/* A run on a new store certifies all scenarios first, which takes seconds and is the same each time. BTZ_CERTIFIED_STORE
   names a store that holds this and nothing else; a new store of a `run` with the core pack alone begins as its copy. */
function certify(args) {
  const template = process.env.BTZ_CERTIFIED_STORE;
  const store = args[args.indexOf('--store') + 1];
  if (template && args.includes('--store') && args.includes('run') && !args.includes('--pack') && !existsSync(store) &&
      existsSync(path.dirname(store)) && !/unused|refused/.test(store)) {
    copyFileSync(template, store);
  }
}

/** Runs a program to its end: {code, signal, out, err}. A hanging one is aborted (signal SIGABRT). */
export function run(name, args, { env = {}, input = '', timeout = 60000 } = {}) {
  if (name === 'bartizan') {
    certify(args);
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program(name), args, { env: { ...process.env, ...env } });
    const timer = setTimeout(() => child.kill('SIGABRT'), timeout);
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (d) => {
      out += d;
    });
    child.stderr.setEncoding('utf8').on('data', (d) => {
      err += d;
    });
    child.stdin.on('error', () => {}); // it may end before it reads all
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, out, err });
    });
  });
}
