/**
 * What a session of 100 MB costs everybody else: it goes to several subscribers while a bystander pings. Once for each
 * case: the CPU that the host spends in one go, its peak of memory, and how long the bystander waits.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figure, loadHost, report, size } from './measure.mjs';
import { Bystander } from './support/bystander.mjs';
import { BENCH_SESSION, storeSession } from './support/stored-session.mjs';

const SNAPSHOT_BYTES = size(100 * 10 ** 6, 10 ** 6);
const TURN_BYTES = 50_000;

const CASES = [
  { name: '0.3.0', dialect: '0.3.0', count: 1, method: 'subscribe' },
  { name: '0.3.0.six', dialect: '0.3.0', count: 6, method: 'subscribe' },
  { name: '0.2.0.six', dialect: '0.2.0', count: 6, method: 'subscribe' },
  { name: 'v1.six', dialect: '1', count: 6, method: 'subscribe' },
  { name: 'initialize.six', dialect: '0.3.0', count: 6, method: 'initialize' },
  { name: 'reconnect.six', dialect: '0.3.0', count: 6, method: 'reconnect' },
];

const { bare, ...cases } = await largeSnapshots();
report(
  Object.entries(cases).flatMap(([name, { workMs, memory, pingMs, idlePingMs }]) => [
    figure({
      name: `snapshots.${name}.work`,
      samples: [workMs],
      unit: 'ms',
      limit: 'CPU in one go, all threads',
      target: { atMost: 100 },
      worse: 'stringify',
    }),
    figure({
      name: `snapshots.${name}.memory`,
      samples: [memory],
      limit: 'one snapshot; here the peak of memory',
      target: { atMost: 3 },
      worse: 'copies',
    }),
    figure({
      name: `snapshots.${name}.ping`,
      samples: [pingMs - idlePingMs],
      unit: 'ms more',
      limit: `a quiet host; here the worst ping of a bystander, ${Math.round(bare.pingMs - bare.idlePingMs)} ms with bare ws`,
      worse: 'load',
    }),
  ]),
);

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

async function largeSnapshots() {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  try {
    const { openSqliteLog } = await loadHost();
    const log = await openSqliteLog({ dataDir });
    await storeSession(log, Math.ceil(SNAPSHOT_BYTES / TURN_BYTES), BENCH_SESSION, largeTurn);
    await log.close();
    const limit = await run(['bare', String(SNAPSHOT_BYTES)], { count: 6, dialect: '1', method: 'subscribe' });
    const figures = { bare: limit };
    for (const one of CASES) figures[one.name] = await run(['host', dataDir], one);
    return figures;
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

async function run(server, { dialect, count, method }) {
  const sending = child('./support/snapshot-server.mjs', ...server);
  const reading = child('./support/snapshot-readers.mjs');
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
