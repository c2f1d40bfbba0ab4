import { turnUp } from '@atrium/protocol/dialects';
import { describe, expect, it } from 'vitest';
import { exchangeOf } from '../../../../agents/src/model/history.js';
import { openFixture, openPuppetFixture, stateOf, turnStarted } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const PUPPET = { session: { provider: 'puppet' } };

/** The error that answers a message, or undefined when none came. */
async function errorAfter(provider: TestProvider, message: object): Promise<string | undefined> {
  const before = provider.of('error').length;
  provider.send(message);
  await settle();
  return provider.of('error')[before]?.code;
}

async function history(provider: TestProvider, query: object): Promise<Record<string, { event: string }[]>> {
  provider.send({ type: 'stream.query', queryId: 'q', last: 100, ...query });
  return (await provider.next('stream.history')).streams;
}

describe('a push', () => {
  it('[GW-173] needs a level and a text', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    for (const bad of [
      { event: 'x' },
      { level: 'shout', event: 'x' },
      { level: 'keep' },
      { level: 'keep', prompt: 'x' },
    ])
      expect(await errorAfter(provider, { type: 'push', ...bad })).toBe('INVALID_JSON');
    expect(await errorAfter(provider, { type: 'push', level: 'keep', event: 'x' })).toBeUndefined();
  });

  it('[GW-174] [UNI-022] only stores what is to be kept', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    const before = await stateOf(fixture.client, fixture.uri);
    provider.send({ type: 'push', level: 'keep', event: 'built', metadata: { run: 7 } });
    await settle();
    await fixture.clock.advance(1_000);
    expect(await stateOf(fixture.client, fixture.uri)).toEqual(before);
    expect(fixture.agent.turns).toEqual([]);
  });

  it('[GW-176] [GW-181] [GW-186] stands in the stream of its provider, with its metadata', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'push', level: 'keep', event: 'one', metadata: { run: 7 } });
    expect(await history(provider, { streams: ['ci'] })).toMatchObject({
      'ci@ci': [{ event: 'one', metadata: { run: 7 } }],
    });
  });

  it('[GW-174] [UNI-060] shows in the running turn and starts none', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'push', level: 'surface', event: 'tests are green' });
    await settle();
    const { activeTurn } = await stateOf(fixture.client, fixture.uri);
    expect(activeTurn?.responseParts).toEqual([{ kind: 'systemNotification', content: '※ ci: tests are green' }]);
    expect(fixture.agent.turns).toHaveLength(1);
    expect(await history(provider, { streams: ['ci'] })).toMatchObject({ 'ci@ci': [{ event: 'tests are green' }] });
  });

  it('[UNI-060] is for people: no model reads it, then or later', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'push', level: 'surface', event: 'tests are green' });
    await settle();
    fixture.puppet.turn.text('Fine.');
    fixture.puppet.finish();
    await settle();
    const [turn] = (await stateOf(fixture.client, fixture.uri)).turns;
    expect(JSON.stringify(turn)).toContain('tests are green');
    const heard = JSON.stringify(turn && exchangeOf(turnUp(turn)));
    expect(heard).toContain('Fine.');
    expect(heard).not.toContain('tests are green');
  });

  it('[UNI-061] shows an idle session by its activity, and again at the head of the next turn', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'push', level: 'surface', event: 'deployed' });
    await settle();
    const idle = await stateOf(fixture.client, fixture.uri);
    expect(idle.summary.activity).toBe('※ ci: deployed');
    expect(idle._meta?.gateway).toMatchObject({ timeline: ['※ ci: deployed'] });
    expect(idle.turns).toEqual([]);
    fixture.client.dispatch(fixture.uri, turnStarted('t1'));
    await fixture.agent.turn(0);
    const { activeTurn } = await stateOf(fixture.client, fixture.uri);
    expect(activeTurn?.responseParts).toEqual([{ kind: 'systemNotification', content: '※ ci: deployed' }]);
  });

  it('[UNI-062] changes an idle session at most twice a second, and loses no note', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    const changes = () =>
      fixture.client
        .envelopes(fixture.uri)
        .filter(({ action }) => (action as { type: string }).type === 'session/metaChanged');
    const before = changes().length;
    for (let count = 0; count < 8; count += 1)
      provider.send({ type: 'push', level: 'surface', event: `note ${count}` });
    await settle();
    await fixture.clock.advance(900);
    expect(changes().length - before).toBeLessThanOrEqual(2);
    await fixture.clock.advance(1_000);
    const { _meta } = await stateOf(fixture.client, fixture.uri);
    expect(_meta?.gateway).toMatchObject({ timeline: expect.objectContaining({ length: 8 }) });
  });

  it('[GW-177] of a provider that is everywhere says where it goes, or goes everywhere', async () => {
    const fixture = await openFixture(PUPPET);
    const second = await fixture.client.session('ahp-session:/second', { provider: 'puppet' });
    const provider = await TestProvider.bound(fixture.host, { session: 'all' });
    expect(await errorAfter(provider, { type: 'push', level: 'keep', event: 'x' })).toBe('INVALID_SESSION');
    expect(await errorAfter(provider, { type: 'push', level: 'surface', event: 'x', broadcast: true })).toBeUndefined();
    for (const uri of [fixture.uri, second])
      expect((await stateOf(fixture.client, uri)).summary.activity).toBe('※ ci: x');
  });

  it('[GW-178] [GW-216] is one of ten in a second, in each session by itself', async () => {
    const fixture = await openFixture(PUPPET);
    await fixture.client.session('ahp-session:/second', { provider: 'puppet' });
    const provider = await TestProvider.bound(fixture.host, { session: 'all' });
    const first = fixture.uri.split('/').at(-1);
    const push = { type: 'push', level: 'keep', event: 'x' };
    for (let count = 0; count < 10; count += 1)
      expect(await errorAfter(provider, { ...push, sessionId: first })).toBeUndefined();
    expect(await errorAfter(provider, { ...push, sessionId: first })).toBe('RATE_LIMITED');
    expect(await errorAfter(provider, { ...push, sessionId: 'second' })).toBeUndefined();
    await fixture.clock.advance(1_000);
    expect(await errorAfter(provider, { ...push, sessionId: first })).toBeUndefined();
    expect((await history(provider, { streams: ['ci'], sessionId: first }))['ci@ci']).toHaveLength(11);
  });
});

describe('a stream', () => {
  it('[GW-182] [GW-184] [GW-185] [GW-216] keeps the last 200 events and gives at most 100, newest first', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    for (let count = 0; count < 250; count += 1) {
      provider.send({ type: 'push', level: 'keep', event: `${count}` });
      if (count % 10 < 9) continue;
      await settle();
      await fixture.clock.advance(1_000);
    }
    const events = (await history(provider, { streams: ['ci'], last: 500 }))['ci@ci'] ?? [];
    expect(events).toHaveLength(100);
    expect([events[0]?.event, events.at(-1)?.event]).toEqual(['249', '150']);
  });

  it('[GW-183] [GW-216] is one of twenty', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    const push = async (stream: string) => {
      await fixture.clock.advance(200);
      return errorAfter(provider, { type: 'push', level: 'keep', event: 'x', stream });
    };
    for (let count = 0; count < 20; count += 1) expect(await push(`s${count}`)).toBeUndefined();
    expect(await push('s20')).toBe('PAYLOAD_TOO_LARGE');
    expect(await push('s0')).toBeUndefined();
  });

  it('[GW-051] [GW-052] [GW-188] of another provider is read by trusted ones only', async () => {
    const fixture = await openFixture(PUPPET);
    const other = await TestProvider.bound(fixture.host, { name: 'other' });
    other.send({ type: 'push', level: 'keep', event: 'secret' });
    const provider = await TestProvider.bound(fixture.host);
    expect(await history(provider, { streams: ['other@other'] })).toMatchObject({
      'other@other': [{ event: 'secret' }],
    });
  });

  it('[GW-187] [GW-211] of a provider that is everywhere is asked for by session', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host, { session: 'all' });
    const query = { type: 'stream.query', queryId: 'q', streams: ['ci'], last: 1 };
    expect(await errorAfter(provider, query)).toBe('INVALID_SESSION');
    expect(await errorAfter(provider, { ...query, sessionId: 'nowhere' })).toBe('INVALID_SESSION');
  });
});

describe('a filter', () => {
  const RULES = [
    { match: 'noise', outcome: 'drop' },
    { match: 'warn', outcome: 'surface' },
    { match: 'fail', outcome: 'inject' },
  ];

  it('[GW-189] [GW-191] sends events where its first matching rule says, and the rest where they wanted', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'filter.set', requestId: 'f1', stream: 'ci', rules: RULES });
    expect(await provider.next('ack')).toMatchObject({ requestId: 'f1', revision: 1 });
    for (const event of ['noise that would warn', 'a warning', 'plain'])
      provider.send({ type: 'push', level: 'keep', event });
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).summary.activity).toBe('※ ci: a warning');
    expect((await history(provider, { streams: ['ci'] }))['ci@ci']?.map(({ event }) => event)).toEqual([
      'plain',
      'a warning',
    ]);
    provider.send({ type: 'push', level: 'keep', event: 'tests fail' });
    expect((await fixture.agent.turn(0)).turn.message.text).toBe('[ci/ci] tests fail');
  });

  it('[GW-189] [GW-191] takes back what a push wanted to be', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    const rules = [
      { match: 'noise', outcome: 'drop' },
      { match: '.', outcome: 'keep' },
    ];
    provider.send({ type: 'filter.set', stream: 'ci', rules });
    await provider.next('ack');
    for (const level of ['inject', 'surface'])
      for (const event of ['noise', 'news']) provider.send({ type: 'push', level, event: `${level} ${event}` });
    await settle();
    await fixture.clock.advance(1_000);
    const events = (await history(provider, { streams: ['ci'] }))['ci@ci'] ?? [];
    expect(events.map(({ event }) => event)).toEqual(['surface news', 'inject news']);
    expect(fixture.agent.turns).toEqual([]);
    expect((await stateOf(fixture.client, fixture.uri)).summary.activity).toBeUndefined();
  });

  it('[GW-191] is gone when its rules are', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'filter.set', stream: 'ci', rules: RULES });
    await provider.next('ack');
    provider.send({ type: 'filter.set', stream: 'ci', rules: [] });
    await provider.next('ack');
    provider.send({ type: 'push', level: 'keep', event: 'noise' });
    expect((await history(provider, { streams: ['ci'] }))['ci@ci']).toHaveLength(1);
  });

  it('[GW-190] [GW-149] is for own streams, with patterns that are patterns', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    const filter = { type: 'filter.set', requestId: 'f', rules: RULES };
    expect(await errorAfter(provider, { ...filter, stream: 'x@other' })).toBe('UNAUTHORIZED');
    expect(await errorAfter(provider, { ...filter, stream: 'ci', rules: [{ match: '(', outcome: 'drop' }] })).toBe(
      'INVALID_JSON',
    );
  });

  it('[GW-192] [GW-147] [GW-148] whose pattern never ends does not apply, and holds nobody up', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'filter.set', stream: 'ci', rules: [{ match: '(a+)+$', outcome: 'drop' }] });
    await provider.next('ack');
    // Left to itself the pattern would run for hours.
    provider.send({ type: 'push', level: 'keep', event: `${'a'.repeat(40)}b` });
    expect((await history(provider, { streams: ['ci'] }))['ci@ci']).toHaveLength(1);
  });

  it('[GW-193] [GW-180] [REL-046] raises events to turns only as often as a push may', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    provider.send({ type: 'filter.set', stream: 'ci', rules: [{ match: '', outcome: 'inject' }] });
    await provider.next('ack');
    for (let count = 0; count < 3; count += 1) {
      provider.send({ type: 'push', level: 'keep', event: `${count}` });
      (await fixture.agent.turn(count)).finish();
      await settle();
    }
    expect(await errorAfter(provider, { type: 'push', level: 'keep', event: 'again' })).toBe('RATE_LIMITED');
    expect(fixture.agent.turns).toHaveLength(3);
  });
});
