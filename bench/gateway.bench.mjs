/**
 * What the gateway costs: CPU of the host for one call of a provider's tool over a real socket, against a bare `ws` that
 * sends the same frame and waits for the same answer, and against the least that a call needs beside; the provider is in a
 * process of its own. Then the whole tool call,
 * with gates, state and a log on the disk, as a model's call goes; also against the least that such a call can be: the same
 * echo, one line in a file when the call begins, and one synced line when it ends. Then twenty rules on the arguments of a call, against
 * the same expressions tried without a fence; and as many providers as a gateway lets in.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { absolute, figure, load, loadHost, paired, ratio, report, size } from './measure.mjs';
import { measureCrowd } from './support/gateway-crowd.mjs';
import { handAgent } from './support/hand-agent.mjs';
import { startHelper } from './support/helper.mjs';
import { InProcessClient } from './support/in-process-client.mjs';

const SESSION = 'ahp-session:/bench';
const TOOL = { name: 'echo', description: 'Says what it was told.', parameters: {} };
const ARGS = { text: 'a few words to carry back and forth', line: 17 };
const INPUT = { command: 'npm run build -- --watch', description: 'Builds everything and goes on watching' };
const CALLS = size(1_000, 3);
/** In one turn: one with hundreds of calls is not what people have. */
const WHOLE_CALLS = size(50, 2);
/** What a call stores has about these lengths. */
const BEGIN_LINE = `${'b'.repeat(800)}\n`;
const END_LINE = `${'e'.repeat(400)}\n`;
const TRIES = size(20_000, 20);

const { roundtrip, rules, crowd } = await paired(import.meta.url, {
  roundtrip: {
    warmups: size(20, 0),
    atrium: { tool: () => hosted('tool'), call: () => hosted('call') },
    limits: { echo, answered, floor },
  },
  rules: {
    atrium: { several: () => ruled(severalRepetitions), simple: () => ruled(simpleOnes) },
    limits: { bareSeveral: () => unfenced(severalRepetitions), bareSimple: () => unfenced(simpleOnes) },
  },
  crowd: { atrium: { fifty: () => ({ slice: crowded }) } },
});

const limit = 'a bare ws that echoes the same frames';
report([
  ratio(roundtrip, {
    name: 'gateway.roundtrip',
    of: 'tool',
    to: 'echo',
    limit,
    target: { atMost: 1.5 },
    worse: 'validation',
  }),
  ratio(roundtrip, {
    name: 'gateway.roundtrip.answered',
    of: 'tool',
    to: 'answered',
    limit: 'the same echo, with an id, a timeout, a signal and JSON both ways for each call',
    target: { atMost: 1.5 },
    worse: 'validation',
  }),
  ratio(roundtrip, { name: 'gateway.answered', of: 'answered', to: 'echo', limit, worse: 'timers' }),
  ratio(roundtrip, {
    name: 'gateway.call',
    of: 'call',
    to: 'echo',
    limit: `${limit}; here the whole tool call`,
    target: { atMost: 4 },
    worse: 'commits',
  }),
  ratio(roundtrip, {
    name: 'gateway.call.stored',
    of: 'call',
    to: 'floor',
    limit: 'the same echo, a bare write of a line, and one that is synced',
    target: { atMost: 3 },
    worse: 'stages',
  }),
  ratio(roundtrip, { name: 'gateway.floor', of: 'floor', to: 'echo', limit, worse: 'syncs' }),
  absolute(roundtrip, { name: 'gateway.call.one', of: 'call', unit: 'µs', worse: 'commits' }),
  added({ name: 'gateway.regex', of: 'several', to: 'bareSeveral' }, 'under a fence, 20 rules with repetitions', 0.2),
  added({ name: 'gateway.regex.simple', of: 'simple', to: 'bareSimple' }, 'under a fence, 20 rules that are quick'),
  absolute(crowd, {
    name: 'gateway.bind50',
    of: 'fifty',
    unit: 'ms',
    limit: 'CPU to bind 50 providers with 100 tools each',
    pick: ({ cost }) => cost / 1_000,
    worse: 'announcements',
  }),
  absolute(crowd, {
    name: 'gateway.pushes',
    of: 'fifty',
    unit: '/s',
    limit: 'kept, of 50 providers at once; wall time',
    pick: ({ pushesPerSecond }) => pushesPerSecond,
    worse: 'commits',
  }),
]);

/** Milliseconds that rules add to a call. */
function added({ name, of, to }, what, atMost) {
  const target = atMost === undefined ? undefined : { atMost };
  const samples = rules[of].map(({ cost }, round) => (cost - rules[to][round].cost) / 1_000);
  return figure({
    name,
    samples,
    unit: 'ms',
    limit: `plain expressions; added ${what}`,
    target,
    worse: 'backtracking',
  });
}

/** A host with a running turn, and a provider on the other end of a real socket. */
async function hosted(way) {
  const { createHost, openSqliteLog } = await loadHost();
  const { startGatewayServer } = await load('host/dist/gateway/gateway-server.js');
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const { agent, nextTurn } = handAgent();
  const host = await createHost({ log: await openSqliteLog({ dataDir }), agents: [agent] });
  const client = await InProcessClient.open(host);
  await client.createSession(SESSION);
  // Trusted, though it comes by a socket: what is measured is a call, not pairing.
  const onConnection = (transport) => host.connectProvider(transport, 'in-process');
  const server = await startGatewayServer({ port: 0, onConnection });
  const provider = startHelper('./echo-provider.mjs');
  const hello = { type: 'hello', name: 'bench', protocolVersion: 2, tools: [TOOL] };
  await provider.ask('connect', { port: server.port, hello });
  let turns = 0;
  return {
    /** Every slice is a turn, as tool calls come in turns; starting and ending it is not counted. */
    async slice() {
      client.startTurn(SESSION, `turn-${turns++}`);
      const { turn, end } = await nextTurn();
      const tool = turn.chat.session.extensions.tools().find(({ definition }) => definition.name === TOOL.name);
      const context = { cwd: undefined, signal: turn.signal, progress: () => {} };
      const before = process.cpuUsage();
      const operations = await (way === 'tool'
        ? repeated(CALLS, () => succeeded(tool.run(ARGS, context)))
        : repeated(WHOLE_CALLS, () => succeeded(turn.callTool({ name: TOOL.name, input: ARGS }))));
      const { user, system } = process.cpuUsage(before);
      end();
      return { operations, cpu: user + system };
    },
    async close() {
      provider.stop();
      await server.close();
      await host.stop();
      rmSync(dataDir, { recursive: true });
    },
  };
}

async function repeated(count, call) {
  for (let index = 0; index < count; index++) await call();
  return count;
}

async function succeeded(outcome) {
  if (!(await outcome).success) throw new Error('the call failed');
}

/** A server that sends the frame of a call, and waits for the frame of its result. */
async function echo() {
  const { roundtripOnce, close } = await bareEcho();
  return { slice: () => repeated(CALLS, roundtripOnce), close };
}

/**
 * The echo, and what a call of a tool cannot do without: an id that its answer is found by, a timeout, an end when the turn is
 * stopped, arguments that become JSON, an answer that is read, and its text for the model.
 */
async function answered() {
  const { send, heard, close } = await echoing();
  const turn = new AbortController();
  const open = new Map();
  heard((text) => {
    const { id, data } = JSON.parse(text);
    open.get(id)?.(data);
  });
  const call = () =>
    new Promise((resolve, reject) => {
      const id = randomUUID();
      const stopped = () => reject(turn.signal.reason);
      const overdue = setTimeout(() => reject(new Error('no answer')), 60_000);
      turn.signal.addEventListener('abort', stopped, { once: true });
      open.set(id, (data) => {
        open.delete(id);
        clearTimeout(overdue);
        turn.signal.removeEventListener('abort', stopped);
        resolve({ content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data });
      });
      send(JSON.stringify({ type: 'tool.call', id, sessionId: 'bench', tool: TOOL.name, args: ARGS }));
    });
  return { slice: () => repeated(CALLS, call), close };
}

async function echoing() {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await new Promise((resolve) => server.once('listening', resolve));
  const accepted = new Promise((resolve) => server.once('connection', resolve));
  const provider = startHelper('./echo-provider.mjs');
  await provider.ask('connect', { port: server.address().port });
  const peer = await accepted;
  let take = () => {};
  peer.on('message', (data) => take(data.toString()));
  return {
    send: (frame) => peer.send(frame),
    heard(taken) {
      take = taken;
    },
    close: () => provider.stop(),
  };
}

/** Sends the same frame again and again, and waits for its echo each time. */
async function bareEcho() {
  const { send, heard, close } = await echoing();
  const id = '00000000-0000-4000-8000-000000000000';
  const frame = JSON.stringify({ type: 'tool.call', id, sessionId: 'bench', tool: TOOL.name, args: ARGS });
  let done = () => {};
  heard(() => done());
  const roundtripOnce = () =>
    new Promise((resolve) => {
      done = resolve;
      send(frame);
    });
  return { roundtripOnce, close };
}

/** The echo, and what a call that is to survive a power cut has to write: that it began, and what came of it. */
async function floor() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const file = openSync(join(folder, 'lines'), 'w');
  const { roundtripOnce, close } = await bareEcho();
  const call = async () => {
    writeSync(file, BEGIN_LINE);
    await roundtripOnce();
    writeSync(file, END_LINE);
    fdatasyncSync(file);
  };
  return {
    slice: () => repeated(WHOLE_CALLS, call),
    close() {
      close();
      closeSync(file);
      rmSync(folder, { recursive: true });
    },
  };
}

function severalRepetitions(index) {
  return `word${index}\\s+.*(end|stop)`;
}

/** Quick on every text, as most are. */
function simpleOnes(index) {
  return `word${index}\\s+push|--force`;
}

function sourcesOf(source) {
  return Array.from({ length: 20 }, (_, index) => source(index));
}

async function ruled(source) {
  const { RuleBook } = await load('host/dist/gateway/hooks/pre-tool-rules.js');
  const book = new RuleBook();
  const own = sourcesOf(source).map((args) => ({ match: { args }, action: 'deny', reason: 'no' }));
  const binding = { rules: own, session: { bindings: [], isEnabled: () => true } };
  return tried((call) => book.applying(binding, { toolName: 'shell', input: { ...INPUT, call } }).length > 0);
}

function unfenced(source) {
  const regexes = sourcesOf(source).map((text) => new RegExp(text));
  return tried((call) => {
    const text = JSON.stringify({ ...INPUT, call });
    return regexes.some((regex) => regex.test(text));
  });
}

function tried(applies) {
  return {
    slice() {
      let applied = 0;
      for (let call = 0; call < TRIES; call++) if (applies(call)) applied++;
      // None matches. A rule that could not be tried in its time applies all the same, as on a starved machine.
      if (applied > TRIES / 20) throw new Error(`a rule applied ${applied} times`);
      return TRIES;
    },
  };
}

/** The providers are in the same process here: what counts is how the cost grows with them. */
async function crowded() {
  const { bindCpu, pushesPerSecond } = await measureCrowd();
  return { operations: 1, cpu: bindCpu, pushesPerSecond };
}
