// A server on SDK v1 (`legacy`) or v2 (`modern`) with a prompt whose argument can be completed, and a
// tool that asks its user first.
import { z } from 'zod';

const names = (value) => ['ann', 'andy', 'bob'].filter((name) => name.startsWith(value));
const greet = ({ who }) => ({
  messages: [{ role: 'user', content: { type: 'text', text: `greet ${who}` } }],
});
const question = {
  message: 'Go on?',
  requestedSchema: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] },
};
const said = ({ action, content }) => ({
  content: [{ type: 'text', text: `${action} ${content?.yes ? 'yes' : 'no'}` }],
});

if (process.argv[2] === 'legacy') {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const { completable } = await import('@modelcontextprotocol/sdk/server/completable.js');
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const server = new McpServer({ name: 'sdk-v1', version: '1.0.0' });
  server.registerPrompt('greet', { argsSchema: { who: completable(z.string(), names) } }, greet);
  server.registerTool('confirm', { description: 'Asks first.', inputSchema: {} }, async () =>
    said(await server.server.elicitInput(question)),
  );
  await server.connect(new StdioServerTransport());
} else {
  const { McpServer, completable, inputRequired } = await import('@modelcontextprotocol/server');
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  serveStdio(
    () => {
      const server = new McpServer({ name: 'sdk-v2', version: '2.0.0' });
      server.registerPrompt(
        'greet',
        { argsSchema: z.object({ who: completable(z.string(), names) }) },
        greet,
      );
      server.registerTool(
        'confirm',
        { description: 'Asks first.', inputSchema: z.object({}) },
        async (_, ctx) => {
          const answer = ctx.mcpReq.inputResponses?.go;
          return answer
            ? said(answer)
            : inputRequired({
                inputRequests: { go: inputRequired.elicit(question) },
                requestState: 'round 1',
              });
        },
      );
      return server;
    },
    { legacy: 'reject' },
  );
}
