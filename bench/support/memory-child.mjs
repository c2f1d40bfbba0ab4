/** One measurement of memory in a process of its own: `idle <sessions>` or `slow`. Prints one JSON object. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, MemoryLog, openSqliteLog, scriptedAgent } from '@atrium/host';
import { InProcessClient } from './in-process-client.mjs';
import { recordOf, sessionHead } from './stored-session.mjs';

const [kind, count] = process.argv.slice(2);
const figures = kind === 'idle' ? await idle(Number(count)) : await slow();
console.log(JSON.stringify(figures));
process.exit(0);

async function idle(sessions) {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  await fill(dataDir, sessions);
  const host = await createHost({ log: await openSqliteLog({ dataDir }), agents: [mock()] });
  const client = new InProcessClient(host);
  await client.initialize('bench');
  settleHeap();
  const { rss } = process.memoryUsage();
  const start = performance.now();
  await client.ask('listSessions', { channel: 'ahp-root://' });
  const listMs = performance.now() - start;
  await host.stop();
  rmSync(dataDir, { recursive: true });
  return { rss, listMs };
}

async function fill(dataDir, sessions) {
  const log = await openSqliteLog({ dataDir });
  const heads = Array.from({ length: sessions }, (_, index) => sessionHead(`ahp-session:/${index}`, index));
  await log.append({
    expectedHead: 0,
    entries: [],
    archives: heads.map((head) => ({
      channel: head.summary.resource,
      seq: 0,
      head: JSON.stringify(head),
      turns: { start: 0, items: [] },
    })),
    records: heads.map(recordOf),
    durability: 'full',
  });
  await log.close();
}

/** Five clients stop reading while a long answer streams. */
async function slow() {
  const ACTIONS = 150_000;
  const PER_TICK = 50;
  let begin;
  const started = new Promise((resolve) => {
    begin = resolve;
  });
  const agent = { ...mock(), open: async () => ({ runTurn, close: async () => {} }) };
  const host = await createHost({ log: new MemoryLog(), agents: [agent] });
  const session = 'ahp-session:/slow';
  const driver = new InProcessClient(host);
  await driver.initialize('driver');
  await driver.ask('createSession', { channel: session });
  let closed = 0;
  const clients = await Promise.all(Array.from({ length: 5 }, (_, index) => stalled(host, session, index)));
  for (const client of clients) {
    client.end.onclose = () => closed++;
    client.end.pause();
  }
  driver.dispatch(session, 1, { type: 'session/turnStarted', turnId: 't', userMessage: { text: 'go' } });
  const turn = await started;
  settleHeap();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < ACTIONS; index += PER_TICK) {
    for (let inner = 0; inner < PER_TICK; inner++) turn.text('token ');
    await new Promise((resolve) => setImmediate(resolve));
  }
  settleHeap();
  const grown = process.memoryUsage().heapUsed - before;
  const bytesPerAction = 190;
  return { kept: Math.max(0, grown - stored(ACTIONS, bytesPerAction)), naive: 5 * ACTIONS * bytesPerAction, closed };

  function runTurn(running) {
    begin(running);
    return new Promise(() => {});
  }
}

/** What the in-memory log keeps of the actions themselves, stalled clients or not. */
function stored(actions, bytes) {
  return actions * (bytes + 200);
}

async function stalled(host, session, index) {
  const client = new InProcessClient(host);
  await client.initialize(`stalled-${index}`);
  await client.ask('subscribe', { channel: session });
  return client;
}

function mock() {
  return scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts: {}, default: [{ text: 'ok' }] });
}

function settleHeap() {
  globalThis.gc();
  globalThis.gc();
}
