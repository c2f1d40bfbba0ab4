import type { Session } from '@atrium/core/sessions/session.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import { EXIT_CLOSE_CODE, TO_GATEWAY_TYPES } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { Gateway } from '../../../src/gateway/gateway.js';
import { SessionList, TITLES_INTERVAL_MS } from '../../../src/gateway/open-sessions.js';
import { NO_TRUST } from '../../../src/plugins/trust/folder-trust.js';
import { SessionTrust } from '../../../src/plugins/trust/session-trust.js';
import { pair, sessionId } from '../../support/gateway-connections.js';
import { componentsOf } from '../../support/host-components.js';
import { MESSAGES } from '../../support/provider-messages.js';
import { openFixture, stateOf, turnStarted } from '../../support/session-fixture.js';
import { settle, type TestHost } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const TOOL = { name: 'ci_status', description: 'CI', parameters: {} };

/** A session as the host has it, for parts that are looked at by themselves. */
function inMemory({ host }: TestHost, uri: string): Session {
  const session = componentsOf(host).sessions.inMemory.get(uri);
  if (!session) throw new Error(`${uri} is not in memory`);
  return session;
}

async function toolsOf(client: Parameters<typeof stateOf>[0], uri: string): Promise<string[]> {
  return ((await stateOf(client, uri)).serverTools ?? []).map(({ name }) => name);
}

describe('the list of sessions', () => {
  it('[GW-018] [UNI-010] is the first thing that a provider hears', async () => {
    const fixture = await openFixture({ session: { workingDirectory: 'file:///usr' } });
    const provider = TestProvider.connect(fixture.host);
    expect(await provider.next('sessions')).toEqual({
      type: 'sessions',
      active: [
        { id: sessionId(fixture.uri), label: (await stateOf(fixture.client, fixture.uri)).summary.title, cwd: '/usr' },
      ],
    });
    expect(provider.received[0]?.type).toBe('sessions');
  });

  it('[GW-017] [UNI-010] has one session in the foreground: the one that a person touched last', async () => {
    const fixture = await openFixture();
    const other = await fixture.client.session();
    const first = async () => {
      const provider = TestProvider.connect(fixture.host);
      return (await provider.next('sessions')).active[0]?.id;
    };
    await fixture.client.turn(fixture.uri, 'hello');
    expect(await first()).toBe(sessionId(fixture.uri));
    await fixture.client.turn(other, 'hello');
    expect(await first()).toBe(sessionId(other));
  });

  it('[GW-017] has the id, the label and the folder of each, and says which one is in the foreground', async () => {
    const fixture = await openFixture({ session: { workingDirectory: 'file:///usr' } });
    const other = await fixture.client.session(undefined, { workingDirectory: 'file:///tmp' });
    const sessions = [fixture.uri, other].map((uri) => inMemory(fixture.host, uri));
    const gateway = new Gateway({
      clock: fixture.clock,
      logger: silentLogger,
      address: () => undefined,
      commits: { settled: async () => {}, afterCommit: (then) => then() },
      released: () => {},
      showCodes: () => () => {},
    });
    const [first] = sessions.map((session) =>
      gateway.attach(session, {
        trust: new SessionTrust(session, NO_TRUST),
        abilities: undefined,
        isListed: () => true,
        withdrawStaleQuestions: () => {},
      }),
    );
    await settle();
    const titles = sessions.map(({ state }) => state.title);
    const [one, two] = [
      { id: sessionId(fixture.uri), label: titles[0], cwd: '/usr' },
      { id: sessionId(other), label: titles[1], cwd: '/tmp' },
    ];
    expect(gateway.sessions()).toEqual([
      { ...one, foreground: false },
      { ...two, foreground: true },
    ]);
    // A person does something in the first one.
    const origin = { clientId: 'desk', clientSeq: 1 };
    const action = { type: 'session/isReadChanged' as const, isRead: true };
    const [session] = sessions;
    if (session) first?.observe?.({ action, origin, before: session.state, after: session.state } as never);
    expect(gateway.sessions()).toEqual([
      { ...one, foreground: true },
      { ...two, foreground: false },
    ]);
    gateway.close();
  });

  it('[GW-017] always has exactly one in the foreground', () => {
    const list = new SessionList();
    const sessions = ['a', 'b', 'c'].map((id) => ({ id, entry: () => ({ id, label: id }) })) as never[];
    for (const session of sessions) list.add(session);
    const foreground = () => list.entries().flatMap((entry) => (entry.foreground ? entry.id : []));
    expect(foreground()).toEqual(['c']);
    list.touch(sessions[0] as never);
    expect(foreground()).toEqual(['a']);
    list.remove(sessions[0] as never, Promise.resolve());
    expect(foreground()).toHaveLength(1);
  });

  it('[GW-022] [GW-023] [GW-024] [UNI-011] is told anew when one starts or ends, to everybody who was let in', async () => {
    const fixture = await openFixture();
    const waiting = TestProvider.connect(fixture.host);
    const bound = await TestProvider.bound(fixture.host, { session: sessionId(fixture.uri) });
    const { provider: paired } = await pair(fixture);
    const stranger = TestProvider.connect(fixture.host, 'network');
    const other = await fixture.client.session();
    await settle();
    await fixture.client.request('disposeSession', { channel: other });
    await settle();
    for (const provider of [waiting, bound, paired])
      expect(provider.of('sessions.updated').map(({ active }) => active.length)).toEqual([2, 1]);
    expect(stranger.received).toEqual([]);
  });

  it('[GW-023] [GW-024] lets a provider bind as soon as it has heard of a session', async () => {
    const fixture = await openFixture();
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    const provider = TestProvider.connect(fixture.host);
    const uri = await fixture.client.session();
    const { active } = await provider.next('sessions.updated');
    expect((await provider.hello({ session: active[0]?.id })).sessionId).toBe(sessionId(uri));
    expect(provider.of('error')).toEqual([]);
  });

  it('is told at most once a second when titles change', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    for (let count = 0; count < 100; count++)
      fixture.client.dispatch(fixture.uri, { type: 'session/titleChanged', title: `Title ${count}` });
    await settle(20);
    expect(provider.of('sessions.updated')).toHaveLength(1);
    await fixture.clock.advance(TITLES_INTERVAL_MS);
    expect(provider.of('sessions.updated').map(({ active }) => active[0]?.label)).toEqual(['Title 0', 'Title 99']);
  });

  it('[UNI-011] leaves out a session that rests, and has it again when somebody comes back', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    fixture.client.send({ method: 'unsubscribe', params: { channel: fixture.uri } });
    await settle();
    await fixture.clock.advance(60 * 60_000);
    expect(provider.of('sessions.updated').map(({ active }) => active.length)).toEqual([0]);
    await fixture.client.request('subscribe', { channel: fixture.uri });
    await settle();
    expect(provider.of('sessions.updated').map(({ active }) => active.length)).toEqual([0, 1]);
  });

  it('keeps a session in memory as long as a provider is bound to it', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host);
    fixture.client.send({ method: 'unsubscribe', params: { channel: fixture.uri } });
    await settle();
    await fixture.clock.advance(60 * 60_000);
    expect(provider.of('sessions.updated')).toEqual([]);
    provider.drop();
    await settle();
    await fixture.clock.advance(60 * 60_000);
    const other = TestProvider.connect(fixture.host);
    expect((await other.next('sessions')).active).toEqual([]);
  });

  it('[GW-027] cannot be changed by any message of a provider', async () => {
    const fixture = await openFixture();
    const other = sessionId(await fixture.client.session());
    const listed = async () => (await TestProvider.connect(fixture.host).next('sessions')).active;
    const before = await listed();
    const provider = await TestProvider.bound(fixture.host, { session: 'all' });
    // Everything that there is to say, with words in it that would mean something to a listener.
    const wishes = { label: 'Mine', title: 'Mine', active: [], cwd: '/elsewhere', dispose: true };
    for (const type of TO_GATEWAY_TYPES) {
      if (['auth', 'auth.confirm', 'hello', 'goodbye'].includes(type)) continue;
      provider.send({ ...wishes, type, sessionId: other, ...MESSAGES[type] });
      provider.send({ ...wishes, type, sessionId: 'made-up', ...MESSAGES[type] });
    }
    for (const type of ['session.create', 'session.end', 'session.rename', 'sessions', 'sessions.updated'])
      provider.send({ ...wishes, type, sessionId: other });
    await settle(30);
    await provider.hello({ session: 'all', ...wishes });
    provider.send({ type: 'goodbye', ...wishes });
    await provider.untilClosed();
    expect(await listed()).toEqual(before);
    expect(provider.of('sessions.updated')).toEqual([]);
  });
});

describe('the end of a session', () => {
  it('[GW-026] is told to its providers before the list changes', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host, { tools: [TOOL] });
    await settle();
    const before = provider.received.length;
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    expect(provider.received.slice(before)).toMatchObject([
      { type: 'session.lifecycle', state: 'shutdown.pending', deadline: 10_000, sessionId: sessionId(fixture.uri) },
      { type: 'sessions.updated', active: [] },
    ]);
  });

  it('[GW-198] [GW-199] [GW-201] leaves a provider that is everywhere where it still is', async () => {
    const fixture = await openFixture();
    const other = await fixture.client.session();
    const provider = await TestProvider.bound(fixture.host, { session: 'all', tools: [TOOL] });
    expect(await toolsOf(fixture.client, fixture.uri)).toEqual(['ci_status']);
    expect(await toolsOf(fixture.client, other)).toEqual(['ci_status']);
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    const pending = provider.of('session.lifecycle').filter(({ state }) => state === 'shutdown.pending');
    expect(pending).toMatchObject([{ sessionId: sessionId(fixture.uri) }]);
    expect(await toolsOf(fixture.client, other)).toEqual(['ci_status']);
    provider.send({ type: 'tools.update', requestId: 'r', remove: ['ci_status'] });
    expect(await provider.next('ack')).toMatchObject({ sessionId: sessionId(other) });
  });

  it('waits for the old one to be apart before a restored session is open again', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host, { session: 'all', tools: [TOOL] });
    provider.isSilent = true;
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await fixture.client.request('atrium/restoreSession', { channel: fixture.uri });
    await fixture.client.request('subscribe', { channel: fixture.uri });
    await settle();
    provider.send({ type: 'session.ready', sessionId: sessionId(fixture.uri) });
    expect(await provider.next('error')).toMatchObject({ code: 'INVALID_SESSION' });
    await fixture.clock.advance(10_000);
    expect(provider.of('sessions.updated').at(-1)?.active).toMatchObject([{ id: sessionId(fixture.uri) }]);
    provider.send({ type: 'session.ready', sessionId: sessionId(fixture.uri) });
    await settle();
    expect(await toolsOf(fixture.client, fixture.uri)).toEqual(['ci_status']);
    provider.isSilent = false;
  });

  it('[GW-012] sends everybody away when the host stops', async () => {
    const fixture = await openFixture();
    const bound = await TestProvider.bound(fixture.host);
    const stranger = TestProvider.connect(fixture.host, 'network');
    await fixture.host.stop();
    expect(await bound.untilClosed()).toMatchObject({ code: EXIT_CLOSE_CODE });
    expect(await stranger.untilClosed()).toMatchObject({ code: EXIT_CLOSE_CODE });
    expect(bound.of('session.lifecycle').map(({ state }) => state)).toContain('shutdown.pending');
    const late = TestProvider.connect(fixture.host);
    expect(await late.untilClosed()).toMatchObject({ code: EXIT_CLOSE_CODE });
  });

  it('[GW-012] waits ten seconds for a silent provider when the host stops, and no longer', async () => {
    const fixture = await openFixture();
    const bound = await TestProvider.bound(fixture.host);
    bound.isSilent = true;
    let isStopped = false;
    const stopped = fixture.host.stop().then(() => {
      isStopped = true;
    });
    await fixture.clock.advance(9_900);
    expect(isStopped).toBe(false);
    await fixture.clock.advance(200);
    await stopped;
    expect(await bound.untilClosed()).toMatchObject({ code: EXIT_CLOSE_CODE });
  });
});

describe('session.ready', () => {
  it('[GW-201] brings a provider that is everywhere into a session that came later, not before', async () => {
    const fixture = await openFixture();
    const rule = { match: { tool: '*' }, action: 'deny', reason: 'no' };
    const hello = { session: 'all', tools: [TOOL], hooks: { onPreToolUse: [rule] } };
    const provider = await TestProvider.bound(fixture.host, hello);
    const later = await fixture.client.session();
    await settle();
    expect(await toolsOf(fixture.client, later)).toEqual([]);
    expect((await stateOf(fixture.client, later)).customizations ?? []).toEqual([]);
    provider.send({ type: 'session.ready', sessionId: sessionId(later) });
    await settle();
    expect(await toolsOf(fixture.client, later)).toEqual(['ci_status']);
    const [entry] = (await stateOf(fixture.client, later)).customizations ?? [];
    expect(entry?.children).toHaveLength(1);
  });

  it('[GW-203] is for those who are everywhere, and for sessions that are there; twice is once', async () => {
    const fixture = await openFixture();
    const single = await TestProvider.bound(fixture.host, { name: 'single', session: sessionId(fixture.uri) });
    single.send({ type: 'session.ready', sessionId: sessionId(fixture.uri) });
    expect(await single.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'session.ready' });
    const all = await TestProvider.bound(fixture.host, { name: 'all', session: 'all' });
    const later = await fixture.client.session();
    all.send({ type: 'session.ready', sessionId: sessionId(later) });
    all.send({ type: 'session.ready', sessionId: sessionId(later) });
    await settle();
    const started = all.of('session.lifecycle').filter(({ sessionId: id }) => id === sessionId(later));
    expect(started).toHaveLength(1);
    await fixture.client.request('disposeSession', { channel: later });
    await settle();
    all.send({ type: 'session.ready', sessionId: sessionId(later) });
    expect(await all.next('error')).toMatchObject({ code: 'INVALID_SESSION', replyTo: 'session.ready' });
  });
});

it('[GW-212] a provider acts in the session that it is bound to, and in no other', async () => {
  const fixture = await openFixture();
  const other = await fixture.client.session();
  const provider = await TestProvider.bound(fixture.host, {
    session: sessionId(fixture.uri),
    tools: [TOOL],
    hooks: {
      onPreToolUse: [{ match: {}, action: 'deny', reason: 'x' }],
      transforms: { tone: { action: 'append', content: 'x' } },
    },
    context: 'c',
  });
  provider.send({ type: 'push', level: 'surface', event: 'news' });
  await settle();
  const state = await stateOf(fixture.client, other);
  expect(state.serverTools ?? []).toEqual([]);
  expect(state.customizations ?? []).toEqual([]);
  expect(JSON.stringify(state._meta ?? {})).not.toContain('news');
  fixture.client.dispatch(other, turnStarted('t1', 'tool'));
  await fixture.client.action(other, 'session/toolCallReady');
});
