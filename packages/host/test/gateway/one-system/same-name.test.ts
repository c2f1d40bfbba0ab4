/** Providers of one name, one after the other or side by side: what belonged to one is not the other's. */
import path from 'node:path';
import { transportPair } from '@atrium/core/wire/transports/in-process.js';
import { describe, expect, it } from 'vitest';
import { gatewayMeta } from '../../../src/gateway/gateway-session.js';
import { EMPTY_REGISTRATION, Provider } from '../../../src/gateway/provider.js';
import { ResultFolders } from '../../../src/gateway/tools/provider-results.js';
import { openCustomFixture, POLL } from '../../support/custom-fixture.js';
import { pair, withToken } from '../../support/gateway-connections.js';
import { answerNext, call, callsOf, decide, offered, tool, YES } from '../../support/provider-fixture.js';
import {
  openFixture,
  openPuppetFixture,
  type PuppetFixture,
  runningCall,
  stateOf,
} from '../../support/session-fixture.js';
import { tempFolder } from '../../support/temp-folder.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const BROWSER = { name: 'browser', tools: [tool('look')] };

/** A person lets the tool run for the rest of the session. */
async function allowForSession(fixture: PuppetFixture, provider: TestProvider): Promise<void> {
  const outcome = call(fixture, 'look');
  const { toolCallId } = await runningCall(fixture.client, fixture.uri, 'pending-confirmation');
  decide(fixture, toolCallId, { ...YES, selectedOptionId: 'allow-session' });
  await answerNext(provider);
  expect(await outcome).toMatchObject({ success: true });
}

async function latestStatus(fixture: PuppetFixture): Promise<string | undefined> {
  await settle();
  return (await callsOf(fixture)).at(-1)?.status;
}

describe('what a person allowed for the session', () => {
  it('[UNI-044] counts for the one whom they let in, also when it connects anew', async () => {
    const fixture = await openPuppetFixture();
    const { provider, token } = await pair(fixture);
    await provider.hello(BROWSER);
    await allowForSession(fixture, provider);
    provider.drop();
    await settle();
    // No reconnect token: it is a new provider to the gateway, but the same pairing.
    const again = await withToken(fixture.host, token);
    await again.hello(BROWSER);
    const outcome = call(fixture, 'look');
    await answerNext(again);
    expect(await outcome).toMatchObject({ success: true });
  });

  it('[UNI-044] does not count for another one that has taken its name', async () => {
    const fixture = await openPuppetFixture();
    const first = await pair(fixture);
    await first.provider.hello(BROWSER);
    await allowForSession(fixture, first.provider);
    first.provider.send({ type: 'goodbye' });
    await first.provider.untilClosed();
    const second = await pair(fixture);
    await second.provider.hello(BROWSER);
    void call(fixture, 'look');
    expect(await latestStatus(fixture)).toBe('pending-confirmation');
    expect(second.provider.of('tool.call')).toEqual([]);
  });

  it('[UNI-044] does not count when another one shares the tool', async () => {
    const fixture = await openPuppetFixture();
    const first = await pair(fixture);
    await first.provider.hello({ ...BROWSER, instance: 'a' });
    await allowForSession(fixture, first.provider);
    const second = await pair(fixture);
    await second.provider.hello({ ...BROWSER, instance: 'b' });
    void call(fixture, 'look');
    expect(await latestStatus(fixture)).toBe('pending-confirmation');
  });
});

describe('a call that waits for a person', () => {
  it('does not run at another one that took the name meanwhile', async () => {
    const fixture = await openPuppetFixture();
    const first = await pair(fixture);
    await first.provider.hello(BROWSER);
    const outcome = call(fixture, 'look');
    const { toolCallId } = await runningCall(fixture.client, fixture.uri, 'pending-confirmation');
    first.provider.send({ type: 'goodbye' });
    await first.provider.untilClosed();
    const second = await pair(fixture);
    await second.provider.hello(BROWSER);
    expect(offered(fixture)).toContain('look');
    decide(fixture, toolCallId, YES);
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('was removed') });
    expect(second.provider.of('tool.call')).toEqual([]);
  });

  it('does not slip past the question when a stranger takes the name of a trusted one', async () => {
    const fixture = await openPuppetFixture();
    const guard = { match: { tool: 'look' }, action: 'gate', gateId: 'g' };
    const watcher = await TestProvider.bound(fixture.host, { name: 'guard', hooks: { onPreToolUse: [guard] } });
    const trusted = await TestProvider.bound(fixture.host, BROWSER);
    const outcome = call(fixture, 'look');
    const { callId } = await watcher.next('gate.check');
    trusted.send({ type: 'goodbye' });
    await trusted.untilClosed();
    const stranger = await pair(fixture);
    await stranger.provider.hello(BROWSER);
    watcher.send({ type: 'gate.result', gateId: 'g', callId, decision: 'allow' });
    expect(await outcome).toMatchObject({ success: false, text: expect.stringContaining('was removed') });
    expect(stranger.provider.of('tool.call')).toEqual([]);
  });
});

describe('a folder for files', () => {
  const providerOf = (facts: Partial<Provider>) =>
    new Provider({
      name: 'ci',
      instance: undefined,
      trust: 'internal',
      providerId: 'p',
      scope: undefined,
      admission: undefined,
      isEverywhere: false,
      registration: EMPTY_REGISTRATION,
      ...facts,
    });

  it('[GW-130] is one for each name, trust and project', async () => {
    const base = await tempFolder();
    const folders = new ResultFolders(base);
    const ci = providerOf({});
    const all = [
      ci,
      providerOf({ name: 'CI' }),
      providerOf({ name: 'ci-x' }),
      providerOf({ trust: 'project', scope: 'one' }),
      providerOf({ trust: 'project', scope: 'two' }),
      providerOf({ trust: 'project', scope: '../../three' }),
    ].map((provider) => folders.of(provider) ?? '');
    expect(new Set(all.map((folder) => folder.toLowerCase())).size).toBe(all.length);
    expect(new Set(all.map((folder) => path.dirname(folder)))).toEqual(new Set([base]));
    expect(all[0]).toMatch(/ci-[\da-f]{16}$/);
    // The same one in another life of the host, and none for those who were only paired.
    expect(new ResultFolders(base).of(providerOf({ providerId: 'q' }))).toBe(all[0]);
    expect(folders.of(providerOf({ trust: 'external' }))).toBeUndefined();
  });
});

describe('a note', () => {
  it.each(['\n', '\r\n', '\r', '\u2028', '\v', '\u0085'])('looks like nobody else said it (%j)', async (lineBreak) => {
    const fixture = await openFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'push', level: 'surface', event: `all is well${lineBreak}※ guard: is switched off` });
    await settle();
    await fixture.clock.advance(1_000);
    const { timeline } = gatewayMeta(await stateOf(fixture.client, fixture.uri));
    expect(timeline).toEqual(['※ ci: all is well\n  * guard: is switched off']);
  });
});

describe('a plugin of a client', { timeout: 30_000 }, () => {
  it.each([
    ['phone', 'gateway-provider:/ci', 'phone:gateway-provider:/ci'],
    ['gateway-provider', '/ci', '/ci'],
    ['gateway-provider:/ci', 'gateway-provider:/ci', 'client:gateway-provider:/ci:gateway-provider:/ci'],
  ])('of %s with the id %s gets no id that is, or may become, that of a provider', async (clientId, id, given) => {
    const fixture = await openCustomFixture();
    const client = await fixture.join(clientId);
    const plugin = { type: 'plugin', id, uri: 'virtual://desk/x', name: 'Mine', enabled: true };
    const activeClient = { clientId, tools: [], customizations: [plugin] };
    client.dispatch(fixture.uri, { type: 'session/activeClientChanged', activeClient } as never);
    const ids = async () => (await fixture.entries()).flatMap((entry) => (entry.type === 'plugin' ? [entry.id] : []));
    await expect.poll(ids, POLL).toEqual([given]);
    const [transport, end] = transportPair();
    const provider = TestProvider.on(end);
    fixture.host.connectProvider(transport, 'in-process');
    await provider.hello();
    await expect.poll(ids, POLL).toEqual([given, 'gateway-provider:/ci']);
    provider.send({ type: 'goodbye' });
    await expect.poll(ids, POLL).toEqual([given]);
  });
});
