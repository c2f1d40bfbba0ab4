import type { Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { connected, newHost } from './support/connected.js';
import { settle } from './support/fake-clock.js';
import { chat, ended, ONE, started, TWO, turns } from './support/states.js';

const ids = (list: readonly Turn[]) => list.map(({ id }) => id);

/** A host whose first session has ten finished turns. */
async function withHistory(options: Parameters<typeof connected>[0] = {}, count = 10) {
  const host = newHost();
  host.states.set(ONE, chat(ONE, { turns: turns(count) }));
  return connected(options, host);
}

describe('[CLI-034] a window on history', () => {
  it('brings the newest turns and tells where they stand', async () => {
    const { client, host } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    expect(host.params('subscribe')).toEqual([{ channel: ONE, view: { turns: 3 } }]);
    expect(ids(one.state.turns)).toEqual(['t7', 't8', 't9']);
    expect(one.olderCount).toBe(7);
  });

  it('grows with turns that end', async () => {
    const { client, host } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 1 } });
    host.act(ONE, started('t10'));
    host.act(ONE, ended('t10'));
    await settle();
    expect(ids(one.state.turns)).toEqual(['t9', 't10']);
    expect(one.olderCount).toBe(9);
  });

  it('pages older turns in, to the very first', async () => {
    const { client, host } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    expect(one.hasOlder).toBe(true);
    expect(await one.loadOlder(4)).toBe(6);
    expect(host.params('fetchTurns')).toEqual([
      { channel: ONE, cursor: '7' },
      { channel: ONE, cursor: '4' },
    ]);
    expect(one.olderCount).toBe(1);
    expect(await one.loadOlder(4)).toBe(1);
    expect(one.state).toEqual(host.chatOf(ONE));
    expect([one.hasOlder, one.olderCount]).toEqual([false, 0]);
    expect(await one.loadOlder(4)).toBe(0);
    expect(host.params('fetchTurns')).toHaveLength(3);
  });

  it('pages from an empty window too', async () => {
    const { client } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 0 } });
    expect(await one.loadOlder(2)).toBe(3);
    expect(ids(one.state.turns)).toEqual(['t7', 't8', 't9']);
  });

  it('loads one page for two who ask at once', async () => {
    const { client, host } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    expect(await Promise.all([one.loadOlder(2), one.loadOlder(2)])).toEqual([3, 3]);
    expect(host.params('fetchTurns')).toHaveLength(1);
    expect(one.olderCount).toBe(4);
  });

  it('stops asking a host that does not move on', async () => {
    const { client, host } = await withHistory();
    host.scripts.set('fetchTurns', () => ({}));
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    expect(await one.loadOlder(2)).toBe(0);
    expect(host.params('fetchTurns')).toHaveLength(1);
  });

  it('shows no turn of a page that was cut off while it was on its way', async () => {
    const { client, host } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    host.scripts.set('fetchTurns', (params, connection) => {
      const before = host.states.get(ONE);
      host.act(ONE, { type: 'chat/truncated' });
      const after = host.states.get(ONE);
      // The host read the page before the cut, and sends it after.
      if (before) host.states.set(ONE, before);
      const answer = host.answer(connection, 'fetchTurns', params);
      if (after) host.states.set(ONE, after);
      return answer;
    });
    await one.loadOlder(2);
    await settle();
    expect(one.state).toEqual(host.chatOf(ONE));
    expect(one.olderCount).toBe(0);
  });

  it('does not tell how many are older when the host does not', async () => {
    const { client, host } = await withHistory();
    host.extended = false;
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    expect([one.state.turns.length, one.hasOlder, one.olderCount]).toEqual([3, true, undefined]);
    expect(await one.loadOlder(7)).toBe(7);
    expect([one.hasOlder, one.olderCount]).toEqual([false, 0]);
  });

  it('is everything with a host that takes no notice of it', async () => {
    const { client, host } = await withHistory();
    host.scripts.set('subscribe', ({ channel }, connection) => host.answer(connection, 'subscribe', { channel }));
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    expect(one.state.turns).toHaveLength(10);
    expect([one.hasOlder, await one.loadOlder(5)]).toEqual([false, 0]);
  });

  it('comes with the handshake too', async () => {
    const { client, host } = await withHistory({ initialSubscriptions: [ONE], turns: { last: 2 } });
    const one = await client.subscribe(ONE, { turns: { last: 2 } });
    expect(host.params('initialize')[0]?.turns).toEqual({ last: 2 });
    expect(one.olderCount).toBe(8);
    expect(host.params('subscribe')).toEqual([]);
  });

  it('is widened for a newcomer who wants more', async () => {
    const { client } = await withHistory();
    const small = await client.subscribe(ONE, { turns: { last: 2 } });
    const same = await client.subscribe(ONE, { turns: { last: 1 } });
    expect(same.olderCount).toBe(8);
    const all = await client.subscribe(ONE);
    expect(all.state.turns).toHaveLength(10);
    expect(small.olderCount).toBe(0);
  });
});

describe('[CLI-034] history that is cut', () => {
  it('inside the window is cut in the mirror', async () => {
    const { client, host } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    host.act(ONE, { type: 'chat/truncated', turnId: 't8' });
    await settle();
    expect(one.olderCount).toBe(7);
    expect(host.params('subscribe')).toHaveLength(1);
  });

  it('below the window makes the client ask for the state anew, once', async () => {
    const { client, host } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    host.act(ONE, { type: 'chat/truncated', turnId: 't4' });
    host.act(ONE, started('next'));
    await settle();
    expect(host.params('subscribe')).toHaveLength(2);
    expect(ids(one.state.turns)).toEqual(['t2', 't3', 't4']);
    expect(one.state.activeTurn?.id).toBe('next');
    expect(one.olderCount).toBe(2);
  });

  it('below the window by ourselves does so too', async () => {
    const { client } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    await one.dispatch({ type: 'chat/truncated', turnId: 't1' });
    await settle();
    expect(ids(one.state.turns)).toEqual(['t0', 't1']);
    expect(one.olderCount).toBe(0);
  });

  it('below the window during an absence does so too', async () => {
    const { client, host, drop, clock } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    await drop();
    host.act(ONE, { type: 'chat/truncated', turnId: 't4' });
    await clock.advance(2_000);
    expect(ids(one.state.turns)).toEqual(['t2', 't3', 't4']);
  });

  it('loses no action that happens while the state is on its way', async () => {
    const { client, host } = await withHistory();
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    host.scripts.set('subscribe', (params, connection) => {
      const result = host.answer(connection, 'subscribe', params);
      host.act(ONE, started('early'));
      return result;
    });
    host.act(ONE, { type: 'chat/truncated', turnId: 't4' });
    await settle();
    expect(one.state.activeTurn?.id).toBe('early');
    expect(one.olderCount).toBe(2);
  });

  it('keeps the old state when the new one does not come, and asks again at the next action', async () => {
    const { client, host, clock } = await withHistory({ requestTimeoutMs: 100 });
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    host.scripts.set('subscribe', () => ({ snapshot: 7 }));
    host.act(ONE, { type: 'chat/truncated', turnId: 't4' });
    await clock.advance(100);
    expect(one.isGone).toBe(false);
    host.scripts.clear();
    host.act(ONE, started('next'));
    await settle();
    expect(one.olderCount).toBe(2);
  });
});

describe('a reconnect with a window', () => {
  it('asks for what is held now, and keeps the place', async () => {
    const { client, host, bounce } = await withHistory();
    host.resumeBy = 'snapshot';
    const one = await client.subscribe(ONE, { turns: { last: 3 } });
    await one.loadOlder(2);
    await bounce();
    expect(host.params('reconnect')[0]?.turns).toEqual({ last: 6 });
    expect(one.olderCount).toBe(4);
  });

  it('asks for everything when another handle needs it', async () => {
    const { client, host, bounce } = await withHistory();
    await client.subscribe(ONE, { turns: { last: 3 } });
    await client.subscribe(TWO);
    await bounce();
    expect(host.params('reconnect')[0]).not.toHaveProperty('turns');
  });
});

it('a snapshot that was on its way when a host is started anew leaves nothing of the old numbers behind', async () => {
  const { client, host, drop, clock } = await withHistory();
  const one = await client.subscribe(ONE, { turns: { last: 3 } });
  host.connection.transport.onMessage(() => {});
  host.act(ONE, { type: 'chat/truncated', turnId: 't4' });
  host.act(ONE, started('old'));
  await settle();
  await drop();
  Object.assign(host, { seq: 1, resumeBy: 'snapshot' });
  host.states.set(ONE, chat(ONE));
  await clock.advance(2_000);
  expect(one.state).toEqual(chat(ONE));
});
