import type { SessionState, StateAction, Turn } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { IDLE_SESSION_MS, TURNS_IN_MEMORY } from '../../src/limits.js';
import type { Log } from '../../src/log/log.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { type FailingLog, failingLog } from '../support/failing-log.js';
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
import { settle } from '../support/test-host.js';

const TURNS = 130;

/** A session with so many turns, `t0` to `t129`. */
async function longRoom(log: Log = new MemoryLog()): Promise<Room> {
  const room = await openRoom({ log });
  for (let index = 0; index < TURNS; index++) await room.alice.turn(room.uri, `message ${index}`, `t${index}`);
  return room;
}

async function leave({ alice, uri, clock }: Room): Promise<void> {
  alice.send({ method: 'unsubscribe', params: { channel: uri } });
  await settle();
  await clock.advance(IDLE_SESSION_MS);
}

const ids = ({ turns }: { turns: readonly Turn[] }) => turns.map(({ id }) => id);
const numbered = (end: number, start = 0) => Array.from({ length: end - start }, (_, index) => `t${start + index}`);
const truncate = (turnId?: string): StateAction => ({ type: 'session/truncated', ...(turnId && { turnId }) });

describe('a session that nobody uses', () => {
  it('leaves memory after a minute, its agent too, and comes back as it was', async () => {
    const { alice, uri, agent, puppet, clock } = await openPuppetRoom();
    puppet.turn.text('kept');
    puppet.finish();
    await alice.action(uri, 'session/turnComplete');
    const before = await stateOf(alice, uri);
    alice.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    await clock.advance(IDLE_SESSION_MS - 1);
    expect(agent.closings).toBe(0);
    await clock.advance(1);
    expect(agent.closings).toBe(1);
    expect(await stateOf(alice, uri)).toEqual(before);
    alice.dispatch(uri, turnStarted('t2'));
    (await agent.turn(1)).finish();
    await alice.action(uri, (action) => action.type === 'session/turnComplete' && action.turnId === ('t2' as never));
    expect(agent.openings).toHaveLength(2);
  });

  it('stays while somebody watches, and while a turn runs', async () => {
    const { alice, agent, puppet, clock, join } = await openPuppetRoom();
    const bob = await join('bob');
    alice.disconnect();
    await clock.advance(IDLE_SESSION_MS * 2);
    bob.disconnect();
    await clock.advance(IDLE_SESSION_MS * 2);
    expect(agent.closings).toBe(0);
    expect(puppet.turn.signal.aborted).toBe(false);
    puppet.finish();
    await settle();
    await clock.advance(IDLE_SESSION_MS);
    expect(agent.closings).toBe(1);
  });

  it('leaves also when it was only looked into, without ever being watched', async () => {
    const { alice, uri, clock, host, agent } = await openRoom({ session: { provider: 'puppet' } });
    await leave({ alice, uri, clock } as Room);
    expect(agent.closings).toBe(1);
    const bob = await host.client('bob');
    await bob.request('fetchTurns', { channel: uri });
    expect(clock.pending).toBeGreaterThan(0);
    expect(await refusalOf(bob, uri, { type: 'session/turnCancelled', turnId: 'x' })).toBeDefined();
    await clock.advance(IDLE_SESSION_MS);
    const timers = clock.pending;
    await clock.advance(IDLE_SESSION_MS);
    expect(clock.pending).toBe(timers);
  });

  it('sets one timer, however often it is used', async () => {
    const { alice, uri, clock } = await openRoom();
    alice.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    const before = clock.pending;
    for (let index = 0; index < 20; index++) {
      await refusalOf(alice, uri, { type: 'session/titleChanged', title: `title ${index}` });
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
    const bob = await host.client('bob');
    let arrive = () => {};
    gates.set(
      'bob',
      new Promise((resolve) => {
        arrive = resolve;
      }),
    );
    const clientSeq = bob.dispatch(uri, { type: 'session/titleChanged', title: 'just in time' });
    await settle();
    await leave(room);
    expect(agent.closings).toBe(1);
    const carol = await join('carol');
    arrive();
    expect((await answerTo(bob, uri, clientSeq)).rejectionReason).toBeUndefined();
    await carol.action(uri, 'session/titleChanged');
    expect((await stateOf(carol, uri)).summary.title).toBe('just in time');
  });

  it('stays when somebody comes to watch while it is being put away', async () => {
    const log = failingLog();
    const { alice, uri, clock, agent } = await openRoom({ log, session: { provider: 'puppet' } });
    alice.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    const release = log.hold();
    await clock.advance(IDLE_SESSION_MS);
    await alice.request('subscribe', { channel: uri });
    release();
    await settle();
    expect(agent.closings).toBe(0);
  });

  it('has no timers left when the host is stopped', async () => {
    const { alice, uri, clock, host } = await openRoom();
    alice.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    expect(clock.pending).toBeGreaterThan(0);
    await host.stop();
    expect(clock.pending).toBe(0);
  });
});

describe('a session with a long history', () => {
  it('keeps only the newest turns in memory, and shows all of them', async () => {
    const room = await longRoom();
    const { alice, uri } = room;
    expect(ids(await stateOf(alice, uri))).toEqual(numbered(TURNS));
    const windowed = await alice.request<{ snapshot: { state: SessionState }; turns: object }>('subscribe', {
      channel: uri,
      turns: { last: 3 },
    });
    expect(ids(windowed.snapshot.state)).toEqual(numbered(TURNS, TURNS - 3));
    expect(windowed.turns).toEqual({ start: TURNS - 3, total: TURNS });
    const wide = await alice.request<{ snapshot: { state: SessionState } }>('subscribe', {
      channel: uri,
      turns: { last: TURNS_IN_MEMORY + 60 },
    });
    expect(ids(wide.snapshot.state)).toEqual(numbered(TURNS, TURNS - TURNS_IN_MEMORY - 60));
  });

  it('comes back from the log as it was', async () => {
    const room = await longRoom();
    const before = await stateOf(room.alice, room.uri);
    await leave(room);
    expect(await stateOf(room.alice, room.uri)).toEqual(before);
    await room.alice.turn(room.uri, 'one more', 't130');
    expect(ids(await stateOf(room.alice, room.uri))).toEqual(numbered(TURNS + 1));
  });

  it.each(['t3', 't79', 't90', 't129'])(
    'can be cut behind %s, wherever that is, and goes on from there',
    async (turnId) => {
      const log = new MemoryLog();
      const { alice, uri, join } = await longRoom(log);
      const end = Number(turnId.slice(1)) + 1;
      expect(await refusalOf(alice, uri, truncate(turnId))).toBeUndefined();
      const bob = await join('bob');
      expect(ids(await stateOf(bob, uri))).toEqual(numbered(end));
      await bob.turn(uri, 'more', `t${end}`);
      expect(ids(await stateOf(bob, uri))).toEqual(numbered(end + 1));
      const again = await (await startHost({ log })).client('carol');
      expect(ids(await stateOf(again, uri))).toEqual(numbered(end + 1));
    },
  );

  it('can be emptied, and is empty after a restart too', async () => {
    const log = new MemoryLog();
    const { alice, uri } = await longRoom(log);
    expect(await refusalOf(alice, uri, truncate())).toBeUndefined();
    expect(ids(await stateOf(alice, uri))).toEqual([]);
    await alice.turn(uri, 'a new start', 'fresh');
    await settle();
    const again = await (await startHost({ log })).client('carol');
    expect(ids(await stateOf(again, uri))).toEqual(['fresh']);
  });

  it('loses nothing when a cut far back cannot be stored', async () => {
    for (const turnId of ['t3', undefined]) {
      const inner = new MemoryLog();
      const log: FailingLog = failingLog(inner);
      const { alice, uri, join } = await longRoom(log);
      const bob = await join('bob');
      log.failNext();
      alice.dispatch(uri, truncate(turnId));
      await alice.untilClosed();
      expect(ids(await stateOf(bob, uri))).toEqual(numbered(TURNS));
      await bob.turn(uri, 'more', `t${TURNS}`);
      expect(ids(await stateOf(bob, uri))).toEqual(numbered(TURNS + 1));
      const again = await (await startHost({ log: inner })).client('carol');
      expect(ids(await stateOf(again, uri))).toEqual(numbered(TURNS + 1));
    }
  });

  it('can be forked at a turn that is only in the log, and at one in memory', async () => {
    const { alice, uri } = await longRoom();
    for (const turnId of ['t3', 't125']) {
      const fork = await alice.session(`x:${turnId}`, { fork: { session: uri, turnId } });
      expect(ids(await stateOf(alice, fork))).toEqual(numbered(Number(turnId.slice(1)) + 1));
      await alice.turn(fork, 'my own way');
    }
    expect(ids(await stateOf(alice, uri))).toEqual(numbered(TURNS));
  });

  it('is paged through from the newest to the oldest without a gap', async () => {
    const { alice, uri } = await longRoom();
    const seen: string[] = [];
    let hasMore = true;
    while (hasMore) {
      const before = seen[0];
      const page = await alice.request<{ turns: Turn[]; hasMore: boolean }>('fetchTurns', {
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
    const { alice, uri, agent, join } = await openRoom({ log, session: { provider: 'puppet' } });
    const bob = await join('bob');
    for (let index = 0; index <= 2 * TURNS_IN_MEMORY; index++) {
      alice.dispatch(uri, turnStarted(`t${index}`));
      const { finish } = await agent.turn(index);
      await settle(2);
      const release = log.hold();
      finish();
      await settle(2);
      // Changes nothing, so that the state before and after it is the very same.
      const clientSeq = bob.dispatch(uri, { type: 'session/queuedMessagesReordered', order: [] });
      await settle(2);
      release();
      await answerTo(bob, uri, clientSeq);
    }
    expect(ids(await stateOf(bob, uri))).toEqual(numbered(2 * TURNS_IN_MEMORY + 1));
  });
});
