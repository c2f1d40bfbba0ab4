/** An MCP server with one tool and no dependencies: messages are lines of JSON on standard input and output. */
import { createInterface } from 'node:readline';

const tool = {
  name: 'next_version',
  title: 'Next version',
  description: 'The version number that follows another one.',
  inputSchema: {
    type: 'object',
    properties: {
      version: { type: 'string', description: 'Three numbers, as in 1.4.2.' },
      change: { type: 'string', enum: ['major', 'minor', 'patch'] },
    },
    required: ['version', 'change'],
  },
  annotations: { readOnlyHint: true },
};

function nextVersion({ version, change }) {
  const [major, minor, patch] = String(version).split('.').map(Number);
  if (![major, minor, patch].every(Number.isInteger)) return failed(`"${version}" is not a version.`);
  const next = { major: [major + 1, 0, 0], minor: [major, minor + 1, 0], patch: [major, minor, patch + 1] }[change];
  return next ? { content: [{ type: 'text', text: next.join('.') }] } : failed(`"${change}" is not a kind of change.`);
}

const failed = (text) => ({ content: [{ type: 'text', text }], isError: true });

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'versions', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: input = {} }) => nextVersion(input),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const outcome = answer ? { result: answer(params) } : { error: { code: -32601, message: `there is no ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
}
