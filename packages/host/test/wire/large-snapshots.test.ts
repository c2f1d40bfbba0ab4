import { PassThrough } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import type { TurnRange } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { OUTBOX_MAX_BYTES, OUTBOX_MERGE_BYTES } from '@atrium/core/wire/limits.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { stdioTransport } from '@atrium/core/wire/transports/stdio.js';
import type { SessionState } from '@atrium/protocol';
import { type ChatState, defaultChatUri } from '@atrium/protocol/ahp-1';
import { DIALECTS_0_3 } from '@atrium/protocol/dialects';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteLog } from '../../src/log-sqlite/sqlite-log.js';
import { startServer } from '../../src/server/server.js';
import {
  LARGE,
  LARGE_V1,
  type LargeSession,
  PartClient,
  storeLargeSession,
  turnCounter,
} from '../support/large-session.js';
import { comparable, Mirror } from '../support/mirror.js';
import { startHost } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { ROOT, settle } from '../support/test-host.js';
import { openClient } from './transports/support.js';

/** About 6 MB, of which 2.5 MB are in memory once it is open. */
const SESSION: LargeSession = { turns: 120, turnBytes: 50_000 };
/** No part, and so no work in one go, is longer. */
const PART_MAX_BYTES = 512 * 2 ** 10;

class CountingLog extends MemoryLog {
  readonly pages: TurnRange[] = [];
  fails = false;

  override async archivedTurns(channel: string, range: TurnRange) {
    this.pages.push(range);
    if (this.fails) throw new Error('unreadable');
    return super.archivedTurns(channel, range);
  }
}

async function largeHost(session = SESSION) {
  const log = new CountingLog();
  const state = await storeLargeSession(log, session);
  return { host: await startHost({ log }), log, state };
}

const HELLO = {
  '0.3.0': { channel: ROOT, protocolVersions: ['0.3.0'] },
  '0.2.0': { channel: ROOT, protocolVersions: ['0.2.0'] },
  '1': { protocolVersion: 1 },
} as const;
type Version = keyof typeof HELLO;

const targetOf = (version: Version) => (version === '1' ? { resource: LARGE_V1 } : { channel: LARGE });
const VIEW = { providerOf: () => 'mock', sessionOf: () => undefined, memoryOf: () => undefined };

/** What a client of this version must be shown. */
function shown(version: Version, state: SessionState, fromSeq: number): unknown {
  const snapshot = { resource: LARGE, state, fromSeq };
  return DIALECTS_0_3.find(({ traits }) => traits.version === version)?.encodeSnapshot(snapshot, {}, VIEW);
}

function stall(client: PartClient): void {
  client.bufferedBytes = OUTBOX_MERGE_BYTES + 1;
}

function read(client: PartClient): void {
  client.bufferedBytes = 0;
  client.drain();
}

/** The first part has arrived, and the client reads no further. */
async function halfway(host: Awaited<ReturnType<typeof startHost>>, clientId = 'reader') {
  const client = PartClient.connected(host);
  await client.initialize(clientId, { initialSubscriptions: [] });
  client.onPart = () => stall(client);
  client.send({ id: 500, method: 'subscribe', params: { channel: LARGE } });
  await expect.poll(() => client.parts.length).toBe(1);
  return client;
}

function goOn(client: PartClient): void {
  client.onPart = () => {};
  read(client);
}

describe('[REL-058] the snapshot of a large session', () => {
  it.each(['0.3.0', '0.2.0', '1'] as const)(
    'goes out in parts to six subscribers of %s, one part in a turn of the event loop',
    async (version) => {
      const { host, state } = await largeHost();
      const turnNow = turnCounter();
      const clients = Array.from({ length: 6 }, () => PartClient.connected(host, turnNow));
      await Promise.all(
        clients.map((client, index) => client.ask('initialize', { ...HELLO[version], clientId: `c${index}` })),
      );
      const answers = await Promise.all(clients.map((client) => client.request('subscribe', targetOf(version))));
      for (const answer of answers) {
        const snapshot = (version === '1' ? answer : answer.snapshot) as { fromSeq: number };
        expect(snapshot).toEqual(shown(version, state, snapshot.fromSeq));
      }
      const parts = clients.flatMap((client) => client.parts);
      expect(parts.length).toBeGreaterThan(6 * 10);
      expect(Math.max(...parts.map(({ text }) => Buffer.byteLength(text)))).toBeLessThan(PART_MAX_BYTES);
      expect(new Set(parts.map(({ turn }) => turn)).size).toBe(parts.length);
    },
  );

  it.each(['initialize', 'reconnect'] as const)('goes out in parts when %s asks for it', async (method) => {
    const { host, state } = await largeHost();
    const client = PartClient.connected(host);
    if (method === 'reconnect') {
      const earlier = PartClient.connected(host);
      await earlier.ask('initialize', { ...HELLO['0.3.0'], clientId: 'back' });
      earlier.disconnect();
    }
    const params =
      method === 'initialize'
        ? { ...HELLO['0.3.0'], initialSubscriptions: [LARGE] }
        : { channel: ROOT, lastSeenServerSeq: 1e12, subscriptions: [LARGE] };
    const { snapshots } = await client.request<{ snapshots: { fromSeq: number }[] }>(method, {
      ...params,
      clientId: 'back',
    });
    expect(snapshots).toEqual([shown('0.3.0', state, snapshots[0]?.fromSeq ?? -1)]);
    expect(client.parts.length).toBeGreaterThan(10);
  });

  it('is read from the log page by page, and pages of turns go out the same way', async () => {
    const { host, log, state } = await largeHost();
    const client = PartClient.connected(host);
    await client.initialize('reader', { initialSubscriptions: [] });
    const { turns } = await client.request<{ turns: object[] }>('fetchTurns', { channel: LARGE, limit: 119 });
    expect(turns).toEqual(state.turns.slice(1));
    expect(client.parts.length).toBeGreaterThan(10);
    expect(log.pages.length).toBeGreaterThan(10);
    expect(log.pages.every(({ maxBytes = Number.POSITIVE_INFINITY }) => maxBytes < PART_MAX_BYTES)).toBe(true);
  });

  it('is read once for all who are sent it at the same time', async () => {
    const pagesFor = async (count: number) => {
      const { host, log } = await largeHost();
      const clients = Array.from({ length: count }, () => PartClient.connected(host));
      await Promise.all(clients.map((client, index) => client.initialize(`c${index}`)));
      await Promise.all(clients.map((client) => client.request('subscribe', { channel: LARGE })));
      return log.pages.length;
    };
    const alone = await pagesFor(1);
    expect(alone).toBeGreaterThan(10);
    expect(await pagesFor(6)).toBeLessThan(2 * alone);
  });

  it('goes to a later client of sessions-v1 in both of its forms', async () => {
    const { host, state } = await largeHost();
    const client = PartClient.connected(host);
    const hello = { ...HELLO['1'], clientId: 'later', initialSubscriptions: ['agenthost:/root'] };
    await client.request('initialize', hello);
    const { snapshot, ...flat } = await client.request<{ fromSeq: number; snapshot: object }>(
      'subscribe',
      targetOf('1'),
    );
    expect(flat).toEqual(shown('1', state, flat.fromSeq));
    expect(snapshot).toEqual(flat);
  });

  it('may have turns that are large themselves', async () => {
    const { host, state } = await largeHost({ turns: 53, turnBytes: 700_000 });
    const client = PartClient.connected(host);
    await client.ask('initialize', { ...HELLO['1'], clientId: 'old' });
    const snapshot = await client.request<{ fromSeq: number; state: unknown }>('subscribe', { resource: LARGE_V1 });
    expect(snapshot).toEqual(shown('1', state, snapshot.fromSeq));
    expect(Math.max(...client.parts.map(({ text }) => text.length))).toBeLessThan(PART_MAX_BYTES);
  });

  it('[REL-017] what happens while it goes out follows it, once', async () => {
    const { host } = await largeHost();
    const desktop = await host.client('desk');
    const client = PartClient.connected(host);
    await client.initialize('reader', { initialSubscriptions: [] });
    let titles = 0;
    client.onPart = () => void desktop.dispatch(LARGE, { type: 'session/titleChanged', title: `Title ${++titles}` });
    await client.request('subscribe', { channel: LARGE });
    await client.action(LARGE, ({ title }) => title === (`Title ${titles}` as never));
    expect(client.types(LARGE)).toHaveLength(titles);
    expect(new Mirror().takeAll(client.received).state(LARGE)).toEqual(comparable(await desktop.state(LARGE)));
  });

  it('[REL-017] shows the history as it was when it was taken, also when that is cut meanwhile', async () => {
    const { host, state } = await largeHost();
    const desktop = await host.client('desk', { initialSubscriptions: [LARGE] });
    const client = await halfway(host);
    for (const turnId of ['t90', 't40', 't5']) {
      desktop.dispatch(LARGE, { type: 'session/truncated', turnId });
      await desktop.turn(LARGE, 'hello', `behind-${turnId}`);
    }
    goOn(client);
    const { snapshot } = (await client.until(({ id }) => id === 500)).result as {
      snapshot: { state: SessionState; fromSeq: number };
    };
    expect(snapshot.state.turns).toEqual(state.turns);
    await client.action(
      LARGE,
      ({ turnId, type }) => type === 'session/turnComplete' && turnId === ('behind-t5' as never),
    );
    const seen = new Mirror().takeAll(client.received).state(LARGE) as SessionState;
    expect(seen).toEqual(comparable(await desktop.state(LARGE)));
    expect(seen.turns.map(({ id }) => id)).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 'behind-t5']);
  });

  it('two of them on one connection are sent one after the other', async () => {
    const { host, state } = await largeHost();
    const client = PartClient.connected(host);
    await client.initialize('reader', { initialSubscriptions: [] });
    const twice = [1, 2].map(() => client.request<{ snapshot: { state: object } }>('subscribe', { channel: LARGE }));
    for (const { snapshot } of await Promise.all(twice)) expect(snapshot.state).toEqual(state);
    expect(client.parts.filter(({ isFirst }) => isFirst)).toHaveLength(2);
    const order = client.parts.map(({ isFirst, isLast }) => (isFirst ? 'first' : isLast ? 'last' : '')).filter(Boolean);
    expect(order).toEqual(['first', 'last', 'first', 'last']);
  });
});

describe('[REL-058] a subscriber of a large session', () => {
  it('that does not read has one part and what is behind it waiting, and is let go past the limit', async () => {
    const { host, log } = await largeHost();
    const desktop = await host.client('desk');
    const client = await halfway(host);
    await settle(20);
    expect(client.parts).toHaveLength(1);
    const before = log.pages.length;
    const text = 'x'.repeat(100_000);
    for (let count = 0; !client.closed && count < (2 * OUTBOX_MAX_BYTES) / text.length; count++) {
      const userMessage = { text: `${count} ${text}` };
      desktop.dispatch(LARGE, { type: 'session/pendingMessageSet', kind: 'steering', id: 'one', userMessage });
      await settle(1);
    }
    expect(await client.untilClosed()).toMatchObject({ code: CloseCode.TooSlow });
    read(client);
    await settle(20);
    expect(client.parts).toHaveLength(1);
    expect(log.pages).toHaveLength(before);
  });

  it('that asks for it again and again without reading is let go, too', async () => {
    const { host } = await largeHost();
    const client = await halfway(host);
    for (let id = 1_000; id < 1_200; id++) client.send({ id, method: 'subscribe', params: { channel: LARGE } });
    expect(await client.untilClosed()).toMatchObject({ code: CloseCode.TooSlow });
  });

  it('that disconnects in the middle of it costs nothing any more', async () => {
    const { host, log } = await largeHost();
    const client = await halfway(host);
    client.disconnect();
    read(client);
    await settle(2);
    const before = log.pages.length;
    await settle(20);
    expect(log.pages).toHaveLength(before);
    expect(client.parts).toHaveLength(1);
  });

  it('is let go when the host stops in the middle of it', async () => {
    const { host } = await largeHost();
    const client = await halfway(host);
    await host.stop();
    read(client);
    await settle(20);
    expect(client.closed).toMatchObject({ code: CloseCode.GoingAway });
    expect(client.parts).toHaveLength(1);
  });

  it('comes back when the rest of it cannot be read', async () => {
    const { host, log, state } = await largeHost();
    const client = await halfway(host);
    log.fails = true;
    goOn(client);
    expect(await client.untilClosed()).toMatchObject({ code: CloseCode.SnapshotNeeded });
    log.fails = false;
    const again = PartClient.connected(host);
    const params = { channel: ROOT, clientId: 'reader', lastSeenServerSeq: 1e12, subscriptions: [LARGE] };
    const { snapshots } = await again.request<{ snapshots: { state: object }[] }>('reconnect', params);
    expect(snapshots[0]?.state).toEqual(state);
  });

  it('comes back when the session is disposed in the middle of it', async () => {
    const { host } = await largeHost();
    const desktop = await host.client('desk');
    const client = await halfway(host);
    await desktop.request('disposeSession', { channel: LARGE });
    goOn(client);
    expect(await client.untilClosed()).toMatchObject({ code: CloseCode.SnapshotNeeded });
  });

  it('keeps its connection when a long chat is disposed, and forgotten, in the middle of it', async () => {
    const { host } = await largeHost();
    const chat = 'ahp-chat:/branch';
    const desktop = PartClient.connected(host);
    await desktop.initialize('desk', { protocolVersions: ['1.0.0'], initialSubscriptions: [LARGE] });
    const source = { kind: 'fork', chat: defaultChatUri(LARGE), turnId: 't119' };
    await desktop.request('createChat', { channel: LARGE, chat, source });
    const client = PartClient.connected(host);
    await client.initialize('reader', { protocolVersions: ['1.0.0'], initialSubscriptions: [LARGE] });
    client.parts.splice(0);
    client.onPart = () => stall(client);
    client.send({ id: 500, method: 'subscribe', params: { channel: chat } });
    await expect.poll(() => client.parts.length).toBe(1);
    await desktop.request('disposeChat', { channel: chat });
    goOn(client);
    const { result } = await client.until(({ id }) => id === 500);
    expect((result as { snapshot: { state: ChatState } }).snapshot.state.turns.length).toBeLessThan(120);
    await client.action(LARGE, ({ type }) => type === 'session/chatRemoved');
    expect(client.closed).toBeUndefined();
  });

  it('on standard input gets the whole of it before the end', async () => {
    const { host, state } = await largeHost();
    const [input, output] = [new PassThrough(), new PassThrough()];
    host.host.connect(stdioTransport({ input, output }));
    const requests = [
      { id: 1, method: 'initialize', params: { ...HELLO['0.3.0'], clientId: 'pipe' } },
      { id: 2, method: 'subscribe', params: { channel: LARGE } },
      { id: 3, method: 'listSessions', params: { channel: ROOT } },
    ];
    input.end(requests.map((request) => `${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`).join(''));
    const answers = (await textOf(output))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(answers[1].result.snapshot.state).toEqual(state);
  });
});

/** In one piece, each snapshot let about one ping through. */
const PINGS_MIN = 60;

it('[REL-058] a bystander is answered all the time while 12 MB go to six subscribers of three versions over sockets', async () => {
  const log = await openSqliteLog({ dataDir: await tempFolder() });
  const state = await storeLargeSession(log, { turns: 240, turnBytes: 50_000 });
  const { host } = await startHost({ log });
  const server = await startServer({
    host: '127.0.0.1',
    policy: {},
    onConnection: (transport) => host.connect(transport),
  });
  onTestFinished(() => server.close());
  const bystander = await joined('0.3.0', 'bystander');
  const versions = ['0.3.0', '0.3.0', '0.2.0', '0.2.0', '1', '1'] as const;
  const clients = await Promise.all(versions.map((version, index) => joined(version, `reader-${index}`)));
  let isOver = false;
  const answers = Promise.all(clients.map(({ ask, version }) => ask('subscribe', targetOf(version)))).finally(() => {
    isOver = true;
  });
  let pings = 0;
  while (!isOver) {
    await bystander.ask('ping', { channel: ROOT });
    pings += 1;
  }
  expect(pings).toBeGreaterThan(PINGS_MIN);
  const [first, ...others] = await answers;
  const { snapshot } = JSON.parse(String(first)).result;
  expect(snapshot.state.turns).toEqual(state.turns);
  for (const native of others.slice(0, 3)) expect(native.equals(first ?? native)).toBe(true);
  expect(others[3]?.equals(others[4] ?? Buffer.alloc(0))).toBe(true);

  async function joined(version: Version, clientId: string) {
    const websocket = await openClient(server.port, { query: '', skipUTF8Validation: true });
    const ask = (method: string, params: object) =>
      new Promise<Buffer>((resolve) => {
        websocket.once('message', (data) => resolve(data as Buffer));
        websocket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
      });
    await ask('initialize', { ...HELLO[version], clientId });
    return { version, ask };
  }
}, 60_000);
