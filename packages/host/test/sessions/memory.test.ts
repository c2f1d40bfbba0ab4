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
  openPuppetRoom,
  openRoom,
  type Room,
  refusalOf,
  startHost,
  stateOf,
  turnStarted,
} from '../support/session-room.js';
import { ROOT, settle } from '../support/test-host.js';

const TURNS = 130;

/** A session with so many turns, `t0` to `t129`. */
async function longRoom(log: Log = new MemoryLog()): Promise<Room> {
  const room = await openRoom({ log });
  for (let index = 0; index < TURNS; index++) await room.desk.turn(room.uri, `message ${index}`, `t${index}`);
  return room;
}

async function leave({ desk, uri, clock }: Room): Promise<void> {
  desk.send({ method: 'unsubscribe', params: { channel: uri } });
  await settle();
  await clock.advance(IDLE_SESSION_MS);
}

const ids = ({ turns }: { turns: readonly Turn[] }) => turns.map(({ id }) => id);
const numbered = (end: number, start = 0) => Array.from({ length: end - start }, (_, index) => `t${start + index}`);
const truncate = (turnId?: string): StateAction => ({ type: 'session/truncated', ...(turnId && { turnId }) });

describe('a session that nobody uses', () => {
  it('leaves memory after a minute, its agent too, and comes back as it was', async () => {
    const { desk, uri, agent, puppet, clock } = await openPuppetRoom();
    puppet.turn.text('kept');
    puppet.finish();
    await desk.action(uri, 'session/turnComplete');
    const before = await stateOf(desk, uri);
    desk.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    await clock.advance(IDLE_SESSION_MS - 1);
    expect(agent.closings).toBe(0);
    await clock.advance(1);
    expect(agent.closings).toBe(1);
    expect(await stateOf(desk, uri)).toEqual(before);
    desk.dispatch(uri, turnStarted('t2'));
    (await agent.turn(1)).finish();
    await desk.action(uri, (action) => action.type === 'session/turnComplete' && action.turnId === ('t2' as never));
    expect(agent.openings).toHaveLength(2);
  });

  it('stays while somebody watches, and while a turn runs', async () => {
    const { desk, agent, puppet, clock, join } = await openPuppetRoom();
    const phone = await join('phone');
    desk.disconnect();
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
    const { desk, uri, clock, host, agent } = await openRoom({ session: { provider: 'puppet' } });
    await leave({ desk, uri, clock } as Room);
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
      const first = await openRoom({ log, session: { provider: 'puppet' } });
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
      const desk = method === 'subscribe' ? await host.client('desk') : host.connect();
      const release = log.hold('archiveHead');
      desk.send({ id: 99, method, params });
      await settle();
      desk.disconnect();
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
    const { desk, uri, clock } = await openRoom();
    desk.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    const before = clock.pending;
    for (let index = 0; index < 20; index++) {
      await refusalOf(desk, uri, { type: 'session/titleChanged', title: `title ${index}` });
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
    const room = await openRoom({ log: new SlowLog(), session: { provider: 'puppet' } });
    const { uri, agent, host, join } = room;
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
    await leave(room);
    expect(agent.closings).toBe(1);
    const carol = await join('carol');
    arrive();
    expect((await answerTo(phone, uri, clientSeq)).rejectionReason).toBeUndefined();
    await carol.action(uri, 'session/titleChanged');
    expect((await stateOf(carol, uri)).summary.title).toBe('just in time');
  });

  it('stays when somebody comes to watch while it is being put away', async () => {
    const log = failingLog();
    const { desk, uri, clock, agent } = await openRoom({ log, session: { provider: 'puppet' } });
    desk.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    const release = log.hold();
    await clock.advance(IDLE_SESSION_MS);
    await desk.request('subscribe', { channel: uri });
    release();
    await settle();
    expect(agent.closings).toBe(0);
  });

  it('has no timers left when the host is stopped', async () => {
    const { desk, uri, clock, host } = await openRoom();
    desk.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    expect(clock.pending).toBeGreaterThan(0);
    await host.stop();
    expect(clock.pending).toBe(0);
  });
});

describe('a session with a long history', () => {
  it('keeps only the newest turns in memory, and shows all of them', async () => {
    const room = await longRoom();
    const { desk, uri } = room;
    expect(ids(await stateOf(desk, uri))).toEqual(numbered(TURNS));
    const windowed = await desk.request<{ snapshot: { state: SessionState }; turns: object }>('subscribe', {
      channel: uri,
      turns: { last: 3 },
    });
    expect(ids(windowed.snapshot.state)).toEqual(numbered(TURNS, TURNS - 3));
    expect(windowed.turns).toEqual({ start: TURNS - 3, total: TURNS });
    const wide = await desk.request<{ snapshot: { state: SessionState } }>('subscribe', {
      channel: uri,
      turns: { last: TURNS_IN_MEMORY + 60 },
    });
    expect(ids(wide.snapshot.state)).toEqual(numbered(TURNS, TURNS - TURNS_IN_MEMORY - 60));
  });

  it('comes back from the log as it was', async () => {
    const room = await longRoom();
    const before = await stateOf(room.desk, room.uri);
    await leave(room);
    expect(await stateOf(room.desk, room.uri)).toEqual(before);
    await room.desk.turn(room.uri, 'one more', 't130');
    expect(ids(await stateOf(room.desk, room.uri))).toEqual(numbered(TURNS + 1));
  });

  it.each(['t3', 't79', 't90', 't129'])(
    'can be cut behind %s, wherever that is, and goes on from there',
    async (turnId) => {
      const log = new MemoryLog();
      const { desk, uri, join } = await longRoom(log);
      const end = Number(turnId.slice(1)) + 1;
      expect(await refusalOf(desk, uri, truncate(turnId))).toBeUndefined();
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
    const { desk, uri } = await longRoom(log);
    expect(await refusalOf(desk, uri, truncate())).toBeUndefined();
    expect(ids(await stateOf(desk, uri))).toEqual([]);
    await desk.turn(uri, 'a new start', 'fresh');
    await settle();
    const again = await (await startHost({ log })).client('carol');
    expect(ids(await stateOf(again, uri))).toEqual(['fresh']);
  });

  it('loses nothing when a cut far back cannot be stored', async () => {
    for (const turnId of ['t3', undefined]) {
      const inner = new MemoryLog();
      const log: FailingLog = failingLog(inner);
      const { desk, uri, join } = await longRoom(log);
      const phone = await join('phone');
      log.failNext();
      desk.dispatch(uri, truncate(turnId));
      await desk.untilClosed();
      expect(ids(await stateOf(phone, uri))).toEqual(numbered(TURNS));
      await phone.turn(uri, 'more', `t${TURNS}`);
      expect(ids(await stateOf(phone, uri))).toEqual(numbered(TURNS + 1));
      const again = await (await startHost({ log: inner })).client('carol');
      expect(ids(await stateOf(again, uri))).toEqual(numbered(TURNS + 1));
    }
  });

  it('can be forked at a turn that is only in the log, and at one in memory', async () => {
    const { desk, uri } = await longRoom();
    for (const turnId of ['t3', 't125']) {
      const fork = await desk.session(`x:${turnId}`, { fork: { session: uri, turnId } });
      expect(ids(await stateOf(desk, fork))).toEqual(numbered(Number(turnId.slice(1)) + 1));
      await desk.turn(fork, 'my own way');
    }
    expect(ids(await stateOf(desk, uri))).toEqual(numbered(TURNS));
  });

  it('is paged through from the newest to the oldest without a gap', async () => {
    const { desk, uri } = await longRoom();
    const seen: string[] = [];
    let hasMore = true;
    while (hasMore) {
      const before = seen[0];
      const page = await desk.request<{ turns: Turn[]; hasMore: boolean }>('fetchTurns', {
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
    const { desk, uri, agent, join } = await openRoom({ log, session: { provider: 'puppet' } });
    const phone = await join('phone');
    for (let index = 0; index <= 2 * TURNS_IN_MEMORY; index++) {
      desk.dispatch(uri, turnStarted(`t${index}`));
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
