import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { HELLOS_PER_MINUTE_MAX } from '../../../src/gateway/binder.js';
import { OpenQuestions } from '../../../src/gateway/hooks/provider-gates.js';
import { AWAY_INSTANCES_MAX } from '../../../src/gateway/identities.js';
import { Calls } from '../../../src/gateway/tools/calls.js';
import { openProjectFixture, pair, sessionId, withToken } from '../../support/gateway-connections.js';
import { SectionAgent } from '../../support/section-agent.js';
import { envelopesOf, openFixture, openPuppetFixture, stateOf, turnStarted } from '../../support/session-fixture.js';
import { tempFolder } from '../../support/temp-folder.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';
import { echoTool } from '../../support/tools.js';

const HELLO = { type: 'hello', name: 'ci', protocolVersion: 2 };
const STATUS = { name: 'ci_status', description: 'CI', parameters: {} };
const LOGS = { name: 'ci_logs', description: 'Logs', parameters: {} };

async function toolsOf(fixture: { client: Parameters<typeof stateOf>[0]; uri: string }): Promise<string[]> {
  return ((await stateOf(fixture.client, fixture.uri)).serverTools ?? []).map(({ name }) => name);
}

async function codeOf(provider: TestProvider): Promise<string> {
  return (await provider.next('error')).code;
}

describe('a hello', () => {
  it('[GW-029] [GW-068] [GW-072] needs a name and a version; in this process it is the first message', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    provider.send(HELLO);
    expect((await provider.next('hello.ack')).sessionId).toBe(sessionId(fixture.uri));
  });

  it.each([1, 3, '2', undefined])('[GW-069] [GW-219] of version %s ends the connection', async (protocolVersion) => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host);
    provider.send({ ...HELLO, protocolVersion });
    expect(await provider.next('error')).toMatchObject({ code: 'UNSUPPORTED_VERSION', replyTo: 'hello' });
    await provider.untilClosed();
  });

  it('[GW-070] is acknowledged with everything that a provider needs', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    expect(await provider.hello()).toEqual({
      type: 'hello.ack',
      protocolVersion: 2,
      providerId: expect.stringMatching(/^p-/),
      reconnectToken: expect.stringMatching(/^tok-/),
      sessionId: sessionId(fixture.uri),
    });
  });

  it('[GW-070] is told of a folder for files when it runs on this machine, and not when it was paired', async () => {
    const providerFolder = await tempFolder();
    const fixture = await openFixture({ providerFolder });
    const { persistDir } = await TestProvider.connect(fixture.host).hello();
    expect(path.dirname(persistDir ?? '')).toBe(providerFolder);
    const { provider } = await pair(fixture);
    expect(await provider.hello({ name: 'browser' })).not.toHaveProperty('persistDir');
  });

  it('[GW-071] to a session that is not there can be said again', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    provider.send({ ...HELLO, session: 'nowhere' });
    expect(await codeOf(provider)).toBe('INVALID_SESSION');
    const other = await fixture.client.session();
    const { active } = await provider.next('sessions.updated');
    expect(active.map(({ id }) => id)).toContain(sessionId(other));
    expect((await provider.hello({ session: sessionId(other) })).sessionId).toBe(sessionId(other));
  });

  it('[GW-072] without a session means the one that was paired', async () => {
    const fixture = await openFixture();
    await fixture.client.session();
    const { provider } = await pair(fixture);
    expect((await provider.hello({ name: 'browser' })).sessionId).toBe(sessionId(fixture.uri));
  });

  it('[GW-073] has brought everything before it is acknowledged', async () => {
    const fixture = await openPuppetFixture({ agent: new SectionAgent(), tools: [echoTool('other')] });
    const provider = TestProvider.connect(fixture.host);
    const onPreToolUse = [{ match: { tool: 'other' }, action: 'deny', reason: 'not today' }];
    const transforms = { tone: { action: 'append', content: 'Mention CI.' } };
    provider.send({ ...HELLO, tools: [STATUS], hooks: { onPreToolUse, transforms }, context: 'CI is green.' });
    await provider.next('hello.ack');
    // The model acts at once, before anything else can happen.
    const { turn } = fixture.puppet;
    expect(turn.tools().map(({ name }) => name)).toContain('ci_status');
    const denied = turn.callTool({ name: 'other', input: {} });
    const outcome = turn.callTool({ name: 'ci_status', input: {} });
    const prompt = turn.renderPrompt();
    const call = await provider.next('tool.call');
    provider.send({ type: 'tool.result', id: call.id, data: 1 });
    expect(await outcome).toMatchObject({ success: true });
    expect(await denied).toEqual({ kind: 'denied', reason: 'ci: not today' });
    expect((await prompt).get('tone')).toBe('Be brief.\n\nMention CI.');
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    fixture.client.dispatch(fixture.uri, turnStarted('t2'));
    expect((await fixture.agent.turn(1)).turn.context).toEqual([expect.stringContaining('CI is green.')]);
  });

  it.each(['../x', 'a@b', '', '.x', 'a/b', 'x'.repeat(65)])('[GW-092] may not be named %j', async (name) => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host);
    provider.send({ ...HELLO, name });
    expect(await codeOf(provider)).toBe('INVALID_JSON');
    provider.send({ ...HELLO, instance: name });
    expect(await codeOf(provider)).toBe('INVALID_JSON');
  });
});

describe('a rebind', () => {
  it('[GW-074] [GW-084] [GW-210] changes the old tools into the new ones at once', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    const first = await provider.hello({ tools: [STATUS] });
    const before = envelopesOf(fixture.client, fixture.uri).length;
    const second = await provider.hello({ tools: [LOGS] });
    await settle();
    const changes = envelopesOf(fixture.client, fixture.uri).slice(before);
    const lists = changes.filter(({ action }) => action.type === 'session/serverToolsChanged');
    expect(lists.map(({ action }) => (action.tools as { name: string }[]).map(({ name }) => name))).toEqual([
      ['ci_logs'],
    ]);
    expect(changes.map(({ action }) => action.type)).not.toContain('session/customizationRemoved');
    expect(second.reconnectToken).not.toBe(first.reconnectToken);
    expect(second.providerId).not.toBe(first.providerId);
  });

  it('[GW-076] [GW-210] ends what was under way as cancelled, and says nothing about it to the provider', async () => {
    const fixture = await openPuppetFixture({ agent: new SectionAgent() });
    const rule = { match: { tool: 'ci_logs' }, action: 'gate', gateId: 'g' };
    const hooks = { onPreToolUse: [rule], transforms: { tone: { action: 'callback' } } };
    const provider = await TestProvider.bound(fixture.host, { tools: [STATUS, LOGS], hooks });
    const call = fixture.puppet.turn.callTool({ name: 'ci_status', input: {} });
    const gated = fixture.puppet.turn.callTool({ name: 'ci_logs', input: {} });
    const prompt = fixture.puppet.turn.renderPrompt();
    const asked = () => provider.of('tool.call').length + provider.of('gate.check').length;
    while (asked() + provider.of('transform.request').length < 3) await settle(1);
    const [request] = provider.of('transform.request');
    const read = provider.received.length;
    await provider.hello({ tools: [LOGS] });
    expect(await call).toMatchObject({ success: false });
    const [part] = (await stateOf(fixture.client, fixture.uri)).activeTurn?.responseParts ?? [];
    expect(part).toMatchObject({ toolCall: { status: 'completed', error: { code: 'CANCELLED' } } });
    expect(await gated).toMatchObject({ kind: 'denied' });
    // No time has passed: it is the rebind that ends the wait. What still comes for the old question means nothing.
    provider.send({ type: 'transform.result', callId: request?.callId, content: 'Too late.' });
    expect((await prompt).get('tone')).toBe('Be brief.');
    const types = provider.received.slice(read).map(({ type }) => type);
    expect(types).not.toContain('tool.cancel');
    expect(types).not.toContain('tool.call');
  });

  it('[GW-077] happens ten times a minute at most; beyond, everything stays as it is', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host, { tools: [STATUS] });
    for (let count = 0; count < 10; count++) await provider.hello({ tools: [STATUS] });
    provider.send({ ...HELLO, tools: [LOGS] });
    expect(await codeOf(provider)).toBe('RATE_LIMITED');
    expect(await toolsOf(fixture)).toEqual(['ci_status']);
    provider.send({ type: 'tools.update', requestId: 'r', tools: [] });
    await provider.next('ack');
    await fixture.clock.advance(60_000);
    await provider.hello({ tools: [LOGS] });
  });

  it('and a hello on another connection happen 120 times a minute at most with one token', async () => {
    const fixture = await openFixture();
    const { token } = await pair(fixture);
    for (let count = 0; count < HELLOS_PER_MINUTE_MAX; count++) {
      const provider = await withToken(fixture.host, token);
      await provider.hello();
      provider.drop();
    }
    const provider = await withToken(fixture.host, token);
    provider.send(HELLO);
    expect(await codeOf(provider)).toBe('RATE_LIMITED');
    const other = await pair(fixture);
    await other.provider.hello({ name: 'other' });
    await fixture.clock.advance(60_000);
    await provider.hello();
  });

  it('[GW-075] that fails leaves nothing of the old binding, and the name is free', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host, { tools: [STATUS] });
    provider.send({ ...HELLO, tools: [{ ...STATUS, name: 'list_ci_instances' }] });
    expect(await codeOf(provider)).toBe('TOOL_CONFLICT');
    expect(await toolsOf(fixture)).toEqual([]);
    await TestProvider.bound(fixture.host, { tools: [STATUS] });
  });

  it('meets the end of its session without getting lost', async () => {
    const fixture = await openFixture();
    const other = await fixture.client.session();
    const provider = await TestProvider.bound(fixture.host, { session: sessionId(fixture.uri) });
    const disposed = fixture.client.request('disposeSession', { channel: fixture.uri });
    provider.send({ ...HELLO, session: sessionId(fixture.uri) });
    await disposed;
    await settle(20);
    await provider.hello({ session: sessionId(other) });
    await settle(20);
    expect(provider.of('hello.ack').at(-1)?.sessionId).toBe(sessionId(other));
    provider.send({ type: 'tools.update', requestId: 'r', tools: [] });
    expect((await provider.next('ack')).sessionId).toBe(sessionId(other));
  });
});

describe('a reconnect', () => {
  it('[GW-078] [GW-087] [GW-083] restores the binding within thirty seconds', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    const first = await provider.hello({ tools: [STATUS], context: 'c' });
    provider.send({ type: 'tools.update', requestId: 'r', tools: [LOGS] });
    const { revision } = await provider.next('ack');
    provider.drop();
    await settle();
    await fixture.clock.advance(29_000);
    expect(await toolsOf(fixture)).toEqual([]);
    const again = TestProvider.connect(fixture.host);
    const second = await again.hello({ reconnectToken: first.reconnectToken });
    expect(second.providerId).toBe(first.providerId);
    // What changed since the hello is restored as well, and revisions go on.
    expect(await toolsOf(fixture)).toEqual(['ci_status', 'ci_logs']);
    again.send({ type: 'tools.update', requestId: 'r', remove: ['ci_logs'] });
    expect((await again.next('ack')).revision).toBe(revision + 1);
    again.drop();
    await settle();
    await fixture.clock.advance(31_000);
    const late = TestProvider.connect(fixture.host);
    const third = await late.hello({ reconnectToken: second.reconnectToken });
    expect(third.providerId).not.toBe(first.providerId);
    expect(await toolsOf(fixture)).toEqual([]);
  });

  it('[GW-083] replaces what it brings anew', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    const { reconnectToken } = await provider.hello({ tools: [STATUS], metadata: { title: 'one' } });
    provider.drop();
    await settle();
    await TestProvider.connect(fixture.host).hello({ reconnectToken, tools: [LOGS] });
    expect(await toolsOf(fixture)).toEqual(['ci_logs']);
  });

  it('[GW-083] [GW-201] brings along what it had brought, also into sessions that came meanwhile', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    const { reconnectToken } = await provider.hello({ session: 'all', tools: [STATUS], context: 'c' });
    provider.drop();
    await settle();
    const again = TestProvider.connect(fixture.host);
    await again.hello({ reconnectToken });
    const later = await fixture.client.session();
    again.send({ type: 'session.ready', sessionId: sessionId(later) });
    await settle();
    const { serverTools, _meta } = await stateOf(fixture.client, later);
    expect(serverTools?.map(({ name }) => name)).toEqual(['ci_status']);
    expect(_meta?.gateway).toMatchObject({ providers: [{ name: 'ci', context: true }] });
  });

  it('[GW-083] goes back to the session it was in', async () => {
    const fixture = await openFixture();
    const other = await fixture.client.session();
    const provider = TestProvider.connect(fixture.host);
    const { reconnectToken } = await provider.hello({ session: sessionId(other) });
    provider.drop();
    await settle();
    const again = TestProvider.connect(fixture.host);
    expect((await again.hello({ reconnectToken })).sessionId).toBe(sessionId(other));
  });

  it('is kept open for some instances of a provider, and for the latest of them', async () => {
    const fixture = await openFixture();
    const other = await TestProvider.bound(fixture.host, { name: 'guard', tools: [LOGS] });
    other.drop();
    const tokens: string[] = [];
    for (let count = 0; count <= AWAY_INSTANCES_MAX; count++) {
      const provider = TestProvider.connect(fixture.host);
      tokens.push((await provider.hello({ instance: `i${count}`, tools: [STATUS] })).reconnectToken);
      provider.drop();
      await settle();
    }
    const { customizations = [] } = await stateOf(fixture.client, fixture.uri);
    expect(customizations.map(({ name }) => name)).toEqual(['guard', 'ci']);
    const back = async (index: number) => {
      const provider = TestProvider.connect(fixture.host);
      await provider.hello({ instance: `i${index}`, reconnectToken: tokens[index] });
      const tools = await toolsOf(fixture);
      provider.send({ type: 'goodbye' });
      await settle();
      return tools;
    };
    expect(await back(0)).toEqual([]);
    expect(await back(1)).toEqual(['ci_status']);
    expect(await back(AWAY_INSTANCES_MAX)).toEqual(['ci_status']);
  });

  it('[GW-079] is for the same instance only', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    const first = await provider.hello({ instance: 'a', tools: [STATUS] });
    const thief = TestProvider.connect(fixture.host);
    const stolen = await thief.hello({ instance: 'b', reconnectToken: first.reconnectToken });
    expect(stolen.providerId).not.toBe(first.providerId);
    expect(provider.closed).toBeUndefined();
    provider.send({ type: 'tools.update', requestId: 'r', tools: [] });
    await provider.next('ack');
  });

  it('[GW-080] closes an older connection that is still open, and keeps what is bound', async () => {
    const fixture = await openPuppetFixture();
    const provider = TestProvider.connect(fixture.host);
    const first = await provider.hello({ tools: [STATUS] });
    const again = TestProvider.connect(fixture.host);
    await again.hello({ reconnectToken: first.reconnectToken });
    await provider.untilClosed();
    await settle();
    expect(await toolsOf(fixture)).toEqual(['ci_status']);
    const outcome = fixture.puppet.turn.callTool({ name: 'ci_status', input: {} });
    const { id } = await again.next('tool.call');
    again.send({ type: 'tool.result', id, data: 'here' });
    expect(await outcome).toMatchObject({ text: 'here' });
    // The old one does not take the new one with it when its time would be up.
    await fixture.clock.advance(31_000);
    expect(await toolsOf(fixture)).toEqual(['ci_status']);
  });

  it('[GW-081] [UNI-104] does not repeat calls that had failed when the line was cut', async () => {
    const fixture = await openPuppetFixture();
    const provider = TestProvider.connect(fixture.host);
    const { reconnectToken } = await provider.hello({ tools: [STATUS] });
    const outcome = fixture.puppet.turn.callTool({ name: 'ci_status', input: {} });
    await provider.next('tool.call');
    provider.drop();
    expect(await outcome).toMatchObject({ success: false });
    const again = TestProvider.connect(fixture.host);
    await again.hello({ reconnectToken });
    await settle();
    expect(again.of('tool.call')).toEqual([]);
    const [call] = (await stateOf(fixture.client, fixture.uri)).activeTurn?.responseParts ?? [];
    expect(call).toMatchObject({ toolCall: { status: 'completed', error: { code: 'DISCONNECTED' } } });
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    expect((await stateOf(fixture.client, fixture.uri)).activeTurn).toBeUndefined();
  });

  it('[GW-082] needs to be let in first', async () => {
    const fixture = await openFixture();
    const { provider, token } = await pair(fixture);
    const { reconnectToken } = await provider.hello({ name: 'browser' });
    provider.drop();
    const again = TestProvider.connect(fixture.host, 'network');
    again.send({ ...HELLO, name: 'browser', reconnectToken });
    expect(await codeOf(again)).toBe('UNKNOWN_TYPE');
    again.send({ type: 'auth', token });
    await again.hello({ name: 'browser', reconnectToken });
  });

  it('[GW-084] needs the latest token', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    const first = await provider.hello();
    await provider.hello();
    const other = TestProvider.connect(fixture.host);
    other.send({ ...HELLO, reconnectToken: first.reconnectToken });
    expect(await codeOf(other)).toBe('DUPLICATE_INSTANCE');
  });

  it('[GW-222] starts afresh at another host', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    const first = await provider.hello({ tools: [STATUS] });
    const second = await openFixture({ log: fixture.host.log });
    const again = TestProvider.connect(second.host);
    const ack = await again.hello({ reconnectToken: first.reconnectToken, session: sessionId(second.uri) });
    expect(ack.providerId).not.toBe(first.providerId);
    again.send({ type: 'tools.update', requestId: 'r', tools: [] });
    expect((await again.next('ack')).revision).toBe(1);
  });
});

describe('an identity', () => {
  it('[GW-085] is a name and an instance', async () => {
    const { host } = await openFixture();
    await TestProvider.bound(host, { instance: 'a' });
    await TestProvider.bound(host, { instance: 'b' });
    await TestProvider.bound(host);
  });

  it('[GW-086] [REL-050] belongs to the connection that bound it', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { tools: [STATUS] });
    const second = TestProvider.connect(fixture.host);
    second.send({ ...HELLO, tools: [LOGS] });
    expect(await codeOf(second)).toBe('DUPLICATE_INSTANCE');
    second.send({ ...HELLO, tools: [LOGS], reconnectToken: 'tok-guess' });
    expect(await codeOf(second)).toBe('DUPLICATE_INSTANCE');
    const outcome = fixture.puppet.turn.callTool({ name: 'ci_status', input: {} });
    const { id } = await provider.next('tool.call');
    provider.send({ type: 'tool.result', id, data: 'mine' });
    expect(await outcome).toMatchObject({ text: 'mine' });
  });

  it('[GW-086] goes to one of two that come at the same time', async () => {
    const { host } = await openFixture();
    const both = [TestProvider.connect(host), TestProvider.connect(host)];
    for (const provider of both) provider.send(HELLO);
    await settle();
    expect(both.map((provider) => provider.of('hello.ack').length).sort()).toEqual([0, 1]);
    expect(both.flatMap((provider) => provider.of('error')).map(({ code }) => code)).toEqual(['DUPLICATE_INSTANCE']);
  });

  it('[GW-086] may be taken afresh once its owner is gone, but only by one of the same trust', async () => {
    const fixture = await openProjectFixture();
    const project = await withToken(fixture.host, fixture.token);
    const { reconnectToken } = await project.hello({ tools: [STATUS] });
    project.drop();
    await settle();
    // Somebody who was only paired gets neither the name nor what waits under it, with the token or without.
    const { provider: stranger } = await pair(fixture);
    stranger.send({ ...HELLO, reconnectToken });
    expect(await codeOf(stranger)).toBe('DUPLICATE_INSTANCE');
    const again = await withToken(fixture.host, fixture.token);
    await again.hello();
    expect(await toolsOf(fixture)).toEqual([]);
  });

  it('gives an instance no calls that are meant for one of another trust', async () => {
    const fixture = await openFixture();
    await TestProvider.bound(fixture.host, { name: 'browser', tools: [STATUS] });
    const { provider } = await pair(fixture);
    provider.send({ ...HELLO, name: 'browser', instance: 'mine', tools: [STATUS] });
    expect(await codeOf(provider)).toBe('UNAUTHORIZED');
  });

  it('is one of its own in every session that it is confined to', async () => {
    const fixture = await openFixture();
    const other = await fixture.client.session();
    const one = await pair(fixture);
    const two = await pair({ ...fixture, uri: other });
    await one.provider.hello({ name: 'browser' });
    await two.provider.hello({ name: 'browser' });
  });

  it('[GW-091] is the only one that a token serves; it may have several instances', async () => {
    const fixture = await openFixture();
    const { provider, token } = await pair(fixture);
    await provider.hello({ name: 'browser', instance: 'a' });
    const second = await withToken(fixture.host, token);
    await second.hello({ name: 'browser', instance: 'b' });
    const third = await withToken(fixture.host, token);
    third.send({ ...HELLO, name: 'other' });
    expect(await codeOf(third)).toBe('UNAUTHORIZED');
  });

  it('[GW-088] [GW-090] knows by the id alone which call, in which session, an answer is for', async () => {
    const fixture = await openPuppetFixture();
    const other = await fixture.client.session(undefined, { provider: 'puppet' });
    fixture.client.dispatch(other, turnStarted('t1'));
    const turns = [fixture.puppet.turn, (await fixture.agent.turn(1)).turn];
    const provider = await TestProvider.bound(fixture.host, { session: 'all', tools: [STATUS] });
    const calls = Array.from({ length: 200 }, (_, number) =>
      turns[number % 2]?.callTool({ name: 'ci_status', input: { number } }),
    );
    while (provider.of('tool.call').length < calls.length) await settle(1);
    const asked = provider.of('tool.call');
    expect(new Set(asked.map(({ id }) => id)).size).toBe(200);
    // In the other order, and without a word about the session.
    for (const { id, args, sessionId: session } of asked.toReversed())
      provider.send({ type: 'tool.result', id, data: `${args.number} in ${session}` });
    const texts = (await Promise.all(calls)).map((outcome) => outcome?.kind === 'completed' && outcome.text);
    const ids = [fixture.uri, other].map(sessionId);
    expect(texts).toEqual(calls.map((_, number) => `${number} in ${ids[number % 2]}`));
  });

  it('[GW-088] never gives an id twice, in a hundred thousand', { timeout: 30_000 }, () => {
    const ids = new Set<string>();
    const clock = { now: () => 0, after: () => () => {} };
    const calls = new Calls({ clock } as never);
    const asked = new OpenQuestions<string>();
    const send = (message: { id: string }) => void ids.add(message.id);
    const session = { id: 's', isEnabled: () => true };
    const provider = { name: 'ci', registration: { concurrency: {} }, bindings: new Map(), send };
    const binding = { provider, session, sessionId: 's', tools: new Map([['a', STATUS]]) };
    provider.bindings.set('s', binding);
    for (let count = 0; count < 50_000; count++) {
      const { signal } = new AbortController();
      void calls.call({ binding: binding as never, tool: 'a', args: {}, signal, progress: () => {} });
      void asked.ask({ provider: provider as never, topic: '', signal, send: (id) => void ids.add(id) });
    }
    expect(ids.size).toBe(100_000);
  });

  it('[GW-089] hears with everything that is about a session which one that is', async () => {
    const fixture = await openPuppetFixture({ agent: new SectionAgent(), tools: [echoTool('other')] });
    const provider = TestProvider.connect(fixture.host);
    const hooks = {
      onPreToolUse: [{ match: { tool: 'other' }, action: 'gate', gateId: 'g' }],
      transforms: { tone: { action: 'callback' } },
    };
    await fixture.client.session(undefined, { provider: 'puppet' });
    const subscribe = ['user.message', 'assistant.message', 'tool.execution_complete', 'assistant.intent'];
    await provider.hello({ session: sessionId(fixture.uri), tools: [STATUS], hooks, subscribe });
    const { turn } = fixture.puppet;
    const work = [turn.callTool({ name: 'other', input: {} }), turn.callTool({ name: 'ci_status', input: {} })];
    const prompt = turn.renderPrompt();
    const { gateId, callId } = await provider.next('gate.check');
    provider.send({ type: 'gate.result', gateId, callId, decision: 'allow' });
    while (provider.of('transform.request').length + provider.of('tool.call').length < 2) await settle(1);
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 't1' });
    await Promise.allSettled([...work, prompt]);
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    const scoped = [
      'session.lifecycle',
      'session.event',
      'tool.call',
      'tool.cancel',
      'gate.check',
      'transform.request',
    ];
    for (const type of scoped) {
      const messages = provider.received.filter((message) => message.type === type);
      expect(messages.length, type).toBeGreaterThan(0);
      for (const message of messages) expect(message, type).toHaveProperty('sessionId', sessionId(fixture.uri));
    }
  });
});
