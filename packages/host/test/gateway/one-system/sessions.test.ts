/** Clients and providers see the same sessions, tools and turns. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '@atrium/core/util/clock.js';
import { describe, expect, it } from 'vitest';
import {
  openGateway,
  openProjectFixture,
  overSocket,
  sessionId,
  TRUSTING,
  until,
} from '../../support/gateway-connections.js';
import { tool } from '../../support/provider-fixture.js';
import {
  openFixture,
  openPuppetFixture,
  refusalOf,
  startHost,
  stateOf,
  turnStarted,
} from '../../support/session-fixture.js';
import { sessionsV1Client } from '../../support/sessions-v1-client.js';
import { tempFolder } from '../../support/temp-folder.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';
import { echoTool } from '../../support/tools.js';

const PUPPET = { provider: 'puppet' };

describe('sessions', () => {
  it('[UNI-010] have the id, title and folder that clients know; the one that a person used last comes first', async () => {
    const fixture = await openFixture({ session: { ...PUPPET, workingDirectory: pathToFileURL('/usr/lib').href } });
    const second = await fixture.client.session('ahp-session:/second', PUPPET);
    const provider = TestProvider.connect(fixture.host);
    await provider.next('sessions');
    const latest = () => provider.of('sessions.updated').at(-1)?.active;
    fixture.client.dispatch(fixture.uri, { type: 'session/titleChanged', title: 'Fix the build' });
    await settle();
    await fixture.clock.advance(1_000);
    expect(latest()).toMatchObject([
      { id: sessionId(fixture.uri), label: 'Fix the build', cwd: '/usr/lib' },
      { id: 'second' },
    ]);
    fixture.client.dispatch(second, { type: 'session/titleChanged', title: 'Other' });
    await settle();
    await fixture.clock.advance(1_000);
    expect(latest()?.map(({ label }) => label)).toEqual(['Other', 'Fix the build']);
  });

  it('[UNI-011] are there for providers from ready on, and until they are disposed', async () => {
    const fixture = await openFixture({ session: PUPPET });
    const provider = TestProvider.connect(fixture.host);
    await provider.next('sessions');
    const ids = () =>
      provider
        .of('sessions.updated')
        .at(-1)
        ?.active.map(({ id }) => id);
    let open = () => {};
    fixture.agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    await fixture.client.request('createSession', { channel: 'ahp-session:/late', ...PUPPET });
    await settle();
    expect(ids() ?? []).not.toContain('late');
    provider.send({ type: 'hello', name: 'ci', protocolVersion: 2, session: 'late' });
    expect((await provider.next('error')).code).toBe('INVALID_SESSION');
    open();
    await settle();
    expect(ids()).toContain('late');
    await fixture.client.request('disposeSession', { channel: 'ahp-session:/late' });
    await settle();
    expect(ids()).not.toContain('late');
  });

  it('[GW-026] end for the providers in them first, then for everybody, and what they started ends with them', async () => {
    const write = `require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1e6)`;
    const providers = { ci: { command: process.execPath, args: ['-e', write] } };
    const folder = await tempFolder({ 'atrium.json': JSON.stringify({ providers }) });
    const host = await startHost({ clock: systemClock, trust: TRUSTING });
    await openGateway(host);
    const client = await host.client('desk');
    const uri = await client.session('ahp-session:/one', { workingDirectory: pathToFileURL(folder).href });
    const file = path.join(folder, 'pid');
    const pid = Number(await until(() => (existsSync(file) ? readFileSync(file, 'utf8') || undefined : undefined)));
    const inside = await TestProvider.bound(host, { name: 'inside' });
    const watcher = TestProvider.connect(host);
    await watcher.next('sessions');
    const before = inside.received.length;
    await client.request('disposeSession', { channel: uri });
    expect((await watcher.next('sessions.updated')).active).toEqual([]);
    expect(inside.received.slice(before)).toMatchObject([
      { type: 'session.lifecycle', sessionId: 'one', state: 'shutdown.pending', deadline: 10_000 },
      { type: 'sessions.updated', active: [] },
    ]);
    await until(() => !isAlive(pid) || undefined);
  });

  it('[GW-067] [GW-199] that end leave their provider without one, on the same line', async () => {
    const fixture = await openFixture({ session: PUPPET });
    const provider = await TestProvider.bound(fixture.host, { tools: [tool('a')] });
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    provider.send({ type: 'push', level: 'keep', event: 'x' });
    expect((await provider.next('error')).code).toBe('UNKNOWN_TYPE');
    const other = await fixture.client.session('ahp-session:/other', PUPPET);
    await provider.hello({ tools: [tool('b')], session: 'other' });
    expect((await stateOf(fixture.client, other)).serverTools?.map(({ name }) => name)).toEqual(['b']);
    expect(provider.closed).toBeUndefined();
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('one way', () => {
  it('[UNI-002] to run a tool, whoever has it: a gate sees them all', async () => {
    const extension = { id: 'mcp', name: 'files', tools: [{ ...echoTool('find'), owner: 'mcp' }] };
    const fixture = await openPuppetFixture({ tools: [echoTool('shell')], extensions: [extension] });
    const { client, uri, puppet } = fixture;
    const activeClient = { clientId: 'desk', tools: [{ name: 'open_editor' }] };
    expect(
      await refusalOf(client, uri, { type: 'session/activeClientChanged', activeClient } as never),
    ).toBeUndefined();
    const guard = await TestProvider.bound(fixture.host, {
      name: 'guard',
      hooks: { onPreToolUse: [{ match: { tool: '*' }, action: 'gate', gateId: 'g' }] },
    });
    const browser = await TestProvider.bound(fixture.host, { name: 'browser', tools: [tool('screenshot')] });
    const own = puppet.turn.agentRunCall({ name: 'edit', displayName: 'Edit' }).check({}, 'Edit');
    const names = ['shell', 'find', 'screenshot', 'open_editor'];
    const outcomes = names.map((name) => puppet.turn.callTool({ name, input: {} }));
    for (let seen = 0; seen <= names.length; seen++) {
      const { tool: asked, callId } = await guard.next('gate.check');
      guard.send({ type: 'gate.result', gateId: 'g', callId, decision: 'deny', reason: `no ${asked}` });
    }
    expect(await own).toEqual({ kind: 'denied', reason: 'guard: no edit' });
    expect(await Promise.all(outcomes)).toEqual(names.map((name) => ({ kind: 'denied', reason: `guard: no ${name}` })));
    expect(browser.of('tool.call')).toEqual([]);
    const running = client.envelopes(uri).filter(({ action }) => JSON.stringify(action).includes('not-needed'));
    expect(running).toEqual([]);
  });

  it('[UNI-004] to start a turn: people, events and prompts stand in one queue', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { name: 'ci' });
    const other = await TestProvider.bound(fixture.host, { name: 'bot' });
    provider.send({ type: 'push', level: 'inject', event: 'an event' });
    await settle();
    other.send({ type: 'push', level: 'inject', prompt: 'a prompt' });
    await settle();
    const userMessage = { text: 'a person' };
    const set = { type: 'session/pendingMessageSet', kind: 'queued', id: 'q', userMessage } as const;
    fixture.client.dispatch(fixture.uri, set);
    await settle();
    const { queuedMessages } = await stateOf(fixture.client, fixture.uri);
    expect(queuedMessages?.map(({ userMessage: { text } }) => text)).toEqual([
      'a person',
      '[ci/ci] an event',
      'a prompt',
    ]);
    fixture.puppet.finish();
    for (const [index, text] of ['a person', '[ci/ci] an event', 'a prompt'].entries()) {
      const { turn, finish } = await fixture.agent.turn(index + 1);
      expect(turn.message.text).toBe(text);
      finish();
    }
  });
});

describe('versions', () => {
  it('[UNI-006] are three, with one set of names; another spelling is not taken', async () => {
    const fixture = await openFixture({ session: PUPPET });
    for (const protocolVersions of [['0.3.0'], ['0.2.0'], ['9.0.0', '0.2.0']])
      await fixture.host.client(undefined, { protocolVersions });
    await sessionsV1Client(fixture.host, 'old');
    const stranger = fixture.host.connect();
    const params = { channel: 'ahp-root://', clientId: 'x', protocolVersions: ['0.4.0'] };
    expect((await stranger.ask('initialize', params)).error?.code).toBe(-32005);
    for (const protocolVersions of [['0.3.0'], ['0.2.0']]) {
      const client = await fixture.host.client(undefined, { protocolVersions });
      await client.request('subscribe', { channel: fixture.uri });
      const aliased = { type: 'session/turnStarted', turnId: 't', message: { text: 'hi' } };
      expect(await refusalOf(client, fixture.uri, aliased)).toContain('userMessage');
      const renamed = { type: 'session/activeClientSet', activeClient: { clientId: client.clientId, tools: [] } };
      expect(await refusalOf(client, fixture.uri, renamed)).toBeDefined();
    }
    expect(fixture.agent.turns).toEqual([]);
    fixture.client.dispatch(fixture.uri, turnStarted('t'));
    await fixture.agent.turn(0);
  });
});

describe('fifty providers', () => {
  it('[REL-010] are enough: the next is told why it cannot come, the others go on, and a free place is taken', async () => {
    const { host, token } = await openProjectFixture();
    const { port } = await openGateway(host);
    const enter = async (instance: string) => {
      const provider = await overSocket(port);
      provider.send({ type: 'auth', token });
      await provider.next('sessions');
      await provider.hello({ name: 'ci', instance });
      return provider;
    };
    const providers = await Promise.all(Array.from({ length: 50 }, (_, index) => enter(`i${index}`)));
    await expect(enter('one-too-many')).rejects.toThrow('503');
    const answered = await Promise.all(
      providers.map(async (provider) => {
        provider.send({ type: 'stream.query', queryId: 'q', streams: ['ci'], last: 1 });
        return (await provider.next('stream.history')).queryId;
      }),
    );
    expect(answered).toEqual(Array(50).fill('q'));
    providers[7]?.send({ type: 'goodbye' });
    await providers[7]?.untilClosed();
    const next = await until(() => enter('late').catch(() => undefined));
    expect(next.closed).toBeUndefined();
  }, 20_000);
});
