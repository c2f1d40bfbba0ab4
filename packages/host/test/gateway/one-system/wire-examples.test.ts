/** What a client of the newer wire sees of providers, action by action: names, members and order. */

import type { HostTool } from '@atrium/core/contracts/tool.js';
import { describe, expect, it } from 'vitest';
import { tool, updated } from '../../support/provider-fixture.js';
import { type Envelope, envelopesOf, type Fixture, openPuppetFixture } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const SHELL: HostTool = {
  definition: { name: 'shell' },
  displayName: 'Shell',
  invocationMessage: (input) => (input as { command: string }).command,
  run: async () => ({ success: true, pastTenseMessage: 'Ran it', content: [] }),
};
const CALL = { turnId: 't1', toolCallId: 'c1' };
const ORIGIN = { provider: 'ci-watcher', stream: 'ci-watch' };

/** All actions from the first one of a type on, without those that describe providers. */
function from({ client, uri }: Fixture, type: string): Envelope[] {
  const all = envelopesOf(client, uri).filter(({ action }) => !/metaChanged|customization/.test(action.type));
  return all.slice(all.findIndex(({ action }) => action.type === type));
}

describe('on the wire', () => {
  it('[UNI-001] [UNI-042] [UNI-043] [UNI-075] a call that a gate denies', async () => {
    const fixture = await openPuppetFixture({ tools: [SHELL] });
    const rule = { match: { tool: 'shell' }, action: 'gate', gateId: 'ci' };
    const provider = await TestProvider.bound(fixture.host, { name: 'ci-watcher', hooks: { onPreToolUse: [rule] } });
    const toolInput = '{"command":"git push origin main"}';
    const call = fixture.puppet.turn.beginCall({ id: 'c1', name: 'shell' });
    call.delta(toolInput);
    const outcome = call.run(toolInput);
    const { callId } = await provider.next('gate.check');
    await settle();
    const reason = 'CI is failing on this branch.';
    provider.send({ type: 'gate.result', gateId: 'ci', callId, decision: 'deny', reason });
    expect(await outcome).toEqual({ kind: 'denied', reason: `ci-watcher: ${reason}` });
    const envelopes = from(fixture, 'session/toolCallStart');
    expect(envelopes.map(({ action }) => action)).toEqual([
      { type: 'session/toolCallStart', ...CALL, toolName: 'shell', displayName: 'Shell' },
      { type: 'session/toolCallDelta', ...CALL, content: toolInput },
      { type: 'session/toolCallDelta', ...CALL, content: '', invocationMessage: 'Waiting for ci-watcher' },
      { type: 'session/toolCallReady', ...CALL, invocationMessage: 'git push origin main', toolInput },
      {
        type: 'session/toolCallConfirmed',
        ...CALL,
        approved: false,
        reason: 'denied',
        reasonMessage: `ci-watcher: ${reason}`,
      },
    ]);
    expect(envelopes.filter((envelope) => 'origin' in envelope)).toEqual([]);
  });

  it('[UNI-014] [UNI-015] [UNI-074] a tool of a provider, with its progress', async () => {
    const fixture = await openPuppetFixture();
    const hello = { name: 'browser', instance: 'tab-a3f8', tools: [tool('browser_screenshot')] };
    const provider = await TestProvider.bound(fixture.host, hello);
    const outcome = fixture.puppet.turn.callTool({ id: 'c1', name: 'browser_screenshot', input: {} });
    const { id } = await provider.next('tool.call');
    provider.send({ type: 'tool.progress', id, message: 'Capturing… 60%' });
    await settle();
    const data = Buffer.from('not really a picture').toString('base64');
    provider.send({ type: 'tool.result', id, data: `data:image/jpeg;base64,${data}` });
    await outcome;
    const [start, ...rest] = from(fixture, 'session/toolCallStart').map(({ action }) => action);
    expect(start).toEqual({
      type: 'session/toolCallStart',
      ...CALL,
      toolName: 'browser_screenshot',
      displayName: 'browser: screenshot',
      _meta: { gateway: { provider: 'browser', instance: 'tab-a3f8' } },
    });
    expect(rest).toMatchObject([
      { type: 'session/toolCallReady', ...CALL, confirmed: 'not-needed', toolInput: '{}' },
      { type: 'session/toolCallContentChanged', ...CALL, content: [{ type: 'text', text: 'Capturing… 60%' }] },
      {
        type: 'session/toolCallComplete',
        ...CALL,
        result: { success: true, content: [{ type: 'embeddedResource', data, contentType: 'image/jpeg' }] },
      },
    ]);
    expect(rest).toHaveLength(3);
  });

  it('[UNI-001] [UNI-004] [UNI-049] [UNI-056] [UNI-080] an inject while a turn of a person runs', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { name: 'ci-watcher' });
    provider.send({ type: 'push', level: 'inject', stream: 'ci-watch', event: 'CI failed on test/auth.spec.ts' });
    await settle();
    fixture.puppet.finish();
    await fixture.agent.turn(1);
    await settle();
    const envelopes = from(fixture, 'session/pendingMessageSet');
    const userMessage = {
      text: '[ci-watcher/ci-watch] CI failed on test/auth.spec.ts',
      _meta: { gateway: ORIGIN },
    };
    const id = envelopes[0]?.action.id;
    expect(id).toMatch(/^gw-/);
    expect(envelopes.map(({ action }) => action)).toEqual([
      { type: 'session/pendingMessageSet', kind: 'queued', id, userMessage },
      { type: 'session/turnComplete', turnId: 't1' },
      { type: 'session/pendingMessageRemoved', kind: 'queued', id },
      { type: 'session/turnStarted', turnId: expect.any(String), userMessage, queuedMessageId: id },
    ]);
    expect(envelopes.filter((envelope) => 'origin' in envelope)).toEqual([]);
  });

  it('[UNI-001] nothing that a provider causes has an origin, and everything else does', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host, { name: 'ci-watcher', tools: [tool('a')] });
    await updated(provider, { type: 'tools.update', tools: [tool('b')] });
    provider.send({ type: 'push', level: 'surface', event: 'green' });
    provider.send({ type: 'goodbye' });
    await provider.untilClosed();
    await settle();
    const envelopes = envelopesOf(fixture.client, fixture.uri);
    const own = envelopes.filter(({ origin }) => origin).map(({ action }) => action.type);
    expect(own).toEqual(['session/turnStarted']);
    const caused = new Set(envelopes.filter(({ origin }) => !origin).map(({ action }) => action.type));
    for (const type of ['serverToolsChanged', 'customizationUpdated', 'customizationRemoved', 'responsePart'])
      expect(caused).toContain(`session/${type}`);
  });
});
