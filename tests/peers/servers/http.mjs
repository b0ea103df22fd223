// Servers over HTTP on the official SDKs; prints its port. Kinds: v1 (sessions, resumable streams),
// v1-json (no streams), v1-sse (the transport of 2024-11-05), v2 (dual-era), v2-strict (modern only).
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createMcpHandler, McpServer as McpServer2 } from '@modelcontextprotocol/server';
import { McpServer as McpServer1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const kind = process.argv[2];
const numbers = { a: z.number(), b: z.number() };

function withTools(server, schema) {
  server.registerTool(
    'add',
    { description: 'Adds.', inputSchema: schema(numbers) },
    async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
  );
  server.registerTool(
    'slow',
    { description: 'Reports progress, then answers.', inputSchema: schema({}) },
    async (_, context) => {
      const notify = context.sendNotification ?? ((n) => context.mcpReq.notify(n));
      const token = (context._meta ?? context.mcpReq?._meta)?.progressToken;
      await notify({
        method: 'notifications/progress',
        params: { progressToken: token, progress: 1, total: 2 },
      });
      if (kind === 'v1' && context.closeSSEStream) {
        context.closeSSEStream(); // the client has to come back for the answer
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { content: [{ type: 'text', text: 'done' }] };
    },
  );
  return server;
}

const v1 = () => withTools(new McpServer1({ name: 'sdk-v1', version: '1.0.0' }), (shape) => shape);
const v2 = () =>
  withTools(new McpServer2({ name: 'sdk-v2', version: '2.0.0' }), (shape) => z.object(shape));

// Keeps the events of all streams, as the SDK wants it for resumption.
class Events {
  list = [];

  async storeEvent(stream, message) {
    this.list.push({ stream, message });
    return String(this.list.length);
  }

  async getStreamIdForEventId(id) {
    return this.list[Number(id) - 1]?.stream;
  }

  async replayEventsAfter(id, { send }) {
    const { stream } = this.list[Number(id) - 1];
    for (const [index, event] of this.list.entries()) {
      if (index >= Number(id) && event.stream === stream && event.message.jsonrpc) {
        await send(String(index + 1), event.message);
      }
    }
    return stream;
  }
}

const sessions = new Map();

async function streamable(request, response) {
  const id = request.headers['mcp-session-id'];
  let transport = sessions.get(id);
  if (!transport && !id) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: kind === 'v1-json',
      eventStore: kind === 'v1' ? new Events() : undefined,
      retryInterval: 20,
      onsessioninitialized: (session) => sessions.set(session, transport),
    });
    await v1().connect(transport);
  }
  if (!transport) {
    response.writeHead(404).end();
    return;
  }
  await transport.handleRequest(request, response);
}

async function oldTransport(request, response) {
  const url = new URL(request.url, 'http://127.0.0.1');
  if (request.method === 'GET' && url.pathname === '/mcp') {
    const transport = new SSEServerTransport('/messages', response);
    sessions.set(transport.sessionId, transport);
    await v1().connect(transport);
  } else if (request.method === 'POST' && url.pathname === '/messages') {
    await sessions.get(url.searchParams.get('sessionId')).handlePostMessage(request, response);
  } else {
    response.writeHead(405).end();
  }
}

const handler = createMcpHandler(v2, { legacy: kind === 'v2-strict' ? 'reject' : 'stateless' });

async function web(request, response) {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  const abort = new AbortController();
  response.on('close', () => abort.abort());
  const answer = await handler.fetch(
    new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method,
      headers: request.headers,
      body: chunks.length ? Buffer.concat(chunks) : undefined,
      signal: abort.signal,
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  for await (const chunk of answer.body ?? []) {
    response.write(chunk);
  }
  response.end();
}

const serve = kind === 'v1-sse' ? oldTransport : kind.startsWith('v1') ? streamable : web;
const server = createServer((request, response) => {
  serve(request, response).catch((error) => {
    console.error(error);
    response.destroy();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
