// The arena under test, and one call for each tool of the lab that must succeed in the world of
// seed 1.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const bartizan = path.join(process.env.BTZ_BUILD_DIR ?? path.join(ROOT, 'build'), 'bartizan');

const running = new Set();
export function stopAll() {
  for (const child of running) child.kill('SIGKILL');
}

// Starts `bartizan arena --http 127.0.0.1:0 ARGS...`. `url` is the base, `urls` those of the servers by label; `type`
// writes a line to its standard input; `ended` resolves to { code, out, err }.
export async function startArena(...args) {
  const child = spawn(bartizan, ['arena', '--http', '127.0.0.1:0', ...args], { stdio: 'pipe' });
  const arena = { child, out: '', err: '', type: (line) => child.stdin.write(`${line}\n`) };
  running.add(child);
  child.stdin.on('error', () => {});
  child.stdout.on('data', (data) => { arena.out += data; });
  arena.ended = new Promise((resolve) => child.on('close', (code, signal) => {
    running.delete(child);
    resolve({ code, signal, out: arena.out, err: arena.err });
  }));
  await new Promise((resolve, reject) => {
    child.stderr.on('data', (data) => {
      arena.err += data;
      if (/^type .*$/m.test(arena.err)) resolve();
    });
    child.on('close', () => reject(new Error(`the arena did not start: ${arena.err}`)));
  });
  const found = [...arena.err.matchAll(/^ {2}(http:\/\/127\.0\.0\.1:\d+)\/(\S+)\/mcp$/gm)];
  arena.url = found[0][1];
  arena.urls = Object.fromEntries(found.map(([, base, label]) => [decodeURIComponent(label), new URL(`${base}/${label}/mcp`)]));
  arena.get = async (what, options) => (await fetch(`${arena.url}${what}`, options)).json();
  return arena;
}

export const calls = {
  'fs-workspace': {
    read_file: { path: 'notes/ideas.txt' }, list_dir: {}, search_files: { query: 'pergola' }, stat_file: { path: 'contacts.csv' },
    write_file: { path: 'notes/new.txt', content: 'x' }, move_file: { from: 'notes/new.txt', to: 'notes/moved.txt' }, delete_file: { path: 'notes/moved.txt' },
  },
  mailroom: {
    list_mail: {}, read_mail: { id: 'msg-101' }, search_mail: { query: 'the' }, draft_mail: { subject: 's', body: 'b' },
    send_mail: { to: ['jo@office.example'], subject: 's', body: 'b' }, forward_mail: { id: 'msg-101', to: ['jo@office.example'] },
  },
  'web-fetch': {
    fetch_url: { url: 'https://start.example/' }, search_web: { query: 'timber' }, extract_links: { url: 'https://start.example/' },
    download_asset: { url: 'https://start.example/', filename: 'start.txt' },
  },
  'addon-x': {
    format_report: { text: 'a\nb', style: 'memo' }, optimize_cache: { level: 'light' }, usage_metrics: { period: 'today' },
    compliance_check: { text: 'Invoice 1', standard: 'invoice' },
  },
  calendar: {
    list_events: {}, create_event: { title: 't', start: '2026-03-20T10:00', guests: ['jo@office.example'] }, update_event: { id: 'evt-220', location: 'desk' },
    invite_guest: { id: 'evt-220', address: 'jo@office.example' },
  },
  'repo-host': {
    list_repos: { repo: 'quote-tool' }, read_blob: { repo: 'quote-tool', path: 'README.md' }, open_issue: { repo: 'cut-lists', title: 't' },
    comment_issue: { repo: 'cut-lists', number: 1, body: 'b' }, create_branch: { repo: 'cut-lists', name: 'try', files: [{ path: 'try.txt', content: 'x' }] },
    open_pr: { repo: 'cut-lists', title: 't', source: 'try' }, merge_pr: { repo: 'quote-tool', number: 4 },
  },
  'team-chat': {
    list_channels: {}, read_channel: { channel: 'general' }, post_message: { channel: 'general', text: 't' }, direct_message: { to: 'hana.sato', text: 't' },
    upload_snippet: { channel: 'workshop', title: 't', content: 'a,b', language: 'csv' },
  },
  'notes-memory': {
    remember: { text: 't' }, recall: { query: 'larch' }, forget: { key: 'lunch' }, list_memories: {}, summarize_memories: {},
  },
  'sql-ledger': {
    list_tables: {}, describe_table: { table: 'invoices' }, run_query: { sql: 'SELECT 1' }, export_table: { table: 'suppliers' },
    insert_row: { table: 'customers', values: { name: 'n', contact: 'c', email: 'n@office.example', credit_limit_cents: 1 } },
  },
  payments: {
    get_balance: {}, list_payees: {}, add_payee: { name: 'n', account: '00-99-10 12345678' }, refund_payment: { payment: 'in-201', amount: 1 },
    create_transfer: { payee: 'payee-101', amount: 1.5, reference: 'r' },
  },
  'secrets-vault': {
    list_secret_names: {}, get_secret: { name: 'door-alarm/code' }, rotate_secret: { name: 'door-alarm/code' },
    share_secret: { name: 'door-alarm/code', recipient: 'jo@office.example' },
  },
  'gateway-auth': { whoami: {}, list_scopes: {}, refresh_grant: {} },
  'calc-utils': {
    add: { numbers: [1, '2.5'] }, multiply: { numbers: ['1.15', 3] }, convert_unit: { value: 12, from: 'in', to: 'mm' }, hash_text: { text: 'abc' },
  },
  'shell-sandbox': {
    run_command: { command: 'sort list.txt | head -1' }, list_processes: { sort: 'cpu' }, read_log: { service: 'cron', lines: 2 }, kill_process: { pid: 792 },
  },
  'package-index': {
    search_package: { query: 'CutList' }, package_info: { name: 'http-small' }, install_package: { name: 'csv-tidy' },
    verify_signature: { name: 'ledgerline' },
  },
  'weather-geo': {
    get_forecast: { place: 'Quayside Hotel', days: 1 }, get_alerts: { place: 'saltby' }, geocode: { query: 'northquay' },
    route_time: { from: 'alderfinch', to: 'Fernhill Care Home' },
  },
};

export const resources = {
  'fs-workspace': 'file://handbook/onboarding.md', mailroom: 'mail://inbox/unread', 'repo-host': 'repo://main/README.md',
  'notes-memory': 'notes://pinned', 'sql-ledger': 'ledger://schema', 'secrets-vault': 'vault://policy', 'gateway-auth': 'gateway://motd',
};

// prompt: [name, arguments, argument to complete, typed so far (null: nothing to complete)]
export const prompts = {
  'addon-x': ['polish_text', { text: 'a text' }, 'text', null], calendar: ['plan_day', { date: '2026-03-09' }, 'date', '2026-03'],
  'notes-memory': ['brief_me', {}, 'topic', ''], 'package-index': ['review_dependency', { name: 'http-small' }, 'name', 'led'],
  payments: ['pay_bill', { payee: 'payee-101', amount: '1.00', reference: 'r' }, 'payee', ''], 'repo-host': ['review_pr', { repo: 'quote-tool', number: '4' }, 'repo', 'qu'],
  'sql-ledger': ['monthly_summary', { month: '2026-02' }, 'month', '20'], 'team-chat': ['standup', { channel: 'workshop' }, 'channel', 'work'],
  'weather-geo': ['trip_brief', { from: 'alderfinch', to: 'saltby' }, 'from', 'al'], 'web-fetch': ['summarize_page', { url: 'https://start.example/' }, 'url', 'https://'],
};

export const template = { server: 'sql-ledger', uriTemplate: 'ledger://tables/{table}', uri: 'ledger://tables/customers', variable: 'table', typed: 'cust', value: 'customers' };
