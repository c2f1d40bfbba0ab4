import type { Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { IDLE_SESSION_MS, TURNS_IN_MEMORY } from '@atrium/core/sessions/limits.js';
import type { SessionState, StateAction, Turn } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { type FailingLog, failingLog } from '../support/failing-log.js';
import { componentsOf } from '../support/host-components.js';
import { SlowLog } from '../support/logs.js';
import {
  answerTo,
  type Fixture,
  openFixture,
  openPuppetFixture,
  refusalOf,
  startHost,
  stateOf,
  turnStarted,
} from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

const TURNS = 130;

/** A session with so many turns, `t0` to `t129`. */
async function longFixture(log: Log = new MemoryLog()): Promise<Fixture> {
  const fixture = await openFixture({ log });
  for (let index = 0; index < TURNS; index++) await fixture.client.turn(fixture.uri, `message ${index}`, `t${index}`);
  return fixture;
}

async function leave({ client, uri, clock }: Fixture): Promise<void> {
  client.send({ method: 'unsubscribe', params: { channel: uri } });
  await settle();
  await clock.advance(IDLE_SESSION_MS);
}

const ids = ({ turns }: { turns: readonly Turn[] }) => turns.map(({ id }) => id);
const numbered = (end: number, start = 0) => Array.from({ length: end - start }, (_, index) => `t${start + index}`);
const truncate = (turnId?: string): StateAction => ({ type: 'session/truncated', ...(turnId && { turnId }) });

describe('a session that nobody uses', () => {
  it('leaves memory after a minute, its agent too, and comes back as it was', async () => {
    const { client, uri, agent, puppet, clock } = await openPuppetFixture();
    puppet.turn.text('kept');
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    const before = await stateOf(client, uri);
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    await clock.advance(IDLE_SESSION_MS - 1);
    expect(agent.closings).toBe(0);
    await clock.advance(1);
    expect(agent.closings).toBe(1);
    expect(await stateOf(client, uri)).toEqual(before);
    client.dispatch(uri, turnStarted('t2'));
    (await agent.turn(1)).finish();
    await client.action(uri, (action) => action.type === 'session/turnComplete' && action.turnId === ('t2' as never));
    expect(agent.openings).toHaveLength(2);
  });

  it('stays while somebody watches, and while a turn runs', async () => {
    const { client, agent, puppet, clock, join } = await openPuppetFixture();
    const phone = await join('phone');
    client.disconnect();
    await clock.advance(IDLE_SESSION_MS * 2);
    phone.disconnect();
    await clock.advance(IDLE_SESSION_MS * 2);
    expect(agent.closings).toBe(0);
    expect(puppet.turn.signal.aborted).toBe(false);
    puppet.finish();
    await settle();
    await clock.advance(IDLE_SESSION_MS);
    expect(agent.closings).toBe(1);
  });

  it('leaves also when it was only looked into, without ever being watched', async () => {
    const { client, uri, clock, host, agent } = await openFixture({ session: { provider: 'puppet' } });
    await leave({ client, uri, clock } as Fixture);
    expect(agent.closings).toBe(1);
    const phone = await host.client('phone');
    await phone.request('fetchTurns', { channel: uri });
    expect(clock.pending).toBeGreaterThan(0);
    expect(await refusalOf(phone, uri, { type: 'session/turnCancelled', turnId: 'x' })).toBeDefined();
    await clock.advance(IDLE_SESSION_MS);
    const timers = clock.pending;
    await clock.advance(IDLE_SESSION_MS);
    expect(clock.pending).toBe(timers);
  });

  it.each(['subscribe', 'initialize', 'reconnect'])(
    'leaves also when its only client left before its %s was answered',
    async (method) => {
      const log = new SlowLog();
      const first = await openFixture({ log, session: { provider: 'puppet' } });
      await first.host.stop();
      const host = await startHost({ log, clock: first.clock, agents: [first.agent] });
      const subscriptions = [first.uri];
      const params = {
        subscribe: { channel: first.uri },
        initialize: {
          channel: ROOT,
          protocolVersions: ['0.3.0'],
          clientId: 'desk',
          initialSubscriptions: subscriptions,
        },
        reconnect: { channel: ROOT, clientId: 'desk', lastSeenServerSeq: log.head, subscriptions },
      }[method];
      const client = method === 'subscribe' ? await host.client('desk') : host.connect();
      const release = log.hold('openChannel');
      client.send({ id: 99, method, params });
      await settle();
      client.disconnect();
      release();
      await settle();
      const parts = componentsOf(host.host);
      const { sessions } = parts;
      expect([parts.subscriptions.isWatched(first.uri), sessions.inMemory.has(first.uri)]).toEqual([false, true]);
      await first.clock.advance(IDLE_SESSION_MS);
      expect(sessions.inMemory.has(first.uri)).toBe(false);
    },
  );

  it('sets one timer, however often it is used', async () => {
    const { client, uri, clock } = await openFixture();
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    const before = clock.pending;
    for (let index = 0; index < 20; index++) {
      await refusalOf(client, uri, { type: 'session/titleChanged', title: `title ${index}` });
    }
    expect(clock.pending).toBe(before);
  });

  it('takes an action that was on its way when it left', async () => {
    const gates = new Map<string, Promise<void>>();
    class SlowLog extends MemoryLog {
      override async clientSeqs(clientId: string, epoch: number, from: number): Promise<number[]> {
        await gates.get(clientId);
        return super.clientSeqs(clientId, epoch, from);
      }
    }
    const fixture = await openFixture({ log: new SlowLog(), session: { provider: 'puppet' } });
    const { uri, agent, host, join } = fixture;
    const phone = await host.client('phone');
    let arrive = () => {};
    gates.set(
      'phone',
      new Promise((resolve) => {
        arrive = resolve;
      }),
    );
    const clientSeq = phone.dispatch(uri, { type: 'session/titleChanged', title: 'just in time' });
    await settle();
    await leave(fixture);
    expect(agent.closings).toBe(1);
    const carol = await join('carol');
    arrive();
    expect((await answerTo(phone, uri, clientSeq)).rejectionReason).toBeUndefined();
    await carol.action(uri, 'session/titleChanged');
    expect((await stateOf(carol, uri)).summary.title).toBe('just in time');
  });

  it('stays when somebody comes to watch while it is being put away', async () => {
    const log = failingLog();
    const { client, uri, clock, agent } = await openFixture({ log, session: { provider: 'puppet' } });
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    const release = log.hold();
    await clock.advance(IDLE_SESSION_MS);
    await client.request('subscribe', { channel: uri });
    release();
    await settle();
    expect(agent.closings).toBe(0);
  });

  it('has no timers left when the host is stopped', async () => {
    const { client, uri, clock, host } = await openFixture();
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    expect(clock.pending).toBeGreaterThan(0);
    await host.stop();
    expect(clock.pending).toBe(0);
  });
});

describe('a session with a long history', () => {
  it('keeps only the newest turns in memory, and shows all of them', async () => {
    const fixture = await longFixture();
    const { client, uri } = fixture;
    expect(ids(await stateOf(client, uri))).toEqual(numbered(TURNS));
    const windowed = await client.request<{ snapshot: { state: SessionState }; turns: object }>('subscribe', {
      channel: uri,
      turns: { last: 3 },
    });
    expect(ids(windowed.snapshot.state)).toEqual(numbered(TURNS, TURNS - 3));
    expect(windowed.turns).toEqual({ start: TURNS - 3, total: TURNS });
    const wide = await client.request<{ snapshot: { state: SessionState } }>('subscribe', {
      channel: uri,
      turns: { last: TURNS_IN_MEMORY + 60 },
    });
    expect(ids(wide.snapshot.state)).toEqual(numbered(TURNS, TURNS - TURNS_IN_MEMORY - 60));
  });

  it('comes back from the log as it was', async () => {
    const fixture = await longFixture();
    const before = await stateOf(fixture.client, fixture.uri);
    await leave(fixture);
    expect(await stateOf(fixture.client, fixture.uri)).toEqual(before);
    await fixture.client.turn(fixture.uri, 'one more', 't130');
    expect(ids(await stateOf(fixture.client, fixture.uri))).toEqual(numbered(TURNS + 1));
  });

  it.each(['t3', 't79', 't90', 't129'])(
    'can be cut behind %s, wherever that is, and goes on from there',
    async (turnId) => {
      const log = new MemoryLog();
      const { client, uri, join } = await longFixture(log);
      const end = Number(turnId.slice(1)) + 1;
      expect(await refusalOf(client, uri, truncate(turnId))).toBeUndefined();
      const phone = await join('phone');
      expect(ids(await stateOf(phone, uri))).toEqual(numbered(end));
      await phone.turn(uri, 'more', `t${end}`);
      expect(ids(await stateOf(phone, uri))).toEqual(numbered(end + 1));
      const again = await (await startHost({ log })).client('carol');
      expect(ids(await stateOf(again, uri))).toEqual(numbered(end + 1));
    },
  );

  it('can be emptied, and is empty after a restart too', async () => {
    const log = new MemoryLog();
    const { client, uri } = await longFixture(log);
    expect(await refusalOf(client, uri, truncate())).toBeUndefined();
    expect(ids(await stateOf(client, uri))).toEqual([]);
    await client.turn(uri, 'a new start', 'fresh');
    await settle();
    const again = await (await startHost({ log })).client('carol');
    expect(ids(await stateOf(again, uri))).toEqual(['fresh']);
  });

  it('loses nothing when a cut far back cannot be stored', async () => {
    for (const turnId of ['t3', undefined]) {
      const inner = new MemoryLog();
      const log: FailingLog = failingLog(inner);
      const { client, uri, join } = await longFixture(log);
      const phone = await join('phone');
      log.failNext();
      client.dispatch(uri, truncate(turnId));
      await client.untilClosed();
      expect(ids(await stateOf(phone, uri))).toEqual(numbered(TURNS));
      await phone.turn(uri, 'more', `t${TURNS}`);
      expect(ids(await stateOf(phone, uri))).toEqual(numbered(TURNS + 1));
      const again = await (await startHost({ log: inner })).client('carol');
      expect(ids(await stateOf(again, uri))).toEqual(numbered(TURNS + 1));
    }
  });

  it('can be forked at a turn that is only in the log, and at one in memory', async () => {
    const { client, uri } = await longFixture();
    for (const turnId of ['t3', 't125']) {
      const fork = await client.session(`x:${turnId}`, { fork: { session: uri, turnId } });
      expect(ids(await stateOf(client, fork))).toEqual(numbered(Number(turnId.slice(1)) + 1));
      await client.turn(fork, 'my own way');
    }
    expect(ids(await stateOf(client, uri))).toEqual(numbered(TURNS));
  });

  it('is paged through from the newest to the oldest without a gap', async () => {
    const { client, uri } = await longFixture();
    const seen: string[] = [];
    let hasMore = true;
    while (hasMore) {
      const before = seen[0];
      const page = await client.request<{ turns: Turn[]; hasMore: boolean }>('fetchTurns', {
        channel: uri,
        limit: 40,
        ...(before && { before }),
      });
      seen.unshift(...ids(page));
      hasMore = page.hasMore;
    }
    expect(seen).toEqual(numbered(TURNS));
  });

  it('shows every turn once while old ones are leaving memory', async () => {
    const log = failingLog();
    const { client, uri, agent, join } = await openFixture({ log, session: { provider: 'puppet' } });
    const phone = await join('phone');
    for (let index = 0; index <= 2 * TURNS_IN_MEMORY; index++) {
      client.dispatch(uri, turnStarted(`t${index}`));
      const { finish } = await agent.turn(index);
      await settle(2);
      const release = log.hold();
      finish();
      await settle(2);
      // Changes nothing, so that the state before and after it is the very same.
      const clientSeq = phone.dispatch(uri, { type: 'session/queuedMessagesReordered', order: [] });
      await settle(2);
      release();
      await answerTo(phone, uri, clientSeq);
    }
    expect(ids(await stateOf(phone, uri))).toEqual(numbered(2 * TURNS_IN_MEMORY + 1));
  });
});
