import { describe, expect, it } from 'vitest';
import { KeptLog, SlowLog } from '../support/logs.js';
import { answerTo, envelopesOf, openFixture, startHost, stateOf } from '../support/session-fixture.js';
import { type RawClient, ROOT, settle, type TestHost } from '../support/test-host.js';

const title = (text: string) => ({ type: 'session/titleChanged', title: text }) as const;
const turn = (turnId: string) => ({ type: 'session/turnStarted', turnId, userMessage: { text: 'hello' } }) as const;

interface Resumed {
  readonly type: string;
  readonly actions: { action: { type: string }; origin?: object; serverSeq: number }[];
  readonly settled: number[];
}

/** Comes back under an id, having seen everything up to a number. */
async function comeBack(host: TestHost, clientId: string, params: object): Promise<[RawClient, Resumed]> {
  const client = host.connect();
  client.clientId = clientId;
  const resumed = await client.request('reconnect', { channel: ROOT, clientId, subscriptions: [ROOT], ...params });
  return [client, resumed as unknown as Resumed];
}

function echoesOf(client: RawClient, uri: string, clientSeq: number): number {
  return envelopesOf(client, uri).filter(({ origin }) => origin?.clientSeq === clientSeq).length;
}

describe('the same number twice', () => {
  it('[REL-012] [REL-068] in one tick, and again later, is applied once; the sender alone is answered again', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    for (const _twice of [1, 2]) client.dispatch(uri, title('first'), 7);
    const { serverSeq } = await answerTo(client, uri, 7);
    client.dispatch(uri, title('second'), 8);
    await answerTo(client, uri, 8);
    client.dispatch(uri, title('first'), 7);
    await client.request('ping', { channel: ROOT });
    await settle();
    const answers = envelopesOf(client, uri).filter(({ origin }) => origin?.clientSeq === 7);
    // Two in one tick are answered by one echo.
    expect(answers.map((answer) => answer.serverSeq)).toEqual([serverSeq, serverSeq]);
    expect(echoesOf(phone, uri, 7)).toBe(1);
    expect((await stateOf(client, uri)).summary.title).toBe('second');
  });

  it('[REL-012] [REL-068] after a reconnect is applied once, answered again, and not twice in history', async () => {
    const { client, uri, host } = await openFixture();
    client.dispatch(uri, turn('t1'), 3);
    await client.action(uri, 'session/turnComplete');
    const [again] = await comeBack(host, 'desk', { lastSeenServerSeq: 1_000, subscriptions: [uri] });
    again.dispatch(uri, turn('t1'), 3);
    again.dispatch(uri, title('After'), 4);
    await answerTo(again, uri, 4);
    expect(echoesOf(again, uri, 3)).toBe(1);
    expect((await stateOf(again, uri)).turns.map(({ id }) => id)).toEqual(['t1']);
  });

  it('[REL-012] is also known after the host was stopped and started again', async () => {
    const log = new KeptLog();
    const { client, uri, host, clock } = await openFixture({ log });
    client.dispatch(uri, turn('t1'), 3);
    const { serverSeq } = await client.action(uri, 'session/turnComplete');
    await host.stop();
    const [again, resumed] = await comeBack(await startHost({ log, clock }), 'desk', {
      lastSeenServerSeq: serverSeq,
      subscriptions: [uri],
      pending: [3, 4],
    });
    expect(resumed.settled).toEqual([3]);
    again.dispatch(uri, turn('t1'), 3);
    again.dispatch(uri, turn('t2'), 4);
    await again.action(uri, 'session/turnComplete');
    expect(echoesOf(again, uri, 3)).toBe(1);
    expect((await stateOf(again, uri)).turns.map(({ id }) => id)).toEqual(['t1', 't2']);
  });

  it('[REL-012] is no matter between two clients, or between two lives of one', async () => {
    const { client, uri, host, join } = await openFixture();
    const phone = await join('phone');
    client.dispatch(uri, title('desk'), 1);
    phone.dispatch(uri, title('phone'), 1);
    await answerTo(phone, uri, 1);
    client.disconnect();
    const reborn = await host.client('desk', { initialSubscriptions: [uri] });
    reborn.dispatch(uri, title('desk again'), 1);
    await answerTo(reborn, uri, 1);
    expect((await stateOf(phone, uri)).summary.title).toBe('desk again');
  });

  it('[REL-012] a rejected one is not judged a second time', async () => {
    const { client, uri } = await openFixture();
    const cancelled = { type: 'session/turnCancelled', turnId: 't1' } as const;
    client.dispatch(uri, cancelled, 5);
    const { rejectionReason } = await answerTo(client, uri, 5);
    expect(rejectionReason).toBeDefined();
    client.dispatch(uri, { type: 'session/turnStarted', turnId: 't1', userMessage: { text: 'slow' } }, 6);
    await client.action(uri, 'session/delta');
    client.dispatch(uri, cancelled, 5);
    await settle();
    const answers = envelopesOf(client, uri).filter(({ origin }) => origin?.clientSeq === 5);
    expect(answers.map((answer) => answer.rejectionReason)).toEqual([rejectionReason, rejectionReason]);
    expect((await stateOf(client, uri)).activeTurn?.id).toBe('t1');
  });

  it('[REL-012] one that was held for the end of the turn is applied once, however often it is sent', async () => {
    const { client, uri, host } = await openFixture();
    client.dispatch(uri, { type: 'session/turnStarted', turnId: 't1', userMessage: { text: 'slow' } }, 1);
    client.dispatch(uri, { type: 'session/modelChanged', model: { id: 'small' } }, 2);
    const { serverSeq } = await client.action(uri, 'session/delta');
    const [again, resumed] = await comeBack(host, 'desk', {
      lastSeenServerSeq: serverSeq,
      subscriptions: [uri],
      pending: [1, 2],
    });
    expect(resumed).toMatchObject({ type: 'replay', settled: [1] });
    again.dispatch(uri, { type: 'session/modelChanged', model: { id: 'small' } }, 2);
    again.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' }, 3);
    await answerTo(again, uri, 2);
    await settle();
    expect(echoesOf(again, uri, 2)).toBe(1);
  });

  it('[REL-012] one that was under way when the line broke is neither lost nor doubled', async () => {
    const log = new SlowLog();
    const { client, uri, host } = await openFixture({ log });
    await client.turn(uri, 'hello');
    const { serverSeq } = await client.action(uri, 'session/turnComplete');
    client.dispatch(uri, title('Under way'), 9);
    await Promise.resolve().then(() => client.disconnect());
    const [again, resumed] = await comeBack(host, 'desk', {
      lastSeenServerSeq: serverSeq,
      subscriptions: [uri],
      pending: [9],
    });
    if (!resumed.settled.includes(9)) again.dispatch(uri, title('Under way'), 9);
    await settle();
    const replayed = resumed.actions.filter(({ action }) => action.type === 'session/titleChanged').length;
    expect(replayed + echoesOf(again, uri, 9)).toBe(1);
    expect((await stateOf(again, uri)).summary.title).toBe('Under way');
  });

  it('[REL-012] an echo that is in the replay does not come again beside it', async () => {
    const log = new SlowLog();
    const { client, uri, host } = await openFixture({ log });
    const lastSeenServerSeq = log.head;
    const letThrough = log.hold('append');
    client.dispatch(uri, title('Just before'), 9);
    await settle();
    client.disconnect();
    const returning = comeBack(host, 'desk', { lastSeenServerSeq, subscriptions: [uri], pending: [9] });
    await settle();
    letThrough();
    const [again, resumed] = await returning;
    await settle();
    const heard = [...resumed.actions, ...envelopesOf(again, uri)].map(({ action }) => action.type);
    expect(heard).toEqual(['session/titleChanged']);
    expect(resumed.settled).toEqual([9]);
  });

  it('[REL-012] a rejection that nobody could be told of leaves the number free', async () => {
    const log = new SlowLog();
    const { uri, host } = await openFixture({ log });
    const phone = await host.client('phone');
    const letThrough = log.hold('clientSeqs');
    phone.dispatch(uri, { type: 'session/turnCancelled', turnId: 'none' }, 5);
    await settle();
    phone.disconnect();
    letThrough();
    await settle();
    const [again, resumed] = await comeBack(host, 'phone', { lastSeenServerSeq: 0, pending: [5] });
    expect(resumed.settled).toEqual([]);
    again.dispatch(uri, { type: 'session/turnCancelled', turnId: 'none' }, 5);
    expect((await answerTo(again, uri, 5)).rejectionReason).toBeDefined();
  });
});

describe('numbers out of order', () => {
  it('[REL-013] that go back or skip are each applied once', async () => {
    const { client, uri } = await openFixture();
    const order = [5, 4, 100, 3, 0, 2 ** 53 - 1, 6, 99];
    for (const number of order) client.dispatch(uri, title(`number ${number}`), number);
    await answerTo(client, uri, 99);
    for (const number of order) client.dispatch(uri, title(`number ${number}`), number);
    client.dispatch(uri, title('last'), 200);
    await answerTo(client, uri, 200);
    await settle();
    const applied = new Set(envelopesOf(client, uri).flatMap(({ origin, serverSeq }) => (origin ? serverSeq : [])));
    expect(applied.size).toBe(order.length + 1);
    const echoed = envelopesOf(client, uri).flatMap(({ origin }) => origin?.clientSeq ?? []);
    expect(echoed.slice(0, order.length)).toEqual(order);
  });

  it.each([-1, 1.5, 2 ** 53, 2 ** 53 + 2, -(2 ** 53)])(
    '[REL-013] %d is no number: the action is dropped, and harms nobody',
    async (number) => {
      const { client, uri, join } = await openFixture();
      const phone = await join('phone');
      client.dispatch(uri, title('bad'), number);
      client.dispatch(uri, { type: 'session/turnCancelled', turnId: 'none' }, number);
      phone.dispatch(uri, title('good'));
      await phone.action(uri, 'session/titleChanged');
      await settle();
      expect(envelopesOf(client, uri).map(({ action }) => action)).toEqual([
        ...envelopesOf(client, uri)
          .filter(({ action }) => action.type === 'session/ready')
          .map(({ action }) => action),
        title('good'),
      ]);
    },
  );
});
