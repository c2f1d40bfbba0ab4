import { CloseCode } from '@atrium/core/wire/transport.js';
import { describe, expect, it } from 'vitest';
import { KeptLog, SlowLog } from '../support/logs.js';
import { comparable, Mirror } from '../support/mirror.js';
import { answerTo, openFixture, refusalOf, startHost } from '../support/session-fixture.js';
import { type RawClient, ROOT, settle, type TestHost } from '../support/test-host.js';

interface Envelope {
  readonly channel: string;
  readonly serverSeq: number;
  readonly action: { readonly type: string };
  readonly origin?: object;
}

interface Resumed {
  readonly type: 'replay' | 'snapshot';
  readonly actions: Envelope[];
  readonly missing: string[];
  readonly snapshots: { resource: string; fromSeq: number; state: object }[];
  readonly settled?: number[];
}

const title = (text: string) => ({ type: 'session/titleChanged', title: text }) as const;

async function comeBack(host: TestHost, clientId: string, params: object): Promise<[RawClient, Resumed]> {
  const client = host.connect();
  client.clientId = clientId;
  const resumed = await client.request('reconnect', { channel: ROOT, clientId, subscriptions: [ROOT], ...params });
  return [client, resumed as unknown as Resumed];
}

/** A fixture whose first client has left after some number, with actions after that. */
async function afterLeaving() {
  const fixture = await openFixture();
  const phone = await fixture.join('phone');
  await fixture.client.turn(fixture.uri, 'hello');
  const { serverSeq: lastSeen } = await fixture.client.action(fixture.uri, 'session/turnComplete');
  await settle();
  fixture.client.disconnect();
  await phone.turn(fixture.uri, 'hello');
  await settle();
  return { ...fixture, phone, lastSeen };
}

describe('reconnect', () => {
  it('[AHP-202] takes the place of initialize, with the id of before', async () => {
    const { host, uri, lastSeen } = await afterLeaving();
    const [desktop] = await comeBack(host, 'desk', { lastSeenServerSeq: lastSeen, subscriptions: [ROOT, uri] });
    desktop.dispatch(uri, title('Back'), 50);
    expect(await desktop.action(uri, 'session/titleChanged')).toMatchObject({
      origin: { clientId: 'desk', clientSeq: 50 },
    });
  });

  it('[AHP-203] by someone unknown is -32008, and does not count: initialize works on the same connection', async () => {
    const host = await startHost();
    const client = host.connect();
    const params = { channel: ROOT, clientId: 'stranger', lastSeenServerSeq: 0, subscriptions: [ROOT] };
    const { error } = await client.ask('reconnect', params);
    expect(error).toMatchObject({ code: -32008, message: expect.stringContaining('initialize') });
    expect((await client.ask('listSessions', { channel: ROOT })).error).toMatchObject({ code: -32600 });
    expect(await client.initialize('stranger')).toMatchObject({ protocolVersion: '0.3.0' });
  });

  it.each([
    { lastSeenServerSeq: -1 },
    { lastSeenServerSeq: 1.5 },
    { lastSeenServerSeq: 'x' },
    { lastSeenServerSeq: undefined },
    { subscriptions: undefined },
    { subscriptions: [7] },
    { clientId: 7 },
  ])('[AHP-019] with %j is -32602, and does not count either', async (members) => {
    const host = await startHost();
    await host.client('desk');
    const client = host.connect();
    const params = { channel: ROOT, clientId: 'desk', lastSeenServerSeq: 0, subscriptions: [] };
    expect((await client.ask('reconnect', { ...params, ...members })).error).toMatchObject({ code: -32602 });
    expect((await client.ask('reconnect', params)).error).toBeUndefined();
  });
});

describe('a replay', () => {
  it('[AHP-205] has every missed action of the resumed channels, in order, own echoes included', async () => {
    const { host, client: desktop, uri, phone } = await afterLeaving();
    const seen = Math.min(...desktop.envelopes(uri).map(({ serverSeq }) => serverSeq)) - 1;
    const [, resumed] = await comeBack(host, 'desk', { lastSeenServerSeq: seen, subscriptions: [uri] });
    expect(resumed.type).toBe('replay');
    expect(resumed.missing).toEqual([]);
    const missed = [...desktop.envelopes(uri), ...phone.envelopes(uri)];
    const expected = [...new Map(missed.map((envelope) => [envelope.serverSeq, envelope])).values()];
    expect(resumed.actions).toEqual(expected.sort((a, b) => a.serverSeq - b.serverSeq));
    expect(resumed.actions.some(({ origin }) => (origin as { clientId?: string })?.clientId === 'desk')).toBe(true);
  });

  it('[AHP-205] of nothing is empty', async () => {
    const { host, lastSeen, uri } = await afterLeaving();
    const [, first] = await comeBack(host, 'desk', { lastSeenServerSeq: lastSeen, subscriptions: [uri] });
    const newest = Math.max(...first.actions.map(({ serverSeq }) => serverSeq));
    const [, second] = await comeBack(host, 'desk', { lastSeenServerSeq: newest, subscriptions: [uri] });
    expect(second).toMatchObject({ type: 'replay', actions: [], missing: [] });
  });

  it('[AHP-204][AHP-205] names what cannot be resumed, and leaves out what was not asked for', async () => {
    const { host, phone, lastSeen, uri } = await afterLeaving();
    const other = await phone.session();
    await phone.turn(other, 'hello');
    const [, resumed] = await comeBack(host, 'desk', {
      lastSeenServerSeq: lastSeen,
      subscriptions: [uri, 'ahp-session:/none', 'ahp-terminal:/none', uri],
    });
    expect(resumed.missing).toEqual(['ahp-session:/none', 'ahp-terminal:/none']);
    expect(new Set(resumed.actions.map(({ channel }) => channel))).toEqual(new Set([uri]));
  });

  it('[REL-020] names a session that was disposed meanwhile', async () => {
    const { host, phone, lastSeen, uri } = await afterLeaving();
    await phone.request('disposeSession', { channel: uri });
    const [, resumed] = await comeBack(host, 'desk', { lastSeenServerSeq: lastSeen, subscriptions: [ROOT, uri] });
    expect(resumed).toMatchObject({ type: 'replay', missing: [uri] });
    expect(resumed.actions.filter(({ channel }) => channel === uri)).toEqual([]);
  });

  it('[REL-020] names a session that is disposed while another one is being opened', async () => {
    const log = new SlowLog();
    const first = await openFixture({ log });
    const other = await first.client.session();
    await first.host.stop();
    const host = await startHost({ log, clock: first.clock });
    const phone = await host.client('phone');
    await phone.request('subscribe', { channel: first.uri });
    const release = log.hold('openChannel');
    const subscriptions = [ROOT, first.uri, other];
    const resuming = comeBack(host, 'desk', { lastSeenServerSeq: log.head, subscriptions });
    await settle();
    await phone.request('disposeSession', { channel: first.uri });
    release();
    const [, resumed] = await resuming;
    expect(resumed).toMatchObject({ type: 'replay', missing: [first.uri] });
  });

  it('[AHP-113] has no rejections in it, and their numbers leave no hole in what is known', async () => {
    const { host, phone, lastSeen, uri } = await afterLeaving();
    await refusalOf(phone, uri, { type: 'session/turnCancelled' });
    await refusalOf(phone, uri, { type: 'session/nonsense' });
    const [, resumed] = await comeBack(host, 'desk', { lastSeenServerSeq: lastSeen, subscriptions: [uri] });
    expect(resumed.type).toBe('replay');
    expect(resumed.actions.filter((envelope) => 'rejectionReason' in envelope)).toEqual([]);
    expect(resumed.actions.filter(({ action }) => action.type.includes('nonsense'))).toEqual([]);
  });

  it('[AHP-208] is whole; live actions follow behind it, none lost and none twice', async () => {
    const { host, phone, lastSeen, uri } = await afterLeaving();
    const desktop = host.connect();
    const params = { channel: ROOT, clientId: 'desk', lastSeenServerSeq: lastSeen, subscriptions: [uri] };
    for (let count = 0; count < 5; count++) phone.dispatch(uri, title(`before ${count}`));
    desktop.send({ id: 1, method: 'reconnect', params });
    for (let count = 0; count < 20; count++) {
      phone.dispatch(uri, title(`during ${count}`));
      if (count % 4 === 0) await settle(1);
    }
    await desktop.action(uri, (action) => (action as { title?: string }).title === 'during 19');
    const [answer] = desktop.received;
    expect(answer?.id).toBe(1);
    const replayed = (answer?.result as Resumed | undefined)?.actions ?? [];
    const numbers = [...replayed, ...desktop.envelopes(uri)].map(({ serverSeq }) => serverSeq);
    const everything = phone.envelopes(uri).map(({ serverSeq }) => serverSeq);
    expect(numbers).toEqual(everything.filter((number) => number > lastSeen));
  });

  it('[AHP-208] an action that is just being stored is in it or follows it, whatever the moment', async () => {
    const log = new SlowLog();
    const { host, client: desktop, uri, join } = await openFixture({ log });
    const phone = await join('phone');
    const mirror = new Mirror().takeAll(desktop.received);
    desktop.disconnect();
    for (let moment = 0; moment < 60; moment++) {
      const letThrough = log.hold('append');
      phone.dispatch(uri, title(`Title ${moment}`));
      await settle(2);
      const returning = comeBack(host, 'desk', { lastSeenServerSeq: mirror.lastSeen, subscriptions: [uri] });
      for (let step = 0; step < moment; step++) await Promise.resolve();
      letThrough();
      const [again] = await returning;
      await settle(2);
      expect(mirror.takeAll(again.received).state(uri)).toMatchObject({ summary: { title: `Title ${moment}` } });
      again.disconnect();
    }
  });

  it('[AHP-210][AHP-088] has no notifications in it', async () => {
    const { host, phone, lastSeen } = await afterLeaving();
    await phone.session();
    const [desktop, resumed] = await comeBack(host, 'desk', { lastSeenServerSeq: lastSeen });
    await settle();
    expect(JSON.stringify(resumed)).not.toContain('sessionAdded');
    expect(desktop.received.filter(({ method }) => method?.startsWith('root/'))).toEqual([]);
    expect(await desktop.request('listSessions', { channel: ROOT })).toMatchObject({ items: [{}, {}] });
  });

  it('[REL-017] that takes long is not overtaken, and loses nothing when the buffer runs over meanwhile', async () => {
    const log = new SlowLog();
    const first = await openFixture({ log });
    const resting = await first.client.session();
    await first.host.stop();
    const host = await startHost({ log, clock: first.clock });
    const phone = await host.client('phone', { initialSubscriptions: [first.uri] });
    const lastSeen = log.head;
    const letThrough = log.hold('openChannel');
    const desktop = host.connect();
    const subscriptions = [first.uri, resting];
    desktop.send({
      id: 1,
      method: 'reconnect',
      params: { channel: ROOT, clientId: 'desk', lastSeenServerSeq: lastSeen, subscriptions },
    });
    await settle();
    for (let count = 0; count < 1_100; count++) phone.dispatch(first.uri, title(`number ${count}`));
    await phone.action(first.uri, (action) => (action as { title?: string }).title === 'number 1099');
    letThrough();
    await desktop.until(({ id }) => id === 1);
    await settle();
    expect(new Mirror().takeAll(desktop.received).state(first.uri)).toEqual(comparable(await phone.state(first.uri)));
  });
});

describe('a snapshot instead', () => {
  it('[AHP-206] has the state of every channel that can be resumed, and nothing for the others', async () => {
    const { host, phone, uri } = await afterLeaving();
    for (let count = 0; count < 1_100; count++) phone.dispatch(uri, title(`number ${count}`));
    await phone.action(uri, (action) => (action as { title?: string }).title === 'number 1099');
    const [desktop, resumed] = await comeBack(host, 'desk', {
      lastSeenServerSeq: 1,
      subscriptions: [ROOT, uri, 'ahp-session:/none'],
    });
    expect(resumed.type).toBe('snapshot');
    expect(resumed).not.toHaveProperty('missing');
    expect(resumed.snapshots.map(({ resource }) => resource)).toEqual([ROOT, uri]);
    phone.dispatch(uri, title('Live'));
    await desktop.action(uri, 'session/titleChanged');
    expect(new Mirror().takeAll(desktop.received).state(uri)).toEqual(comparable(await phone.state(uri)));
  });

  it('[AHP-206] of a window says which turns it holds', async () => {
    const { host, uri } = await afterLeaving();
    const [, resumed] = await comeBack(host, 'desk', {
      lastSeenServerSeq: 1_000_000,
      subscriptions: [uri],
      turns: { last: 1 },
    });
    expect(resumed).toMatchObject({
      type: 'snapshot',
      snapshots: [{ state: { turns: [{}] } }],
      turns: { [uri]: { start: 1, total: 2 } },
    });
  });

  it('[AHP-207][REL-016] is given to one who has seen more than there is', async () => {
    const { host, uri, phone } = await afterLeaving();
    const [desktop, resumed] = await comeBack(host, 'desk', { lastSeenServerSeq: 1_000_000, subscriptions: [uri] });
    expect(resumed).toMatchObject({ type: 'snapshot', snapshots: [{ resource: uri, state: { turns: [{}, {}] } }] });
    phone.dispatch(uri, title('Live'));
    await desktop.action(uri, 'session/titleChanged');
  });

  it('[REL-020] has nothing for a session that was disposed meanwhile', async () => {
    const { host, phone, uri } = await afterLeaving();
    await phone.request('disposeSession', { channel: uri });
    const [, resumed] = await comeBack(host, 'desk', { lastSeenServerSeq: 1_000_000, subscriptions: [ROOT, uri] });
    expect(resumed.snapshots.map(({ resource }) => resource)).toEqual([ROOT]);
  });
});

describe('one client on two connections', () => {
  it.each(['reconnect', 'initialize'])(
    '[AHP-209][REL-014] the older is closed by %s, and only the newer is live',
    async (method) => {
      const { client: desktop, uri, host, join } = await openFixture();
      const phone = await join('phone');
      const newer = host.connect();
      newer.clientId = 'desk';
      if (method === 'initialize') await newer.initialize('desk', { initialSubscriptions: [uri] });
      else {
        const params = { channel: ROOT, clientId: 'desk', lastSeenServerSeq: 0, subscriptions: [uri] };
        await newer.request('reconnect', params);
      }
      expect(desktop.closed).toMatchObject({ code: CloseCode.Replaced });
      const seen = desktop.received.length;
      desktop.dispatch(uri, title('From the grave'));
      phone.dispatch(uri, title('For the living'));
      await newer.action(uri, 'session/titleChanged');
      await settle();
      expect(desktop.received).toHaveLength(seen);
      expect(await phone.state(uri)).toMatchObject({ summary: { title: 'For the living' } });
    },
  );

  it('[REL-014] that race each other leave exactly one', async () => {
    const { client: desktop, host } = await openFixture();
    const rivals = Array.from({ length: 5 }, () => host.connect());
    for (const rival of rivals) {
      rival.send({
        id: 1,
        method: 'initialize',
        params: { channel: ROOT, protocolVersions: ['0.3.0'], clientId: 'desk' },
      });
    }
    await settle();
    expect([desktop, ...rivals].filter(({ closed }) => !closed)).toHaveLength(1);
  });
});

describe('what the client still waits for', () => {
  it('is settled when it was accepted and stored; one that was rejected may be sent again, for the reason', async () => {
    const { client: desktop, uri, host } = await openFixture();
    desktop.dispatch(uri, title('Yes'), 1);
    await desktop.action(uri, 'session/titleChanged');
    desktop.dispatch(uri, { type: 'session/nonsense' }, 2);
    expect((await answerTo(desktop, uri, 2)).rejectionReason).toBeDefined();
    desktop.disconnect();
    const [, resumed] = await comeBack(host, 'desk', { lastSeenServerSeq: 0, pending: [1, 2, 3, 4] });
    expect(resumed.settled).toEqual([1]);
  });

  it('may be anything: what is no number is left out', async () => {
    const host = await startHost();
    await host.client('desk');
    for (const pending of [undefined, null, 'x', {}, [null, 'x', 1.5, {}]]) {
      const [, resumed] = await comeBack(host, 'desk', { lastSeenServerSeq: 0, pending });
      expect(resumed.settled).toEqual([]);
    }
  });
});

describe('after a restart of the host', () => {
  it('[AHP-205][REL-016] a replay goes on where the last life ended: the counter is kept', async () => {
    const log = new KeptLog();
    const { client: desktop, uri, host, clock } = await openFixture({ log });
    const before = new Mirror().takeAll(desktop.received);
    const { lastSeen } = before;
    desktop.dispatch(uri, { type: 'session/turnStarted', turnId: 't1', userMessage: { text: 'hello' } });
    await desktop.action(uri, 'session/turnComplete');
    await host.stop();
    const second = await startHost({ log, clock });
    const [back, resumed] = await comeBack(second, 'desk', {
      lastSeenServerSeq: lastSeen,
      subscriptions: [ROOT, uri],
    });
    expect(resumed.type).toBe('replay');
    expect(resumed.actions.map(({ action }) => action.type)).toContain('session/turnComplete');
    expect(Math.min(...resumed.actions.map(({ serverSeq }) => serverSeq))).toBeGreaterThan(lastSeen);
    back.dispatch(uri, { type: 'session/turnStarted', turnId: 't2', userMessage: { text: 'hello' } }, 2);
    await back.action(uri, 'session/turnComplete');
    expect(before.takeAll(back.received).state(uri)).toEqual(comparable(await back.state(uri)));
  });

  it('[REL-016] on an empty log everyone starts anew, and no old number is taken for a new one', async () => {
    const { client: desktop, uri, host } = await openFixture();
    await desktop.turn(uri, 'hello');
    await host.stop();
    const fresh = await startHost();
    const client = fresh.connect();
    const params = { channel: ROOT, clientId: 'desk', lastSeenServerSeq: 40, subscriptions: [ROOT, uri] };
    expect((await client.ask('reconnect', params)).error).toMatchObject({ code: -32008 });
    await client.initialize('desk');
    const known = await client.ask('subscribe', { channel: uri });
    expect(known.error).toMatchObject({ code: -32001 });
  });
});
