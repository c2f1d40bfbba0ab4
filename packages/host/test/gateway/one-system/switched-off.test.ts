/** A provider that a person switches off in a session, or that its agent cannot serve as it would like. */

import type { AgentAbilities } from '@atrium/core/contracts/agent.js';
import { describe, expect, it } from 'vitest';
import { gatewayMeta } from '../../../src/gateway/gateway-session.js';
import { tool } from '../../support/provider-fixture.js';
import { PuppetAgent } from '../../support/puppet-agent.js';
import {
  type Fixture,
  openFixture,
  openPuppetFixture,
  startHost,
  stateOf,
  turnStarted,
} from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';
import { echoTool } from '../../support/tools.js';

const PUPPET = { session: { provider: 'puppet' } };
const GUARD = { match: { tool: 'shell' }, action: 'gate', gateId: 'g' };
const HELLO = { name: 'guard', tools: [tool('look')], hooks: { onPreToolUse: [GUARD] } };

function toggle({ client, uri }: Pick<Fixture, 'client' | 'uri'>, enabled: boolean): Promise<void> {
  client.dispatch(uri, { type: 'session/customizationToggled', id: 'gateway-provider:/guard', enabled });
  return settle();
}

function notes({ activeTurn, ...state }: Awaited<ReturnType<typeof stateOf>>): string {
  return JSON.stringify([activeTurn?.responseParts, gatewayMeta(state).timeline]);
}

describe('a provider that is switched off', () => {
  it('[UNI-047] no longer guards, also where silence would have meant no, and the timeline says so', async () => {
    const shell = echoTool('shell');
    const fixture = await openPuppetFixture({ tools: [shell] });
    const provider = await TestProvider.bound(fixture.host, HELLO);
    await toggle(fixture, false);
    expect(await fixture.puppet.turn.callTool({ name: 'shell', input: {} })).toMatchObject({ success: true });
    expect(provider.of('gate.check')).toEqual([]);
    expect(notes(await stateOf(fixture.client, fixture.uri))).toContain('※ guard: is switched off');
    await toggle(fixture, true);
    const denied = fixture.puppet.turn.callTool({ name: 'shell', input: {} });
    await provider.next('gate.check');
    await fixture.clock.advance(5_000);
    expect(await denied).toMatchObject({ kind: 'denied' });
  });

  it('[UNI-107] has no tools and no rules in that session, and has them in the other; switched on, all is back', async () => {
    const shell = echoTool('shell');
    const fixture = await openFixture({ ...PUPPET, tools: [shell] });
    const other = await fixture.client.session('ahp-session:/other', { provider: 'puppet' });
    const provider = await TestProvider.bound(fixture.host, { ...HELLO, session: 'all' });
    const names = async (uri: string) => (await stateOf(fixture.client, uri)).serverTools?.map(({ name }) => name);
    await toggle(fixture, false);
    expect([await names(fixture.uri), await names(other)]).toEqual([['shell'], ['shell', 'look']]);
    for (const uri of [fixture.uri, other]) fixture.client.dispatch(uri, turnStarted('t1'));
    const [here, there] = [(await fixture.agent.turn(0)).turn, (await fixture.agent.turn(1)).turn];
    expect(await here.callTool({ name: 'shell', input: {} })).toMatchObject({ success: true });
    expect(await here.callTool({ name: 'look', input: {} })).toMatchObject({ success: false });
    const guarded = there.callTool({ name: 'shell', input: {} });
    const { callId } = await provider.next('gate.check');
    provider.send({ type: 'gate.result', gateId: 'g', callId, decision: 'deny', reason: 'no' });
    expect(await guarded).toEqual({ kind: 'denied', reason: 'guard: no' });
    await toggle(fixture, true);
    expect([await names(fixture.uri), await names(other)]).toEqual([
      ['shell', 'look'],
      ['shell', 'look'],
    ]);
    const again = here.callTool({ name: 'look', input: {} });
    const { id } = await provider.next('tool.call');
    provider.send({ type: 'tool.result', id, data: 'seen' });
    expect(await again).toMatchObject({ success: true, text: 'seen' });
  });

  it('shows nothing and starts no turn; what it pushed is kept, and what it held goes on afterwards', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, HELLO);
    const inject = (event: string) => provider.send({ type: 'push', level: 'inject', event });
    inject('one');
    inject('two');
    await settle();
    await toggle(fixture, false);
    for (const level of ['surface', 'inject']) provider.send({ type: 'push', level, event: `late ${level}` });
    await settle();
    expect(provider.of('error').map(({ code }) => code)).toEqual(['UNAUTHORIZED', 'UNAUTHORIZED']);
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['guard'], last: 1 });
    expect((await provider.next('stream.history')).streams['guard@guard']?.[0]?.event).toBe('late inject');
    fixture.puppet.finish();
    (await fixture.agent.turn(1)).finish();
    await settle();
    expect(fixture.agent.turns).toHaveLength(2);
    expect(JSON.stringify(await stateOf(fixture.client, fixture.uri))).not.toContain('late');
    await toggle(fixture, true);
    expect((await fixture.agent.turn(2)).turn.message.text).toBe('[guard/guard] two');
  });
});

class AgentWith extends PuppetAgent {
  override readonly abilities: AgentAbilities;

  constructor(abilities: Partial<AgentAbilities>) {
    super();
    this.abilities = { tools: 'live', toolIntent: 'all', render: 'none', steer: true, cancelTool: true, ...abilities };
  }
}

/** What the provider is told that it cannot count on. */
async function degradedOf(provider: TestProvider, hello: object = HELLO): Promise<readonly string[]> {
  const { degraded = [] } = (await provider.hello(hello)) as { degraded?: readonly string[] };
  return degraded;
}

describe('gates that cannot see everything', () => {
  it.each(['host-run', 'on-request'] as const)(
    '[UNI-096] are registered, and it is said: to the provider, on its entry, and once in the timeline (%s)',
    async (toolIntent) => {
      const fixture = await openFixture({ ...PUPPET, agent: new AgentWith({ toolIntent }) });
      const provider = TestProvider.connect(fixture.host);
      expect(await degradedOf(provider)).toEqual([`gates:${toolIntent}`]);
      await settle();
      const rules = [GUARD, { match: { tool: 'x' }, action: 'deny', reason: 'no' }];
      provider.send({ type: 'hooks.update', requestId: 'h', onPreToolUse: rules });
      await provider.next('ack');
      await fixture.clock.advance(1_000);
      const state = await stateOf(fixture.client, fixture.uri);
      expect(state.customizations).toMatchObject([
        { name: 'guard', load: { kind: 'degraded', message: expect.stringContaining('without asking') } },
      ]);
      expect(gatewayMeta(state).timeline).toEqual([expect.stringMatching(/^※ guard: .*do not see all of them/)]);
    },
  );

  it('[UNI-096] are nothing to speak of where there are none, or where the agent asks about all', async () => {
    const limited = await openFixture({ ...PUPPET, agent: new AgentWith({ toolIntent: 'host-run' }) });
    const unguarded = TestProvider.connect(limited.host);
    expect(await degradedOf(unguarded, { tools: [tool('look')] })).toEqual([]);
    const fixture = await openFixture(PUPPET);
    const provider = TestProvider.connect(fixture.host);
    expect(await degradedOf(provider)).toEqual([]);
    expect((await stateOf(fixture.client, fixture.uri)).customizations).toMatchObject([{ load: { kind: 'loaded' } }]);
  });

  it('[UNI-096] are refused by a host that is strict about it', async () => {
    const host = await startHost({ agents: [new AgentWith({ toolIntent: 'host-run' })], strictProviders: true });
    const client = await host.client('desk');
    const uri = await client.session(undefined, { provider: 'puppet' });
    const provider = TestProvider.connect(host);
    provider.send({ type: 'hello', protocolVersion: 2, ...HELLO });
    expect(await provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'hello' });
    expect((await stateOf(client, uri)).serverTools ?? []).toEqual([]);
    await provider.hello({ name: 'guard', tools: [tool('look')] });
    expect((await stateOf(client, uri)).serverTools?.map(({ name }) => name)).toEqual(['look']);
  });
});
