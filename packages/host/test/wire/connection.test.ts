/** One connection with a host behind it: what becomes of it when reading stops, an answer breaks off, or the log is away. */
import { type Access, OWNER } from '@atrium/core/contracts/access.js';
import type { Commit, Stored } from '@atrium/core/log/log.js';
import { LogUnavailableError } from '@atrium/core/log/log.js';
import { PART_CHARACTERS } from '@atrium/core/util/json-parts.js';
import { INBOUND_HELD_MAX_CHARACTERS, INBOUND_MAX_MESSAGES, TEXT_HELD_MAX_MS } from '@atrium/core/wire/limits.js';
import { CloseCode, type MessagePart, textOfPart } from '@atrium/core/wire/transport.js';
import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { componentsOf } from '../support/host-components.js';
import { KeptLog, SlowLog } from '../support/logs.js';
import { nativeClient, nativeSession, nativeTurn } from '../support/native-client.js';
import { startHost } from '../support/session-fixture.js';
import { RawClient, ROOT, settle } from '../support/test-host.js';

describe('while storing is behind', () => {
  const long = { type: 'test', text: 'x'.repeat(INBOUND_HELD_MAX_CHARACTERS) };

  it('[CLU-015] a connection reads a little of its client, and leaves the rest in the socket until it may go on or is closed', async () => {
    const host = await startHost();
    const { connections } = componentsOf(host.host);
    const client = host.connect();
    const reading = { pause: vi.fn(), resume: vi.fn() };
    Object.assign(client.transport, reading);
    await client.initialize('desk');
    const connection = connections.of('desk');
    connections.pauseReading();
    await client.request('ping', { channel: ROOT });
    expect([reading.pause.mock.calls.length, reading.resume.mock.calls.length]).toEqual([0, 0]);
    client.dispatch(ROOT, long);
    await settle();
    expect([reading.pause.mock.calls.length, reading.resume.mock.calls.length]).toEqual([1, 0]);
    connections.resumeReading();
    expect([reading.pause.mock.calls.length, reading.resume.mock.calls.length]).toEqual([1, 1]);
    client.disconnect();
    connection?.pauseReading();
    connection?.resumeReading();
    expect([reading.pause.mock.calls.length, reading.resume.mock.calls.length]).toEqual([1, 1]);
  });

  it('a client that comes says who it is first, and is then not read either', async () => {
    const host = await startHost();
    const { connections } = componentsOf(host.host);
    connections.pauseReading();
    const client = host.connect();
    const pause = vi.fn();
    Object.assign(client.transport, { pause });
    expect(pause).not.toHaveBeenCalled();
    await client.initialize('desk');
    expect(pause).not.toHaveBeenCalled();
    client.dispatch(ROOT, long);
    await settle();
    expect(pause).toHaveBeenCalledOnce();
  });
});

describe('what waits to be served', () => {
  it('[REL-098] is so many messages: who sends more while nothing can be served is sent away, and nobody else', async () => {
    const log = new SlowLog();
    const first = await startHost({ log });
    const uri = await (await first.client()).session();
    await first.stop();
    const host = await startHost({ log });
    const [client, other] = [await host.client('hasty'), await host.client('other')];
    const letThrough = log.hold('openChannel');
    client.send({ id: 100, method: 'subscribe', params: { channel: uri } });
    for (let count = 2; count <= INBOUND_MAX_MESSAGES; count++) client.send({ method: 'unsubscribe', params: {} });
    await settle();
    expect(client.closed).toBeUndefined();
    client.send({ method: 'unsubscribe', params: {} });
    expect(await client.untilClosed()).toEqual({
      code: CloseCode.PolicyViolation,
      reason: 'sends faster than it can be served',
    });
    letThrough();
    expect(await other.request('listSessions', { channel: ROOT })).toHaveProperty('items.length', 1);
  });
});

describe('an answer in parts', () => {
  /** A session with a message that is longer than a part, and somebody who is about to read it. */
  async function large() {
    const host = await startHost();
    const client = await nativeClient(host, 'desk');
    const { uri, chat } = await nativeSession(client);
    await nativeTurn(client, chat, 'x'.repeat(2 * PART_CHARACTERS));
    const reader = host.connect();
    await reader.initialize('reader', { protocolVersions: ['1.0.0'] });
    return { host, client, reader, uri, chat };
  }

  it('that breaks off ends the connection, because half of it cannot be taken back; others stay', async () => {
    const { reader, client, chat } = await large();
    let parts = 0;
    const sendPart = () => {
      parts += 1;
      if (parts === 2) throw new Error('broken');
    };
    Object.assign(reader.transport, { sendPart });
    reader.send({ id: 77, method: 'subscribe', params: { channel: chat } });
    expect(await reader.untilClosed()).toEqual({
      code: CloseCode.SnapshotNeeded,
      reason: 'the answer broke off: connect again',
    });
    expect(client.closed).toBeUndefined();
    expect(await client.request('listSessions', { channel: ROOT })).toHaveProperty('items.length', 1);
  });

  it('that is sent to its end is whole, and what happens meanwhile comes behind it', async () => {
    const { reader, client, chat } = await large();
    let text = '';
    const sendPart = (part: MessagePart) => {
      text += textOfPart(part);
    };
    Object.assign(reader.transport, { sendPart });
    reader.send({ id: 77, method: 'subscribe', params: { channel: chat } });
    await nativeTurn(client, chat, 'more');
    await reader.action(chat, 'chat/turnComplete');
    expect(JSON.parse(text)).toMatchObject({ id: 77, result: { snapshot: { resource: chat } } });
    expect(text.length).toBeGreaterThan(2 * PART_CHARACTERS);
    expect(reader.closed).toBeUndefined();
  });
});

describe('a handshake', () => {
  /** Its log loses the way to what is stored, or a part of it. */
  class TornLog extends KeptLog {
    failure: Error | undefined;
    override async openChannel(channel: string, turns: number) {
      if (this.failure) throw this.failure;
      return super.openChannel(channel, turns);
    }
    override async beginClient(...given: Parameters<KeptLog['beginClient']>) {
      if (this.failure instanceof LogUnavailableError) throw this.failure;
      return super.beginClient(...given);
    }
  }

  /** A host that has a session, but not in its memory. */
  async function restarted() {
    const log = new TornLog();
    const first = await startHost({ log });
    const uri = await (await first.client('maker')).session();
    await first.stop();
    return { log, uri, host: await startHost({ log }) };
  }

  it('that fails half-way is answered with an error, and the client starts over on a new connection', async () => {
    const { log, uri, host } = await restarted();
    log.failure = new Error('a torn page');
    const client = host.connect();
    const params = { channel: ROOT, protocolVersions: ['0.3.0'], clientId: 'desk', initialSubscriptions: [uri] };
    expect((await client.ask('initialize', params)).error).toMatchObject({ code: -32603 });
    expect(await client.untilClosed()).toEqual({
      code: CloseCode.GoingAway,
      reason: 'the handshake failed: connect again',
    });
    log.failure = undefined;
    expect((await host.connect().ask('initialize', params)).error).toBeUndefined();
  });

  it('is not answered while the log cannot be reached: the client comes back as it is', async () => {
    const { log, uri, host } = await restarted();
    log.failure = new LogUnavailableError('the network is down');
    const away = { code: CloseCode.NotStored, reason: 'the log cannot be reached now: connect again' };
    for (const initialSubscriptions of [[], [uri]]) {
      const client = host.connect();
      client.send({
        ...{ id: 1, method: 'initialize' },
        params: { channel: ROOT, protocolVersions: ['0.3.0'], clientId: 'desk', initialSubscriptions },
      });
      expect(await client.untilClosed()).toEqual(away);
      await settle();
      expect(client.received).toEqual([]);
    }
  });

  it('of a client that has left meanwhile opens nothing', async () => {
    const log = new SlowLog();
    const host = await startHost({ log });
    const { connections } = componentsOf(host.host);
    const release = log.hold('append');
    const client = host.connect();
    client.send({
      ...{ id: 1, method: 'initialize' },
      params: { channel: ROOT, protocolVersions: ['0.3.0'], clientId: 'desk', initialSubscriptions: [ROOT] },
    });
    await settle();
    client.disconnect();
    release();
    await settle();
    expect([connections.isConnected('desk'), [...connections.all()].length]).toEqual([false, 0]);
    expect(client.received).toEqual([]);
  });
});

describe('a client that resumes', () => {
  /** Commits are stored at once, and said to be stored later. */
  class LateLog extends KeptLog {
    said: Promise<void> = Promise.resolve();
    override async append(commit: Commit): Promise<Stored> {
      const stored = await super.append(commit);
      await this.said;
      return stored;
    }
  }

  it('is told once what is stored already and shown to nobody yet', async () => {
    const log = new LateLog();
    const host = await startHost({ log });
    const [writer, desk] = [await nativeClient(host, 'writer'), await nativeClient(host, 'desk')];
    const { uri } = await nativeSession(writer);
    await desk.request('subscribe', { channel: uri });
    const { shown } = componentsOf(host.host).writer;
    desk.disconnect();
    let say = () => {};
    log.said = new Promise((resolve) => {
      say = resolve;
    });
    writer.dispatch(uri, { type: 'session/titleChanged', title: 'late' } as { type: string });
    await settle();
    const back = host.connect();
    back.send({
      ...{ id: 1, method: 'reconnect' },
      params: { channel: ROOT, clientId: 'desk', lastSeenServerSeq: shown, subscriptions: [uri] },
    });
    await back.until(({ id }) => id === 1);
    const [{ result } = {}] = back.received;
    expect(result).toMatchObject({ type: 'replay', actions: [] });
    say();
    await back.action(uri, 'session/titleChanged');
    await settle();
    expect(back.envelopes(uri).filter(({ action }) => action.type === 'session/titleChanged')).toHaveLength(1);
  });
});

describe('how long text is held back', () => {
  it('is what the most impatient subscription wishes, within limits, until it ends', async () => {
    const host = await startHost();
    const client = await nativeClient(host, 'desk');
    const { uri, chat } = await nativeSession(client);
    const { connections } = componentsOf(host.host);
    const held = () => connections.of('desk')?.textMaxDelayMs;
    const wish = (channel: string, maxLatencyMs: number) =>
      client.request('subscribe', { channel, delivery: { maxLatencyMs } });
    expect(held()).toBeUndefined();
    await wish(uri, 10 * TEXT_HELD_MAX_MS);
    expect(held()).toBe(TEXT_HELD_MAX_MS);
    await wish(chat, 20);
    expect(held()).toBe(20);
    await client.request('subscribe', { channel: chat });
    expect(held()).toBe(TEXT_HELD_MAX_MS);
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await vi.waitFor(() => expect(held()).toBeUndefined(), 10_000);
  });
});

describe('an access that ends', () => {
  async function visitor(access: Partial<Access>) {
    const clock = new FakeClock();
    const host = await startHost({ clock });
    const client = new RawClient();
    const until = clock.now() + 1_000;
    host.host.connect(client.transport, { ...OWNER, until, ...access });
    await client.initialize('guest');
    return { clock, host, client, until, connection: componentsOf(host.host).connections.of('guest') };
  }

  it('closes its connection then, and one that was given more time closes later', async () => {
    const { clock, client, connection, until } = await visitor({});
    await clock.advance(999);
    expect(client.closed).toBeUndefined();
    connection?.changeAccess({ ...OWNER, until: until + 500 });
    await clock.advance(500);
    expect(client.closed).toBeUndefined();
    await clock.advance(1);
    expect(client.closed).toEqual({
      code: CloseCode.AccessEnded,
      reason: 'this access has expired: ask for a new one',
    });
  });

  it('is over at once when its time has passed', async () => {
    const { clock, client, connection } = await visitor({});
    connection?.changeAccess({ ...OWNER, until: clock.now() - 5 });
    await clock.advance(0);
    expect(client.closed).toMatchObject({ code: CloseCode.AccessEnded });
  });

  it('[DEV-023] asks for a new beginning when it allows something else, and nothing of one that has closed', async () => {
    const { client, connection } = await visitor({});
    connection?.changeAccess({ ...OWNER, role: 'viewer' });
    expect(client.closed).toEqual({
      code: CloseCode.AccessChanged,
      reason: 'what this access allows has changed: connect again',
    });
    connection?.changeAccess(OWNER);
    expect(connection?.access.role).toBe('viewer');
  });
});
