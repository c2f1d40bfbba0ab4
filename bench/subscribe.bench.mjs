/**
 * What it costs to open a session of 10,000 turns over a real socket: CPU of a host that was just started, for the whole
 * of it and for its last 50 turns, against `JSON.stringify` of the same state in a process that was just started, too.
 * The same once more when it has been opened before, and the garbage of the start has been collected. The floor: a program that reads the rows and writes their bytes to a socket,
 * and does nothing else. And what it costs to come back after nearly a thousand actions, against
 * moving the same bytes.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { absolute, loadHost, paired, ratio, report, size } from './measure.mjs';
import { handAgent } from './support/hand-agent.mjs';
import { startHelper } from './support/helper.mjs';
import { InProcessClient } from './support/in-process-client.mjs';
import { RawSocket } from './support/raw-socket.mjs';
import { BENCH_SESSION, finishedTurn, sessionHead, storeSession } from './support/stored-session.mjs';

const TURNS = size(10_000, 60);
const WINDOW = 50;
const MISSED = size(950, 20);
/** Starts a helper that can be told to collect its garbage. */
const COLLECTING = { execArgv: ['--expose-gc'] };
const CHAT = defaultChatUri(BENCH_SESSION);

const { open, back } = await paired(import.meta.url, {
  open: {
    warmups: 0,
    atrium: {
      full: () => opening({}),
      window: () => opening({ turns: { last: WINDOW } }),
    },
    limits: { stringify: stringified, floor: () => copied(0), floorWindow: () => copied(TURNS - WINDOW) },
  },
  back: { atrium: { replay: () => coming('replay'), bytes: () => coming('bytes') } },
});

const limit = 'JSON.stringify of the state, also for the first time';
report([
  ratio(open, {
    name: 'subscribe.first',
    of: 'full',
    to: 'stringify',
    limit,
    target: { atMost: 1.2 },
    worse: 'parsing',
  }),
  ratio(open, {
    name: 'subscribe.first.stored',
    of: 'full',
    to: 'floor',
    limit: 'a bare program that reads the rows and writes them to a socket, for the first time',
    target: { atMost: 3 },
    worse: 'checks',
  }),
  ratio(open, { name: 'subscribe.floor', of: 'floor', to: 'stringify', limit, worse: 'SQL' }),
  ratio(open, { name: 'subscribe.floor.again', of: 'floor', to: 'stringify', member: 'again', limit, worse: 'SQL' }),
  ratio(open, {
    name: 'subscribe.window',
    of: 'window',
    to: 'stringify',
    limit: `${limit}; here the last ${WINDOW} turns`,
    target: { atMost: 0.01 },
    worse: 'reads',
  }),
  ratio(open, {
    name: 'subscribe.window.stored',
    of: 'window',
    to: 'floorWindow',
    limit: `a bare program that reads ${WINDOW} rows and writes them to a socket, for the first time`,
    target: { atMost: 4 },
    worse: 'reads',
  }),
  ratio(open, { name: 'subscribe.window.floor', of: 'floorWindow', to: 'stringify', limit, worse: 'SQL' }),
  ratio(open, {
    name: 'subscribe.window.again',
    of: 'window',
    to: 'stringify',
    member: 'again',
    limit: `${limit}; here the last ${WINDOW} turns, once they have been read`,
    worse: 'reads',
  }),
  ratio(open, {
    name: 'subscribe.again',
    of: 'full',
    to: 'stringify',
    member: 'again',
    limit: 'JSON.stringify of the state; here a session that has been opened before',
    target: { atMost: 1.2 },
    worse: 'parsing',
  }),
  ratio(back, {
    name: 'subscribe.replay',
    of: 'replay',
    to: 'bytes',
    limit: `moving the same bytes; here ${MISSED} missed actions`,
    target: { atMost: 2 },
    worse: 'validation',
  }),
  absolute(open, {
    name: 'subscribe.first.ms',
    of: 'full',
    unit: 'ms',
    pick: ({ cost }) => cost / 1_000,
    worse: 'parsing',
  }),
]);

/** A new host for each slice. */
async function opening(more) {
  const { dataDir, remove } = await stored();
  const expected = more.turns ? WINDOW : TURNS;
  return {
    async slice() {
      const host = startHelper('./opened-host.mjs', [], COLLECTING);
      const { port } = await host.ask('host', { dataDir });
      const cpu = await subscribed({ host, port, more, expected });
      await host.ask('settle');
      const again = await subscribed({ host, port, more, expected });
      host.stop();
      return { operations: 1, cpu, again };
    },
    close: remove,
  };
}

async function stored() {
  const { openSqliteLog } = await loadHost();
  const dataDir = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const log = await openSqliteLog({ dataDir });
  await storeSession(log, TURNS);
  await log.close();
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true }) };
}

/** CPU of the host from the request to the last byte of the answer. */
async function subscribed({ host, port, more, expected }) {
  const socket = await RawSocket.open(port);
  const clientId = `bench-${process.hrtime.bigint()}`;
  await socket.ask(1, 'initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId });
  const before = await host.ask('cpu');
  const { snapshot } = await socket.ask(2, 'subscribe', { channel: CHAT, ...more });
  const after = await host.ask('cpu');
  socket.close();
  const { length } = snapshot.state.turns;
  if (length !== expected) throw new Error(`${length} turns came instead of ${expected}`);
  return after - before;
}

/** The least that could be done: see `floor` in `opened-host.mjs`. */
async function copied(from) {
  const { dataDir, remove } = await stored();
  return {
    async slice() {
      const helper = startHelper('./opened-host.mjs', [], COLLECTING);
      const { port } = await helper.ask('floor', { dataDir, channel: CHAT, from, turns: TURNS });
      const least = (TURNS - from) * 100;
      const cpu = await copiedOnce(helper, port, least);
      await helper.ask('settle');
      const again = await copiedOnce(helper, port, least);
      helper.stop();
      return { operations: 1, cpu, again };
    },
    close: remove,
  };
}

/** CPU of the program from the request to the last byte. */
async function copiedOnce(helper, port, least) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  const before = await helper.ask('cpu');
  socket.write('?');
  await once(socket, 'end');
  const after = await helper.ask('cpu');
  if (bytes < least) throw new Error(`${bytes} bytes came, which are not all turns`);
  return after - before;
}

function stringified() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const file = join(folder, 'state.json');
  const turns = Array.from({ length: TURNS }, (_, index) => finishedTurn(index));
  writeFileSync(file, JSON.stringify({ ...sessionHead(BENCH_SESSION).chat, turns }));
  return {
    async slice() {
      const helper = startHelper('./opened-host.mjs');
      const { cpu } = await helper.ask('stringify', { file });
      helper.stop();
      return { operations: 1, cpu, again: cpu };
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}

/** A client was away while a turn streamed. The limit: answering an unknown method with an error of the same size. */
async function coming(way) {
  const { createHost, MemoryLog } = await loadHost();
  const { agent, nextTurn } = handAgent();
  const host = await createHost({ log: new MemoryLog(), agents: [agent], joinText: false });
  const client = await InProcessClient.open(host);
  await client.createSession(BENCH_SESSION);
  const away = await InProcessClient.connect(host);
  const { result } = JSON.parse(await away.initialize('away'));
  client.startTurn(BENCH_SESSION);
  const { turn } = await nextTurn();
  for (let index = 0; index < MISSED; index++) {
    turn.text('token ');
    await new Promise((resolve) => setImmediate(resolve));
  }
  const params = {
    channel: 'ahp-root://',
    clientId: 'away',
    lastSeenServerSeq: result.serverSeq,
    subscriptions: [CHAT],
  };
  const replay = async () => {
    const returned = await InProcessClient.connect(host);
    const text = await returned.ask('reconnect', params);
    if (!text.includes('"replay"')) throw new Error(`a replay was expected: ${text.slice(0, 100)}`);
    return text.length;
  };
  const method = 'x'.repeat(await replay());
  const bytes = async () => {
    const other = await InProcessClient.open(host, 'other');
    await other.ask(method, { channel: 'ahp-root://' });
  };
  const work = way === 'replay' ? replay : bytes;
  const times = size(20, 1);
  return {
    async slice() {
      for (let time = 0; time < times; time++) await work();
      return times;
    },
    close: () => host.stop(),
  };
}
