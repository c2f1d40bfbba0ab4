/** A host with a session, a clock that stands still, and a browser that is subscribed at a push service of our own. */
import type { Log } from '@atrium/core/log/log.js';
import type {
  NotificationReceiver,
  NotificationReceivers,
  NotificationRule,
  SetReceiverResult,
} from '@atrium/protocol/ahp-1';
import { vi } from 'vitest';
import type { NotificationsOptions } from '../../src/notifications/notifications.js';
import { FakeClock } from './fake-clock.js';
import { nativeClient, nativeSession, userMessage } from './native-client.js';
import { PuppetAgent } from './puppet-agent.js';
import { startServer, TestBrowser, type TestServer } from './push-service.js';
import { startHost } from './session-fixture.js';
import type { RawClient, TestHostOptions } from './test-host.js';
import { echoTool } from './tools.js';

export const NOON = Date.UTC(2026, 10, 18, 12);
/** It asks before it runs. */
export const ASKING_TOOL = echoTool('shell', { confirmation: { title: 'Run it?' } });

export interface NotificationFixtureOptions {
  readonly log?: Log;
  readonly rule?: Partial<NotificationRule>;
  readonly service?: TestServer;
  readonly more?: TestHostOptions;
  readonly notifications?: NotificationsOptions;
}

export async function openNotifications(options: NotificationFixtureOptions = {}) {
  const clock = new FakeClock(NOON);
  const agent = new PuppetAgent();
  const service = options.service ?? (await startServer(true));
  const host = await startHost({
    ...{ clock, agents: [agent], tools: [ASKING_TOOL], ...options.more },
    ...(options.log && { log: options.log }),
    notifications: { desktop: null, ...service.reach, ...options.notifications },
  });
  const client = await nativeClient(host, 'desk');
  const { uri, chat } = await nativeSession(client, { provider: 'puppet' });
  client.dispatch(uri, { type: 'session/titleChanged', title: 'Rain' });
  await look(client, undefined);
  const browser = new TestBrowser(`${service.url}push/1`);
  const { receiver } = await subscribe(client, browser, options.rule);
  return { clock, agent, host, client, uri, chat, service, browser, receiver };
}

/** What the client says that a person sees. */
export async function look(client: RawClient, session: string | undefined, more: object = {}): Promise<void> {
  await client.request('atrium/view', { isInView: session !== undefined, ...(session && { session }), ...more });
}

export function subscribe(
  client: RawClient,
  browser: TestBrowser,
  rule: Partial<NotificationRule> = {},
): Promise<SetReceiverResult> {
  const whole = { events: ['question', 'ended', 'failed', 'budget', 'automation'], detail: 'title', ...rule };
  return client.request('atrium/setReceiver', { kind: 'push', subscription: browser.subscription, rule: whole });
}

export async function receivers(client: RawClient): Promise<readonly NotificationReceiver[]> {
  return (await client.request<NotificationReceivers>('atrium/notifications')).items;
}

/** Begins a turn and hands its agent to the test. */
export async function begin(
  { client, chat, agent }: { client: RawClient; chat: string; agent: PuppetAgent },
  turnId = 't1',
) {
  const index = agent.turns.length;
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, message: userMessage('go') } as never);
  return agent.turn(index);
}

/** A call that waits for a person, once clients see it. */
export async function ask(fixture: Awaited<ReturnType<typeof openNotifications>>, input: object, turnId = 't1') {
  const { turn, finish } = await begin(fixture, turnId);
  const called = turn.callTool({ name: 'shell', input });
  // It may end with its host.
  called.catch(() => {});
  await vi.waitFor(async () => {
    if ((await waitingCall(fixture.client, fixture.uri)) === '') throw new Error('nothing is asked');
  }, 10_000);
  return { called, finish, turn };
}

export function decide(client: RawClient, chat: string, toolCallId: string, approved: boolean, turnId = 't1'): void {
  const answer = approved ? { approved, confirmed: 'user-action' } : { approved, reason: 'denied' };
  client.dispatch(chat, { type: 'chat/toolCallConfirmed', turnId, toolCallId, ...answer } as never);
}

/** The id of the call that waits. */
export async function waitingCall(client: RawClient, uri: string): Promise<string> {
  const { inputNeeded = [] } = await client.state<{ inputNeeded?: { toolCall?: { toolCallId: string } }[] }>(uri);
  return inputNeeded[0]?.toolCall?.toolCallId ?? '';
}

/** Lets time pass in steps until a server has got so many requests; says how much passed. */
export async function passUntil(clock: FakeClock, { received }: TestServer, count: number, stepMs: number) {
  const start = clock.now();
  while (received.length < count) {
    await clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return clock.now() - start;
}
