/** What strangers try: addresses inside the network, huge or odd input, text that pretends, answers that are stale or not theirs. */
import type { Access } from '@atrium/core/contracts/access.js';
import {
  MODE_PROPERTY,
  type NotificationMessage,
  PLAN_TOOL,
  REDEEM_PATH,
  type SetReceiverResult,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import {
  BODY_MAX_CHARACTERS,
  ENDPOINT_MAX_CHARACTERS,
  PAYLOAD_MAX_BYTES,
  QUESTION_DELAY_MS,
  RULE_SESSIONS_MAX,
  TESTS_PER_MINUTE_MAX,
  TITLE_MAX_CHARACTERS,
  WHOLE_COMMAND_MAX_CHARACTERS,
} from '../../src/notifications/limits.js';
import { PostError, post } from '../../src/notifications/post.js';
import {
  ASKING_TOOL,
  ask,
  begin,
  decide,
  look,
  openNotifications,
  subscribe,
  waitingCall,
} from '../support/notification-fixture.js';
import { startServer, TestBrowser } from '../support/push-service.js';
import { RawClient } from '../support/test-host.js';

const ask404 = (url: string, resolve?: (name: string) => Promise<{ address: string; family: number }[]>) =>
  post({ url, headers: {}, body: Buffer.from('x'), signal: AbortSignal.timeout(5_000), reach: { resolve } });

describe('an address that leads inside', () => {
  it.each([
    ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f000001/', 'https://0/'],
    ...[
      'https://[::1]/',
      'https://[::]/',
      'https://[::ffff:127.0.0.1]/',
      'https://[::ffff:a00:1]/',
      'https://[::127.0.0.1]/',
    ],
    ...['https://10.0.0.1/', 'https://172.16.0.1/', 'https://192.168.1.1/', 'https://100.64.0.1/', 'https://0.0.0.0/'],
    ...[
      'https://169.254.169.254/latest/meta-data/',
      'https://[fd00:ec2::254]/',
      'https://[fe80::1]/',
      'https://[fc00::1]/',
    ],
    ...['https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/', 'https://[2001:0:7f00:1::]/', 'https://198.18.0.1/'],
    ...['https://localhost/', 'https://LOCALHOST/', 'https://255.255.255.255/', 'https://224.0.0.1/'],
  ])('[DEV-042] %s is never asked', async (url) => {
    const error: unknown = await ask404(url, async () => [{ address: '127.0.0.1', family: 4 }]).catch(
      (caught) => caught,
    );
    expect(error).toBeInstanceOf(PostError);
    expect((error as PostError).reason).toBe('address');
  });

  it.each([
    'http://push.example/',
    'ftp://push.example/',
    'file:///etc/passwd',
    'https://me:pass@push.example/',
    'push',
    '',
  ])('[DEV-042] %s is no address to send to', async (url) => {
    const client = await owner();
    const { subscription } = new TestBrowser(url);
    const answers = [
      await client.ask('atrium/setReceiver', { kind: 'push', subscription }),
      await client.ask('atrium/setReceiver', { kind: 'webhook', url }),
    ];
    for (const { error } of answers) expect(error?.message).toMatch(/https|address/);
  });

  it('[DEV-042] a name with one private address among public ones is a trap', async () => {
    const both = async () => [
      { address: '93.184.215.14', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ];
    await expect(ask404('https://push.example/', both)).rejects.toMatchObject({ reason: 'address' });
  });

  it('[DEV-042] a name is looked up once for each attempt: a second answer is never used', async () => {
    const service = await startServer(true);
    let lookups = 0;
    const resolve = async () => {
      lookups++;
      // What was checked is the first answer; the second would lead elsewhere.
      return [{ address: lookups === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    };
    const { port } = new URL(service.url);
    const reach = { ...service.reach, resolve };
    const url = `https://localhost:${port}/`;
    const request = { url, headers: {}, body: Buffer.from('x'), signal: AbortSignal.timeout(5_000), reach };
    expect(await post(request)).toMatchObject({ status: 201 });
    expect({ lookups, received: service.received.length }).toEqual({ lookups: 1, received: 1 });
  });

  it('[DEV-042] what the operator allows by name is allowed with that port only', async () => {
    const service = await startServer();
    const other = await startServer();
    const send = (url: string) =>
      post({ url, headers: {}, body: Buffer.from('x'), signal: AbortSignal.timeout(5_000), reach: service.reach });
    expect(await send(service.url)).toMatchObject({ status: 201 });
    await expect(send(other.url)).rejects.toMatchObject({ reason: 'address' });
    expect(other.received).toEqual([]);
  });
});

/** A client of one host for the tests that only ask. */
async function owner(): Promise<RawClient> {
  const { client } = await openNotifications();
  return client;
}

describe('what is sent to the host', () => {
  it('[DEV-040] is bounded and checked', async () => {
    const { client, receiver } = await openNotifications();
    const browser = new TestBrowser(`https://push.example/${'a'.repeat(ENDPOINT_MAX_CHARACTERS)}`);
    const { subscription } = new TestBrowser('https://push.example/');
    const rule = { events: ['ended'], detail: 'title' };
    const bad: [string, object][] = [
      ['/subscription/endpoint', { kind: 'push', subscription: browser.subscription }],
      [
        '/subscription/keys',
        { kind: 'push', subscription: { ...subscription, keys: { p256dh: 'A'.repeat(10_000), auth: '' } } },
      ],
      ['/subscription', { kind: 'push' }],
      ['/kind', { kind: 'carrier-pigeon' }],
      ['/url', { kind: 'webhook', url: `https://hook.example/${'a'.repeat(ENDPOINT_MAX_CHARACTERS)}` }],
      ['/format', { kind: 'webhook', url: 'https://hook.example/', format: 'xml' }],
      ['/name', { id: receiver.id, name: ' ' }],
      ['/rule/events', { id: receiver.id, rule: { ...rule, events: ['everything'] } }],
      ['/rule/events', { id: receiver.id, rule: { ...rule, events: Array(5).fill({}) } }],
      ['/rule/detail', { id: receiver.id, rule: { ...rule, detail: 'all' } }],
      ['/rule/sessions', { id: receiver.id, rule: { ...rule, sessions: Array(RULE_SESSIONS_MAX + 1).fill('a') } }],
      ['/rule/sessions', { id: receiver.id, rule: { ...rule, sessions: ['a'.repeat(501)] } }],
      ['/rule/quiet', { id: receiver.id, rule: { ...rule, quiet: { from: '25:00', to: '07:00', timeZone: 'UTC' } } }],
      [
        '/rule/quiet/timeZone',
        { id: receiver.id, rule: { ...rule, quiet: { from: '22:00', to: '07:00', timeZone: 'Mars' } } },
      ],
      ['/rule', { id: receiver.id, rule: [] }],
      ['no receiver', { id: 'unknown', name: 'x' }],
    ];
    for (const [place, params] of bad)
      expect((await client.ask('atrium/setReceiver', params)).error?.message).toContain(place);
    for (const params of [
      {},
      { isInView: 1 },
      { isInView: true, session: 7 },
      { isInView: true, receiver: 'r'.repeat(501) },
    ])
      expect((await client.ask('atrium/view', params)).error).toBeDefined();
  });
});

/** The message that a question becomes. */
async function told(input: object, options: { title?: string; detail?: 'command' | 'title' | 'nothing' } = {}) {
  const fixture = await openNotifications({ rule: { detail: options.detail ?? 'command' } });
  const { clock, service, browser, client, uri } = fixture;
  if (options.title !== undefined) client.dispatch(uri, { type: 'session/titleChanged', title: options.title });
  const asked = await ask(fixture, input);
  await clock.advance(QUESTION_DELAY_MS);
  const request = await service.until(1);
  return { ...fixture, ...asked, request, message: browser.read(request) };
}

describe('the text of a notification', () => {
  it('[DEV-040] says nothing of a session where its receiver wants that', async () => {
    const { message, uri } = await told({ command: 'cat secret' }, { detail: 'nothing' });
    expect(message).toMatchObject({ title: 'Atrium', body: 'A session needs an answer.' });
    expect(JSON.stringify(message)).not.toContain(uri);
    expect(JSON.stringify(message)).not.toMatch(/Rain|secret/);
  });

  it('[DEV-042] is short, whatever a session is called and an agent wants', async () => {
    const { message, request } = await told({ command: '漢'.repeat(50_000) }, { title: '🌧'.repeat(5_000) });
    expect(request.body.length).toBeLessThan(4_096);
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(PAYLOAD_MAX_BYTES);
    expect(message.title.length).toBeLessThanOrEqual(TITLE_MAX_CHARACTERS);
    expect(message.body?.length).toBeLessThanOrEqual(2 * BODY_MAX_CHARACTERS);
    expect(message.answerKey).toBeUndefined();
  });

  it('[DEV-043] cannot hide a part of a command: controls, line ends and right-to-left marks are spelled out', async () => {
    const { message } = await told({ command: 'ls \u202Egnp.exe\u2066 \u0007\u001b[2J\nrm -rf /' });
    expect(message.body).toContain('\\u{202e}');
    for (const hidden of ['\u202e', '\u2066', '\u0007', '\u001b', '\n']) expect(message.body).not.toContain(hidden);
    expect(message.answerKey).toBeUndefined();
  });
});

describe('Allow and Deny', () => {
  it('[DEV-043] exist when the whole of what would run is shown, and answer that very question once', async () => {
    const runs = ASKING_TOOL.runs.length;
    const { message, host, called, client, uri } = await told({ command: 'npm test' });
    expect(message.body).toBe('Needs an answer: shell: npm test');
    const key = message.answerKey ?? '';
    const answered = await host.host.answerNotification(key, true);
    expect(answered).toEqual({ kind: 'taken' });
    await called;
    expect(ASKING_TOOL.runs.slice(runs)).toEqual([{ command: 'npm test' }]);
    expect(await waitingCall(client, uri)).toBe('');
    // The same again does nothing.
    expect(await host.host.answerNotification(key, true)).toMatchObject({ kind: 'stale' });
    expect(await host.host.answerNotification(key, false)).toMatchObject({ kind: 'stale' });
  });

  it('[DEV-043] Deny denies', async () => {
    const runs = ASKING_TOOL.runs.length;
    const { message, host, called } = await told({ command: 'npm test' });
    expect(await host.host.answerNotification(message.answerKey, false)).toEqual({ kind: 'taken' });
    await called;
    expect(ASKING_TOOL.runs).toHaveLength(runs);
  });

  it.each([
    ['a long command', { command: 'x'.repeat(WHOLE_COMMAND_MAX_CHARACTERS + 1) }],
    ['two lines', { command: 'ls\nrm x' }],
    ['blanks that could hide something', { command: `ls ${' '.repeat(20)} rm x` }],
    ['an invisible letter', { command: 'ls\u200b' }],
  ])('[DEV-043] do not exist for %s', async (_what, input) => {
    expect((await told(input)).message.answerKey).toBeUndefined();
  });

  it('[DEV-043] show the whole input where it is more than a command', async () => {
    const { message } = await told({ command: 'ls', background: true });
    expect(message.body).toBe('Needs an answer: shell: {"command":"ls","background":true}');
    expect(message.answerKey).toBeDefined();
  });

  it('[DEV-043] are stale when somebody answered elsewhere, and say so', async () => {
    const runs = ASKING_TOOL.runs.length;
    const { message, host, called, client, chat, uri } = await told({ command: 'npm test' });
    decide(client, chat, await waitingCall(client, uri), false);
    await called;
    expect(await host.host.answerNotification(message.answerKey, true)).toEqual({
      kind: 'stale',
      problem: 'This question is no longer open. Nothing was done.',
    });
    expect(ASKING_TOOL.runs).toHaveLength(runs);
  });

  it('[DEV-043] answer nothing when what was shown has changed meanwhile', async () => {
    const fixture = await told({ command: 'npm test' });
    const { message, host, client, uri, chat, finish } = fixture;
    decide(client, chat, await waitingCall(client, uri), true);
    await fixture.called;
    finish();
    await client.action(chat, 'chat/turnComplete');
    await ask(fixture, { command: 'rm -rf /' }, 't2');
    expect(await host.host.answerNotification(message.answerKey, true)).toMatchObject({ kind: 'stale' });
    expect(await waitingCall(client, uri)).not.toBe('');
  });

  it('[DEV-043] a key that is none opens nothing', async () => {
    const { host } = await openNotifications();
    for (const key of [undefined, '', 'short', 'A'.repeat(43), 'A'.repeat(100_000), 7, null, {}])
      expect(await host.host.answerNotification(key, true)).toMatchObject({ kind: 'stale' });
  });

  it('[DEV-043] need more than true-ish words', async () => {
    const { message, host, client, uri } = await told({ command: 'npm test' });
    for (const approved of ['true', 1, null, undefined, {}])
      expect(await host.host.answerNotification(message.answerKey, approved)).toMatchObject({ kind: 'stale' });
    expect(await waitingCall(client, uri)).not.toBe('');
  });
});

/** A connection with the access of a device. */
async function device(fixture: Awaited<ReturnType<typeof openNotifications>>, access: Access, clientId: string) {
  const client = new RawClient();
  fixture.host.host.connect(client.transport, access);
  await client.initialize(clientId, { protocolVersions: ['1.0.0'] });
  return client;
}

const viewer = (id: string): Access => ({ role: 'viewer', credential: { kind: 'device', id, name: 'Phone' } });

describe('a device', () => {
  it('[DEV-041] that can only look keeps nobody from being told', async () => {
    const fixture = await openNotifications();
    const phone = await device(fixture, viewer('d1'), 'phone');
    await look(phone, fixture.uri);
    await ask(fixture, { command: 'ls' });
    await fixture.clock.advance(QUESTION_DELAY_MS);
    await fixture.service.until(1);
  });

  it('[DEV-041] [DEV-021] that may answer elsewhere only keeps nobody from being told of a session out of its bounds', async () => {
    const fixture = await openNotifications();
    const bounds = { sessions: ['ahp-session:/another'] };
    const phone = await device(fixture, { ...viewer('d1'), role: 'approver', bounds }, 'phone');
    await look(phone, fixture.uri);
    await ask(fixture, { command: 'ls' });
    await fixture.clock.advance(QUESTION_DELAY_MS);
    await fixture.service.until(1);
  });

  it('[DEV-040] does not have the host send requests without end to a server of its choice', async () => {
    const fixture = await openNotifications();
    const phone = await device(fixture, viewer('d1'), 'phone');
    const test = async () => {
      const { receiver } = await subscribe(phone, new TestBrowser(`${fixture.service.url}push/2`));
      const { error } = await phone.ask('atrium/testReceiver', { id: receiver.id });
      await phone.request('atrium/removeReceiver', { id: receiver.id });
      return error === undefined;
    };
    const first = [];
    for (let count = 0; count < TESTS_PER_MINUTE_MAX + 2; count++) first.push(await test());
    expect(first).toEqual([...Array<boolean>(TESTS_PER_MINUTE_MAX).fill(true), false, false]);
    expect(fixture.service.received).toHaveLength(TESTS_PER_MINUTE_MAX);
    // Others are not slowed down by it, nor is it for ever.
    expect((await fixture.client.ask('atrium/testReceiver', { id: fixture.receiver.id })).error).toBeUndefined();
    await fixture.clock.advance(60_001);
    expect(await test()).toBe(true);
  });

  it('[DEV-041] is not told in the place of another, under the name of its receiver', async () => {
    const fixture = await openNotifications({ rule: { events: [] } });
    const { client, clock } = fixture;
    const { receiver } = await client.request<SetReceiverResult>('atrium/setReceiver', { kind: 'page', name: 'Desk' });
    const phone = await device(fixture, viewer('d1'), 'phone');
    await look(phone, undefined, { shows: true, receiver: receiver.id });
    const desk = new RawClient();
    fixture.host.host.connect(desk.transport);
    await desk.initialize('desk-again', { protocolVersions: ['1.0.0'] });
    await look(desk, undefined, { shows: true, receiver: receiver.id });
    await ask(fixture, { command: 'ls' });
    await clock.advance(QUESTION_DELAY_MS);
    await desk.until(({ method }) => method === 'atrium/notified');
  });

  it('[DEV-040] a bounded owner neither sees nor changes receivers of others', async () => {
    const fixture = await openNotifications();
    const bounds = { sessions: [fixture.uri] };
    const phone = await device(fixture, { ...viewer('d1'), role: 'owner', bounds }, 'phone');
    expect((await phone.request<{ items: object[] }>('atrium/notifications')).items).toEqual([]);
    for (const method of ['atrium/setReceiver', 'atrium/removeReceiver', 'atrium/testReceiver'])
      expect((await phone.ask(method, { id: fixture.receiver.id, name: 'mine' })).error).toBeDefined();
  });

  it('[DEV-040] sees and changes its own receivers only, and adds no webhook', async () => {
    const fixture = await openNotifications();
    const phone = await device(fixture, viewer('d1'), 'phone');
    const { items } = await phone.request<{ items: NotificationMessage[] }>('atrium/notifications');
    expect(items).toEqual([]);
    for (const method of ['atrium/setReceiver', 'atrium/removeReceiver', 'atrium/testReceiver'])
      expect((await phone.ask(method, { id: fixture.receiver.id, name: 'mine' })).error).toBeDefined();
    for (const kind of ['webhook', 'desktop'])
      expect((await phone.ask('atrium/setReceiver', { kind, url: 'https://hook.example/' })).error).toBeDefined();
    const browser = new TestBrowser(`${fixture.service.url}push/2`);
    expect((await subscribe(phone, browser)).receiver).toMatchObject({ kind: 'push', device: 'd1', name: 'Phone' });
  });
});

type Fixture = Awaited<ReturnType<typeof openNotifications>>;

/** A device that is let in with a code, subscribed with the whole command, and a question that it was told. */
async function toldDevice(
  role: string,
  more: (fixture: Fixture) => object = () => ({}),
  question: (fixture: Fixture) => ReturnType<typeof ask> = (fixture) => ask(fixture, { command: 'npm test' }),
) {
  const fixture = await openNotifications({ rule: { events: [] } });
  const { client, host, service, clock } = fixture;
  const { devices } = host.host;
  const { code } = await client.request<{ code: string }>('atrium/addDevice', {
    role,
    name: 'Phone',
    ...more(fixture),
  });
  const redeem = devices.routes.find(({ path }) => path === REDEEM_PATH);
  const source = { address: '127.0.0.1', isProxied: false, scheme: 'http', host: ['localhost'] } as never;
  const nothing = { access: undefined, token: undefined, userAgent: undefined, query: new URLSearchParams() };
  const reply = await redeem?.answer({ source, isPage: false, ...nothing, body: { code } });
  const { id, token } = (reply?.json ?? {}) as { id: string; token: string };
  const access = devices.accessOf(token);
  if (!access) throw new Error('the device was not let in');
  const phone = await device(fixture, access, 'phone');
  const browser = new TestBrowser(`${service.url}push/phone`);
  await subscribe(phone, browser, { events: ['question'], detail: 'command' });
  phone.disconnect();
  const asked = await question(fixture);
  await clock.advance(QUESTION_DELAY_MS);
  return { ...fixture, ...asked, deviceId: id, phoneBrowser: browser };
}

describe('Allow on a device', () => {
  it('[DEV-043] of an approver runs the command, and the record names the device', async () => {
    const { service, phoneBrowser, host, called, client, chat } = await toldDevice('approver');
    const { answerKey } = phoneBrowser.read(await service.until(1));
    expect(await host.host.answerNotification(answerKey, true)).toEqual({ kind: 'taken' });
    expect(await called).toMatchObject({ kind: 'completed' });
    const { action } = await client.action(chat, 'chat/toolCallConfirmed');
    expect(action._meta).toMatchObject({ 'atrium.answeredBy': 'Phone' });
  });

  it('[DEV-043] does not exist for a viewer, and does nothing where the role was lowered since', async () => {
    const viewers = await toldDevice('viewer');
    const shown = viewers.phoneBrowser.read(await viewers.service.until(1));
    expect(shown.body).toContain('npm test');
    expect(shown.answerKey).toBeUndefined();
    const { service, phoneBrowser, host, client, uri, deviceId } = await toldDevice('approver');
    const { answerKey } = phoneBrowser.read(await service.until(1));
    await client.request('atrium/changeDevice', { id: deviceId, role: 'viewer' });
    expect(await host.host.answerNotification(answerKey, true)).toMatchObject({ kind: 'forbidden' });
    expect(await waitingCall(client, uri)).not.toBe('');
  });

  /** A plan that is short enough for buttons. */
  async function presentPlan(fixture: Fixture): ReturnType<typeof ask> {
    const { client, uri } = fixture;
    client.dispatch(uri, { type: 'session/configChanged', config: { [MODE_PROPERTY]: 'plan' } } as never);
    await client.action(uri, 'session/configChanged');
    const { turn, finish } = await begin(fixture);
    const called = turn.callTool({ name: PLAN_TOOL, input: { plan: 'Do it.' } });
    called.catch(() => {});
    await vi.waitFor(async () => expect(await waitingCall(client, uri)).not.toBe(''), 10_000);
    return { called, finish, turn };
  }

  it('[DEV-043] [DEV-024] of an approver does not accept a plan, which changes the mode of the session; Deny does what it may', async () => {
    const { service, phoneBrowser, host, client, uri, called } = await toldDevice('approver', undefined, presentPlan);
    const { answerKey } = phoneBrowser.read(await service.until(1));
    expect(answerKey).toEqual(expect.any(String));
    expect(await host.host.answerNotification(answerKey, true)).toMatchObject({ kind: 'forbidden' });
    const mode = async () =>
      (await client.state<{ config: { values: Record<string, unknown> } }>(uri)).config.values[MODE_PROPERTY];
    expect([await waitingCall(client, uri), await mode()]).toEqual([expect.stringMatching(/./), 'plan']);
    expect(await host.host.answerNotification(answerKey, false)).toEqual({ kind: 'taken' });
    expect(await called).not.toMatchObject({ kind: 'completed' });
    expect(await mode()).toBe('plan');
  });

  it('[DEV-043] [DEV-007] of a device that was removed does nothing, and it is told nothing more', async () => {
    const { service, phoneBrowser, host, client, uri, deviceId } = await toldDevice('approver');
    const { answerKey } = phoneBrowser.read(await service.until(1));
    await client.request('atrium/removeDevice', { id: deviceId });
    expect(await host.host.answerNotification(answerKey, true)).toMatchObject({ kind: 'stale' });
    expect(await waitingCall(client, uri)).not.toBe('');
    const { items } = await client.request<{ items: { device?: string }[] }>('atrium/notifications');
    expect(items.some((receiver) => receiver.device === deviceId)).toBe(false);
  });

  it('[DEV-040] is not offered for sessions out of its bounds: the device is told nothing of them', async () => {
    const { service } = await toldDevice('approver', () => ({ bounds: { sessions: ['ahp-session:/another'] } }));
    expect(service.received).toEqual([]);
  });
});
