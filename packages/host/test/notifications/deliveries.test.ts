/** Servers that refuse, are busy, hang or lie; and hosts that end in the middle of telling somebody. */
import { describe, expect, it } from 'vitest';
import {
  ATTEMPTS_MAX,
  END_DELAY_MS,
  QUESTION_DELAY_MS,
  RETRY_FIRST_MS,
  RETRY_MAX_MS,
} from '../../src/notifications/limits.js';
import { FakeClock } from '../support/fake-clock.js';
import { KeptLog } from '../support/logs.js';
import { nativeClient } from '../support/native-client.js';
import {
  ASKING_TOOL,
  ask,
  begin,
  NOON,
  openNotifications,
  passUntil,
  receivers,
} from '../support/notification-fixture.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { startServer, type TestServer } from '../support/push-service.js';
import { startHost } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

/** A turn that ends, and the delay after it. */
async function end(fixture: Awaited<ReturnType<typeof openNotifications>>, turnId = 't1') {
  (await begin(fixture, turnId)).finish();
  await fixture.client.action(
    fixture.chat,
    (action) => action.type === 'chat/turnComplete' && action.turnId === turnId,
  );
  await fixture.clock.advance(END_DELAY_MS);
}

describe('a push service', () => {
  it.each([404, 410])('[DEV-042] that answers %i ends the subscription', async (status) => {
    const fixture = await openNotifications();
    fixture.service.answers.push({ status });
    await end(fixture);
    await fixture.service.until(1);
    await expect.poll(() => receivers(fixture.client)).toEqual([]);
    await expect.poll(() => fixture.host.log.records('notify-')).toEqual([]);
    await end(fixture, 't2');
    expect(fixture.service.received).toHaveLength(1);
  });

  it('[DEV-042] that is busy is asked again, not before it says so, and with the same message', async () => {
    const fixture = await openNotifications();
    const { service, clock, browser } = fixture;
    service.answers.push({ status: 429, headers: { 'Retry-After': '30' } }, { status: 503 });
    await end(fixture);
    await service.until(1);
    expect(await passUntil(clock, service, 2, 1_000)).toBeGreaterThanOrEqual(30_000);
    expect(await passUntil(clock, service, 3, 1_000)).toBeGreaterThanOrEqual(RETRY_FIRST_MS * 4);
    const ids = service.received.map((request) => browser.read(request).id);
    expect(new Set(ids).size).toBe(1);
    await expect.poll(async () => (await receivers(fixture.client))[0]?.sentAt).toBeDefined();
  });

  it('[DEV-042] that stays busy is given up after a bound, and that is said', async () => {
    const fixture = await openNotifications();
    const { service, clock } = fixture;
    for (let attempt = 0; attempt < ATTEMPTS_MAX + 3; attempt++)
      service.answers.push({ status: 500, headers: { 'Retry-After': '999999' } });
    await end(fixture);
    const passed = await passUntil(clock, service, ATTEMPTS_MAX, RETRY_MAX_MS / 10);
    expect(passed).toBeGreaterThanOrEqual((ATTEMPTS_MAX - 1) * RETRY_MAX_MS);
    await expect.poll(async () => (await receivers(fixture.client))[0]?.problem).toBe('The server answered 500.');
    await clock.advance(24 * 60 * 60_000);
    expect(service.received).toHaveLength(ATTEMPTS_MAX);
    expect(await fixture.host.log.records('notify-event:')).toEqual([]);
  });

  it('[DEV-042] that sends elsewhere is not followed', async () => {
    const trap = await startServer();
    // Both are allowed: only the redirect is in the way.
    const fixture = await openNotifications({ service: await allowing(trap) });
    fixture.service.answers.push({ status: 307, headers: { Location: trap.url } });
    await end(fixture);
    await fixture.service.until(1);
    await expect
      .poll(async () => (await receivers(fixture.client))[0]?.problem)
      .toContain('Redirects are not followed');
    expect(trap.received).toEqual([]);
  });

  it('[DEV-042] whose certificate nobody vouches for gets nothing', async () => {
    const service = await startServer(true);
    const { ca: _unknown, ...reach } = service.reach;
    const fixture = await openNotifications({ service: { ...service, reach } });
    const { ok, problem } = await fixture.client.request<{ ok: boolean; problem: string }>('atrium/testReceiver', {
      id: fixture.receiver.id,
    });
    expect({ ok, received: service.received }).toEqual({ ok: false, received: [] });
    expect(problem).toContain('certificate');
  });
});

/** A push service beside which another server is allowed, too. */
async function allowing(other: TestServer): Promise<TestServer> {
  const service = await startServer(true);
  const privateHosts = [...(service.reach.privateHosts ?? []), new URL(other.url).host];
  return { ...service, reach: { ...service.reach, privateHosts } };
}

/** Another host on the same log, as after a crash: the first one is not stopped, and does nothing more. */
async function startAgain(log: KeptLog, service: TestServer) {
  const clock = new FakeClock(NOON + 60_000);
  const host = await startHost({
    ...{ log, clock, agents: [new PuppetAgent()], tools: [ASKING_TOOL] },
    notifications: { desktop: null, ...service.reach },
  });
  const client = await nativeClient(host, 'desk-again');
  return { clock, host, client };
}

describe('after a crash', () => {
  it('[DEV-041] what waited to be told is told once', async () => {
    const log = new KeptLog();
    const fixture = await openNotifications({ log });
    const { service, browser } = fixture;
    (await begin(fixture)).finish();
    await fixture.client.action(fixture.chat, 'chat/turnComplete');
    await fixture.clock.advance(END_DELAY_MS - 1);
    const { clock } = await startAgain(log, service);
    await clock.advance(END_DELAY_MS);
    expect(browser.read(await service.until(1))).toMatchObject({ event: 'ended' });
    // What may not have arrived is sent again; so the host knows first that it has.
    await expect.poll(() => log.records('notify-event:')).toEqual([]);
    const third = await startAgain(log, service);
    await third.clock.advance(END_DELAY_MS);
    await settle(50);
    expect(service.received).toHaveLength(1);
  });

  it('[DEV-041] what may have been told is sent again under the same id, so that the browser shows it once', async () => {
    const log = new KeptLog();
    const fixture = await openNotifications({ log });
    const { service, browser } = fixture;
    service.answers.push('hang');
    await end(fixture);
    const first = browser.read(await service.until(1));
    await startAgain(log, service);
    const second = browser.read(await service.until(2));
    expect(second).toEqual(first);
    await expect.poll(() => log.records('notify-event:')).toEqual([]);
  });

  it('[DEV-041] where the receiver cannot tell repeats, it is not sent again', async () => {
    const log = new KeptLog();
    const hook = await startServer();
    const fixture = await openNotifications({ log, service: await allowing(hook), rule: { events: [] } });
    await fixture.client.request('atrium/setReceiver', { kind: 'webhook', url: hook.url, format: 'slack' });
    hook.answers.push('hang');
    await end(fixture);
    await hook.until(1);
    const service = { ...fixture.service, reach: { ...fixture.service.reach } };
    const { clock } = await startAgain(log, service);
    await clock.advance(60 * 60_000);
    await settle(50);
    expect(hook.received).toHaveLength(1);
  });

  it('[DEV-041] a question that ended with the host is taken back, and its turn is told as failed', async () => {
    const log = new KeptLog();
    const fixture = await openNotifications({ log });
    const { service, browser, clock } = fixture;
    await ask(fixture, { command: 'ls' });
    await clock.advance(QUESTION_DELAY_MS);
    const shown = browser.read(await service.until(1));
    const again = await startAgain(log, service);
    expect(browser.read(await service.until(2))).toMatchObject({ kind: 'close', tag: shown.tag });
    await again.clock.advance(END_DELAY_MS);
    expect(browser.read(await service.until(3))).toMatchObject({ kind: 'show', event: 'failed' });
    await settle(50);
    expect(service.received).toHaveLength(3);
  });
});
