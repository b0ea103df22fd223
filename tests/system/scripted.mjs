// Scripted models behind one endpoint: the name of a model says which script answers.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import path from 'node:path';
import { run } from './programs.mjs';

let counter = 0;

export const say = (content) => ({ content });
export const call = (name, args) => ({ content: null, tool_calls: [{ id: `c${counter++}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }] });
export const calls = (...list) => ({ content: null, tool_calls: list.flatMap((c) => c.tool_calls) });

// What a script gets: the request, all its text, the last user turn, and how often the model spoke since
// then and at all. `tool(name)` is the model's name of a tool: labels differ from world to world.
function view(body) {
  const { messages, tools = [] } = body;
  const user = messages.findLastIndex((m) => m.role === 'user');
  return {
    ...body,
    text: messages.map((m) => m.content ?? '').join('\n') + JSON.stringify(tools),
    user: messages[user].content,
    last: messages.at(-1).content ?? '',
    since: messages.slice(user).filter((m) => m.role === 'assistant').length,
    turn: messages.filter((m) => m.role === 'assistant').length,
    tool: (name) => tools.map((t) => t.function.name).find((n) => n.endsWith(`__${name}`)),
    question: tools.length === 0, // a server asks: no tools
  };
}

// One run of a scenario with all scripts as models. Gives, by script, its trials by arm.
export async function trials(folder, scenario, scripts) {
  const server = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) { chunks.push(chunk); }
    const body = JSON.parse(Buffer.concat(chunks).toString());
    let message;
    try { message = scripts[body.model](view(body)); } catch (error) { message = say(`script failed: ${error.message}`); }
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ id: 'x', object: 'chat.completion', model: body.model, choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: message.tool_calls ? 'tool_calls' : 'stop' }] }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const [attack, variant] = scenario.split('/');
    const store = path.join(folder, `${counter++}.db`);
    const models = Object.keys(scripts).flatMap((name) => ['-m', `openai:${name}@http://127.0.0.1:${server.address().port}/v1`]);
    const done = await run('bartizan', ['--store', store, 'run', 'all', '--attack', attack, '--variant', variant, ...models, '--quiet'], { timeout: 120000 });
    assert.equal(done.code, 0, done.err);
    const shown = await run('bartizan', ['--store', store, 'show', 'last', '--json']);
    const out = {};
    for (const t of JSON.parse(shown.out).trials) {
      const name = t.model.split(':')[1].split('@')[0];
      out[name] = { ...out[name], [t.arm]: t };
    }
    return out;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
