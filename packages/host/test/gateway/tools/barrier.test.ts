/** What holds for every call, whatever happens around it: updates, the end of a session, other agents, people. */

import type { AgentAbilities } from '@atrium/core/contracts/agent.js';
import { describe, expect, it } from 'vitest';
import type { GatewaySession } from '../../../src/gateway/gateway-session.js';
import { Gates } from '../../../src/gateway/hooks/provider-gates.js';
import { Transforms } from '../../../src/gateway/hooks/transforms.js';
import { Binding, EMPTY_REGISTRATION, Provider, type Registration } from '../../../src/gateway/provider.js';
import { Calls } from '../../../src/gateway/tools/calls.js';
import { FakeClock } from '../../support/fake-clock.js';
import { pair } from '../../support/gateway-connections.js';
import {
  answerNext,
  call,
  callsOf,
  decide,
  NO,
  offered,
  openProviderFixture,
  tool,
  updated,
  YES,
} from '../../support/provider-fixture.js';
import { PuppetAgent } from '../../support/puppet-agent.js';
import { openPuppetFixture, runningCall, stateOf, turnStarted } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';

class AgentWith extends PuppetAgent {
  override readonly abilities: AgentAbilities;

  constructor(abilities: Partial<AgentAbilities>) {
    super();
    this.abilities = { tools: 'live', toolIntent: 'all', render: 'none', steer: true, cancelTool: true, ...abilities };
  }
}

describe('a tool that was removed', () => {
  it('[REL-047] is never called after the acknowledgement, with a thousand calls racing', async () => {
    const fixture = await openProviderFixture({ tools: [tool('a')], concurrency: { max: 7 } });
    const { provider } = fixture;
    let answered = 0;
    const answerAll = () => {
      for (const { id } of provider.of('tool.call').slice(answered)) {
        answered += 1;
        provider.send({ type: 'tool.result', id, data: 1 });
      }
    };
    const outcomes: Promise<unknown>[] = [];
    let isAcked = false;
    for (let number = 0; number < 1_000; number++) {
      outcomes.push(call(fixture, 'a', { number }));
      if (number === 500) provider.send({ type: 'tools.update', requestId: 'r', remove: ['a'] });
      if (number % 5 === 0) await (number % 2 === 0 ? Promise.resolve() : new Promise(setImmediate));
      answerAll();
      isAcked ||= provider.of('ack').length > 0;
    }
    while (provider.of('ack').length === 0) await settle(1);
    const settled = Promise.all(outcomes);
    let isOver = false;
    settled.then(() => {
      isOver = true;
    });
    while (!isOver) {
      answerAll();
      await settle(1);
    }
    const types = provider.received.map(({ type }) => type);
    expect(types.slice(types.indexOf('ack'))).not.toContain('tool.call');
    expect(isAcked).toBe(true);
    expect(provider.of('tool.call').length).toBeGreaterThan(100);
    expect(await settled).toHaveLength(1_000);
  });

  it('[REL-047] is not called when a person approves the call after that', async () => {
    const fixture = await openPuppetFixture();
    const { provider } = await pair(fixture);
    await provider.hello({ name: 'browser', tools: [tool('a')] });
    const outcome = call(fixture, 'a');
    const { toolCallId } = await runningCall(fixture.client, fixture.uri, 'pending-confirmation');
    await updated(provider, { type: 'tools.update', remove: ['a'] });
    decide(fixture, toolCallId, YES);
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('was removed') });
    expect(provider.of('tool.call')).toEqual([]);
  });

  it('[UNI-099] is refused to an agent that still has its old list, and gone in the next turn', async () => {
    const agent = new AgentWith({ tools: 'next-turn' });
    const fixture = await openProviderFixture({ tools: [tool('a'), tool('b')] }, { agent });
    await updated(fixture.provider, { type: 'tools.update', remove: ['a'] });
    expect(await call(fixture, 'a')).toMatchObject({ success: false, text: 'there is no tool a' });
    expect(fixture.provider.of('tool.call')).toEqual([]);
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    fixture.client.dispatch(fixture.uri, turnStarted('t2'));
    expect((await agent.turn(1)).turn.tools().map(({ name }) => name)).toEqual(['b']);
  });
});

describe('a session that ends', () => {
  it('[GW-200] asks nothing more of its providers once they have been told', async () => {
    const fixture = await openProviderFixture({
      tools: [tool('a')],
      hooks: {
        onPreToolUse: [{ match: {}, action: 'gate', gateId: 'g' }],
        transforms: { tone: { action: 'callback' } },
      },
    });
    fixture.provider.isSilent = true;
    fixture.client.send({ id: 99, method: 'disposeSession', params: { channel: fixture.uri } });
    while (!fixture.provider.of('session.lifecycle').some(({ state }) => state === 'shutdown.pending')) await settle(1);
    const count = fixture.provider.received.length;
    await expect(fixture.puppet.turn.callTool({ name: 'a', input: {} })).rejects.toThrow();
    await fixture.puppet.turn.renderPrompt().catch(() => {});
    await settle();
    const asked = fixture.provider.received.slice(count).map(({ type }) => type);
    expect(asked).not.toContain('tool.call');
    expect(asked).not.toContain('gate.check');
    expect(asked).not.toContain('transform.request');
    fixture.provider.send({ type: 'shutdown.ready', sessionId: fixture.uri.split('/').at(-1) });
  });
});

describe('a session that is ending, seen from inside', () => {
  /** A provider in a session that is about to end. Nothing may be sent to it. */
  function lastBinding(): Binding {
    const registration: Registration = {
      ...EMPTY_REGISTRATION,
      tools: new Map([['a', tool('a')]]),
      rules: [{ match: {}, action: 'gate', gateId: 'g' }],
      transforms: new Map([['tone', { action: 'callback' }]]),
    };
    const facts = {
      name: 'ci',
      instance: undefined,
      trust: 'internal',
      scope: undefined,
      admission: undefined,
    } as const;
    const provider = new Provider({ ...facts, providerId: 'p-1', isEverywhere: false, registration });
    provider.send = ({ type }) => expect.unreachable(`sent ${type}`);
    const session = { id: 's', isEnding: true, isEnabled: () => true, bindings: [] } as unknown as GatewaySession;
    const binding = new Binding(provider, session);
    provider.bindings.set(session.id, binding);
    return binding;
  }

  const clock = new FakeClock();
  const { signal } = new AbortController();

  it('[GW-200] fails calls as cancelled, denies what would have to be asked, and leaves prompts as they are', async () => {
    const binding = lastBinding();
    const group = { name: 'ci', session: binding.session, bindings: [binding] };
    const outcome = await new Calls({ clock, telemetry: undefined }).call({
      binding,
      tool: 'a',
      args: {},
      signal,
      progress: () => {},
    });
    expect(outcome).toMatchObject({ kind: 'failure', code: 'CANCELLED' });
    const gateCall = { session: 's', chat: 'c', turnId: 't', toolCallId: 'c', toolName: 'a', input: {} };
    const [, gate] = new Gates(clock).of(group);
    expect(await gate?.check(gateCall, signal)).toMatchObject({ kind: 'deny' });
    const [callback] = new Transforms().of(group).callbacks ?? [];
    expect(await callback?.transform('Be brief.', signal)).toBeUndefined();
  });
});

describe('what the gateway promises', () => {
  it('[UNI-100] holds for every agent, whatever it can do', async () => {
    const kinds: Partial<AgentAbilities>[] = [
      { tools: 'live', render: 'sections' },
      { tools: 'next-turn', render: 'append', toolIntent: 'all' },
      { tools: 'at-open', render: 'preface', toolIntent: 'host-run', steer: false, cancelTool: false },
    ];
    for (const abilities of kinds) {
      const rules = [{ match: { tool: 'b' }, action: 'gate', gateId: 'g' }];
      const hello = { tools: [tool('a', { timeout: 100 }), tool('b')], concurrency: { max: 1 } };
      const fixture = await openProviderFixture(
        { ...hello, hooks: { onPreToolUse: rules } },
        { agent: new AgentWith(abilities) },
      );
      const [slow, queued] = [call(fixture, 'a'), call(fixture, 'a')];
      const gated = call(fixture, 'b');
      await fixture.provider.next('gate.check');
      await fixture.clock.advance(100);
      expect(await slow).toMatchObject({ success: false, text: 'no answer in 0.1 s' });
      expect(fixture.provider.of('tool.call')).toHaveLength(1);
      await fixture.clock.advance(5_000);
      expect(await gated).toEqual({ kind: 'denied', reason: 'ci: did not answer, so the call does not run' });
      await answerNext(fixture.provider);
      await answerNext(fixture.provider);
      expect(await queued).toMatchObject({ success: true });
    }
  });

  it('[UNI-044] asks people about the first use of a stranger, and no more when they say so', async () => {
    const fixture = await openPuppetFixture();
    const { provider } = await pair(fixture);
    await provider.hello({ name: 'browser', tools: [tool('a')] });
    const first = call(fixture, 'a');
    const pending = await runningCall(fixture.client, fixture.uri, 'pending-confirmation');
    expect(pending).toMatchObject({
      confirmationTitle: 'Let browser run a?',
      options: [{ label: 'Approve' }, { label: 'Approve in this session' }, { label: 'Deny' }],
    });
    decide(fixture, pending.toolCallId, NO);
    expect(await first).toMatchObject({ kind: 'denied' });
    const second = call(fixture, 'a');
    await settle();
    const again = (await callsOf(fixture)).at(-1);
    expect(again?.status).toBe('pending-confirmation');
    decide(fixture, again?.toolCallId ?? '', { ...YES, selectedOptionId: 'allow-session' });
    await answerNext(provider);
    expect(await second).toMatchObject({ success: true });
    const third = call(fixture, 'a');
    await answerNext(provider);
    expect(await third).toMatchObject({ success: true });
    expect(provider.of('tool.call')).toHaveLength(2);
  });

  it('[UNI-044] asks people again about one that comes back by another pairing', async () => {
    const fixture = await openPuppetFixture();
    const first = await pair(fixture);
    const { reconnectToken } = await first.provider.hello({ name: 'browser', tools: [tool('a')] });
    const approved = call(fixture, 'a');
    const { toolCallId } = await runningCall(fixture.client, fixture.uri, 'pending-confirmation');
    decide(fixture, toolCallId, { ...YES, selectedOptionId: 'allow-session' });
    await answerNext(first.provider);
    expect(await approved).toMatchObject({ success: true });
    first.provider.drop();
    const second = await pair(fixture);
    await second.provider.hello({ name: 'browser', reconnectToken });
    void call(fixture, 'a');
    await settle();
    expect((await callsOf(fixture)).at(-1)?.status).toBe('pending-confirmation');
    expect(second.provider.of('tool.call')).toEqual([]);
  });

  it('[UNI-044] asks nobody about a provider of the host or of the project', async () => {
    const fixture = await openProviderFixture({ tools: [tool('a')] });
    const outcome = call(fixture, 'a');
    await answerNext(fixture.provider);
    expect(await outcome).toMatchObject({ success: true });
    expect((await callsOf(fixture))[0]).toMatchObject({ confirmed: 'not-needed' });
  });

  it('leaves no call behind when its provider is switched off', async () => {
    const fixture = await openProviderFixture({ tools: [tool('a')] });
    const [entry] = (await stateOf(fixture.client, fixture.uri)).customizations ?? [];
    const outcome = call(fixture, 'a');
    const { id } = await fixture.provider.next('tool.call');
    fixture.client.dispatch(fixture.uri, { type: 'session/customizationToggled', id: entry?.id ?? '', enabled: false });
    await settle();
    expect(offered(fixture)).toEqual([]);
    fixture.provider.send({ type: 'tool.result', id, data: 'still counts' });
    expect(await outcome).toMatchObject({ success: true, text: 'still counts' });
    expect(await call(fixture, 'a')).toMatchObject({ success: false });
    expect(fixture.provider.of('tool.call')).toHaveLength(1);
  });
});
