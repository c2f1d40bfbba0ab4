/**
 * What it costs to bring one action to 100 clients: CPU of this process per delivery, over the whole path (reduce,
 * commit, frame, send). The limit is a bare `ws` server that sends one prepared frame. The clients are in a process of
 * their own.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, openSqliteLog, startServer, WireFrame } from '@atrium/host';
import { WebSocketServer } from 'ws';
import { report, rounded } from './measure.mjs';

const CLIENTS = 100;
const STEPS = 1_500;
const ROUNDS = 3;
const BURST_PER_TICK = 25;
const BURST_TICK_MS = 10;
const SESSION = 'ahp-session:/bench';
const TEXT = 'token ';

const child = fork(new URL('./support/subscribers.mjs', import.meta.url), {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});

child.once('exit', (code) => code && process.exit(code));

const best = {};
for (let round = 0; round < ROUNDS; round++) {
  keep('raw', await rawServer(prepared, onePerTick));
  keep('string', await rawServer(asString, onePerTick));
  keep('rawBurst', await rawServer(prepared, bursts));
  keep('host', await hostRun(['1.0.0'], onePerTick));
  keep('older', await hostRun(['0.3.0'], onePerTick));
  keep('mixed', await hostRun(['1.0.0', '0.7.0', '0.2.0', '1'], onePerTick));
  keep('burst', await hostRun(['1.0.0'], bursts));
}
child.kill();

report(
  {
    steady100: rounded(best.host.cost / best.raw.cost),
    steady100VsString: rounded(best.string.cost / best.host.cost),
    burst100: rounded(best.rawBurst.cost / best.burst.cost),
    burst100P99Ms: best.burst.p99,
    dialects: rounded(best.mixed.cost / best.host.cost),
    older: rounded(best.older.cost / best.host.cost),
    microsecondsPerDelivery: rounded(best.host.cost),
  },
  {
    steady100: 'CPU per delivery against one prepared frame on raw ws; at most 1.25',
    steady100VsString: 'times cheaper than ws.send(string); at least 1.2',
    burst100: `times cheaper per delivery than unbatched raw ws at ${(BURST_PER_TICK * 1000) / BURST_TICK_MS}/s; at least 1.5`,
    burst100P99Ms: 'milliseconds; under 20',
    dialects: '1.0, 0.7, 0.2.0 and version 1 mixed against 1.0 alone; at most 1.5',
    older: '0.3.0 alone against 1.0 alone',
  },
);

function prepared({ stream }, frame) {
  stream.write(frame.websocket);
}

function asString({ socket }, frame) {
  socket.send(frame.text);
}

function keep(name, figure) {
  if (!best[name] || figure.cost < best[name].cost) best[name] = figure;
}

/** One step, then a turn of the event loop: a single stream at full speed. */
async function onePerTick(step) {
  for (let index = 0; index < STEPS; index++) {
    step();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Many steps at once, at a steady rate: many sessions, or one that is in a hurry. */
async function bursts(step) {
  for (let index = 0; index < STEPS; index += BURST_PER_TICK) {
    for (let inner = 0; inner < BURST_PER_TICK; inner++) step();
    await new Promise((resolve) => setTimeout(resolve, BURST_TICK_MS));
  }
}

async function measured(run) {
  const arrived = tell({ command: 'expect', count: STEPS * CLIENTS });
  const before = process.cpuUsage();
  await run();
  const { p99 } = await arrived;
  const { user, system } = process.cpuUsage(before);
  return { cost: (user + system) / (STEPS * CLIENTS), p99 };
}

async function rawServer(send, drive) {
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  const sockets = [];
  server.on('connection', (socket, request) => sockets.push({ socket, stream: request.socket }));
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  await tell({ command: 'connect', url: `ws://127.0.0.1:${http.address().port}`, count: CLIENTS });
  const action = { type: 'session/delta', turnId: 'turn', partId: 'turn-1', content: `${TEXT}@${Date.now()}.0@` };
  const message = (serverSeq) => ({
    jsonrpc: '2.0',
    method: 'action',
    params: { channel: SESSION, action, serverSeq },
  });
  const frame = WireFrame.of(message(1_000));
  const step = () => {
    for (const client of sockets) send(client, frame);
  };
  const figure = await measured(() => drive(step));
  await tell({ command: 'close' });
  server.close();
  http.close();
  return figure;
}

async function hostRun(dialects, drive) {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const stream = streamingAgent();
  const log = await openSqliteLog({ dataDir });
  const host = await createHost({ log, agents: [stream.agent] });
  const server = await startServer({
    host: '127.0.0.1',
    policy: {},
    onConnection: (transport) => host.connect(transport),
  });
  const url = `ws://127.0.0.1:${server.port}`;
  const driver = await openSession(url);
  await tell({ command: 'connect', url, count: CLIENTS, session: SESSION, dialects });
  const turn = await stream.started;
  const figure = await measured(() => drive(() => turn.text(`${TEXT}@${Date.now()}.0@`)));
  await tell({ command: 'close' });
  driver.terminate();
  await host.stop();
  await server.close();
  rmSync(dataDir, { recursive: true });
  return figure;
}

/** An agent whose one turn is in our hands. */
function streamingAgent() {
  let begin;
  const started = new Promise((resolve) => {
    begin = resolve;
  });
  const runTurn = (turn) => {
    turn.text('');
    begin(turn);
    return new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
  };
  const agent = {
    info: { provider: 'bench', displayName: 'Bench', description: 'Streams.', models: [] },
    abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: false, cancelTool: false },
    sections: {},
    open: async () => ({ runTurn, close: async () => {} }),
  };
  return { agent, started };
}

/** Creates the session and starts its turn. */
async function openSession(url) {
  const { WebSocket } = await import('ws');
  const socket = new WebSocket(url);
  await new Promise((resolve) => socket.once('open', resolve));
  const send = (message) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const channel = 'ahp-root://';
  send({ id: 1, method: 'initialize', params: { channel, protocolVersions: ['0.3.0'], clientId: 'driver' } });
  send({ id: 2, method: 'createSession', params: { channel: SESSION } });
  const action = { type: 'session/turnStarted', turnId: 'turn', userMessage: { text: 'go' } };
  send({ method: 'dispatchAction', params: { channel: SESSION, clientSeq: 1, action } });
  return socket;
}

function tell(message) {
  return new Promise((resolve) => {
    child.once('message', resolve);
    child.send(message);
  });
}
