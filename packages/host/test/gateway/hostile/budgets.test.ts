/** What a provider may change, and how often, also when it comes back under the same name over and over. */

import { RateLimit } from '@atrium/core/util/scheduling.js';
import { PUSHES_PER_SECOND_MAX } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { TRANSFORMS_MAX_CHARACTERS, TRANSFORMS_PER_PROVIDER_MAX } from '../../../src/gateway/hooks/transforms.js';
import { CONNECTIONS_PER_PAIRING_MAX } from '../../../src/gateway/provider-auth.js';
import { UPDATES_PER_MINUTE_MAX } from '../../../src/gateway/registration-updates.js';
import { TOOL_TIMEOUT_MAX_MS } from '../../../src/gateway/tools/calls.js';
import { TOOLS_MAX_CHARACTERS } from '../../../src/gateway/tools/registration.js';
import { FakeClock } from '../../support/fake-clock.js';
import { pair, sessionId, withToken } from '../../support/gateway-connections.js';
import { call, openProviderFixture, refusalTo, tool, updated } from '../../support/provider-fixture.js';
import { openFixture, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const PUSH = { type: 'push', level: 'keep', event: 'x' };

/** How many of these pushes are refused. */
async function refused(provider: TestProvider, count: number, push: object = PUSH): Promise<number> {
  const before = provider.of('error').length;
  for (let number = 0; number < count; number++) provider.send(push);
  await settle(20);
  return provider.of('error').length - before;
}

/** Every list of tools has been sent by then. */
const LONG_LIST_MS = 60_000;

describe('the budget of pushes', () => {
  it('[GW-178] is not renewed by a new connection, a rebind or another instance', async () => {
    const fixture = await openFixture();
    const first = TestProvider.connect(fixture.host);
    const { reconnectToken } = await first.hello();
    expect(await refused(first, PUSHES_PER_SECOND_MAX)).toBe(0);
    await first.hello();
    expect(await refused(first, 1)).toBe(1);
    first.drop();
    await settle();
    const second = TestProvider.connect(fixture.host);
    await second.hello({ reconnectToken });
    expect(await refused(second, 1)).toBe(1);
    second.send({ type: 'goodbye' });
    await second.untilClosed();
    const third = await TestProvider.bound(fixture.host, { instance: 'other' });
    expect(await refused(third, 1)).toBe(1);
    await fixture.clock.advance(1_000);
    expect(await refused(third, PUSHES_PER_SECOND_MAX + 2)).toBe(2);
  });

  it('[GW-178] is one for each session, and a broadcast counts in all of them', async () => {
    const fixture = await openFixture();
    const other = sessionId(await fixture.client.session());
    const provider = await TestProvider.bound(fixture.host, { session: 'all' });
    expect(await refused(provider, PUSHES_PER_SECOND_MAX, { ...PUSH, sessionId: sessionId(fixture.uri) })).toBe(0);
    expect(await refused(provider, 1, { ...PUSH, sessionId: other })).toBe(0);
    expect(await refused(provider, 1, { ...PUSH, broadcast: true })).toBe(1);
    expect(await refused(provider, PUSHES_PER_SECOND_MAX - 1, { ...PUSH, sessionId: other })).toBe(1);
  });

  it('keeps nothing of those who have been quiet for a while', async () => {
    const clock = new FakeClock();
    const rates = new RateLimit(clock, 2, 1_000);
    expect([rates.take('a'), rates.take('a'), rates.take('a'), rates.take('b')]).toEqual([true, true, false, true]);
    expect(rates.size).toBe(2);
    await clock.advance(1_000);
    expect(rates.size).toBe(0);
    expect(rates.take('a')).toBe(true);
  });
});

describe('updates', () => {
  it.each([
    { type: 'tools.update', remove: ['nothing'] },
    { type: 'hooks.update', transforms: { tone: null } },
    { type: 'context.update', context: 'c' },
    { type: 'filter.set', stream: 's', rules: [] },
  ])('[GW-209] of the kind $type are so many a minute, whoever has the name', async (update) => {
    const fixture = await openFixture();
    const first = await TestProvider.bound(fixture.host, { instance: 'a' });
    for (let count = 0; count < UPDATES_PER_MINUTE_MAX; count++) await updated(first, update);
    const second = await TestProvider.bound(fixture.host, { instance: 'b' });
    for (const provider of [first, second]) {
      provider.send({ ...update, requestId: 'more' });
      expect(await provider.next('error')).toMatchObject({ code: 'RATE_LIMITED', requestId: 'more' });
    }
    await fixture.clock.advance(60_000);
    await updated(second, update);
  });

  it('[GW-101] bring no more tools, one after the other, than one message could', async () => {
    const fixture = await openProviderFixture();
    const long = (name: string) => tool(name, { description: 'x'.repeat(TOOLS_MAX_CHARACTERS / 2) });
    await updated(fixture.provider, { type: 'tools.update', tools: [long('a')] });
    const more = { type: 'tools.update', requestId: 'r', tools: [long('b')] };
    expect(await refusalTo(fixture.provider, more)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    // A long list is sent when it has stopped changing for a while.
    await fixture.clock.advance(LONG_LIST_MS);
    expect((await stateOf(fixture.client, fixture.uri)).serverTools?.map(({ name }) => name)).toEqual(['a']);
    await updated(fixture.provider, { type: 'tools.update', tools: [long('b')], remove: ['a'] });
  });

  it('bring no more text for the prompt, one after the other, than one message could', async () => {
    const fixture = await openProviderFixture();
    const append = { action: 'append', content: 'x'.repeat(TRANSFORMS_MAX_CHARACTERS / 2) };
    await updated(fixture.provider, { type: 'hooks.update', transforms: { tone: append } });
    const more = { type: 'hooks.update', requestId: 'r', transforms: { intro: append } };
    expect(await refusalTo(fixture.provider, more)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    await updated(fixture.provider, { type: 'hooks.update', transforms: { tone: null, intro: append } });
  });

  it('have no other limits than a hello', async () => {
    const { host } = await openFixture();
    const provider = TestProvider.connect(host);
    const names = Array.from({ length: TRANSFORMS_PER_PROVIDER_MAX + 1 }, (_, index) => `s${index}`);
    const transforms = Object.fromEntries(names.map((name) => [name, { action: 'append', content: 'x' }]));
    const hello = { type: 'hello', name: 'ci', protocolVersion: 2, hooks: { transforms } };
    expect(await refusalTo(provider, hello)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    await provider.hello({ hooks: { transforms: { tone: { action: 'append', content: 'x' } } } });
  });
});

describe('patience', () => {
  it('[GW-120] has an end, however long a tool says that it needs', async () => {
    const fixture = await openProviderFixture({ tools: [tool('slow', { timeout: Number.MAX_SAFE_INTEGER })] });
    const outcome = call(fixture, 'slow');
    await fixture.provider.next('tool.call');
    await fixture.clock.advance(TOOL_TIMEOUT_MAX_MS);
    expect(await fixture.provider.next('tool.cancel')).toMatchObject({ reason: 'timeout' });
    expect(await outcome).toMatchObject({ success: false, text: 'no answer in 3600 s' });
  });
});

describe('connections', () => {
  it('[GW-014] of one pairing are half of all at most, and a free place can be taken', async () => {
    const fixture = await openFixture();
    const { provider, token } = await pair(fixture);
    await provider.hello({ name: 'browser' });
    const others = Array.from({ length: CONNECTIONS_PER_PAIRING_MAX - 1 }, () => withToken(fixture.host, token));
    const [first] = await Promise.all(others);
    const late = TestProvider.connect(fixture.host, 'network');
    expect(await refusalTo(late, { type: 'auth', token })).toMatchObject({ code: 'RATE_LIMITED' });
    // Connected providers may show it again, and one with another token connects.
    provider.send({ type: 'auth', token });
    await provider.next('sessions');
    await pair(fixture);
    first?.drop();
    await settle();
    late.send({ type: 'auth', token });
    await late.next('sessions');
  });
});
