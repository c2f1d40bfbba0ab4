/** One measurement of memory in a process of its own. Prints one JSON object. */
import { createHost, MemoryLog, openSqliteLog, scriptedAgent } from '@atrium/host';
import { InProcessClient } from './in-process-client.mjs';
import { archivesOf, recordOf, sessionHead } from './stored-session.mjs';

const [kind, dataDir, count] = process.argv.slice(2);
const measure = { fill: () => fill(Number(count)), idle, slow: () => slow(Number(count)) };
console.log(JSON.stringify((await measure[kind]()) ?? {}));
process.exit(0);

async function idle() {
  const host = await createHost({ log: await openSqliteLog({ dataDir }), agents: [mock()] });
  const client = new InProcessClient(host);
  await client.initialize('bench');
  settleHeap();
  const { rss } = process.memoryUsage();
  const start = performance.now();
  await client.ask('listSessions', { channel: 'ahp-root://' });
  const listMs = performance.now() - start;
  await host.stop();
  return { rss, listMs };
}

/** Stores sessions; in a process of its own, because what it leaves behind in memory must not be counted. */
async function fill(sessions) {
  const log = await openSqliteLog({ dataDir });
  const heads = Array.from({ length: sessions }, (_, index) => sessionHead(`ahp-session:/${index}`, index));
  await log.append({
    entries: [],
    archives: heads.flatMap((head) => archivesOf(head)),
    records: heads.map(recordOf),
    durability: 'full',
  });
  await log.close();
}

/** Some clients stop reading while a long answer streams. */
async function slow(stalledClients) {
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
  const clients = await Promise.all(
    Array.from({ length: stalledClients }, (_, index) => stalled(host, session, index)),
  );
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
  const message = {
    channel: session,
    action: { type: 'session/delta', turnId: 't', partId: 't-1', content: 'token ' },
  };
  const bytes = JSON.stringify({ jsonrpc: '2.0', method: 'action', params: { ...message, serverSeq: ACTIONS } }).length;
  return { grown: process.memoryUsage().heapUsed - before, bytes: bytes * ACTIONS, closed };

  function runTurn(running) {
    begin(running);
    return new Promise(() => {});
  }
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
