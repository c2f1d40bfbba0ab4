/** One measurement of memory in a process of its own. Prints one JSON object. */
import { loadHost, size } from '../measure.mjs';
import { atriumServer, sessionsOf } from './fanout-servers.mjs';
import { startHelper } from './helper.mjs';
import { InProcessClient } from './in-process-client.mjs';
import { archivesOf, recordOf, sessionHead } from './stored-session.mjs';

/** The head of a WebSocket frame. */
const FRAME_BYTES = 4;

const [kind, dataDir, count, more] = process.argv.slice(2);
const measure = { fill: () => fill(Number(count)), idle, slow: () => slow(Number(count), Number(more)) };
console.log(JSON.stringify((await measure[kind]()) ?? {}));
process.exit(0);

async function idle() {
  const { createHost, openSqliteLog, scriptedAgent } = await loadHost();
  const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts: {}, default: [{ text: 'ok' }] });
  const host = await createHost({ log: await openSqliteLog({ dataDir }), agents: [agent] });
  const client = await InProcessClient.open(host);
  settleHeap();
  const { rss } = process.memoryUsage();
  const before = process.cpuUsage();
  await client.ask('listSessions', { channel: 'ahp-root://' });
  const { user, system } = process.cpuUsage(before);
  await host.stop();
  return { rss, listCpu: user + system };
}

/** Stores sessions; in a process of its own, because what it leaves behind in memory must not be counted. */
async function fill(sessions) {
  const { openSqliteLog } = await loadHost();
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

/**
 * Clients on real sockets stop reading while a long answer streams, as fast as the host can take it. What a queue without
 * a limit would hold for each of them, `missedBytes` with a frame for each token, `sentBytes` with the frames that a
 * client got that does read.
 */
async function slow(stalledClients, readers) {
  const TOKENS = size(60_000, 100);
  const server = await atriumServer({ sessions: 1 });
  const watchers = startHelper('./receivers.mjs');
  const { kind: protocol, port } = server;
  const sessions = sessionsOf(1);
  await watchers.ask('join', { kind: protocol, port, count: 1, sessions });
  const others = startHelper('./receivers.mjs');
  await others.ask('join', { kind: protocol, port, count: readers, sessions });
  await others.ask('expect', { last: TOKENS });
  const stalled = startHelper('./stalled-clients.mjs');
  await stalled.ask('join', { port, count: stalledClients, session: sessions[0] });
  await watchers.ask('expect', { last: TOKENS });
  settleHeap();
  const before = memory();
  for (let token = 1; token <= TOKENS; token++) {
    server.say(0, token);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { bytes: sentBytes } = await watchers.ask('arrived', { sent: [], from: 1 });
  if (readers > 0) await others.ask('arrived', { sent: [], from: 1 });
  settleHeap();
  const after = memory();
  const { closed } = await stalled.ask('state');
  const missedBytes = TOKENS * (JSON.stringify(server.message(0, TOKENS)).length + FRAME_BYTES);
  for (const helper of [watchers, others, stalled]) helper.stop();
  return { rss: after.rss - before.rss, heap: after.heap - before.heap, missedBytes, sentBytes, closed };
}

/** Buffers that wait in sockets are outside of V8's heap. */
function memory() {
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}

function settleHeap() {
  globalThis.gc();
  globalThis.gc();
}
