import type { Extension } from '@atrium/core/contracts/extension.js';
import { ALLOW_IN_SESSION, type HostTool } from '@atrium/core/contracts/tool.js';
import { IDLE_SESSION_MS } from '@atrium/core/sessions/limits.js';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import {
  callsIn,
  openFixture,
  openPuppetFixture,
  refusalOf,
  startHost,
  stateOf,
  turnStarted,
} from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';
import { call, callState, extension, sessionOf, stepsOf } from './support.js';

const OPTIONS = [
  { id: 'approve', label: 'Approve', kind: 'approve' as const },
  { id: ALLOW_IN_SESSION, label: 'Approve in this session', kind: 'approve' as const },
];

function offering(id: string, ...names: string[]): Extension {
  return extension(id, { tools: names.map((name) => ({ ...echoTool(name), owner: id })) });
}

describe("an extension's tools", () => {
  it('[UNI-013] are in the list of the session: all of it, each time one comes or goes', async () => {
    const { client, uri, puppet } = await openPuppetFixture({
      tools: [echoTool('read')],
      extensions: [offering('mcp', 'fetch')],
    });
    const { extensions } = sessionOf(puppet.turn);
    const names = async () => {
      await settle();
      return (await stateOf(client, uri)).serverTools?.map(({ name }) => name);
    };
    expect(await names()).toEqual(['read', 'fetch']);
    extensions.set(offering('browser', 'click', 'shoot'));
    expect(await names()).toEqual(['read', 'fetch', 'click', 'shoot']);
    extensions.set(offering('mcp', 'get'));
    expect(await names()).toEqual(['read', 'get', 'click', 'shoot']);
    extensions.remove('browser');
    expect(await names()).toEqual(['read', 'get']);
    const changes = client.envelopes(uri).filter(({ action }) => action.type === 'session/serverToolsChanged');
    const lists = changes.map(({ action }) => (action as unknown as { tools: unknown[] }).tools.length);
    expect(lists.slice(-3)).toEqual([4, 4, 2]);
  });

  it('[UNI-013] are not announced when nothing changed', async () => {
    const { client, uri, puppet } = await openPuppetFixture({ extensions: [offering('mcp', 'fetch')] });
    const before = client.types(uri).length;
    sessionOf(puppet.turn).extensions.changed();
    sessionOf(puppet.turn).extensions.set(offering('mcp', 'fetch'));
    await settle();
    expect(client.types(uri)).toHaveLength(before);
  });

  it("[UNI-025] come after the host's own, first come first served, and before a client's", async () => {
    const own = echoTool('read');
    const first = offering('a', 'read', 'fetch');
    const second = offering('b', 'fetch', 'click');
    const { puppet } = await openPuppetFixture({
      tools: [own],
      extensions: [first, second],
      session: { activeClient: { clientId: 'desk', tools: [{ name: 'fetch' }, { name: 'look' }] } },
    });
    expect(puppet.turn.tools().map(({ name }) => name)).toEqual(['read', 'fetch', 'click', 'client_fetch', 'look']);
    await call(puppet.turn, 'read', { input: { n: 1 } });
    await call(puppet.turn, 'fetch', { id: 'c2', input: { n: 2 } });
    expect(own.runs).toEqual([{ n: 1 }]);
    const runsOf = ({ tools = [] }: Extension) => tools.map((tool) => (tool as unknown as { runs: unknown[] }).runs);
    expect([runsOf(first), runsOf(second)]).toEqual([
      [[], [{ n: 2 }]],
      [[], []],
    ]);
  });

  it('[UNI-014] say at the start of a call whose they are, as far as clients know the keys', async () => {
    const callMeta = { gateway: { provider: 'browser' } };
    const shoot: HostTool = { ...echoTool('shoot'), displayName: 'browser: shoot', owner: 'browser', callMeta };
    const { client, uri, puppet } = await openPuppetFixture({ extensions: [extension('browser', { tools: [shoot] })] });
    await call(puppet.turn, 'shoot');
    expect(stepsOf(client, uri)[0]?.action).toMatchObject({ displayName: 'browser: shoot', _meta: callMeta });
    expect(stepsOf(client, uri)[0]?.action).not.toHaveProperty('toolClientId');
    expect(await callState(client, uri)).toMatchObject({ _meta: callMeta, status: 'completed' });
  });
});

describe('a tool that was allowed in this session', () => {
  const asking = (owner?: string): HostTool => ({
    ...echoTool('push', { confirmation: { title: 'Push?', options: OPTIONS } }),
    ...(owner !== undefined && { owner }),
  });

  /** Runs it once, with a person who does not want to be asked again. */
  async function allowOnce(fixture: Awaited<ReturnType<typeof openPuppetFixture>>) {
    const outcome = call(fixture.puppet.turn, 'push');
    await fixture.client.action(fixture.uri, 'session/toolCallReady');
    const target = { turnId: 't1', toolCallId: 'c1', selectedOptionId: ALLOW_IN_SESSION };
    fixture.client.dispatch(fixture.uri, {
      type: 'session/toolCallConfirmed',
      ...target,
      approved: true,
      confirmed: 'user-action',
    });
    await outcome;
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
  }

  it('is still allowed when the session has left memory', async () => {
    const fixture = await openPuppetFixture({ tools: [asking()] });
    await allowOnce(fixture);
    await fixture.client.request('unsubscribe', { channel: fixture.uri }).catch(() => {});
    fixture.client.disconnect();
    await fixture.clock.advance(IDLE_SESSION_MS * 2);
    expect(fixture.agent.closings).toBe(1);
    const phone = await fixture.join('phone');
    phone.dispatch(fixture.uri, turnStarted('t2'));
    const { turn } = await fixture.agent.turn(1);
    expect(await call(turn, 'push')).toMatchObject({ success: true });
    expect(stepsOf(phone, fixture.uri)[1]?.action).toMatchObject({ confirmed: 'setting' });
  });

  it('is still allowed when the host has started anew, in that session only', async () => {
    const log = new KeptLog();
    const fixture = await openPuppetFixture({ tools: [asking()], log });
    await allowOnce(fixture);
    await fixture.host.stop();
    const agent = new PuppetAgent();
    const host = await startHost({ log, agents: [agent], tools: [asking()] });
    const client = await host.client('desk');
    await client.request('subscribe', { channel: fixture.uri });
    client.dispatch(fixture.uri, turnStarted('t2'));
    const { turn } = await agent.turn(0);
    expect(await call(turn, 'push', { id: 'c2' })).toMatchObject({ success: true });
    const other = await client.session(undefined, { provider: 'puppet' });
    client.dispatch(other, turnStarted('t1'));
    call((await agent.turn(1)).turn, 'push');
    await settle();
    expect(await callState(client, other)).toMatchObject({ status: 'pending-confirmation' });
  });

  it("is that one tool of that one owner, not another's of the same name", async () => {
    const fixture = await openPuppetFixture({ extensions: [extension('git', { tools: [asking('git')] })] });
    await allowOnce(fixture);
    fixture.client.dispatch(fixture.uri, turnStarted('t2'));
    const { turn } = await fixture.agent.turn(1);
    expect(await call(turn, 'push', { id: 'c2' })).toMatchObject({ success: true });
    const { extensions } = sessionOf(turn);
    extensions.remove('git');
    extensions.set(extension('mail', { tools: [asking('mail')] }));
    call(turn, 'push', { id: 'c3' });
    await settle();
    expect(await callState(fixture.client, fixture.uri, 'c3')).toMatchObject({ status: 'pending-confirmation' });
  });

  it("is not a client's of the same name, which may have run already", async () => {
    const fixture = await openPuppetFixture({ tools: [asking()] });
    await allowOnce(fixture);
    const { client, uri } = fixture;
    const phone = await fixture.join('phone');
    const claim = (clientId: string) => {
      const activeClient = { clientId, tools: [{ name: 'push' }] };
      return { type: 'session/activeClientChanged', activeClient } as const;
    };
    expect(await refusalOf(client, uri, claim('desk'))).toBeUndefined();
    client.dispatch(uri, turnStarted('t2'));
    const { turn } = await fixture.agent.turn(1);
    const name = turn.tools().map((tool) => tool.name)[1] ?? '';
    call(turn, name, { id: 'c2' });
    await settle();
    expect(await callState(phone, uri, 'c2')).toMatchObject({ status: 'running', toolClientId: 'desk' });
    client.disconnect();
    expect(await refusalOf(phone, uri, claim('phone'))).toBeUndefined();
    await settle();
    const calls = callsIn((await stateOf(phone, uri)).activeTurn?.responseParts);
    expect(calls.at(-1)).toMatchObject({ status: 'pending-confirmation', toolClientId: 'phone' });
  });
});

describe('what extensions say to a turn that begins', () => {
  async function begin(...extensions: Extension[]) {
    const fixture = await openFixture({ extensions, session: { provider: 'puppet' } });
    fixture.client.dispatch(fixture.uri, turnStarted('t1', 'deploy it'));
    return fixture;
  }

  it('[UNI-005] reaches the agent, in their order, and is nowhere in the state', async () => {
    const seen: unknown[] = [];
    const one = extension('one', {
      async beforeTurn(opening) {
        seen.push(opening);
        return { context: 'SECRET-1' };
      },
    });
    const two = extension('two', { beforeTurn: async () => ({ context: 'SECRET-2' }) });
    const fixture = await begin(one, two, extension('silent', {}));
    const { turn } = await fixture.agent.turn(0);
    expect(turn.context).toEqual(['SECRET-1', 'SECRET-2']);
    expect(seen).toMatchObject([{ turnId: 't1', text: 'deploy it', agent: undefined, isFirst: true }]);
    expect(JSON.stringify(fixture.client.received)).not.toContain('SECRET');
  });

  it('can stop it, with a reason, and the agent never hears of it', async () => {
    const fixture = await begin(extension('policy', { beforeTurn: async () => ({ blocked: 'no deployments today' }) }));
    const { action } = await fixture.client.action(fixture.uri, 'session/error');
    expect(action.error).toMatchObject({ errorType: 'blocked', message: 'no deployments today' });
    expect(fixture.agent.turns).toEqual([]);
  });

  it('is nothing when they fail', async () => {
    const broken = extension('broken', {
      beforeTurn: () => {
        throw new Error('broken');
      },
    });
    const fixture = await begin(broken, extension('fine', { beforeTurn: async () => ({ context: 'fine' }) }));
    expect((await fixture.agent.turn(0)).turn.context).toEqual(['fine']);
  });
});
