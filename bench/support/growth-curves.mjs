/** What each growth curve measures: the CPU milliseconds, or the bytes, that so many of something cost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, loadHost, size } from '../measure.mjs';
import { InProcessClient } from './in-process-client.mjs';
import { archivesOf, BENCH_SESSION, recordOf, sessionHead, storeSession } from './stored-session.mjs';

const { createHost, MemoryLog, openSqliteLog, scriptedAgent, transportPair } = await loadHost();
const { chatReducer, defaultChatUri } = await load('protocol/dist/ahp-1/index.js');

const SIZES = size([10, 100, 1_000, 10_000], [10, 20]);
const PARTS = size([...SIZES, 20_000], SIZES);
const CLIENTS = size([10, 100, 1_000, 4_000], SIZES);
const TOOLS = size([100, 1_000, 2_000, 5_000], [100, 200]);
const CPU = 'ms CPU';
const ROOT = 'ahp-root://';
const SESSION = 'ahp-session:/growth';
const CHAT = defaultChatUri(SESSION);

export const CURVES = {
  'parts.reducer': {
    what: 'parts of a turn, reduced',
    unit: CPU,
    sizes: PARTS,
    cost: reduceParts,
  },
  'parts.host': {
    what: 'parts of a turn, through a host with a subscriber',
    unit: CPU,
    sizes: PARTS,
    cost: streamParts,
  },
  'turns.start': {
    what: 'turns before a new one, which starts and ends 20 times',
    unit: CPU,
    sizes: SIZES,
    cost: (turns) => withTurns(turns, startTurns),
  },
  'turns.fetch': {
    what: 'turns, of which 20 pages in the middle are fetched',
    unit: CPU,
    sizes: SIZES,
    cost: (turns) => withTurns(turns, fetchMiddle),
  },
  'sessions.open': {
    what: 'stored sessions when the host opens',
    unit: CPU,
    sizes: SIZES,
    cost: (sessions) => withSessions(sessions, async ({ open }) => cpuOf(open)),
  },
  'sessions.list': {
    what: 'stored sessions, listed whole for a client of 0.3.0',
    unit: CPU,
    sizes: SIZES,
    cost: (sessions) => withSessions(sessions, listAll),
  },
  'sessions.page': {
    what: 'stored sessions, of which 100 are listed 20 times',
    unit: CPU,
    sizes: SIZES,
    cost: (sessions) => withSessions(sessions, listPages),
  },
  'sessions.change': {
    what: 'stored sessions, of which one is renamed 20 times: bytes to a client that shows the list',
    unit: 'bytes',
    sizes: SIZES,
    cost: (sessions) => withSessions(sessions, renameOne),
  },
  'clients.token': {
    what: 'clients that are sent 20 pieces of text',
    unit: CPU,
    sizes: CLIENTS,
    cost: (clients) => withClients(clients, sendText),
  },
  'clients.title': {
    what: 'clients that are told 20 titles',
    unit: CPU,
    sizes: CLIENTS,
    cost: (clients) => withClients(clients, sendTitles),
  },
  'tools.bind': {
    what: 'tools of providers with 100 each, bound to a session',
    unit: CPU,
    sizes: TOOLS,
    cost: async (tools) => (await bindTools(tools)).milliseconds,
  },
  'tools.bytes': {
    what: 'tools of providers with 100 each: bytes to a subscriber',
    unit: 'bytes',
    sizes: TOOLS,
    cost: async (tools) => (await bindTools(tools)).bytes,
  },
  'tools.offered': {
    what: 'tools of providers, offered to a model in 100 steps',
    unit: CPU,
    sizes: TOOLS,
    cost: async (tools) => (await bindTools(tools)).offeredMs,
  },
};

async function cpuOf(work) {
  globalThis.gc();
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** Each part is text of two pieces, a call, or a note. */
function partActions(index) {
  const turnId = 'now';
  const toolCallId = `c${index}`;
  if (index % 3 === 2)
    return [{ type: 'chat/responsePart', turnId, part: { kind: 'systemNotification', content: 'x' } }];
  if (index % 3 === 1) {
    return [
      { type: 'chat/toolCallStart', turnId, toolCallId, toolName: 'read', displayName: 'Read' },
      { type: 'chat/toolCallReady', turnId, toolCallId, invocationMessage: 'Read', confirmed: 'not-needed' },
      { type: 'chat/toolCallComplete', turnId, toolCallId, result: { success: true, pastTenseMessage: 'Read' } },
    ];
  }
  const partId = `p${index}`;
  const delta = { type: 'chat/delta', turnId, partId, content: 'token ' };
  return [{ type: 'chat/responsePart', turnId, part: { kind: 'markdown', id: partId, content: '' } }, delta, delta];
}

async function reduceParts(parts) {
  const message = { text: 'go', origin: { kind: 'user' } };
  const fresh = { resource: CHAT, title: '', status: 1, modifiedAt: new Date(0).toISOString(), turns: [] };
  const started = { type: 'chat/turnStarted', turnId: 'now', startedAt: new Date(0).toISOString(), message };
  const run = (count) => {
    let state = chatReducer(fresh, started);
    for (let index = 0; index < count; index++) {
      for (const action of partActions(index)) state = chatReducer(state, action);
    }
    return chatReducer(state, { type: 'chat/turnComplete', turnId: 'now', duration: 1 });
  };
  // Compiled code first: the curve is that of the work, not of the compiler.
  for (let warm = 0; warm < 20; warm++) run(200);
  return cpuOf(async () => {
    const repeats = Math.max(1, 10_000 / parts);
    for (let again = 0; again < repeats; again++) run(parts);
  }).then((cost) => cost / Math.max(1, 10_000 / parts));
}

/** A host whose agent does what it is told from outside. */
async function puppetHost(log) {
  let begin;
  let end;
  const next = () =>
    new Promise((resolve) => {
      begin = resolve;
    });
  const agent = {
    ...mock(),
    open: async () => ({
      runTurn: (turn) =>
        new Promise((resolve) => {
          end = resolve;
          begin(turn);
        }),
      close: async () => {},
    }),
  };
  const host = await createHost({ log, agents: [agent] });
  return { host, next, finish: () => end() };
}

function mock() {
  return scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts: {}, default: [{ text: 'ok' }] });
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

async function connected(host, clientId, version = '1.0.0') {
  const client = await InProcessClient.connect(host);
  await client.ask('initialize', {
    channel: ROOT,
    protocolVersions: [version],
    clientId,
    initialSubscriptions: [ROOT],
  });
  return client;
}

async function newSession(client) {
  await client.ask('createSession', { channel: SESSION });
  await client.ask('subscribe', { channel: SESSION });
  await client.ask('subscribe', { channel: CHAT });
}

let clientSeq = 0;
function dispatch(client, channel, action) {
  const params = { channel, clientSeq: ++clientSeq, action };
  client.end.send(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params }));
}

function startTurn(client, chat, turnId) {
  const message = { text: 'go', origin: { kind: 'user' } };
  const action = { type: 'chat/turnStarted', turnId, startedAt: new Date(0).toISOString(), message };
  dispatch(client, chat, action);
}

async function streamParts(parts) {
  const { host, next, finish } = await puppetHost(new MemoryLog());
  const client = await connected(host, 'driver');
  await newSession(client);
  let turn;
  const say = async (count) => {
    const started = next();
    startTurn(client, CHAT, `turn-${++clientSeq}`);
    turn = await started;
    for (let index = 0; index < count; index++) {
      if (index % 3 === 0) {
        turn.text('token ');
        turn.text('token ');
      } else if (index % 3 === 1) {
        const call = turn.agentRunCall({ name: 'read', displayName: 'Read' });
        call.shown('{}', 'Read');
        call.complete({ success: true, pastTenseMessage: 'Read' });
      } else turn.notify('x');
      if (index % 20 === 0) await tick();
    }
    await tick();
    finish();
    await tick();
    await tick();
  };
  for (let warm = 0; warm < 5; warm++) await say(200);
  const cost = await cpuOf(() => say(parts));
  await host.stop();
  return cost;
}

async function withTurns(turns, measure) {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const log = await openSqliteLog({ dataDir });
  await storeSession(log, turns);
  const { host, next, finish } = await puppetHost(log);
  const client = await connected(host, 'driver');
  await client.ask('subscribe', { channel: BENCH_SESSION });
  // A client that wants all turns: what it is sent must not make later turns dearer.
  await client.ask('subscribe', { channel: defaultChatUri(BENCH_SESSION) });
  await measure({ client, next, finish, turns });
  const cost = await cpuOf(() => measure({ client, next, finish, turns }));
  await host.stop();
  rmSync(dataDir, { recursive: true });
  return cost;
}

async function startTurns({ client, next, finish }) {
  for (let index = 0; index < 20; index++) {
    const started = next();
    const done = new Promise((resolve) => {
      client.onnotification = (text) => text.includes('chat/turnComplete') && resolve();
    });
    startTurn(client, defaultChatUri(BENCH_SESSION), `new-${++clientSeq}`);
    await started;
    finish();
    await done;
  }
}

async function fetchMiddle({ client, turns }) {
  const cursor = String(Math.max(1, Math.floor(turns / 2)));
  for (let index = 0; index < 20; index++) {
    await client.ask('fetchTurns', { channel: defaultChatUri(BENCH_SESSION), cursor });
  }
}

/** A function of its own, so that nothing of it is in memory when the measurement begins. */
async function storeSessions(dataDir, sessions) {
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

async function withSessions(sessions, measure) {
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  await storeSessions(dataDir, sessions);
  let host;
  const open = async () => {
    host = await createHost({ log: await openSqliteLog({ dataDir }), agents: [mock()], dataFolder: dataDir });
  };
  const cost = await measure({ open, host: () => host });
  await host.stop();
  rmSync(dataDir, { recursive: true });
  return cost;
}

async function listAll({ open, host }) {
  await open();
  const client = await connected(host(), 'old', '0.3.0');
  await client.ask('listSessions', { channel: ROOT });
  return cpuOf(() => client.ask('listSessions', { channel: ROOT }));
}

async function listPages({ open, host }) {
  await open();
  const client = await connected(host(), 'new');
  const list = async () => {
    let cursor;
    for (let page = 0; page < 20; page++) {
      const { result } = JSON.parse(await client.ask('listSessions', { channel: ROOT, limit: 100, cursor }));
      cursor = result.nextCursor;
    }
  };
  await list();
  return cpuOf(list);
}

async function renameOne({ open, host }) {
  await open();
  const client = await connected(host(), 'new');
  let bytes = 0;
  client.onnotification = (text) => {
    bytes += text.length;
  };
  await client.ask('subscribe', { channel: 'ahp-session:/5' });
  for (let index = 0; index < 20; index++) {
    dispatch(client, 'ahp-session:/5', { type: 'session/titleChanged', title: `Title ${index}` });
    await client.ask('ping', { channel: ROOT });
  }
  await tick();
  return bytes;
}

async function withClients(count, measure) {
  const { host, next } = await puppetHost(new MemoryLog());
  const driver = await connected(host, 'driver');
  await newSession(driver);
  for (let index = 0; index < count; index++) {
    const client = await connected(host, `client-${index}`);
    await client.ask('subscribe', { channel: SESSION });
    await client.ask('subscribe', { channel: CHAT });
  }
  const started = next();
  startTurn(driver, CHAT, 'turn');
  const turn = await started;
  await measure({ turn, driver });
  const cost = await cpuOf(() => measure({ turn, driver }));
  await host.stop();
  return cost;
}

/** Waits for each piece: what comes meanwhile would be joined, the more the more clients there are. */
async function sendText({ turn, driver }) {
  for (let index = 0; index < 20; index++) {
    const arrived = new Promise((resolve) => {
      driver.onnotification = (text) => text.includes('chat/delta') && resolve();
    });
    turn.text('token ');
    await arrived;
    await tick();
  }
}

async function sendTitles({ driver }) {
  for (let index = 0; index < 20; index++) {
    dispatch(driver, SESSION, { type: 'session/titleChanged', title: `Title ${clientSeq}` });
    await driver.ask('ping', { channel: ROOT });
    await tick();
  }
}

const TOOLS_EACH = 100;

async function bindTools(tools) {
  const { host, next } = await puppetHost(new MemoryLog());
  const client = await connected(host, 'driver');
  await newSession(client);
  let bytes = 0;
  client.onnotification = (text) => {
    bytes += text.length;
  };
  let turn;
  const milliseconds = await cpuOf(async () => {
    for (let index = 0; index < tools / TOOLS_EACH; index++) await bindProvider(host, index);
    // Before a turn begins, everything has been told.
    const started = next();
    startTurn(client, CHAT, 'turn');
    turn = await started;
    await client.ask('ping', { channel: ROOT });
  });
  turn.tools();
  const offeredMs = await cpuOf(async () => {
    for (let step = 0; step < 100; step++) {
      const { length } = turn.tools();
      if (length < tools) throw new Error(`expected ${tools} tools, got ${length}`);
    }
  });
  await host.stop();
  return { milliseconds, bytes, offeredMs };
}

async function bindProvider(host, index) {
  const [transport, end] = transportPair();
  const tools = Array.from({ length: TOOLS_EACH }, (_, tool) => ({
    name: `p${index}_tool${tool}`,
    description: 'Says what it was told.',
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
  }));
  const bound = new Promise((resolve, reject) => {
    end.onmessage = (text) => {
      const { type, message } = JSON.parse(text);
      if (type === 'error') reject(new Error(message));
      if (type === 'hello.ack') resolve();
    };
    end.onclose = () => {};
  });
  host.connectProvider(transport, 'in-process');
  end.send(JSON.stringify({ type: 'hello', name: `bench-${index}`, protocolVersion: 2, tools }));
  await bound;
}
