/**
 * What the gateway costs: a call of a provider's tool over a real socket, against a bare `ws` that echoes the same
 * frames; and twenty rules on the arguments of a call, against the same expressions tried without a fence.
 */
import { createHost, MemoryLog } from '@atrium/host';
import { WebSocket, WebSocketServer } from 'ws';
import { startGatewayServer } from '../packages/host/dist/gateway/gateway-server.js';
import { RuleBook } from '../packages/host/dist/gateway/hooks/pre-tool-rules.js';
import { bestOf, report, rounded } from './measure.mjs';
import { measureCrowd } from './support/gateway-crowd.mjs';
import { InProcessClient } from './support/in-process-client.mjs';

const SESSION = 'ahp-session:/bench';
const TOOL = { name: 'echo', description: 'Says what it was told.', parameters: {} };
const ARGS = { text: 'a few words to carry back and forth', line: 17 };
const DATA = { text: 'a few words to carry back and forth', lines: [1, 2, 3] };
const CALLS = 50;
const ROUNDS = 200;

const host = await openHost();
const bare = await openBare();
const best = { gateway: Number.POSITIVE_INFINITY, bare: Number.POSITIVE_INFINITY, toolCall: Number.POSITIVE_INFINITY };
for (let round = 0; round < ROUNDS; round++) {
  await measure('bare', () => bare.roundtrip());
  await measure('gateway', () => host.call());
}
for (let round = 0; round < 3; round++) await measure('toolCall', () => host.called());
await host.stop();
bare.stop();

const crowd = await measureCrowd();
const fenced = rulesCost((index) => `word${index}\\s+.*(end|stop)`);
const simple = rulesCost((index) => `word${index}\\s+push|--force`);

report(
  {
    'gateway.roundtrip': rounded(best.gateway / best.bare),
    microseconds: rounded(best.gateway, 1),
    bareMicroseconds: rounded(best.bare, 1),
    asToolCallMicroseconds: rounded(best.toolCall, 1),
    pushesPerSecond: Math.round(crowd.pushesPerSecond),
    bind50Milliseconds: Math.round(crowd.bindMs),
    bind50Megabytes: rounded(crowd.megabytes, 1),
    'gateway.regex': rounded(fenced, 4),
    'gateway.regex.simple': rounded(simple, 4),
  },
  {
    'gateway.roundtrip': 'from the call of the tool to its result over a socket, against a bare echo; at most 2',
    asToolCallMicroseconds: 'the same with gates, state and storage, as a model calls it; for comparison',
    pushesPerSecond: 'of 50 providers at once, each as fast as it may, until all are kept; for comparison',
    bind50Milliseconds: 'to bind 50 providers with 100 tools each to one session, one after the other; grows with both',
    bind50Megabytes: 'what the process grew by meanwhile, both ends of the sockets in it',
    'gateway.regex':
      'milliseconds that 20 rules with several repetitions add to a call over plain expressions; under 0.2',
    'gateway.regex.simple': 'the same for rules that are quick on every text, as most are',
  },
);

/** Microseconds for one call, each after the other. */
async function measure(name, work, calls = CALLS) {
  const start = process.hrtime.bigint();
  for (let call = 0; call < calls; call++) await work();
  best[name] = Math.min(best[name], Number(process.hrtime.bigint() - start) / 1_000 / calls);
}

/** A host with a running turn, and a provider on the other end of a real socket. */
async function openHost() {
  const { agent, turn } = handAgent();
  const created = await createHost({ log: new MemoryLog(), agents: [agent] });
  const client = new InProcessClient(created);
  await client.initialize('bench');
  await client.ask('createSession', { channel: SESSION });
  await client.ask('subscribe', { channel: SESSION });
  // Trusted, though it comes by a socket: what is measured is a call, not pairing.
  const onConnection = (transport) => created.connectProvider(transport, 'in-process');
  const server = await startGatewayServer({ port: 0, onConnection });
  const socket = await provider(server.port);
  client.dispatch(SESSION, 1, { type: 'session/turnStarted', turnId: 't1', userMessage: { text: 'go' } });
  const running = await turn;
  const tool = running.chat.session.extensions.tools().find(({ definition }) => definition.name === TOOL.name);
  const context = { cwd: undefined, signal: running.signal, progress: () => {} };
  return {
    call: () => succeeded(tool.run(ARGS, context)),
    called: () => succeeded(running.callTool({ name: TOOL.name, input: ARGS })),
    stop: async () => {
      socket.terminate();
      await server.close();
      await created.stop();
    },
  };
}

async function succeeded(outcome) {
  if (!(await outcome).success) throw new Error('the call failed');
}

async function provider(port) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const bound = new Promise((resolve) => answerCalls(socket, resolve));
  socket.send(JSON.stringify({ type: 'hello', name: 'bench', protocolVersion: 2, tools: [TOOL] }));
  await bound;
  return socket;
}

/** The same provider on both sides: it reads a call and writes a result. */
function answerCalls(socket, bound) {
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.type === 'hello.ack') bound();
    if (message.type === 'tool.call') socket.send(JSON.stringify({ type: 'tool.result', id: message.id, data: DATA }));
  });
}

/** A server that sends the frame of a call, and waits for the frame of its result. */
async function openBare() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await new Promise((resolve) => server.once('listening', resolve));
  const accepted = new Promise((resolve) => server.once('connection', resolve));
  const socket = new WebSocket(`ws://127.0.0.1:${server.address().port}`, { perMessageDeflate: false });
  answerCalls(socket, () => {});
  const peer = await accepted;
  const id = '00000000-0000-4000-8000-000000000000';
  const frame = JSON.stringify({ type: 'tool.call', id, sessionId: 'bench', tool: TOOL.name, args: ARGS });
  let done = () => {};
  peer.on('message', () => done());
  return {
    roundtrip: () =>
      new Promise((resolve) => {
        done = resolve;
        peer.send(frame);
      }),
    stop: () => {
      socket.terminate();
      server.close();
    },
  };
}

/** Milliseconds that the rules add to one call. */
function rulesCost(source) {
  const sources = Array.from({ length: 20 }, (_, index) => source(index));
  const rules = sources.map((args) => ({ match: { args }, action: 'deny', reason: 'no' }));
  const regexes = sources.map((text) => new RegExp(text));
  const book = new RuleBook();
  const binding = { rules, session: { bindings: [], isEnabled: () => true } };
  const input = { command: 'npm run build -- --watch', description: 'Builds everything and goes on watching' };
  const { ruled, bare: unfenced } = bestOf(250, 20, {
    ruled: (count) => {
      for (let call = 0; call < count; call++)
        if (book.applying(binding, { toolName: 'shell', input: { ...input, call } }).length > 0)
          throw new Error('a rule applies');
    },
    bare: (count) => {
      for (let call = 0; call < count; call++) {
        const text = JSON.stringify({ ...input, call });
        if (regexes.some((regex) => regex.test(text))) throw new Error('an expression matches');
      }
    },
  });
  return (ruled - unfenced) / 1e6;
}

/** An agent that hands its turn out and waits. */
function handAgent() {
  let hand;
  const turn = new Promise((resolve) => {
    hand = resolve;
  });
  const agent = {
    info: { provider: 'bench', displayName: 'Bench', description: '', models: [] },
    abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: false, cancelTool: true },
    sections: {},
    open: async () => ({
      runTurn: (given) => {
        hand(given);
        return new Promise((_resolve, reject) =>
          given.signal.addEventListener('abort', () => reject(given.signal.reason)),
        );
      },
      close: async () => {},
    }),
  };
  return { agent, turn };
}
