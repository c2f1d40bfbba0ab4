/** Nothing that a provider pushes grows without end, and one session that is full is not all of them. */
import { describe, expect, it } from 'vitest';
import { type GatewaySession, gatewayMeta } from '../../../src/gateway/gateway-session.js';
import { RULES_PER_FILTER_MAX } from '../../../src/gateway/pushes/pushes.js';
import { STREAM_MAX_CHARACTERS, STREAM_NAME_MAX_CHARACTERS, Streams } from '../../../src/gateway/pushes/streams.js';
import { ACTIVITY_MAX_CHARACTERS, NOTE_MAX_CHARACTERS, TIMELINE_MAX } from '../../../src/gateway/pushes/timeline.js';
import { pair } from '../../support/gateway-connections.js';
import { refusalTo } from '../../support/provider-fixture.js';
import { type Fixture, openFixture, openPuppetFixture, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const PUPPET = { session: { provider: 'puppet' } };

async function latest(provider: TestProvider, last = 100, stream = 'ci') {
  provider.send({ type: 'stream.query', queryId: 'q', streams: [stream], last });
  const { streams } = await provider.next('stream.history');
  return streams[stream.includes('@') ? stream : `${stream}@ci`] ?? [];
}

/** Ten a second, until all are pushed. */
async function pushAll({ clock }: Fixture, provider: TestProvider, events: readonly object[]): Promise<void> {
  for (const [index, event] of events.entries()) {
    provider.send({ type: 'push', level: 'keep', ...event });
    if (index % 10 < 9) continue;
    await settle();
    await clock.advance(1_000);
  }
  await settle();
}

describe('a stream', () => {
  it('[GW-182] keeps the last 200 events', () => {
    const streams = new Streams();
    const [session, name] = [{} as GatewaySession, { provider: 'ci', stream: 'ci' }];
    const owner = { name: 'ci', trust: 'internal' } as const;
    for (let count = 0; count < 250; count += 1) streams.store(session, owner, 'ci', { ts: '', event: `${count}` });
    expect(streams.sizeOf(session, name)).toBe(200);
    expect(streams.latest(session, name, 1)).toMatchObject([{ event: '249' }]);
  });

  it('[GW-182] keeps of large events only as many as fit', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    const large = 'x'.repeat(STREAM_MAX_CHARACTERS / 4);
    await pushAll(
      fixture,
      provider,
      Array.from({ length: 8 }, (_, index) => ({ event: `${index}${large}` })),
    );
    expect((await latest(provider)).map(({ event }) => event[0])).toEqual(['7', '6', '5']);
    const whole = `whole ${'y'.repeat(STREAM_MAX_CHARACTERS)}`;
    await pushAll(fixture, provider, [{ event: whole }]);
    expect((await latest(provider)).map(({ event }) => event)).toEqual([whole]);
  });

  it('has a name that can be repeated', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    const stream = 's'.repeat(STREAM_NAME_MAX_CHARACTERS + 1);
    const push = { type: 'push', level: 'keep', event: 'x' };
    expect((await refusalTo(provider, { ...push, stream })).code).toBe('PAYLOAD_TOO_LARGE');
    const filter = { type: 'filter.set', requestId: 'f', rules: [{ match: 'x', outcome: 'drop' }] };
    expect((await refusalTo(provider, { ...filter, stream })).code).toBe('PAYLOAD_TOO_LARGE');
    const streams = Array.from({ length: 101 }, () => 'ci');
    expect((await refusalTo(provider, { type: 'stream.query', queryId: 'q', streams, last: 1 })).code).toBe(
      'PAYLOAD_TOO_LARGE',
    );
  });

  it('[GW-188] [GW-052] of another provider is refused to a stranger, together with all else that was asked', async () => {
    const fixture = await openFixture(PUPPET);
    const { provider } = await pair(fixture);
    await provider.hello({ name: 'browser' });
    provider.send({ type: 'push', level: 'keep', event: 'mine' });
    const query = { type: 'stream.query', queryId: 'q', last: 1 };
    expect((await refusalTo(provider, { ...query, streams: ['browser', 'ci@ci'] })).code).toBe('UNAUTHORIZED');
    await settle();
    expect(provider.of('stream.history')).toEqual([]);
    provider.send({ ...query, streams: ['browser'] });
    expect((await provider.next('stream.history')).streams['browser@browser']).toMatchObject([{ event: 'mine' }]);
  });
});

describe('a stream whose provider is gone', () => {
  it('[GW-052] [GW-188] is not for a stranger who takes its name', async () => {
    const fixture = await openFixture(PUPPET);
    const trusted = await TestProvider.bound(fixture.host);
    trusted.send({ type: 'push', level: 'keep', event: 'secret' });
    trusted.send({ type: 'goodbye' });
    await trusted.untilClosed();
    const watcher = await TestProvider.bound(fixture.host, { name: 'watcher' });
    expect(await latest(watcher, 1, 'ci@ci')).toMatchObject([{ event: 'secret' }]);
    const { provider } = await pair(fixture);
    await provider.hello({ name: 'ci' });
    expect(await latest(provider)).toEqual([]);
    provider.send({ type: 'push', level: 'keep', event: 'mine' });
    expect((await latest(provider)).map(({ event }) => event)).toEqual(['mine']);
  });

  it('is still there when the same one comes again', async () => {
    const fixture = await openFixture(PUPPET);
    const first = await TestProvider.bound(fixture.host);
    first.send({ type: 'push', level: 'keep', event: 'before' });
    first.send({ type: 'goodbye' });
    await first.untilClosed();
    expect(await latest(await TestProvider.bound(fixture.host))).toMatchObject([{ event: 'before' }]);
  });
});

describe('a filter', () => {
  it('is one of twenty, and can be changed and taken away when there are twenty', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    const rules = [{ match: 'x', outcome: 'drop' }];
    const set = async (stream: string, given: readonly object[] = rules) => {
      provider.send({ type: 'filter.set', requestId: stream, stream, rules: given });
      await settle();
      return provider.of('error').length;
    };
    for (let count = 0; count < 20; count += 1) expect(await set(`s${count}`)).toBe(0);
    expect(await set('s20')).toBe(1);
    expect(provider.of('error')[0]?.code).toBe('PAYLOAD_TOO_LARGE');
    expect(await set('s3')).toBe(1);
    expect(await set('s4', [])).toBe(1);
    expect(await set('s20')).toBe(1);
    expect(await set('s5', Array(RULES_PER_FILTER_MAX + 1).fill(rules[0]))).toBe(2);
  });
});

describe('a broadcast', () => {
  it('[GW-177] [GW-178] reaches the other sessions though one is full, and its provider hears of that one', async () => {
    const fixture = await openFixture(PUPPET);
    const second = await fixture.client.session('ahp-session:/second', { provider: 'puppet' });
    const provider = await TestProvider.bound(fixture.host, { session: 'all' });
    const sessionId = fixture.uri.split('/').at(-1);
    for (let count = 0; count < 10; count += 1) provider.send({ type: 'push', level: 'keep', event: 'x', sessionId });
    await settle();
    provider.send({ type: 'push', level: 'surface', event: 'to all', broadcast: true });
    expect(await provider.next('error')).toMatchObject({ code: 'RATE_LIMITED', sessionId });
    expect((await stateOf(fixture.client, second)).summary.activity).toBe('※ ci: to all');
    expect((await stateOf(fixture.client, fixture.uri)).summary.activity).toBeUndefined();
  });
});

describe('notes', () => {
  it('[UNI-061] are short in a list of sessions, bounded in the timeline, and the last fifty are kept', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host);
    const events = Array.from({ length: 60 }, (_, index) => ({ level: 'surface', event: `note ${index}` }));
    await pushAll(fixture, provider, events);
    provider.send({ type: 'push', level: 'surface', event: `a\nb ${'c'.repeat(NOTE_MAX_CHARACTERS)}` });
    await settle();
    await fixture.clock.advance(1_000);
    const state = await stateOf(fixture.client, fixture.uri);
    const { timeline = [] } = gatewayMeta(state);
    const { summary } = state;
    expect(timeline).toHaveLength(TIMELINE_MAX);
    expect(timeline[0]).toBe('※ ci: note 11');
    expect(timeline.at(-1)?.length).toBeLessThan(NOTE_MAX_CHARACTERS + 10);
    expect(summary.activity).toMatch(/^※ ci: a b c+…$/);
    expect(summary.activity?.length).toBe(ACTIVITY_MAX_CHARACTERS);
  });

  it('[UNI-062] change a running turn at most twice a second, and none is lost', async () => {
    const fixture = await openPuppetFixture();
    const provider = await TestProvider.bound(fixture.host);
    await settle();
    const count = () => fixture.client.types(fixture.uri).length;
    const before = count();
    for (let index = 0; index < 9; index += 1)
      provider.send({ type: 'push', level: 'surface', event: `note ${index}` });
    await settle();
    await fixture.clock.advance(999);
    expect(count() - before).toBe(2);
    const { activeTurn } = await stateOf(fixture.client, fixture.uri);
    const text = (activeTurn?.responseParts ?? []).flatMap((part) => ('content' in part ? String(part.content) : []));
    expect(text.join('\n').split('\n')).toEqual(Array.from({ length: 9 }, (_, index) => `※ ci: note ${index}`));
  });

  it('[UNI-061] leave the rest of the metadata alone, and stand once at the head of the next turn', async () => {
    const fixture = await openFixture(PUPPET);
    const provider = await TestProvider.bound(fixture.host, { metadata: { window: 1 } });
    await settle();
    const known = (await stateOf(fixture.client, fixture.uri))._meta;
    for (const event of ['one', 'two']) provider.send({ type: 'push', level: 'surface', event });
    await settle();
    await fixture.clock.advance(1_000);
    const { _meta } = await stateOf(fixture.client, fixture.uri);
    expect(_meta).toEqual({ gateway: { ...(known?.gateway as object), timeline: ['※ ci: one', '※ ci: two'] } });
    for (const index of [0, 1]) {
      fixture.client.dispatch(fixture.uri, {
        type: 'session/turnStarted',
        turnId: `t${index}`,
        userMessage: { text: 'x' },
      });
      (await fixture.agent.turn(index)).finish();
      await settle();
    }
    const { turns } = await stateOf(fixture.client, fixture.uri);
    expect(turns.map(({ responseParts }) => responseParts)).toEqual([
      [{ kind: 'systemNotification', content: '※ ci: one\n※ ci: two' }],
      [],
    ]);
  });
});
