import { DISPOSED_KEPT_MS, HOUSEKEEPING_EVERY_MS, UNFINISHED_KEPT_MS } from '@atrium/core/sessions/limits.js';
import { CLIENT_KEPT_MS, CLIENT_NOTED_EVERY_MS, CLIENTS_KEPT_MAX } from '@atrium/core/wire/limits.js';
import { ErrorCode } from '@atrium/protocol';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { failingLog } from '../support/failing-log.js';
import { componentsOf } from '../support/host-components.js';
import { KeptLog } from '../support/logs.js';
import { answerTo, type Fixture, openFixture, startHost, stateOf } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

async function keptFixture(): Promise<Fixture & { log: KeptLog }> {
  const log = new KeptLog();
  return { log, ...(await openFixture({ log })) };
}

function comeBack({ host, log }: Pick<Fixture, 'host'> & { log: KeptLog }, clientId: string, pending: number[] = []) {
  const params = { channel: ROOT, clientId, lastSeenServerSeq: log.head, subscriptions: [], pending };
  return host.connect().ask('reconnect', params);
}

describe('a disposed session', () => {
  it('is forgotten after its time also by a host that never stops', async () => {
    const { client, uri, clock, log } = await keptFixture();
    await client.request('disposeSession', { channel: uri });
    await clock.advance(DISPOSED_KEPT_MS);
    expect(await log.archiveHead(uri)).toBeDefined();
    await clock.advance(HOUSEKEEPING_EVERY_MS);
    expect(await log.archiveHead(uri)).toBeUndefined();
    expect((await client.ask('atrium/restoreSession', { channel: uri })).error?.code).toBe(ErrorCode.SessionNotFound);
    expect((await log.records('')).filter(({ key }) => key.endsWith(uri))).toEqual([]);
  });

  it('cannot be restored any more in the moment in which it is forgotten', async () => {
    const log = failingLog();
    const { client, uri, clock } = await openFixture({ log });
    await client.request('disposeSession', { channel: uri });
    await clock.advance(DISPOSED_KEPT_MS);
    const release = log.hold();
    await clock.advance(HOUSEKEEPING_EVERY_MS);
    const restored = client.ask('atrium/restoreSession', { channel: uri });
    await settle();
    release();
    expect((await restored).error?.code).toBe(ErrorCode.SessionNotFound);
    await settle();
    expect(await client.request('listSessions', { channel: ROOT })).toEqual({ items: [] });
  });

  it('that is restored while another one is being forgotten stays', async () => {
    const { client, uri, clock, host } = await keptFixture();
    const other = await client.session('ahp-session:/a-later-one', {});
    for (const channel of [uri, other]) await client.request('disposeSession', { channel });
    const { restored } = await duringForget(clock, host, async () => ({
      restored: await client.ask('atrium/restoreSession', { channel: other }),
    }));
    expect(restored).toMatchObject({ result: null });
    expect(await client.ask('subscribe', { channel: other })).toMatchObject({ result: {} });
  });

  it('is forgotten in the next round when the log fails at it in this one', async () => {
    const { client, uri, clock, log } = await keptFixture();
    await client.turn(uri, 'hello', 't1');
    await client.request('disposeSession', { channel: uri });
    const forget = log.forget.bind(log);
    log.forget = () => Promise.reject(new Error('the disk cannot be written'));
    await clock.advance(DISPOSED_KEPT_MS + HOUSEKEEPING_EVERY_MS);
    log.forget = forget;
    await clock.advance(HOUSEKEEPING_EVERY_MS);
    expect([await log.archiveHead(uri), await log.findTurn(uri, 't1')]).toEqual([undefined, undefined]);
    expect((await log.records('')).filter(({ key }) => key.endsWith(uri))).toEqual([]);
  });

  it('is forgotten also when a part of the host cannot let go of what it kept', async () => {
    const { client, uri, clock, log, host } = await keptFixture();
    const [part] = componentsOf(host.host).services;
    Object.assign(part ?? {}, { forgotten: () => Promise.reject(new Error('EBUSY')) });
    const phone = await host.client('phone');
    await client.request('disposeSession', { channel: uri });
    phone.disconnect();
    await clock.advance(CLIENT_KEPT_MS + HOUSEKEEPING_EVERY_MS);
    expect(await log.archiveHead(uri)).toBeUndefined();
    expect(await log.record('client:phone')).toBeUndefined();
  });

  /** Does something while the first of several sessions is being forgotten. */
  async function duringForget<T>(
    clock: Fixture['clock'],
    { log }: Fixture['host'],
    work: () => Promise<T>,
  ): Promise<T> {
    let done: Promise<T> | undefined;
    const forget = log.forget.bind(log);
    log.forget = async (channel) => {
      done ??= work();
      await done;
      return forget(channel);
    };
    await clock.advance(DISPOSED_KEPT_MS + HOUSEKEEPING_EVERY_MS);
    if (!done) throw new Error('nothing was forgotten');
    return done;
  }
});

describe('what an import has left that was never finished', () => {
  const turn = { id: 'a', userMessage: { text: 'hi' }, responseParts: [], state: 'complete' };
  const page = { channel: 'ahp-session:/half', start: 0, turns: [turn] };

  it('is forgotten after a day', async () => {
    const { client, clock, log } = await keptFixture();
    await client.request('atrium/importSession', page);
    await clock.advance(UNFINISHED_KEPT_MS);
    expect((await log.archiveHead(defaultChatUri(page.channel)))?.turnCount).toBe(1);
    await clock.advance(HOUSEKEEPING_EVERY_MS);
    expect(await log.archiveHead(defaultChatUri(page.channel))).toBeUndefined();
    expect(await log.records('unfinished:')).toEqual([]);
  });

  it('stays when it is finished in time', async () => {
    const { client, clock, uri } = await keptFixture();
    await client.request('atrium/importSession', page);
    const { summary } = await stateOf(client, uri);
    await client.request('atrium/importSession', { ...page, start: 1, turns: [], state: { summary } });
    await clock.advance(UNFINISHED_KEPT_MS + HOUSEKEEPING_EVERY_MS);
    expect((await stateOf(client, page.channel)).turns).toEqual([turn]);
  });
});

describe('a client that is away', () => {
  it('[REL-098] has to begin anew when more came after it than the host keeps', async () => {
    const log = new KeptLog();
    const { clock, client, uri } = await openFixture({ log });
    const records = Array.from({ length: CLIENTS_KEPT_MAX + 5 }, (_, index) => ({
      key: `client:${index}`,
      value: JSON.stringify({ dialect: '0.3.0', epoch: 1, since: clock.now() - 1 - index }),
    }));
    await log.append({ entries: [], records, durability: 'normal' });
    await clock.advance(HOUSEKEEPING_EVERY_MS);
    expect((await log.records('client:')).length).toBeLessThanOrEqual(CLIENTS_KEPT_MAX);
    expect(await log.record('client:0')).toBeDefined();
    expect(await log.record(`client:${CLIENTS_KEPT_MAX + 4}`)).toBeUndefined();
    expect((await stateOf(client, uri)).lifecycle).toBe('ready');
  });

  it('may come back for thirty days', async () => {
    const fixture = await keptFixture();
    await fixture.host.client('phone').then((phone) => phone.disconnect());
    await fixture.clock.advance(CLIENT_KEPT_MS);
    expect(await comeBack(fixture, 'phone')).toMatchObject({ result: {} });
  });

  it('is forgotten after that, with the numbers it used, and can begin anew', async () => {
    const fixture = await keptFixture();
    const { clock, log, host, uri, join } = fixture;
    const phone = await join('phone');
    await answerTo(phone, uri, phone.dispatch(uri, { type: 'session/titleChanged', title: 'one' }));
    const { epoch } = JSON.parse((await log.record('client:phone')) ?? '');
    expect(await log.clientSeqs('phone', epoch, 0)).toEqual([1]);
    phone.disconnect();
    await clock.advance(CLIENT_KEPT_MS + HOUSEKEEPING_EVERY_MS);
    expect(await log.record('client:phone')).toBeUndefined();
    expect(await log.clientSeqs('phone', epoch, 0)).toEqual([]);
    expect((await comeBack(fixture, 'phone')).error?.message).toContain('send initialize instead');
    const again = await host.client('phone');
    const answer = answerTo(again, uri, again.dispatch(uri, { type: 'session/titleChanged', title: 'two' }));
    expect((await answer).rejectionReason).toBeUndefined();
    expect(JSON.parse((await log.record('client:phone')) ?? '').epoch).toBeGreaterThan(epoch);
  });

  it('keeps its numbers when it comes back in the moment in which it would be forgotten', async () => {
    const fixture = await keptFixture();
    const { clock, log, uri, join } = fixture;
    const phone = await join('phone');
    await answerTo(phone, uri, phone.dispatch(uri, { type: 'session/titleChanged', title: 'one' }));
    phone.disconnect();
    await clock.advance(CLIENT_KEPT_MS + HOUSEKEEPING_EVERY_MS - 1);
    const answer = await duringRound(fixture, () => comeBack(fixture, 'phone', [1]));
    expect(answer).toMatchObject({ result: { settled: [1] } });
    expect(await log.record('client:phone')).toBeDefined();
  });

  /** Lets a client begin to come back just before a round, and the log say who that is only after it. */
  async function duringRound<T>({ clock, log }: Fixture & { log: KeptLog }, back: () => Promise<T>): Promise<T> {
    const record = log.record.bind(log);
    let release = () => {};
    const isOver = new Promise<void>((resolve) => {
      release = resolve;
    });
    log.record = async (key) => {
      const found = await record(key);
      await isOver;
      return found;
    };
    const answer = back();
    await settle();
    await clock.advance(1);
    release();
    return answer;
  }

  it('counts from when it was last here, also when the host dies meanwhile', async () => {
    const { clock, log, host } = await keptFixture();
    await clock.advance(CLIENT_KEPT_MS + CLIENT_NOTED_EVERY_MS);
    await host.stop();
    const second = await startHost({ log, clock });
    expect(await comeBack({ host: second, log }, 'desk')).toMatchObject({ result: {} });
  });
});

describe('a client id that begins twice in one moment', () => {
  it('has its numbers counted apart', async () => {
    const log = failingLog();
    const { host, uri, client } = await openFixture({ log });
    const [older, newer] = [host.connect(), host.connect()];
    const release = log.hold();
    const hello = older.initialize('phone');
    older.dispatch(uri, { type: 'session/titleChanged', title: 'older' }, 1);
    await settle();
    const again = newer.initialize('phone');
    await settle();
    release();
    await Promise.all([hello, again]);
    await client.action(uri, 'session/titleChanged');
    newer.dispatch(uri, { type: 'session/titleChanged', title: 'newer' }, 1);
    await answerTo(newer, uri, 1);
    expect((await stateOf(newer, uri)).summary.title).toBe('newer');
  });
});
