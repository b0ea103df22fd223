// Official SDK clients of both eras list and call every tool of the lab's servers over stdio, and
// read every resource.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';

const bartizan = path.join(process.env.BTZ_BUILD_DIR ?? fileURLToPath(new URL('../../build', import.meta.url)), 'bartizan');
const info = { name: 'peer-test', version: '1.0.0' };
const open = new Set();
after(() => Promise.all([...open].map((client) => client.close())));

async function connect(era, server) {
  const command = { command: bartizan, args: ['serve', '--server', server, '--page-size', '2'], stderr: 'inherit' };
  const client = era === 'legacy' ? new LegacyClient(info, { capabilities: {} }) : new ModernClient(info, { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  open.add(client);
  await client.connect(era === 'legacy' ? new LegacyStdio(command) : new ModernStdio(command));
  return client;
}

async function allTools(client) {
  const tools = [];
  let cursor;
  do {
    const result = await client.listTools(cursor === undefined ? undefined : { cursor });
    tools.push(...result.tools);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return [...new Map(tools.map((t) => [t.name, t])).values()];
}

// One call for each tool that must succeed in the world of seed 1.
const calls = {
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
};

const resources = [
  ['fs-workspace', 'file://handbook/onboarding.md'], ['mailroom', 'mail://inbox/unread'], ['repo-host', 'repo://main/README.md'],
  ['notes-memory', 'notes://pinned'], ['sql-ledger', 'ledger://schema'], ['secrets-vault', 'vault://policy'], ['gateway-auth', 'gateway://motd'],
];

for (const era of ['legacy', 'modern']) {
  describe(`${era} SDK client`, () => {
    for (const [server, tools] of Object.entries(calls)) {
      test(`${server}: lists and calls all tools`, { timeout: 30000 }, async () => {
        const client = await connect(era, server);
        const listed = await allTools(client);
        assert.deepEqual(listed.map((t) => t.name).sort(), Object.keys(tools).sort());
        for (const [name, args] of Object.entries(tools)) {
          const result = await client.callTool({ name, arguments: args });
          assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
          assert.ok(result.content.length > 0);
        }
        const wrong = await client.callTool({ name: Object.keys(tools)[0], arguments: { nonsense: 1 } });
        assert.equal(wrong.isError, true, 'arguments that break the schema are an error result');
      });
    }
    test('resources', { timeout: 30000 }, async () => {
      for (const [server, uri] of resources) {
        const client = await connect(era, server);
        const listed = await client.listResources();
        assert.deepEqual(listed.resources.map((r) => r.uri), [uri]);
        const { contents } = await client.readResource({ uri });
        assert.ok(contents[0].text.length > 20);
      }
    });
  });
}
