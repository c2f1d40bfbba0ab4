import { describe, expect, it } from 'vitest';
import { shownCode } from '../support/provider-door.js';
import { openPuppetRoom, stateOf } from '../support/session-room.js';
import { settle } from '../support/test-host.js';
import { TestProvider } from '../support/test-provider.js';

const TOOL = { name: 'ci_status', description: 'Tells how CI is doing.', parameters: {} };

describe('a provider that brings a tool', () => {
  it('[GW-073] [GW-112] [GW-113] is called by the model, and its answer is the result', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host, { tools: [TOOL] });
    expect(room.puppet.turn.tools().map(({ name }) => name)).toContain('ci_status');
    const outcome = room.puppet.turn.callTool({ name: 'ci_status', input: { branch: 'main' } });
    const call = await provider.next('tool.call');
    expect(call).toMatchObject({ tool: 'ci_status', args: { branch: 'main' }, sessionId: room.uri.split('/').at(-1) });
    provider.send({ type: 'tool.result', id: call.id, data: 'green' });
    expect(await outcome).toMatchObject({ kind: 'completed', success: true, text: 'green' });
    expect((await stateOf(room.desk, room.uri)).serverTools?.map(({ name }) => name)).toEqual(['ci_status']);
  });

  it('[GW-135] [UNI-043] denies a call by a rule, and the model hears why', async () => {
    const room = await openPuppetRoom();
    const rule = { match: { tool: 'ci_status' }, action: 'deny', reason: 'not now' };
    await TestProvider.bound(room.host, { tools: [TOOL], hooks: { onPreToolUse: [rule] } });
    const outcome = await room.puppet.turn.callTool({ name: 'ci_status', input: {} });
    expect(outcome).toEqual({ kind: 'denied', reason: 'ci: not now' });
  });

  it('[GW-173] [GW-174] injects a message that waits for the running turn', async () => {
    const room = await openPuppetRoom();
    const provider = await TestProvider.bound(room.host);
    provider.send({ type: 'push', level: 'inject', event: 'CI failed' });
    await settle();
    const state = await stateOf(room.desk, room.uri);
    expect(state.queuedMessages?.[0]?.userMessage).toEqual({
      text: '[ci/ci] CI failed',
      _meta: { gateway: { provider: 'ci', stream: 'ci' } },
    });
    room.puppet.finish();
    expect((await room.agent.turn(1)).turn.message.text).toBe('[ci/ci] CI failed');
  });

  it('[UNI-012] [UNI-081] shows as a customization that can be switched off', async () => {
    const room = await openPuppetRoom();
    await TestProvider.bound(room.host, { tools: [TOOL] });
    const [entry] = (await stateOf(room.desk, room.uri)).customizations ?? [];
    expect(entry).toMatchObject({
      type: 'plugin',
      uri: 'gateway-provider:/ci',
      enabled: true,
      load: { kind: 'loaded' },
    });
    room.desk.dispatch(room.uri, { type: 'session/customizationToggled', id: entry?.id ?? '', enabled: false });
    await settle();
    expect(room.puppet.turn.tools().map(({ name }) => name)).not.toContain('ci_status');
  });
});

describe('a stranger', () => {
  it('[GW-034] [GW-035] [GW-037] pairs with a code that only people see', async () => {
    const room = await openPuppetRoom();
    const provider = TestProvider.connect(room.host, 'network');
    provider.send({ type: 'auth', mode: 'pair', name: 'browser' });
    await provider.next('auth.pairing');
    await settle();
    const code = await shownCode(room.desk, room.uri);
    provider.send({ type: 'auth.confirm', code });
    const sessions = await provider.next('sessions');
    expect(sessions.token).toMatch(/^ext-tok-/);
    expect(JSON.stringify(provider.received)).not.toContain(code);
    await provider.hello({ name: 'browser', tools: [TOOL] });
    expect((await stateOf(room.desk, room.uri)).inputRequests ?? []).toEqual([]);
  });
});
