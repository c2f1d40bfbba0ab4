import type { SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { sessionId } from '../../support/gateway-connections.js';
import { PuppetAgent } from '../../support/puppet-agent.js';
import { envelopesOf, openFixture, openPuppetFixture, startHost, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const TOOL = { name: 'ci_status', description: 'CI', parameters: {}, timeout: 5_000 };
const RULE = { match: { tool: 'shell' }, action: 'deny', reason: 'no' };
const HOOKS = { onPreToolUse: [RULE], transforms: { tone: { action: 'append', content: 'x' } } };

function providersIn({ _meta }: SessionState): readonly Record<string, unknown>[] {
  return (_meta?.gateway as { providers?: Record<string, unknown>[] } | undefined)?.providers ?? [];
}

/** An agent that can do only some of what providers ask for. */
class SimpleAgent extends PuppetAgent {
  override readonly abilities = {
    tools: 'live',
    toolIntent: 'host-run',
    render: 'append',
    steer: true,
    cancelTool: true,
  } as const;
}

describe('a provider in a session', () => {
  it('[UNI-012] [UNI-013] [UNI-081] is a customization with its rules, and its tools are tools of the server', async () => {
    const fixture = await openFixture();
    const provider = TestProvider.connect(fixture.host);
    const { providerId } = await provider.hello({ tools: [TOOL], hooks: HOOKS, context: 'c' });
    const state = await stateOf(fixture.client, fixture.uri);
    expect(state.customizations).toMatchObject([
      {
        type: 'plugin',
        uri: 'gateway-provider:/ci',
        enabled: true,
        children: [
          { type: 'hook', event: 'PreToolUse', matcher: 'shell' },
          { type: 'rule', name: 'tone', description: 'append tone' },
        ],
      },
    ]);
    expect(state.serverTools).toMatchObject([
      {
        name: 'ci_status',
        inputSchema: { type: 'object' },
        _meta: { gateway: { provider: 'ci', providerId, trust: 'internal', timeoutMs: 5_000 } },
      },
    ]);
    expect(providersIn(state)).toEqual([
      { name: 'ci', providerId, trust: 'internal', tools: ['ci_status'], context: true },
    ]);
  });

  it('[UNI-023] is reconnecting for a while when its line is cut, and then gone', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host, { tools: [TOOL] });
    provider.drop();
    await settle();
    const state = await stateOf(fixture.client, fixture.uri);
    expect(state.customizations).toMatchObject([{ load: { kind: 'degraded', message: 'Reconnecting' } }]);
    expect(providersIn(state)).toMatchObject([{ away: true }]);
    expect(state.serverTools).toEqual([]);
    await fixture.clock.advance(30_000);
    const after = await stateOf(fixture.client, fixture.uri);
    expect(after.customizations ?? []).toEqual([]);
    expect(providersIn(after)).toEqual([]);
  });

  it('[UNI-107] [UNI-081] is switched off in one session only, and on again', async () => {
    const fixture = await openPuppetFixture();
    const other = await fixture.client.session();
    await TestProvider.bound(fixture.host, { session: 'all', tools: [TOOL], hooks: HOOKS });
    const id = 'gateway-provider:/ci';
    fixture.client.dispatch(fixture.uri, { type: 'session/customizationToggled', id, enabled: false });
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).serverTools).toEqual([]);
    expect((await stateOf(fixture.client, other)).serverTools).toMatchObject([{ name: 'ci_status' }]);
    await fixture.clock.advance(1_000);
    expect(JSON.stringify(await stateOf(fixture.client, fixture.uri))).toContain('is switched off');
    fixture.client.dispatch(fixture.uri, { type: 'session/customizationToggled', id, enabled: true });
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).serverTools).toMatchObject([{ name: 'ci_status' }]);
  });

  it('[UNI-107] stays switched off when it comes back, also to another host', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host, { tools: [TOOL] });
    const id = 'gateway-provider:/ci';
    fixture.client.dispatch(fixture.uri, { type: 'session/customizationToggled', id, enabled: false });
    await settle();
    provider.send({ type: 'goodbye' });
    await settle();
    await TestProvider.bound(fixture.host, { tools: [TOOL] });
    expect((await stateOf(fixture.client, fixture.uri)).customizations).toMatchObject([{ id, enabled: false }]);
    const second = await startHost({ log: fixture.host.log, agents: [new PuppetAgent()] });
    const client = await second.client('desk');
    await client.request('subscribe', { channel: fixture.uri });
    await settle();
    await TestProvider.bound(second, { tools: [TOOL] });
    expect((await stateOf(client, fixture.uri)).serverTools ?? []).toEqual([]);
  });

  it('[UNI-104] leaves no call running when it dies, and no session at work', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { tools: [TOOL] });
    const outcome = fixture.puppet.turn.callTool({ name: 'ci_status', input: {} });
    await provider.next('tool.call');
    provider.drop();
    expect(await outcome).toMatchObject({ success: false });
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    const { activeTurn, turns } = await stateOf(fixture.client, fixture.uri);
    expect(activeTurn).toBeUndefined();
    expect(turns.at(-1)?.responseParts).toMatchObject([{ toolCall: { status: 'completed', success: false } }]);
  });

  it('[GW-222] [GW-225] is not there any more after a crash, and neither are its tools', async () => {
    const fixture = await openFixture();
    await TestProvider.bound(fixture.host, { tools: [TOOL], hooks: HOOKS });
    const before = await stateOf(fixture.client, fixture.uri);
    expect(before.customizations).toHaveLength(1);
    // The first host never gets to say anything more: the second one finds what was stored.
    const second = await startHost({ log: fixture.host.log, agents: [new PuppetAgent()] });
    const client = await second.client('phone');
    await client.request('subscribe', { channel: fixture.uri });
    await settle();
    const after = await stateOf(client, fixture.uri);
    expect(after.customizations ?? []).toEqual([]);
    expect(after.serverTools ?? []).toEqual([]);
    expect(providersIn(after)).toEqual([]);
  });

  it('is written once for all that happens in one tick', async () => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host, { tools: [TOOL] });
    const before = envelopesOf(fixture.client, fixture.uri).length;
    await provider.hello({ tools: [{ ...TOOL, name: 'other' }], hooks: { onPreToolUse: [RULE] } });
    const types = envelopesOf(fixture.client, fixture.uri)
      .slice(before)
      .map(({ action }) => action.type);
    expect(types.sort()).toEqual(['session/customizationUpdated', 'session/metaChanged', 'session/serverToolsChanged']);
  });
});

describe('an agent that cannot do everything', () => {
  it('[UNI-096] [UNI-097] is no secret: the provider, the list and the people are told', async () => {
    const fixture = await openPuppetFixture({ agent: new SimpleAgent() });
    const hooks = { onPreToolUse: [RULE], transforms: { tone: { action: 'replace', content: 'x' } } };
    const provider = TestProvider.connect(fixture.host);
    const ack = await provider.hello({ hooks });
    expect(ack).toMatchObject({ degraded: ['gates:host-run', 'transforms:append'] });
    await fixture.clock.advance(1_000);
    provider.send({ type: 'context.update', requestId: 'r', context: 'c' });
    await provider.next('ack');
    const state = await stateOf(fixture.client, fixture.uri);
    expect(state.customizations).toMatchObject([
      { load: { kind: 'degraded', message: expect.stringContaining('without asking') } },
    ]);
    const notes = (state.activeTurn?.responseParts ?? []).filter(({ kind }) => kind === 'systemNotification');
    expect(notes.filter((note) => JSON.stringify(note).includes('without asking'))).toHaveLength(1);
  });

  it('[UNI-096] [UNI-097] [GW-204] is told of with every change of hooks, as long as there is something to tell', async () => {
    const fixture = await openPuppetFixture({ agent: new SimpleAgent() });
    const provider = await TestProvider.bound(fixture.host);
    const change = async (hooks: object) => {
      provider.send({ type: 'hooks.update', requestId: 'r', ...hooks });
      return provider.next('ack');
    };
    expect(await change({ onPreToolUse: [RULE] })).toMatchObject({ degraded: ['gates:host-run'] });
    const replace = { tone: { action: 'replace', content: 'x' } };
    expect(await change({ transforms: replace })).toMatchObject({ degraded: ['gates:host-run', 'transforms:append'] });
    expect(await change({ onPreToolUse: [], transforms: { tone: null } })).not.toHaveProperty('degraded');
    provider.send({ type: 'context.update', requestId: 'r', context: 'c' });
    expect(await provider.next('ack')).not.toHaveProperty('degraded');
  });

  it('[UNI-097] does what it can', async () => {
    const fixture = await openPuppetFixture({ agent: new SimpleAgent() });
    const hooks = { transforms: { tone: { action: 'append', content: 'x' } } };
    expect(await TestProvider.connect(fixture.host).hello({ hooks })).not.toHaveProperty('degraded');
  });

  it('[UNI-096] is not promised anything when the host is strict', async () => {
    const fixture = await openPuppetFixture({ agent: new SimpleAgent(), strictProviders: true });
    const provider = TestProvider.connect(fixture.host);
    provider.send({ type: 'hello', name: 'ci', protocolVersion: 2, hooks: HOOKS, session: sessionId(fixture.uri) });
    expect(await provider.next('error')).toMatchObject({
      code: 'UNAUTHORIZED',
      message: expect.stringContaining('gates'),
    });
    expect((await stateOf(fixture.client, fixture.uri)).customizations ?? []).toEqual([]);
    await provider.hello({ tools: [TOOL] });
  });

  it('[UNI-096] is not promised anything later either when the host is strict', async () => {
    const fixture = await openPuppetFixture({ agent: new SimpleAgent(), strictProviders: true });
    const provider = await TestProvider.bound(fixture.host, { session: sessionId(fixture.uri), tools: [TOOL] });
    const { onPreToolUse } = HOOKS;
    const prepend = { tone: { action: 'prepend', content: 'x' } };
    for (const [hooks, fact] of [
      [{ onPreToolUse }, 'gates'],
      [{ transforms: prepend }, 'transforms'],
    ] as const) {
      provider.send({ type: 'hooks.update', requestId: fact, ...hooks });
      const refusal = { code: 'UNAUTHORIZED', requestId: fact, message: expect.stringContaining(`${fact}:`) };
      expect(await provider.next('error')).toMatchObject(refusal);
    }
    expect((await stateOf(fixture.client, fixture.uri)).customizations).toMatchObject([{ children: [] }]);
    const append = { tone: { action: 'append', content: 'x' } };
    provider.send({ type: 'hooks.update', requestId: 'append', transforms: append });
    expect(await provider.next('ack')).toMatchObject({ requestId: 'append' });
  });
});
