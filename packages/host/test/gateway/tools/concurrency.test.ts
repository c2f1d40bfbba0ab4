import { CANCELLED_SLOT_RELEASE_MS, QUEUED_CALLS_MAX } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { CallQueues } from '../../../src/gateway/tools/calls.js';
import { pair } from '../../support/gateway-connections.js';
import {
  answerNext,
  call,
  callsOf,
  openProviderFixture,
  type ProviderFixture,
  tool,
} from '../../support/provider-fixture.js';
import { openFixture, turnStarted } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const TOOLS = [tool('a', { timeout: 1_000 }), tool('b')];

function limited(scope?: string, max = 1): object {
  return { tools: TOOLS, concurrency: { max, ...(scope && { scope }) } };
}

function numbered(fixture: ProviderFixture, count: number) {
  return Array.from({ length: count }, (_, number) => call(fixture, 'a', { number }));
}

async function sentTo(provider: TestProvider): Promise<unknown[]> {
  await settle();
  return provider.of('tool.call').map(({ args }) => args.number);
}

describe('a provider that takes so many calls at once', () => {
  it('[GW-116] gets any number when it names none, and never more than it names', async () => {
    const free = await openProviderFixture({ tools: TOOLS });
    const many = numbered(free, 30);
    expect(await sentTo(free.provider)).toHaveLength(30);
    for (const { id } of free.provider.of('tool.call')) free.provider.send({ type: 'tool.result', id, data: 1 });
    await Promise.all(many);
    const two = await openProviderFixture(limited('instance', 2));
    void numbered(two, 5);
    expect(await sentTo(two.provider)).toEqual([0, 1]);
  });

  it('[GW-116] counts over an instance unless it says otherwise, over all instances, or over a tool', async () => {
    const expected: [scope: string | undefined, counts: number[]][] = [
      [undefined, [1, 1, 0]],
      ['instance', [1, 1, 0]],
      ['provider', [1, 0, 0]],
      ['tool', [1, 0, 1]],
    ];
    for (const [scope, counts] of expected) {
      const fixture = await openProviderFixture({ ...limited(scope), name: 'p', instance: 'one' });
      const second = await TestProvider.bound(fixture.host, { ...limited(scope), name: 'p', instance: 'two' });
      void call(fixture, 'a', { target: 'one' });
      void call(fixture, 'a', { target: 'two' });
      void call(fixture, 'b', { target: 'two' });
      await settle();
      const sent = (provider: TestProvider, name: string) =>
        provider.of('tool.call').filter((request) => request.tool === name).length;
      expect([sent(fixture.provider, 'a'), sent(second, 'a'), sent(second, 'b')]).toEqual(counts);
    }
  });

  it('[GW-116] [GW-212] stands in no line with one of its name in another session', async () => {
    const fixture = await openFixture({ session: { provider: 'puppet' } });
    const other = await fixture.client.session(undefined, { provider: 'puppet' });
    const [here, there] = [(await pair(fixture)).provider, (await pair({ ...fixture, uri: other })).provider];
    for (const provider of [here, there]) await provider.hello({ name: 'browser', ...limited('provider') });
    for (const [index, uri] of [fixture.uri, other].entries()) {
      fixture.client.dispatch(uri, { type: 'session/configChanged', config: { autoApprove: true } });
      fixture.client.dispatch(uri, turnStarted('t1'));
      const { turn } = await fixture.agent.turn(index);
      turn.callTool({ name: 'a', input: { number: index } }).catch(() => {});
    }
    expect([await sentTo(here), await sentTo(there)]).toEqual([[0], [1]]);
  });

  it('[GW-117] gets the rest in order, one by one', async () => {
    const fixture = await openProviderFixture(limited());
    const outcomes = numbered(fixture, 5);
    for (const number of [0, 1, 2, 3, 4]) {
      expect(await sentTo(fixture.provider)).toEqual([0, 1, 2, 3, 4].slice(0, number + 1));
      await answerNext(fixture.provider, { data: number });
    }
    expect((await Promise.all(outcomes)).map((outcome) => outcome.kind === 'completed' && outcome.text)).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
    ]);
  });

  it('[GW-118] [GW-216] lets ten wait, and the next one fails at once', async () => {
    const fixture = await openProviderFixture(limited());
    const outcomes = numbered(fixture, 1 + QUEUED_CALLS_MAX + 1);
    expect(await outcomes.at(-1)).toMatchObject({ success: false, text: expect.stringContaining('call later') });
    expect((await callsOf(fixture)).at(-1)).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect(await sentTo(fixture.provider)).toEqual([0]);
    for (let number = 0; number <= QUEUED_CALLS_MAX; number++) await answerNext(fixture.provider);
    expect(await Promise.all(outcomes.slice(0, -1))).toHaveLength(1 + QUEUED_CALLS_MAX);
  });

  it('[GW-119] fails those in line when it is lost', async () => {
    const fixture = await openProviderFixture(limited());
    const outcomes = numbered(fixture, 4);
    expect(await sentTo(fixture.provider)).toEqual([0]);
    fixture.provider.drop();
    await Promise.all(outcomes);
    const codes = (await callsOf(fixture)).map((it) => it.status === 'completed' && it.error?.code);
    expect(codes).toEqual(Array.from({ length: 4 }, () => 'DISCONNECTED'));
    expect(fixture.provider.of('tool.call')).toHaveLength(1);
  });

  it('[GW-119] hears nothing more on an old line when it comes back on a new one', async () => {
    const fixture = await openProviderFixture();
    const old = TestProvider.connect(fixture.host);
    const { reconnectToken } = await old.hello({ name: 'other', ...limited() });
    const outcomes = numbered(fixture, 3);
    await old.next('tool.call');
    const back = await TestProvider.bound(fixture.host, { name: 'other', reconnectToken });
    expect(await Promise.all(outcomes)).toMatchObject([{ success: false }, { success: false }, { success: false }]);
    expect([old.of('tool.call').length, back.of('tool.call').length]).toEqual([1, 0]);
  });

  it('[GW-119] never hears of a call that was stopped while it stood in line', async () => {
    const fixture = await openProviderFixture(limited());
    const outcomes = numbered(fixture, 3).map((outcome) => outcome.catch(() => 'stopped'));
    const { id } = await fixture.provider.next('tool.call');
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId: 't1' });
    expect(await Promise.all(outcomes)).toEqual(['stopped', 'stopped', 'stopped']);
    fixture.provider.send({ type: 'tool.result', id, errorCode: 'CANCELLED' });
    await fixture.clock.advance(CANCELLED_SLOT_RELEASE_MS);
    expect(fixture.provider.of('tool.call')).toHaveLength(1);
    expect(fixture.provider.of('tool.cancel')).toEqual([expect.objectContaining({ id })]);
  });

  it('[GW-126] frees the place of a cancelled call when it says so, or after five seconds', async () => {
    const fixture = await openProviderFixture(limited());
    const outcomes = numbered(fixture, 3);
    const { id } = await fixture.provider.next('tool.call');
    await fixture.clock.advance(1_000);
    expect(await outcomes[0]).toMatchObject({ success: false });
    expect(await sentTo(fixture.provider)).toEqual([0]);
    fixture.provider.send({ type: 'tool.result', id, errorCode: 'CANCELLED' });
    expect(await sentTo(fixture.provider)).toEqual([0, 1]);
    await fixture.clock.advance(1_000 + CANCELLED_SLOT_RELEASE_MS - 1);
    expect(await sentTo(fixture.provider)).toEqual([0, 1]);
    await fixture.clock.advance(1);
    expect(await sentTo(fixture.provider)).toEqual([0, 1, 2]);
  });

  it('does not call a tool that was switched off or removed while the call stood in line', async () => {
    const fixture = await openProviderFixture(limited());
    const [first, second] = numbered(fixture, 2);
    const { id } = await fixture.provider.next('tool.call');
    fixture.provider.send({ type: 'tools.update', requestId: 'r', remove: ['a'] });
    await fixture.provider.next('ack');
    fixture.provider.send({ type: 'tool.result', id, data: 1 });
    expect(await first).toMatchObject({ success: true });
    expect(await second).toMatchObject({ success: false, text: 'there is no tool a any more' });
    expect(await sentTo(fixture.provider)).toEqual([0]);
  });

  it('takes as many as it says now, after it has come back', async () => {
    const fixture = await openProviderFixture();
    const provider = TestProvider.connect(fixture.host);
    const { reconnectToken } = await provider.hello({ name: 'other', ...limited() });
    const lost = numbered(fixture, 2);
    await provider.next('tool.call');
    provider.drop();
    await Promise.all(lost);
    const back = await TestProvider.bound(fixture.host, { name: 'other', reconnectToken, concurrency: { max: 3 } });
    void numbered(fixture, 4);
    expect(await sentTo(back)).toEqual([0, 1, 2]);
  });
});

describe('queues', () => {
  it('keep nothing of those who have left', () => {
    const queues = new CallQueues();
    const begun: string[] = [];
    const entrant = (name: string, max: number) => ({ max, begin: () => void begun.push(name) });
    const [one, two, three] = [entrant('one', 1), entrant('two', 2), entrant('three', 1)];
    for (const each of [one, two, three]) expect(queues.enter('line', each)).toBe(true);
    expect(begun).toEqual(['one', 'two']);
    queues.remove('line', one);
    queues.remove('line', one);
    expect(begun).toEqual(['one', 'two']);
    queues.remove('line', two);
    queues.remove('line', three);
    expect(begun).toEqual(['one', 'two', 'three']);
    expect(queues.size).toBe(0);
  });
});
