import type { ProviderSessionEventName } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { pair } from '../../support/gateway-connections.js';
import { componentsOf } from '../../support/host-components.js';
import { openFixture, openPuppetFixture, stateOf, turnStarted } from '../../support/session-fixture.js';
import { sessionsV1Client } from '../../support/sessions-v1-client.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const PUPPET = { session: { provider: 'puppet' } };
const ALL: ProviderSessionEventName[] = [
  'user.message',
  'assistant.message',
  'tool.execution_complete',
  'assistant.intent',
];
const TOOL = { name: 'ci_status', description: 'Tells how CI is doing.', parameters: {} };

const CANNED = {
  name: 'edit',
  displayName: 'Edit',
  invocationMessage: 'Edit a.ts',
  pastTenseMessage: 'Edited a.ts',
  input: '{"file":"a.ts"}',
  output: 'edited',
  success: true,
};

function events(provider: TestProvider): unknown[] {
  return provider.of('session.event').map(({ event, data }) => [event, data]);
}

function lifecycle(provider: TestProvider): string[] {
  return provider.of('session.lifecycle').map(({ state }) => state);
}

describe('session events', () => {
  it('[GW-194] [UNI-067] [UNI-068] tell what people and agents say, step by step', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host, { subscribe: ALL, tools: [TOOL] });
    fixture.client.dispatch(fixture.uri, turnStarted('t1', 'how is CI?'));
    const { turn, finish } = await fixture.agent.turn(0);
    turn.text('Let me ');
    turn.text('look.');
    const outcome = turn.callTool({ name: 'ci_status', input: { branch: 'main' } });
    const call = await provider.next('tool.call');
    provider.send({ type: 'tool.result', id: call.id, data: 'green' });
    await outcome;
    turn.text('It is green.');
    finish();
    await settle();
    const complete = {
      tool: 'ci_status',
      provider: 'ci',
      args: { branch: 'main' },
      result: { type: 'success', output: 'green' },
      durationMs: 0,
    };
    const asked = { content: 'Let me look.', toolRequests: [{ name: 'ci_status', args: { branch: 'main' } }] };
    expect(events(provider)).toEqual([
      ['user.message', { content: 'how is CI?' }],
      ['assistant.message', asked],
      ['tool.execution_complete', complete],
      ['assistant.message', { content: 'It is green.' }],
    ]);
  });

  it('[GW-194] tell a provider that comes while the agent speaks only what is said from then on', async () => {
    const fixture = await openFixture(PUPPET);
    fixture.client.dispatch(fixture.uri, turnStarted('t1', 'how is CI?'));
    const { turn, finish } = await fixture.agent.turn(0);
    turn.text('Said to nobody. ');
    await settle();
    const provider = await TestProvider.bound(fixture.host, { subscribe: ALL });
    turn.text('Said to the provider.');
    finish();
    await settle();
    expect(events(provider)).toEqual([['assistant.message', { content: 'Said to the provider.' }]]);
  });

  it('[UNI-068] put all calls of a step together, before any of them is over', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, {
      subscribe: ['assistant.message', 'tool.execution_complete'],
      tools: [TOOL],
    });
    fixture.puppet.turn.text('Both.');
    const outcomes = ['main', 'dev'].map((branch) =>
      fixture.puppet.turn.callTool({ name: 'ci_status', input: { branch } }),
    );
    for (const _ of outcomes) {
      const { id } = await provider.next('tool.call');
      provider.send({ type: 'tool.result', id, data: 'green' });
    }
    await Promise.all(outcomes);
    fixture.puppet.turn.reasoning('Hm.');
    fixture.puppet.turn.text('Done.');
    fixture.puppet.finish();
    await settle();
    const toolRequests = ['main', 'dev'].map((branch) => ({ name: 'ci_status', args: { branch } }));
    expect(events(provider)).toMatchObject([
      ['assistant.message', { content: 'Both.', toolRequests }],
      ['tool.execution_complete', { args: { branch: 'main' } }],
      ['tool.execution_complete', { args: { branch: 'dev' } }],
      ['assistant.message', { content: 'Done.' }],
    ]);
  });

  it('[GW-053] are of tools only for a stranger', async () => {
    const fixture = await openPuppetFixture();
    const { provider } = await pair(fixture);
    provider.send({ type: 'hello', name: 'browser', protocolVersion: 2, subscribe: ['user.message'] });
    expect((await provider.next('error')).code).toBe('UNAUTHORIZED');
    await provider.hello({ name: 'browser', subscribe: ['tool.execution_complete'] });
    await fixture.puppet.turn.scriptedTool(CANNED);
    expect((await provider.next('session.event')).data).toEqual({
      tool: 'edit',
      args: { file: 'a.ts' },
      result: { type: 'success', output: 'edited' },
      durationMs: 0,
    });
  });

  it('[GW-194] are sent only to those who asked for them', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host, { subscribe: ['assistant.message'] });
    fixture.client.dispatch(fixture.uri, turnStarted('t1'));
    const { turn, finish } = await fixture.agent.turn(0);
    turn.text('Hello.');
    finish();
    await settle();
    expect(events(provider)).toEqual([['assistant.message', { content: 'Hello.' }]]);
  });

  it('[UNI-069] tell how long a tool ran, and that a denied one failed', async () => {
    const fixture = await openPuppetFixture();
    const rule = { match: { tool: 'blocked' }, action: 'deny', reason: 'never' };
    const provider = await TestProvider.bound(fixture.host, {
      subscribe: ['tool.execution_complete'],
      tools: [TOOL, { ...TOOL, name: 'blocked' }],
      hooks: { onPreToolUse: [rule] },
    });
    const outcome = fixture.puppet.turn.callTool({ name: 'ci_status', input: {} });
    const call = await provider.next('tool.call');
    await fixture.clock.advance(1_500);
    provider.send({ type: 'tool.result', id: call.id, error: 'no network', errorCode: 'INTERNAL' });
    await outcome;
    await fixture.puppet.turn.callTool({ name: 'blocked', input: {} });
    await settle();
    expect(provider.of('session.event').map(({ data }) => data)).toMatchObject([
      { tool: 'ci_status', result: { type: 'failure', output: 'no network' }, durationMs: 1_500 },
      { tool: 'blocked', result: { type: 'failure', output: 'ci: never' } },
    ]);
  });

  it('[UNI-069] tell of a call that was cut off with its turn', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { subscribe: ['tool.execution_complete'], tools: [TOOL] });
    fixture.puppet.turn.callTool({ name: 'ci_status', input: {} }).catch(() => {});
    await provider.next('tool.call');
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 't1' });
    expect((await provider.next('session.event')).data).toMatchObject({
      tool: 'ci_status',
      result: { type: 'failure' },
    });
  });

  it('[UNI-070] tell what the agent is about to do', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { subscribe: ['assistant.intent'] });
    fixture.puppet.turn.activity('Reading the tests');
    await settle();
    expect(events(provider)).toEqual([['assistant.intent', { intent: 'Reading the tests' }]]);
  });
});

describe('the life of a session', () => {
  it('[UNI-071] starts right after the acknowledgement, and in later sessions when a provider is ready for them', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host, { session: 'all' });
    await settle();
    const types = provider.received.map(({ type }) => type);
    expect(types.slice(types.indexOf('hello.ack'))).toEqual(['hello.ack', 'session.lifecycle']);
    await fixture.client.session('ahp-session:/later', { provider: 'puppet' });
    await settle();
    expect(provider.of('session.lifecycle')).toHaveLength(1);
    provider.send({ type: 'session.ready', sessionId: 'later' });
    await settle();
    expect(provider.of('session.lifecycle').at(-1)).toMatchObject({ sessionId: 'later', state: 'started' });
  });

  it('[UNI-059] [UNI-063] is idle though a question to people is open', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    const session = componentsOf(fixture.host.host).sessions.inMemory.get(fixture.uri);
    session?.standing.ask({ id: 'q', message: 'May it?', questions: [] }, () => {});
    fixture.puppet.finish();
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests).toHaveLength(1);
    expect(lifecycle(provider)).toEqual(['started', 'idle']);
  });

  it('[UNI-072] ends with the host: providers are told, and may still say something', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.isSilent = true;
    const stopped = fixture.host.stop();
    await settle();
    expect(provider.of('session.lifecycle').at(-1)).toMatchObject({ state: 'shutdown.pending', deadline: 10_000 });
    expect(provider.closed).toBeUndefined();
    provider.send({ type: 'shutdown.ready', sessionId: fixture.uri.split('/').at(-1) });
    await stopped;
    expect((await provider.untilClosed()).code).toBe(1001);
  });

  it('[UNI-073] ends at once for people, on every wire, whatever its providers do', async () => {
    const fixture = await openFixture(PUPPET);
    const phone = await fixture.join('phone');
    const old = await sessionsV1Client(fixture.host, 'old');
    const provider = await TestProvider.bound(fixture.host);
    provider.isSilent = true;
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await phone.until(({ method }) => method === 'root/sessionRemoved');
    await settle();
    expect(old.notifications().map(({ type }) => type)).toContain('notify/sessionRemoved');
    expect(lifecycle(provider)).toEqual(['started', 'shutdown.pending']);
    const again = await old.raw.request('createSession', { session: 'puppet:/fresh', provider: 'puppet' });
    expect(again).toBeNull();
    // The host itself waits for it when it stops.
    provider.send({ type: 'shutdown.ready', sessionId: fixture.uri.split('/').at(-1) });
  });

  it('[GW-195] [GW-196] [UNI-059] [UNI-071] is started when bound, and idle once nothing is left to do', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    await settle();
    expect(lifecycle(provider)).toEqual(['started']);
    fixture.client.dispatch(fixture.uri, turnStarted('t1'));
    const first = await fixture.agent.turn(0);
    const queued = {
      type: 'session/pendingMessageSet',
      kind: 'queued',
      id: 'q',
      userMessage: { text: 'more' },
    } as const;
    fixture.client.dispatch(fixture.uri, queued);
    await settle();
    first.finish();
    const second = await fixture.agent.turn(1);
    expect(lifecycle(provider)).toEqual(['started']);
    second.finish();
    await settle();
    expect(lifecycle(provider)).toEqual(['started', 'idle']);
  });

  it('[GW-195] [GW-197] [UNI-072] [UNI-073] ends after its providers are ready, and people do not wait for them', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host, { tools: [TOOL] });
    provider.isSilent = true;
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    const pending = await provider.next('session.lifecycle').then(() => provider.next('session.lifecycle'));
    expect(pending).toMatchObject({ state: 'shutdown.pending', deadline: 10_000 });
    // [GW-026] The registry follows the lifecycle.
    expect((await provider.next('sessions.updated')).active).toEqual([]);
    provider.send({ type: 'shutdown.ready', sessionId: pending.sessionId });
    await settle();
    const again = await fixture.client.session('ahp-session:/again', { provider: 'puppet' });
    // [GW-067] [GW-199] The same connection binds to another session.
    await provider.hello({ tools: [TOOL] });
    expect((await stateOf(fixture.client, again)).serverTools?.map(({ name }) => name)).toEqual(['ci_status']);
    provider.isSilent = false;
  });

  it('[GW-197] ends when the last of its providers is ready, not the first', async () => {
    const fixture = await openFixture(PUPPET);
    const quick = await TestProvider.bound(fixture.host, { name: 'quick' });
    const slow = await TestProvider.bound(fixture.host, { name: 'slow' });
    slow.isSilent = true;
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    quick.send({ type: 'push', level: 'keep', event: 'last words' });
    await settle();
    expect(quick.of('error')).toEqual([]);
    slow.send({ type: 'shutdown.ready', sessionId: slow.of('session.lifecycle').at(-1)?.sessionId });
    await settle();
    quick.send({ type: 'push', level: 'keep', event: 'too late' });
    expect((await quick.next('error')).message).toContain('Unbound');
  });

  it('[GW-197] does not wait longer than the deadline for a silent provider', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.isSilent = true;
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    provider.send({ type: 'push', level: 'keep', event: 'last words' });
    await settle();
    expect(provider.of('error')).toEqual([]);
    await fixture.clock.advance(10_000);
    provider.send({ type: 'push', level: 'keep', event: 'too late' });
    expect((await provider.next('error')).code).toBe('UNKNOWN_TYPE');
  });

  it('[GW-090] [GW-211] is ended by name', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'shutdown.ready' });
    expect((await provider.next('error')).code).toBe('INVALID_JSON');
    provider.send({ type: 'shutdown.ready', sessionId: 'nowhere' });
    expect((await provider.next('error')).code).toBe('INVALID_SESSION');
  });

  it('[GW-198] ends for one session only when a provider is everywhere', async () => {
    const fixture = await openFixture(PUPPET);
    const second = await fixture.client.session('ahp-session:/second', { provider: 'puppet' });
    const provider = await TestProvider.bound(fixture.host, { session: 'all', tools: [TOOL] });
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    expect(lifecycle(provider).filter((state) => state === 'shutdown.pending')).toHaveLength(1);
    fixture.client.dispatch(second, turnStarted('t1'));
    const outcome = (await fixture.agent.turn(0)).turn.callTool({ name: 'ci_status', input: {} });
    const call = await provider.next('tool.call');
    provider.send({ type: 'tool.result', id: call.id, data: 'ok' });
    expect(await outcome).toMatchObject({ success: true });
  });
});
