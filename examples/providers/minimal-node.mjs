// A provider with one tool, in Node, with nothing but the package `ws`.
// Let the host start it: put this into the `atrium.json` of a project, open a session there, say yes when it asks:
//   { "providers": { "greeter": { "command": "node", "args": ["/path/to/examples/providers/minimal-node.mjs"] } } }
// The host gives it TAP_PROVIDER_TOKEN and TAP_GATEWAY_URL. Then ask the agent to greet somebody.
import { WebSocket } from 'ws';

const socket = new WebSocket(process.env.TAP_GATEWAY_URL ?? 'ws://localhost:9400');
const send = (message) => socket.send(JSON.stringify(message));

const greet = {
  name: 'greet',
  description: 'Greets somebody by name.',
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};

const answers = {
  // Let in. Without `session` a provider that the host has started is bound to the session it was started for.
  sessions: () => send({ type: 'hello', name: 'greeter', protocolVersion: 2, tools: [greet] }),
  'hello.ack': ({ providerId }) => console.log(`ready as ${providerId}`),
  'tool.call': ({ id, args }) => send({ type: 'tool.result', id, data: `Hello, ${args.name}!` }),
  'tool.cancel': ({ id }) => send({ type: 'tool.result', id, error: 'Cancelled', errorCode: 'CANCELLED' }),
  'session.lifecycle': ({ state, sessionId }) =>
    state === 'shutdown.pending' && send({ type: 'shutdown.ready', sessionId }),
  error: ({ code, message }) => console.error(`${code}: ${message}`),
};

socket.on('open', () => send({ type: 'auth', token: process.env.TAP_PROVIDER_TOKEN }));
socket.on('message', (data) => {
  const message = JSON.parse(data);
  answers[message.type]?.(message);
});
socket.on('error', (error) => console.error(error.message));
socket.on('close', () => process.exit(1)); // The host starts it again.
