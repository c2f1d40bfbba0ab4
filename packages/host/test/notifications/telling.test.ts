/** Who is told, when, and how it is taken back: a real host, a real push service, a clock that stands still. */
import { describe, expect, it } from 'vitest';
import {
  END_DELAY_MS,
  MESSAGES_PER_HOUR_MAX,
  QUESTION_DELAY_MS,
  TTL_SECONDS,
  UNREPORTED_VIEW_MS,
} from '../../src/notifications/limits.js';
import { AUTOMATION, AUTOMATIONS_CHANNEL, AutomationFixture } from '../support/automation-fixture.js';
import { componentsOf } from '../support/host-components.js';
import { nativeClient } from '../support/native-client.js';
import {
  ask,
  begin,
  decide,
  look,
  NOON,
  openNotifications,
  receivers,
  subscribe,
  waitingCall,
} from '../support/notification-fixture.js';
import { startServer, TestBrowser, vapidClaims } from '../support/push-service.js';
import { RawClient, settle } from '../support/test-host.js';

describe('a question that nobody sees', () => {
  it('[DEV-041] [DEV-042] is pushed after five seconds, once, signed and encrypted, and taken back when it is settled', async () => {
    const fixture = await openNotifications();
    const { client, clock, service, browser, uri, chat } = fixture;
    const { called } = await ask(fixture, { command: 'npm test' });
    await clock.advance(QUESTION_DELAY_MS - 1);
    expect(service.received).toEqual([]);
    await clock.advance(1);
    const shown = await service.until(1);
    const message = browser.read(shown);
    expect(message).toMatchObject({
      kind: 'show',
      event: 'question',
      title: 'Rain',
      body: 'Needs an answer',
      session: uri,
    });
    expect(message.answerKey).toBeUndefined();
    const { publicKey } = await client.request<{ publicKey: string }>('atrium/notifications');
    expect(vapidClaims(shown.headers.authorization, publicKey)).toMatchObject({ aud: service.url.slice(0, -1) });
    expect(shown.headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: String(TTL_SECONDS.question) });
    await clock.advance(60 * 60_000);
    expect(service.received).toHaveLength(1);
    decide(client, chat, await waitingCall(client, uri), true);
    await called;
    const closed = await service.until(2);
    expect(browser.read(closed)).toMatchObject({ kind: 'close', tag: message.tag });
    expect(closed.headers.topic).toBe(shown.headers.topic);
    await expect.poll(async () => (await receivers(client))[0]?.sentAt).toBeDefined();
  });

  it('[DEV-041] that is answered within the delay is told to nobody', async () => {
    const fixture = await openNotifications();
    const { client, clock, service, uri, chat } = fixture;
    const { called } = await ask(fixture, { command: 'ls' });
    decide(client, chat, await waitingCall(client, uri), false);
    await called;
    await clock.advance(QUESTION_DELAY_MS);
    expect(service.received).toEqual([]);
  });

  it('[DEV-041] is told when the last person looks away, after the same delay', async () => {
    const fixture = await openNotifications();
    const { client, clock, service, uri } = fixture;
    await look(client, uri);
    await ask(fixture, { command: 'ls' });
    await clock.advance(10 * 60_000);
    expect(service.received).toEqual([]);
    await look(client, undefined);
    await clock.advance(QUESTION_DELAY_MS - 1);
    expect(service.received).toEqual([]);
    await clock.advance(1);
    await service.until(1);
  });

  it('[DEV-041] is told when the client is gone that had it in view', async () => {
    const fixture = await openNotifications();
    const { client, clock, service, uri } = fixture;
    await look(client, uri);
    await ask(fixture, { command: 'ls' });
    client.disconnect();
    await clock.advance(QUESTION_DELAY_MS);
    await service.until(1);
  });

  it('[DEV-041] is in view of a client that never says so for a minute after its last action', async () => {
    const fixture = await openNotifications();
    const { clock, service, uri, host, agent, chat } = fixture;
    const silent = await nativeClient(host, 'editor');
    await silent.request('subscribe', { channel: uri });
    await silent.request('subscribe', { channel: chat });
    const { turn } = await begin({ client: silent, chat, agent });
    turn.callTool({ name: 'shell', input: { command: 'ls' } }).catch(() => {});
    await fixture.client.action(uri, 'session/inputNeededSet');
    await clock.advance(UNREPORTED_VIEW_MS);
    expect(service.received).toEqual([]);
    await clock.advance(QUESTION_DELAY_MS);
    await service.until(1);
  });

  it('[DEV-040] is not told in quiet hours, by the clocks of the receiver', async () => {
    // Noon in London is 21:00 in Tokyo.
    const quiet = { from: '20:30', to: '06:00', timeZone: 'Asia/Tokyo' };
    const fixture = await openNotifications({ rule: { quiet } });
    const { clock, service, client, chat, uri } = fixture;
    expect(new Date(NOON).getUTCHours()).toBe(12);
    const { called, finish } = await ask(fixture, { command: 'ls' });
    await clock.advance(QUESTION_DELAY_MS);
    decide(client, chat, await waitingCall(client, uri), true);
    await called;
    // 06:00 in Tokyo is 21:00 here.
    await clock.advance(9 * 60 * 60_000);
    finish();
    await client.action(chat, 'chat/turnComplete');
    await clock.advance(END_DELAY_MS);
    const { length } = service.received;
    expect(length).toBeLessThanOrEqual(1);
    expect(fixture.browser.read(await service.until(1))).toMatchObject({ event: 'ended' });
  });
});

describe('the end of a turn', () => {
  it.each([
    ['ended', undefined, 'Is done'],
    ['failed', new Error('It broke.'), 'Has failed'],
  ] as const)('[DEV-040] [DEV-041] that %s is told after 15 seconds, and not kept', async (event, error, body) => {
    const fixture = await openNotifications();
    const { clock, service, browser, client, chat } = fixture;
    const { finish, fail } = await begin(fixture);
    if (error) fail(error);
    else finish();
    await client.action(chat, error ? 'chat/error' : 'chat/turnComplete');
    await clock.advance(END_DELAY_MS - 1);
    expect(service.received).toEqual([]);
    await clock.advance(1);
    expect(browser.read(await service.until(1))).toMatchObject({ event, body, title: 'Rain' });
    await expect.poll(() => fixture.host.log.records('notify-event:')).toEqual([]);
  });

  it('[DEV-041] is no news to somebody who saw it, nor when the next turn runs already', async () => {
    const fixture = await openNotifications();
    const { clock, service, client, chat, uri } = fixture;
    await look(client, uri);
    (await begin(fixture)).finish();
    await client.action(chat, 'chat/turnComplete');
    await clock.advance(END_DELAY_MS);
    await look(client, undefined);
    await clock.advance(END_DELAY_MS);
    (await begin(fixture, 't2')).finish();
    await client.action(chat, ({ type, turnId }) => type === 'chat/turnComplete' && turnId === 't2');
    await begin(fixture, 't3');
    await clock.advance(END_DELAY_MS);
    await settle();
    expect(service.received).toEqual([]);
  });

  it('[DEV-040] is told only where a rule wants the event and the session', async () => {
    const fixture = await openNotifications({ rule: { events: ['failed'] } });
    const { clock, service, client, chat, receiver, uri } = fixture;
    const end = async (turnId: string) => {
      (await begin(fixture, turnId)).fail(new Error('no'));
      await client.action(chat, (action) => action.type === 'chat/error' && action.turnId === turnId);
      await clock.advance(END_DELAY_MS);
    };
    (await begin(fixture)).finish();
    await client.action(chat, 'chat/turnComplete');
    await clock.advance(END_DELAY_MS);
    expect(service.received).toEqual([]);
    const rule = { events: ['failed'], detail: 'title' };
    await client.request('atrium/setReceiver', {
      id: receiver.id,
      rule: { ...rule, sessions: ['ahp-session:/other'] },
    });
    await end('t2');
    expect(service.received).toEqual([]);
    await client.request('atrium/setReceiver', { id: receiver.id, rule: { ...rule, sessions: [uri] } });
    await end('t3');
    await service.until(1);
  });
});

describe('other events', () => {
  it('[DEV-040] a used up budget is told as such', async () => {
    const fixture = await openNotifications({ more: { usage: { budgets: { session: { tokens: 10 } } } } });
    const { clock, service, browser } = fixture;
    const { turn } = await begin(fixture);
    turn.usage({ inputTokens: 20 });
    turn.callTool({ name: 'shell', input: { command: 'ls' } }).catch(() => {});
    await fixture.client.action(fixture.uri, 'session/inputNeededSet');
    await clock.advance(QUESTION_DELAY_MS);
    expect(browser.read(await service.until(1))).toMatchObject({ event: 'budget', body: 'Has used up its budget' });
  });

  it('[DEV-040] a run of an automation is told once, as that of its automation', async () => {
    const service = await startServer(true);
    const fixture = await AutomationFixture.open({ notifications: { desktop: null, ...service.reach } });
    const { client, agent, clock } = fixture;
    const browser = new TestBrowser(`${service.url}push/1`);
    await subscribe(client, browser);
    await fixture.create();
    await client.request('runAutomation', { channel: AUTOMATIONS_CHANNEL, automation: AUTOMATION, requestId: 'r1' });
    (await agent.turn(0)).finish();
    await expect
      .poll(async () => {
        await clock.advance(END_DELAY_MS);
        return service.received.length;
      })
      .toBe(1);
    expect(browser.read(await service.until(1))).toMatchObject({ event: 'automation', title: 'Nightly' });
    await clock.advance(END_DELAY_MS);
    await settle(50);
    expect(service.received).toHaveLength(1);
  });

  it('[DEV-040] [DEV-021] a run of an automation is not told to devices within bounds that its session is not in, nor its name', async () => {
    const service = await startServer(true);
    const fixture = await AutomationFixture.open({ notifications: { desktop: null, ...service.reach } });
    const { client, agent, clock, host } = fixture;
    const { devices } = componentsOf(host.host);
    const letIn = async (name: string, bounds?: object) => {
      const asked = { role: 'driver', name, ...(bounds && { bounds }) };
      const { code } = await client.request<{ code: string }>('atrium/addDevice', asked);
      const redeemed = await devices.redeem({ code, name, isPrivate: true });
      if (redeemed.kind !== 'in') throw new Error(`not let in: ${redeemed.kind}`);
      const phone = new RawClient();
      host.host.connect(phone.transport, devices.accessOf(redeemed.device.token));
      await phone.initialize(name, { protocolVersions: ['1.0.0'] });
      await subscribe(phone, new TestBrowser(`${service.url}push/${name}`), { detail: 'command' });
      // One of them shows notifications itself.
      await look(phone, undefined, { shows: true });
      return phone;
    };
    const phones = [
      await letIn('by-session', { sessions: ['ahp-session:/another'] }),
      await letIn('by-folder', { folders: ['/nowhere'] }),
    ];
    await letIn('unbounded');
    await fixture.create();
    await client.request('runAutomation', { channel: AUTOMATIONS_CHANNEL, automation: AUTOMATION, requestId: 'r1' });
    (await agent.turn(0)).finish();
    await expect
      .poll(async () => {
        await clock.advance(END_DELAY_MS);
        return service.received.length;
      })
      .toBe(1);
    await settle(50);
    expect(service.received.map(({ path }) => path)).toEqual(['/push/unbounded']);
    expect(JSON.stringify(phones.flatMap(({ received }) => received))).not.toMatch(/Nightly|look at the build/);
  });

  it('[DEV-041] a receiver is told so much within an hour, and then no more', async () => {
    const fixture = await openNotifications();
    const { clock, service, client, chat } = fixture;
    for (let turn = 0; turn <= MESSAGES_PER_HOUR_MAX; turn++) {
      const turnId = `turn-${turn}`;
      (await begin(fixture, turnId)).finish();
      await client.action(chat, (action) => action.type === 'chat/turnComplete' && action.turnId === turnId);
      await clock.advance(END_DELAY_MS);
    }
    await service.until(MESSAGES_PER_HOUR_MAX);
    await settle();
    expect(service.received).toHaveLength(MESSAGES_PER_HOUR_MAX);
  });

  it('[DEV-045] a client that shows notifications itself is told, and told when it is settled', async () => {
    const fixture = await openNotifications({ rule: { events: [] } });
    const { clock, client, chat, uri, service } = fixture;
    await look(client, undefined, { shows: true });
    const { called } = await ask(fixture, { command: 'ls' });
    await clock.advance(QUESTION_DELAY_MS);
    const { params } = await client.until(({ method }) => method === 'atrium/notified');
    expect(params).toMatchObject({ kind: 'show', event: 'question', title: 'Rain', session: uri });
    decide(client, chat, await waitingCall(client, uri), true);
    await called;
    const closed = await client.until(
      ({ method, params: told }) => method === 'atrium/notified' && told?.kind === 'close',
    );
    expect(closed.params?.tag).toBe(params?.tag);
    expect(service.received).toEqual([]);
    expect(await fixture.host.log.records('notify-event:')).toEqual([]);
  });
});
