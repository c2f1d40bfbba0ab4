import { TURNS_IN_MEMORY } from '@atrium/core/sessions/limits.js';
import type { SessionState, Turn } from '@atrium/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { comparable, Mirror } from '../support/mirror.js';
import { answerTo, startHost } from '../support/session-fixture.js';
import { type RawClient, settle, startTestHost, type TestHost } from '../support/test-host.js';

/** More than stay in memory, and more than one page. */
const TURNS = 130;
const uri = 'ahp-session:/long';
const ids = Array.from({ length: TURNS }, (_, index) => `t${index}`);

/** A host with a long session. */
async function longSession(): Promise<TestHost> {
  const host = await startHost();
  const writer = await host.client('writer');
  await writer.session(uri);
  for (const id of ids) await writer.turn(uri, 'hello', id);
  writer.disconnect();
  return host;
}

interface Page {
  readonly turns: Turn[];
  readonly hasMore: boolean;
}

interface Windowed {
  readonly snapshot: { state: SessionState; fromSeq: number };
  readonly turns?: { start: number; total: number };
}

const idsOf = (turns: readonly Turn[]) => turns.map(({ id }) => id);

async function page(client: RawClient, params: object): Promise<Page> {
  return client.request<Page & Record<string, unknown>>('fetchTurns', { channel: uri, ...params });
}

describe('a snapshot of a long session', () => {
  it('[AHP-026] is whole: every turn, also those that are not in memory', async () => {
    const host = await longSession();
    const client = await host.client();
    const state = await client.state<SessionState>(uri);
    expect(idsOf(state.turns)).toEqual(ids);
    expect(state.turns.every(({ responseParts }) => responseParts.length === 1)).toBe(true);
    expect(TURNS).toBeGreaterThan(2 * TURNS_IN_MEMORY);
  });

  it.each([
    [0, TURNS],
    [1, TURNS - 1],
    [TURNS_IN_MEMORY, TURNS - TURNS_IN_MEMORY],
    [TURNS_IN_MEMORY + 31, TURNS - TURNS_IN_MEMORY - 31],
    [TURNS, 0],
    [1_000, 0],
  ])('with a window of the last %d begins at turn %d', async (last, start) => {
    const client = await (await longSession()).client();
    const { snapshot, turns } = await client.request<Windowed & Record<string, unknown>>('subscribe', {
      channel: uri,
      turns: { last },
    });
    expect(idsOf(snapshot.state.turns)).toEqual(ids.slice(start));
    expect(turns).toEqual({ start, total: TURNS });
  });

  it.each([{ last: -1 }, { last: 1.5 }, { last: 'x' }, {}, null, 5, []])(
    'a window of %j is none: everything is sent, and no window named',
    async (turns) => {
      const host = await startHost();
      const client = await host.client();
      await client.session(uri);
      await client.turn(uri, 'hello');
      const result = await client.request<Windowed & Record<string, unknown>>('subscribe', { channel: uri, turns });
      expect(result.snapshot.state.turns).toHaveLength(1);
      expect(result).not.toHaveProperty('turns');
    },
  );

  it('[AHP-107] stays true while turns leave memory', async () => {
    const host = await startHost();
    const [writer, reader] = [await host.client(), await host.client()];
    await writer.session(uri);
    for (let count = 0; count < 2 * TURNS_IN_MEMORY + 10; count++) {
      writer.dispatch(uri, { type: 'session/turnStarted', turnId: `t${count}`, userMessage: { text: 'hello' } });
      reader.send({ id: 1_000 + count, method: 'subscribe', params: { channel: uri } });
      await writer.action(uri, (action) => action.type === 'session/turnComplete' && action.turnId === `t${count}`);
    }
    await reader.action(uri, (action) => action.turnId === `t${2 * TURNS_IN_MEMORY + 9}`);
    await settle();
    const mirror = new Mirror().takeAll(reader.received);
    expect(mirror.state(uri)).toEqual(comparable(await writer.state(uri)));
  });
});

describe('fetchTurns', () => {
  let host: TestHost;
  let client: RawClient;

  beforeAll(async () => {
    host = await startTestHost();
    client = await host.client('reader');
    await client.session(uri);
    for (const id of ids) await client.turn(uri, 'hello', id);
    return () => host.stop();
  });

  it('[AHP-050][AHP-052][AHP-053] pages backwards, oldest first, until there is nothing more', async () => {
    const collected: string[] = [];
    const sizes: number[] = [];
    for (let before: string | undefined, more = true; more; ) {
      const { turns, hasMore } = await page(client, { before, limit: 33 });
      collected.unshift(...idsOf(turns));
      sizes.push(turns.length);
      [before, more] = [turns[0]?.id, hasMore];
    }
    expect(collected).toEqual(ids);
    expect(sizes).toEqual([33, 33, 33, 31]);
  });

  it('[AHP-050] `before` is not in its own page; without it the newest turn is', async () => {
    expect(idsOf((await page(client, { limit: 2 })).turns)).toEqual(['t128', 't129']);
    expect(idsOf((await page(client, { before: 't129', limit: 2 })).turns)).toEqual(['t127', 't128']);
    expect(await page(client, { before: 't0', limit: 2 })).toMatchObject({ turns: [], hasMore: false });
  });

  it('[AHP-051] without a limit the host chooses, and it caps what is too much', async () => {
    expect((await page(client, {})).turns).toHaveLength(20);
    expect((await page(client, { limit: 10_000 })).turns).toHaveLength(TURNS);
    expect(await page(client, { limit: 0 })).toMatchObject({ turns: [], hasMore: true });
    expect((await page(client, { limit: -5 })).turns).toEqual([]);
  });

  it('[AHP-053] `hasMore` is true exactly when something older is left', async () => {
    expect((await page(client, { before: 't5', limit: 4 })).hasMore).toBe(true);
    expect((await page(client, { before: 't5', limit: 5 })).hasMore).toBe(false);
    expect((await page(client, { before: 't5', limit: 6 })).hasMore).toBe(false);
  });

  it('[AHP-052] turns are whole, the same as in a snapshot', async () => {
    const { turns } = await page(client, { before: 't60', limit: 10 });
    const state = await client.state<SessionState>(uri);
    expect(turns).toEqual(state.turns.slice(50, 60));
  });

  it('[AHP-054] an unknown turn is -32602, an unknown session -32001', async () => {
    expect((await client.ask('fetchTurns', { channel: uri, before: 'none' })).error).toMatchObject({ code: -32602 });
    expect((await client.ask('fetchTurns', { channel: 'ahp-session:/none' })).error).toMatchObject({ code: -32001 });
    expect((await client.ask('fetchTurns', { channel: uri, limit: 'x' })).error).toMatchObject({ code: -32602 });
  });

  it('[AHP-052] a running turn is never in a page', async () => {
    client.dispatch(uri, { type: 'session/turnStarted', turnId: 'running', userMessage: { text: 'slow' } });
    await client.action(uri, (action) => action.type === 'session/delta' && action.turnId === 'running');
    expect(idsOf((await page(client, { limit: 1 })).turns)).toEqual(['t129']);
    expect((await client.ask('fetchTurns', { channel: uri, before: 'running' })).error).toMatchObject({ code: -32602 });
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 'running' });
    await client.action(uri, 'session/turnCancelled');
    expect(idsOf((await page(client, { limit: 1 })).turns)).toEqual(['running']);
  });
});

describe('cutting history', () => {
  it.each(['t129', 't100', 't79', 't10', 't0'])('behind %s leaves everyone with the same turns', async (turnId) => {
    const host = await longSession();
    const [cutter, whole, windowed] = [await host.client(), await host.client(), await host.client()];
    await whole.request('subscribe', { channel: uri });
    await windowed.request('subscribe', { channel: uri, turns: { last: 5 } });
    const answer = await answerTo(cutter, uri, cutter.dispatch(uri, { type: 'session/truncated', turnId } as never));
    expect(answer.rejectionReason).toBeUndefined();
    const kept = ids.slice(0, ids.indexOf(turnId) + 1);
    expect(idsOf((await cutter.state<SessionState>(uri)).turns)).toEqual(kept);
    await windowed.action(uri, 'session/truncated');
    await whole.action(uri, 'session/truncated');
    const mirrored = new Mirror().takeAll(whole.received).state(uri) as SessionState;
    expect(idsOf(mirrored.turns)).toEqual(kept);
    expect(idsOf((await page(cutter, { limit: 200 })).turns)).toEqual(kept);
    await cutter.turn(uri, 'hello', 'next');
    expect(idsOf((await cutter.state<SessionState>(uri)).turns)).toEqual([...kept, 'next']);
  });

  it('is still cut after a restart', async () => {
    const log = new KeptLog();
    const first = await startHost({ log });
    const writer = await first.client('writer');
    await writer.session(uri);
    for (const id of ids) await writer.turn(uri, 'hello', id);
    writer.dispatch(uri, { type: 'session/truncated', turnId: 't3' });
    await writer.action(uri, 'session/truncated');
    await first.stop();
    const client = await (await startHost({ log })).client();
    expect(idsOf((await client.state<SessionState>(uri)).turns)).toEqual(['t0', 't1', 't2', 't3']);
  });
});
