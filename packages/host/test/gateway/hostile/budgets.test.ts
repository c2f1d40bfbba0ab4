/** What a provider may change, and how often, also when it comes back under the same name over and over. */

import { RateLimit } from '@atrium/core/util/rate-limit.js';
import { PUSHES_PER_SECOND_MAX } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { TRANSFORMS_MAX_CHARACTERS, TRANSFORMS_PER_PROVIDER_MAX } from '../../../src/gateway/hooks/transforms.js';
import { CONNECTIONS_PER_PAIRING_MAX } from '../../../src/gateway/provider-auth.js';
import { TOOL_TIMEOUT_MAX_MS } from '../../../src/gateway/tools/calls.js';
import { TOOLS_MAX_CHARACTERS } from '../../../src/gateway/tools/registration.js';
import { UPDATES_PER_MINUTE_MAX } from '../../../src/gateway/updates.js';
import { FakeClock } from '../../support/fake-clock.js';
import { pair, sessionId, withToken } from '../../support/provider-door.js';
import { call, openProviderRoom, refusalTo, tool, updated } from '../../support/provider-room.js';
import { openRoom, stateOf } from '../../support/session-room.js';
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

describe('the budget of pushes', () => {
  it('[GW-178] is not renewed by a new connection, a rebind or another instance', async () => {
    const room = await openRoom();
    const first = TestProvider.connect(room.host);
    const { reconnectToken } = await first.hello();
    expect(await refused(first, PUSHES_PER_SECOND_MAX)).toBe(0);
    await first.hello();
    expect(await refused(first, 1)).toBe(1);
    first.drop();
    await settle();
    const second = TestProvider.connect(room.host);
    await second.hello({ reconnectToken });
    expect(await refused(second, 1)).toBe(1);
    second.send({ type: 'goodbye' });
    await second.untilClosed();
    const third = await TestProvider.bound(room.host, { instance: 'other' });
    expect(await refused(third, 1)).toBe(1);
    await room.clock.advance(1_000);
    expect(await refused(third, PUSHES_PER_SECOND_MAX + 2)).toBe(2);
  });

  it('[GW-178] is one for each session, and a broadcast counts in all of them', async () => {
    const room = await openRoom();
    const other = sessionId(await room.desk.session());
    const provider = await TestProvider.bound(room.host, { session: 'all' });
    expect(await refused(provider, PUSHES_PER_SECOND_MAX, { ...PUSH, sessionId: sessionId(room.uri) })).toBe(0);
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
    const room = await openRoom();
    const first = await TestProvider.bound(room.host, { instance: 'a' });
    for (let count = 0; count < UPDATES_PER_MINUTE_MAX; count++) await updated(first, update);
    const second = await TestProvider.bound(room.host, { instance: 'b' });
    for (const provider of [first, second]) {
      provider.send({ ...update, requestId: 'more' });
      expect(await provider.next('error')).toMatchObject({ code: 'RATE_LIMITED', requestId: 'more' });
    }
    await room.clock.advance(60_000);
    await updated(second, update);
  });

  it('[GW-101] bring no more tools, one after the other, than one message could', async () => {
    const room = await openProviderRoom();
    const long = (name: string) => tool(name, { description: 'x'.repeat(TOOLS_MAX_CHARACTERS / 2) });
    await updated(room.provider, { type: 'tools.update', tools: [long('a')] });
    const more = { type: 'tools.update', requestId: 'r', tools: [long('b')] };
    expect(await refusalTo(room.provider, more)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect((await stateOf(room.desk, room.uri)).serverTools?.map(({ name }) => name)).toEqual(['a']);
    await updated(room.provider, { type: 'tools.update', tools: [long('b')], remove: ['a'] });
  });

  it('bring no more text for the prompt, one after the other, than one message could', async () => {
    const room = await openProviderRoom();
    const append = { action: 'append', content: 'x'.repeat(TRANSFORMS_MAX_CHARACTERS / 2) };
    await updated(room.provider, { type: 'hooks.update', transforms: { tone: append } });
    const more = { type: 'hooks.update', requestId: 'r', transforms: { intro: append } };
    expect(await refusalTo(room.provider, more)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    await updated(room.provider, { type: 'hooks.update', transforms: { tone: null, intro: append } });
  });

  it('have no other limits than a hello', async () => {
    const { host } = await openRoom();
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
    const room = await openProviderRoom({ tools: [tool('slow', { timeout: Number.MAX_SAFE_INTEGER })] });
    const outcome = call(room, 'slow');
    await room.provider.next('tool.call');
    await room.clock.advance(TOOL_TIMEOUT_MAX_MS);
    expect(await room.provider.next('tool.cancel')).toMatchObject({ reason: 'timeout' });
    expect(await outcome).toMatchObject({ success: false, text: 'no answer in 3600 s' });
  });
});

describe('connections', () => {
  it('[GW-014] of one pairing are half of all at most, and a free place can be taken', async () => {
    const room = await openRoom();
    const { provider, token } = await pair(room);
    await provider.hello({ name: 'browser' });
    const others = Array.from({ length: CONNECTIONS_PER_PAIRING_MAX - 1 }, () => withToken(room.host, token));
    const [first] = await Promise.all(others);
    const late = TestProvider.connect(room.host, 'network');
    expect(await refusalTo(late, { type: 'auth', token })).toMatchObject({ code: 'RATE_LIMITED' });
    // Those who are in may show it again, and whoever has another token comes in.
    provider.send({ type: 'auth', token });
    await provider.next('sessions');
    await pair(room);
    first?.drop();
    await settle();
    late.send({ type: 'auth', token });
    await late.next('sessions');
  });
});
