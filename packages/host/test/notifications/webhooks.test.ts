/** Webhooks: what they get, how a receiver knows that it is genuine, and what happens when they do not answer. */

import type { SetReceiverResult, WebhookFormat } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  ATTEMPTS_MAX,
  END_DELAY_MS,
  QUESTION_DELAY_MS,
  RECEIVERS_MAX,
  RETRY_MAX_MS,
} from '../../src/notifications/limits.js';
import {
  ask,
  begin,
  decide,
  openNotifications,
  passUntil,
  receivers,
  waitingCall,
} from '../support/notification-fixture.js';
import { type Received, startServer } from '../support/push-service.js';

type Verify = (request: Pick<Received, 'headers' | 'body'> & { secret: string; now: number; seen: Set<string> }) => {
  readonly ok: boolean;
};
/** What the example shows to people who write a receiver. */
const EXAMPLE = new URL('../../../../examples/webhook/verify.mjs', import.meta.url).href;
const { verifyWebhook }: { verifyWebhook: Verify } = await import(EXAMPLE);

async function openHook(format: WebhookFormat = 'json', detail = 'title') {
  const service = await startServer();
  const fixture = await openNotifications({ service, rule: { events: [] } });
  const rule = { events: ['question', 'ended', 'failed', 'budget', 'automation'], detail };
  const { receiver, secret = '' } = await fixture.client.request<SetReceiverResult>('atrium/setReceiver', {
    ...{ kind: 'webhook', name: 'Hook', url: `${service.url}secret-path?token=abc`, format, rule },
  });
  return { ...fixture, hook: receiver, secret };
}

async function end(fixture: Awaited<ReturnType<typeof openHook>>, turnId = 't1') {
  (await begin(fixture, turnId)).finish();
  await fixture.client.action(
    fixture.chat,
    (action) => action.type === 'chat/turnComplete' && action.turnId === turnId,
  );
  await fixture.clock.advance(END_DELAY_MS);
}

const check = ({ headers, body }: Received, secret: string, now: number, seen = new Set<string>()) =>
  verifyWebhook({ headers, body, secret, now, seen });

describe('a webhook', () => {
  it('[DEV-044] gets signed JSON with an id, and its receiver can tell forgery and replay', async () => {
    const fixture = await openHook();
    await end(fixture);
    const request = await fixture.service.until(1);
    const now = fixture.clock.now();
    const seen = new Set<string>();
    expect(check(request, fixture.secret, now, seen)).toMatchObject({
      ok: true,
      message: { kind: 'show', event: 'ended', title: 'Rain', body: 'Is done', session: fixture.uri },
    });
    expect(request.headers['atrium-id']).toBe(JSON.parse(request.body.toString()).id);
    // The same again, as a repeat or by somebody who listened.
    expect(check(request, fixture.secret, now, seen)).toMatchObject({ ok: false, reason: 'repeated' });
    expect(check(request, fixture.secret, now + 6 * 60_000)).toMatchObject({ ok: false, reason: 'old' });
    expect(check(request, 'another secret', now)).toMatchObject({ ok: false, reason: 'forged' });
    const changed = Buffer.from(request.body.toString().replace('Is done', 'Is gone'));
    expect(check({ ...request, body: changed }, fixture.secret, now)).toMatchObject({ ok: false, reason: 'forged' });
    const [time, signature] = String(request.headers['atrium-signature']).split(',');
    const later = `t=${Number(time?.slice(2)) + 1},${signature}`;
    const headers = { ...request.headers, 'atrium-signature': later };
    expect(check({ ...request, headers }, fixture.secret, now)).toMatchObject({ ok: false, reason: 'forged' });
    for (const bad of ['', 't=1', 'v1=00', 't=x,v1=zz', undefined])
      expect(
        check({ ...request, headers: { ...request.headers, 'atrium-signature': bad } }, fixture.secret, now),
      ).toMatchObject({ ok: false });
  });

  it('[DEV-044] shows its secret once, and neither that nor its path is ever listed', async () => {
    const { client, secret, hook } = await openHook();
    expect(secret).toHaveLength(43);
    const again = await client.request<SetReceiverResult>('atrium/setReceiver', { id: hook.id, name: 'Other' });
    expect(again.receiver.name).toBe('Other');
    const listed = JSON.stringify([await receivers(client), again, hook]);
    expect(listed).not.toContain(secret);
    expect(listed).not.toContain('secret-path');
    expect(listed).not.toContain('token=abc');
  });

  it('[DEV-044] is asked again under the same id and signed anew, up to a bound', async () => {
    const fixture = await openHook();
    const { service, clock, secret } = fixture;
    service.answers.push({ status: 500 }, 'cut', { status: 429 });
    await end(fixture);
    await passUntil(clock, service, 4, RETRY_MAX_MS / 10);
    const sentAt = ({ headers }: Received) => Number(/^t=(\d+)/.exec(String(headers['atrium-signature']))?.[1]) * 1_000;
    const [first, , , last] = service.received as [Received, Received, Received, Received];
    expect(sentAt(last)).toBeGreaterThan(sentAt(first));
    expect(check(last, secret, sentAt(last))).toMatchObject({ ok: true });
    expect(new Set(service.received.map(({ headers }) => headers['atrium-id'])).size).toBe(1);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) service.answers.push('cut');
    await end(fixture, 't2');
    await passUntil(clock, service, 4 + ATTEMPTS_MAX, RETRY_MAX_MS / 10);
    await expect.poll(async () => (await receivers(fixture.client))[1]?.problem).toBeDefined();
    await clock.advance(24 * 60 * 60_000);
    expect(service.received).toHaveLength(4 + ATTEMPTS_MAX);
  });

  it('[DEV-044] is told when a question is settled', async () => {
    const fixture = await openHook();
    const { service, client, chat, uri, clock } = fixture;
    const { called } = await ask(fixture, { command: 'ls' });
    await clock.advance(QUESTION_DELAY_MS);
    const shown = JSON.parse((await service.until(1)).body.toString());
    decide(client, chat, await waitingCall(client, uri), true);
    await called;
    expect(JSON.parse((await service.until(2)).body.toString())).toMatchObject({ kind: 'close', id: shown.id });
  });

  it('[DEV-044] of ntfy gets a text, of Slack one in which nothing is a mention or a link', async () => {
    const ntfy = await openHook('ntfy', 'command');
    ntfy.client.dispatch(ntfy.uri, { type: 'session/titleChanged', title: 'Grüße\r\nEvil: 1' });
    await end(ntfy);
    const { headers, body } = await ntfy.service.until(1);
    expect(headers.title).toMatch(/^=\?UTF-8\?B\?[\w+/=]+\?=$/);
    expect(headers.evil).toBeUndefined();
    expect(body.toString()).toBe('Is done');
    const slack = await openHook('slack', 'command');
    slack.client.dispatch(slack.uri, { type: 'session/titleChanged', title: '<!channel> <http://x|y> & co' });
    await end(slack);
    const { text } = JSON.parse((await slack.service.until(1)).body.toString());
    expect(text).toBe('&lt;!channel&gt; &lt;http://x|y&gt; &amp; co\nIs done');
  });

  it('[DEV-044] can be tried, and says what is wrong', async () => {
    const { client, hook, service } = await openHook();
    service.answers.push({ status: 200 }, { status: 403 });
    expect(await client.request('atrium/testReceiver', { id: hook.id })).toEqual({ ok: true });
    expect(JSON.parse((await service.until(1)).body.toString())).toMatchObject({ event: 'test' });
    expect(await client.request('atrium/testReceiver', { id: hook.id })).toEqual({
      ok: false,
      problem: 'The server answered 403.',
    });
    await client.request('atrium/removeReceiver', { id: hook.id });
    expect((await client.ask('atrium/testReceiver', { id: hook.id })).error?.message).toContain('no receiver');
  });

  it('[DEV-040] [DEV-044] receivers are bounded', async () => {
    const { client, service } = await openHook();
    const add = () => client.ask('atrium/setReceiver', { kind: 'webhook', url: service.url });
    for (let count = (await receivers(client)).length; count < RECEIVERS_MAX; count++)
      expect((await add()).error).toBeUndefined();
    expect((await add()).error?.message).toContain(`at most ${RECEIVERS_MAX}`);
  });
});
