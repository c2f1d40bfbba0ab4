import { describe, expect, it } from 'vitest';
import { shownCode } from '../support/gateway-connections.js';
import { openPuppetFixture, stateOf } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { TestProvider } from '../support/test-provider.js';

const TOOL = { name: 'ci_status', description: 'Tells how CI is doing.', parameters: {} };

describe('a provider that brings a tool', () => {
  it('[GW-073] [GW-112] [GW-113] is called by the model, and its answer is the result', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { tools: [TOOL] });
    expect(fixture.puppet.turn.tools().map(({ name }) => name)).toContain('ci_status');
    const outcome = fixture.puppet.turn.callTool({ name: 'ci_status', input: { branch: 'main' } });
    const call = await provider.next('tool.call');
    expect(call).toMatchObject({
      tool: 'ci_status',
      args: { branch: 'main' },
      sessionId: fixture.uri.split('/').at(-1),
    });
    provider.send({ type: 'tool.result', id: call.id, data: 'green' });
    expect(await outcome).toMatchObject({ kind: 'completed', success: true, text: 'green' });
    expect((await stateOf(fixture.client, fixture.uri)).serverTools?.map(({ name }) => name)).toEqual(['ci_status']);
  });

  it('[GW-135] [UNI-043] denies a call by a rule, and the model hears why', async () => {
    const fixture = await openPuppetFixture();
    const rule = { match: { tool: 'ci_status' }, action: 'deny', reason: 'not now' };
    await TestProvider.bound(fixture.host, { tools: [TOOL], hooks: { onPreToolUse: [rule] } });
    const outcome = await fixture.puppet.turn.callTool({ name: 'ci_status', input: {} });
    expect(outcome).toEqual({ kind: 'denied', reason: 'ci: not now' });
  });

  it('[GW-173] [GW-174] injects a message that waits for the running turn', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'push', level: 'inject', event: 'CI failed' });
    await settle();
    const state = await stateOf(fixture.client, fixture.uri);
    expect(state.queuedMessages?.[0]?.userMessage).toEqual({
      text: '[ci/ci] CI failed',
      _meta: { gateway: { provider: 'ci', stream: 'ci' } },
    });
    fixture.puppet.finish();
    expect((await fixture.agent.turn(1)).turn.message.text).toBe('[ci/ci] CI failed');
  });

  it('[UNI-012] [UNI-081] shows as a customization that can be switched off', async () => {
    const fixture = await openPuppetFixture();
    await TestProvider.bound(fixture.host, { tools: [TOOL] });
    const [entry] = (await stateOf(fixture.client, fixture.uri)).customizations ?? [];
    expect(entry).toMatchObject({
      type: 'plugin',
      uri: 'gateway-provider:/ci',
      enabled: true,
      load: { kind: 'loaded' },
    });
    fixture.client.dispatch(fixture.uri, { type: 'session/customizationToggled', id: entry?.id ?? '', enabled: false });
    await settle();
    expect(fixture.puppet.turn.tools().map(({ name }) => name)).not.toContain('ci_status');
  });
});

describe('a stranger', () => {
  it('[GW-034] [GW-035] [GW-037] pairs with a code that only people see', async () => {
    const fixture = await openPuppetFixture();
    const provider = TestProvider.connect(fixture.host, 'network');
    provider.send({ type: 'auth', mode: 'pair', name: 'browser' });
    await provider.next('auth.pairing');
    await settle();
    const code = await shownCode(fixture.client, fixture.uri);
    provider.send({ type: 'auth.confirm', code });
    const sessions = await provider.next('sessions');
    expect(sessions.token).toMatch(/^ext-tok-/);
    expect(JSON.stringify(provider.received)).not.toContain(code);
    await provider.hello({ name: 'browser', tools: [TOOL] });
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests ?? []).toEqual([]);
  });
});
