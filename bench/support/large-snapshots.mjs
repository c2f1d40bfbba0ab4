/** A session of 100 MB goes to several subscribers, while a bystander pings: how long it waits, and the host's memory. */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteLog } from '@atrium/host';
import { WebSocket } from 'ws';
import { BENCH_SESSION, storeSession } from './stored-session.mjs';

const SNAPSHOT_BYTES = 100 * 10 ** 6;
const TURN_BYTES = 50_000;
const PING_EVERY_MS = 5;

const CASES = [
  { name: 'v0_3One', dialect: '0.3.0', count: 1, method: 'subscribe' },
  { name: 'v0_3Six', dialect: '0.3.0', count: 6, method: 'subscribe' },
  { name: 'v0_2One', dialect: '0.2.0', count: 1, method: 'subscribe' },
  { name: 'v0_2Six', dialect: '0.2.0', count: 6, method: 'subscribe' },
  { name: 'v1One', dialect: '1', count: 1, method: 'subscribe' },
  { name: 'v1Six', dialect: '1', count: 6, method: 'subscribe' },
  { name: 'initializeSix', dialect: '0.3.0', count: 6, method: 'initialize' },
  { name: 'reconnectSix', dialect: '0.3.0', count: 6, method: 'reconnect' },
];

/** Words, marks that are no Latin letters, and what a tool has written: what sessions are made of. */
function largeTurn(index) {
  const line = `  ${index}: if (token.kind === "name") return parse(token);\n`;
  const answer = `Step ${index} … the parser reads one token at a time ✅ and never looks back.\n`;
  const half = (text) => text.repeat(Math.ceil(TURN_BYTES / 2 / Buffer.byteLength(JSON.stringify(text))));
  const id = `call-${index}`;
  const call = {
    status: 'completed',
    toolCallId: id,
    toolName: 'read_file',
    displayName: 'Read file',
    invocationMessage: 'Read parser.ts',
    confirmed: 'not-needed',
    success: true,
    pastTenseMessage: 'Read parser.ts',
    content: [{ type: 'text', text: half(line) }],
  };
  return {
    id: `t${index}`,
    startedAt: new Date(index).toISOString(),
    duration: 1_000,
    message: { text: `Question ${index}: how does the parser go on?`, origin: { kind: 'user' } },
    responseParts: [
      { kind: 'toolCall', toolCall: call },
      { kind: 'markdown', id: `m${index}`, content: half(answer) },
    ],
    usage: { inputTokens: 900, outputTokens: 120 },
    state: 'complete',
  };
}

/** Worst ping in milliseconds and peak of memory in snapshots, case by case. */
export async function largeSnapshots() {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  try {
    const log = await openSqliteLog({ dataDir });
    await storeSession(log, Math.ceil(SNAPSHOT_BYTES / TURN_BYTES), BENCH_SESSION, largeTurn);
    await log.close();
    const bare = await run(['bare', String(SNAPSHOT_BYTES)], { count: 6, dialect: '1', method: 'subscribe' });
    const figures = { bareSix: bare };
    for (const one of CASES) figures[one.name] = await run(['host', dataDir], one);
    return figures;
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

async function run(server, { dialect, count, method }) {
  const sending = child('./snapshot-server.mjs', ...server);
  const reading = child('./snapshot-readers.mjs');
  const { port } = await heard(sending);
  const bystander = await Bystander.open(port);
  const idle = bystander.worst();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const idlePingMs = await idle();
  const busy = bystander.worst();
  reading.send({ port, count, method, dialect, session: BENCH_SESSION });
  const { bytes, milliseconds } = await heard(reading);
  const pingMs = await busy();
  const peak = heard(sending);
  sending.send('peak');
  const { peakBytes, workMs } = await peak;
  bystander.close();
  sending.kill();
  reading.kill();
  if (bytes.length !== count || bytes.some((size) => size < SNAPSHOT_BYTES * 0.9)) throw new Error(`short: ${bytes}`);
  return { pingMs, idlePingMs, workMs, seconds: milliseconds / 1_000, memory: peakBytes / Math.max(...bytes) };
}

function child(file, ...args) {
  return fork(new URL(file, import.meta.url), args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

function heard(process) {
  return new Promise((resolve, reject) => {
    process.once('message', resolve);
    process.once('exit', (code) => reject(new Error(`a part of the benchmark ended with ${code}`)));
  });
}

/** A client that only pings. */
class Bystander {
  #socket;
  #answered = () => {};

  static async open(port) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const bystander = new Bystander(socket);
    await bystander.#ask('initialize', {
      channel: 'ahp-root://',
      protocolVersions: ['0.3.0'],
      clientId: `bystander-${Math.random()}`,
    });
    return bystander;
  }

  constructor(socket) {
    this.#socket = socket;
    socket.on('message', (data) => 'id' in JSON.parse(data) && this.#answered());
  }

  /** Pings until the returned function is called, which tells the longest that one took. */
  worst() {
    let isOver = false;
    const pinging = (async () => {
      let longest = 0;
      while (!isOver) {
        const start = performance.now();
        await this.#ask('ping', { channel: 'ahp-root://' });
        longest = Math.max(longest, performance.now() - start);
        await new Promise((resolve) => setTimeout(resolve, PING_EVERY_MS));
      }
      return longest;
    })();
    return () => {
      isOver = true;
      return pinging;
    };
  }

  #ask(method, params) {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }

  close() {
    this.#socket.terminate();
  }
}
