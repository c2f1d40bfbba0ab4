import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { comparable, Mirror } from '../support/mirror.js';
import { openFixture, startHost } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

interface Subscribed {
  readonly snapshot: { resource: string; fromSeq: number; state: object };
}

const title = (text: string) => ({ type: 'session/titleChanged', title: text }) as const;

describe('subscribe', () => {
  it('[AHP-026] gives the snapshot of the root and of a session', async () => {
    const host = await startHost();
    const client = await host.client('desk', { initialSubscriptions: [] });
    const uri = await client.session();
    expect(await client.request('subscribe', { channel: ROOT })).toEqual({
      snapshot: { resource: ROOT, state: expect.objectContaining({ activeSessions: 1 }), fromSeq: expect.any(Number) },
    });
    const { snapshot } = await client.request<Subscribed>('subscribe', { channel: uri });
    expect(snapshot).toMatchObject({ resource: uri, state: { lifecycle: 'ready', summary: { resource: uri } } });
  });

  it('[AHP-027][AHP-107] everything later follows, with greater numbers; nothing earlier does', async () => {
    const { client, uri, join } = await openFixture();
    await client.turn(uri, 'hello');
    const phone = await join('phone');
    const { snapshot } = await phone.request<Subscribed>('subscribe', { channel: uri });
    await client.turn(uri, 'hello');
    await phone.action(uri, 'session/turnComplete');
    const numbers = phone.envelopes(uri).map(({ serverSeq }) => serverSeq);
    expect(Math.min(...numbers)).toBeGreaterThan(snapshot.fromSeq);
    expect(phone.types(uri)).toEqual(client.types(uri).slice(-phone.types(uri).length));
    expect(new Mirror().takeAll(phone.received).state(uri)).toEqual(comparable(await phone.state(uri)));
  });

  it('[AHP-107] the snapshot of a quiet channel carries the number of the whole host', async () => {
    const { client, uri, host } = await openFixture();
    const other = await client.session();
    await client.turn(other, 'hello');
    await settle();
    const newest = host.log.head;
    const phone = await host.client('phone', { initialSubscriptions: [] });
    expect((await phone.request<Subscribed>('subscribe', { channel: uri })).snapshot.fromSeq).toBe(newest);
  });

  it('[AHP-029] unknown sessions are -32001, other unknown channels -32008', async () => {
    const host = await startHost();
    const client = await host.client();
    for (const channel of ['ahp-session:/x', 'copilot:/x', 'x']) {
      expect((await client.ask('subscribe', { channel })).error).toMatchObject({ code: -32001 });
    }
    for (const channel of ['ahp-terminal:/x', 'ahp-root:/x', 'ahp-changeset:/x']) {
      expect((await client.ask('subscribe', { channel })).error).toMatchObject({ code: -32008 });
    }
  });

  it('[AHP-030] twice gives a fresh snapshot, and every action once', async () => {
    const { client, uri } = await openFixture();
    await client.request('subscribe', { channel: uri });
    await client.turn(uri, 'hello');
    const { snapshot } = await client.request<Subscribed>('subscribe', { channel: uri });
    expect(snapshot.state).toMatchObject({ turns: [{ state: 'complete' }] });
    await client.turn(uri, 'hello');
    const numbers = client.envelopes(uri).map(({ serverSeq }) => serverSeq);
    expect(numbers).toEqual([...new Set(numbers)]);
    expect(new Mirror().takeAll(client.received).state(uri)).toEqual(comparable(await client.state(uri)));
  });
});

describe('unsubscribe', () => {
  it('[AHP-031] stops the traffic of that channel alone', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    phone.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    const before = phone.envelopes(uri).length;
    await client.turn(uri, 'hello');
    await settle();
    expect(phone.envelopes(uri)).toHaveLength(before);
    expect(phone.received.some(({ method }) => method === 'root/sessionSummaryChanged')).toBe(true);
  });

  it('[AHP-031] is taken in order with subscribe', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    phone.send({ method: 'unsubscribe', params: { channel: uri } });
    phone.send({ id: 90, method: 'subscribe', params: { channel: uri } });
    phone.send({ method: 'unsubscribe', params: { channel: uri } });
    phone.send({ id: 91, method: 'subscribe', params: { channel: uri } });
    await phone.until(({ id }) => id === 91);
    client.dispatch(uri, title('After'));
    expect((await phone.action(uri, 'session/titleChanged')).action).toEqual(title('After'));
  });

  it('[AHP-031] is the only notification that stops it: others that name the channel are ignored', async () => {
    const { client, uri } = await openFixture();
    for (const method of ['unsubscribed', 'subscribe', 'ping', 'toString'])
      client.send({ method, params: { channel: uri } });
    client.dispatch(uri, title('After'));
    expect((await client.action(uri, 'session/titleChanged')).action).toEqual(title('After'));
  });

  it.each([
    ['a channel that does not exist', 'ahp-session:/none'],
    ['text that is no channel', 'nonsense'],
  ])('[AHP-032] of %s is ignored', async (_name, channel) => {
    const { client, uri } = await openFixture();
    client.send({ method: 'unsubscribe', params: { channel } });
    await client.turn(uri, 'hello');
    expect(client.closed).toBeUndefined();
  });

  it('[AHP-032] of a channel that is not subscribed is ignored', async () => {
    const { client, uri, host } = await openFixture();
    const phone = await host.client('phone');
    phone.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    await client.turn(uri, 'hello');
    expect(await phone.request('ping', { channel: ROOT })).toBeNull();
  });
});

describe('protocol notifications', () => {
  it('[AHP-088] have no number, and go to exactly those who watch the root', async () => {
    const host = await startHost();
    const [watching, blind] = [await host.client(), await host.client('blind', { initialSubscriptions: [] })];
    const maker = await host.client('maker', { initialSubscriptions: [] });
    const uri = await maker.session();
    await maker.request('disposeSession', { channel: uri });
    await watching.until(({ method }) => method === 'root/sessionRemoved');
    const told = watching.received.filter(({ method }) => method?.startsWith('root/'));
    expect(told.map(({ method }) => method)).toEqual(expect.arrayContaining(['root/sessionAdded']));
    for (const { params } of told) expect(params).not.toHaveProperty('serverSeq');
    for (const client of [blind, maker]) {
      expect(client.received.filter(({ method }) => method?.startsWith('root/'))).toEqual([]);
    }
  });

  it('[AHP-088] stop with the subscription to the root, and are not made up for', async () => {
    const host = await startHost();
    const [client, maker] = [await host.client(), await host.client()];
    client.send({ method: 'unsubscribe', params: { channel: ROOT } });
    await maker.session();
    await settle();
    await client.request('subscribe', { channel: ROOT });
    await settle();
    expect(client.received.filter(({ method }) => method?.startsWith('root/'))).toEqual([]);
  });
});

describe('a session that leaves memory', () => {
  it('[AHP-027] is still followed by whoever subscribes meanwhile', async () => {
    const clock = new FakeClock();
    const { client, uri, host } = await openFixture({ clock });
    await client.turn(uri, 'hello');
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    await clock.advance(61_000);
    const phone = await host.client('phone');
    await phone.request('subscribe', { channel: uri });
    client.dispatch(uri, title('Awake'));
    await phone.action(uri, 'session/titleChanged');
    expect(new Mirror().takeAll(phone.received).state(uri)).toEqual(comparable(await phone.state(uri)));
  });
});
