/** The finished turns of a chat between memory and log. */
import { type ChatState, chatReducer, type StateAction, type Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { Channel } from '../../src/channels/channel.js';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { Writer } from '../../src/channels/writer.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { firstChat } from '../../src/sessions/catalogue.js';
import { History, type ListedTurn, TurnPages } from '../../src/sessions/history.js';
import { FETCH_TURNS_DEFAULT, FETCH_TURNS_MAX, TURNS_IN_MEMORY } from '../../src/sessions/limits.js';
import { InputReferences } from '../../src/tool-calls/input-references.js';
import { type LazyList, RawJson } from '../../src/util/json-parts.js';
import { silentLogger } from '../../src/util/logger.js';

const CHAT = firstChat('ahp-session:/s', new Date(0).toISOString());
const URI = CHAT.resource;
const turn = (index: number) =>
  ({ id: `t${index}`, message: { text: 'x' }, responseParts: [], state: 'complete' }) as unknown as Turn;
const turns = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => turn(from + index));
const ids = (from: number, to: number) => turns(from, to).map(({ id }) => id);

/** A chat of which the log has so many turns, and the memory those from `base` on, with `more` that are not stored yet. */
async function chatWith({ stored = 0, base = 0, more = 0, inlineMaxCharacters = 1_000 } = {}) {
  const log = new MemoryLog();
  const items = turns(0, stored).map((each) => ({ id: each.id, json: JSON.stringify(each) }));
  await log.append({
    ...{ entries: [], durability: 'normal' as const },
    archives: [{ channel: URI, head: '{}', turns: { start: 0, items } }],
  });
  const nothing = () => {};
  const clock = { now: () => 0, after: () => nothing };
  const delivery = new DirectDelivery({ shown: log.head, logger: silentLogger, show: nothing });
  const writer = new Writer({ log, clock, logger: silentLogger, delivery, undone: nothing, superseded: nothing });
  const state: ChatState = { ...CHAT, turns: turns(base, stored + more) };
  const channel = new Channel<ChatState>(URI, chatReducer as never, state);
  const pages = new TurnPages(log, URI, { base, archived: stored });
  const history = new History({ inputs: new InputReferences({ inlineMaxCharacters }), writer, channel, pages });
  const cut = (turnId?: string) => {
    const action = { type: 'chat/truncated', ...(turnId !== undefined && { turnId }) } as StateAction;
    history.observe(writer.write({ channel, action }));
  };
  return { log, writer, channel, pages, history, cut };
}

async function read(list: LazyList<ListedTurn> | readonly Turn[]): Promise<ListedTurn[]> {
  if (Array.isArray(list)) return list;
  const found: ListedTurn[] = [];
  for (const reading = (list as LazyList<ListedTurn>).pages(); ; ) {
    const { done, value } = await reading.next();
    if (done) return found;
    found.push(...value);
  }
}

const turnsOf = (listed: ListedTurn): Turn[] => (listed instanceof RawJson ? JSON.parse(`[${listed.json}]`) : [listed]);
const idsOf = async (list: LazyList<ListedTurn> | readonly Turn[]) =>
  (await read(list)).flatMap(turnsOf).map(({ id }) => id);

describe('a page of turns', () => {
  it('[AHP-050] [AHP-053] ends with the newest turn, or before the one that is named', async () => {
    const { history } = await chatWith({ stored: 30, base: 10, more: 2 });
    const page = async (params: object) => {
      const { turns: listed, ...rest } = await history.fetch(params);
      return [await idsOf(listed), rest] as const;
    };
    expect(await page({ limit: 3 })).toEqual([ids(29, 32), { hasMore: true, startTurn: 29, totalTurns: 32 }]);
    expect(await page({ limit: 2.9, before: 't12' })).toEqual([
      ids(10, 12),
      { hasMore: true, startTurn: 10, totalTurns: 32 },
    ]);
    expect(await page({ limit: 4, before: 't12' })).toEqual([
      ids(8, 12),
      { hasMore: true, startTurn: 8, totalTurns: 32 },
    ]);
    expect(await page({ limit: 4, before: 't3' })).toEqual([
      ids(0, 3),
      { hasMore: false, startTurn: 0, totalTurns: 32 },
    ]);
    expect(await page({ limit: 3, before: 't3' })).toMatchObject([ids(0, 3), { hasMore: false }]);
    expect(await page({ limit: -1 })).toEqual([[], { hasMore: true, startTurn: 32, totalTurns: 32 }]);
  });

  it('[AHP-051] has 20 turns, and 200 at most', async () => {
    const { history } = await chatWith({ stored: 300, base: 250 });
    const length = async (params: object) => (await idsOf((await history.fetch(params)).turns)).length;
    expect([await length({}), await length({ limit: 1_000 })]).toEqual([FETCH_TURNS_DEFAULT, FETCH_TURNS_MAX]);
    expect(await length({ range: { start: 0 } })).toBe(FETCH_TURNS_MAX);
  });

  it('[AHP-054] is refused before a turn that is not there', async () => {
    const { history } = await chatWith({ stored: 3 });
    await expect(history.fetch({ before: 'no' })).rejects.toThrow('/before: there is no turn no');
    expect([await history.has('t0'), await history.has('no')]).toEqual([true, false]);
  });

  it('[V1-014] is named by its indices, too, as far as there are turns', async () => {
    const { history } = await chatWith({ stored: 10, base: 5 });
    const page = async (range: object) => {
      const { turns: listed, startTurn, hasMore } = await history.fetch({ range });
      return [await idsOf(listed), startTurn, hasMore];
    };
    expect(await page({ start: 3, end: 7 })).toEqual([ids(3, 7), 3, true]);
    expect(await page({ start: 3.9, end: 7.9 })).toEqual([ids(3, 7), 3, true]);
    expect(await page({ start: -1, end: 2 })).toEqual([ids(0, 2), 0, false]);
    expect(await page({ start: 8 })).toEqual([ids(8, 10), 8, true]);
    expect(await page({ start: 8, end: 99 })).toEqual([ids(8, 10), 8, true]);
    expect(await page({ start: 8, end: 2 })).toEqual([[], 8, true]);
    expect(await page({ end: 5 })).toEqual([ids(0, 10), 0, false]);
  });
});

describe('a snapshot', () => {
  it('[CLI-034] has all turns, or the newest, and says where the others begin', async () => {
    const { history, writer } = await chatWith({ stored: 10, base: 5, more: 1 });
    const taken = async (last?: number) => {
      const { snapshot, turns: window } = history.takeSnapshot({
        sendsStoredJson: false,
        ...(last !== undefined && { window: { last } }),
      });
      const { state, ...rest } = snapshot as { state: ChatState };
      expect(rest).toEqual({ resource: URI, fromSeq: writer.shown });
      return [await idsOf(state.turns as never), state.turnsNextCursor, window];
    };
    expect(await taken()).toEqual([ids(0, 11), undefined, { start: 0, total: 11 }]);
    expect(await taken(3)).toEqual([ids(8, 11), '8', { start: 8, total: 11 }]);
    expect(await taken(8)).toEqual([ids(3, 11), '3', { start: 3, total: 11 }]);
    expect(await taken(11)).toEqual([ids(0, 11), undefined, { start: 0, total: 11 }]);
    expect(await taken(12)).toEqual([ids(0, 11), undefined, { start: 0, total: 11 }]);
  });

  it('[UP-250] has stored text as it is, where that cannot hold an input by reference', async () => {
    const length = JSON.stringify(turn(0)).length;
    const isText = async (sendsStoredJson: boolean, inlineMaxCharacters: number) => {
      const { history } = await chatWith({ stored: 2, base: 1, inlineMaxCharacters });
      const { state } = history.takeSnapshot({ sendsStoredJson }).snapshot as { state: ChatState };
      return (await read(state.turns as never)).map((listed) => listed instanceof RawJson);
    };
    expect(await isText(true, length)).toEqual([true, false]);
    expect(await isText(true, length - 1)).toEqual([false, false]);
    expect(await isText(false, length)).toEqual([false, false]);
  });

  it('reads a page once for all that are sent the same, and again for what differs', async () => {
    const { log, pages, channel } = await chatWith({ stored: 10, base: 5 });
    const stored = vi.spyOn(log, 'archivedTurns');
    const list = (start: number, textMaxCharacters = 0) =>
      pages.list(channel.committed, { start, end: 10 }, { textMaxCharacters });
    const [first, second] = await Promise.all([idsOf(list(0)), idsOf(list(0))]);
    expect([first, second, stored.mock.calls.length]).toEqual([ids(0, 10), ids(0, 10), 1]);
    expect(await idsOf(list(1))).toEqual(ids(1, 10));
    expect(await idsOf(list(0, 1_000))).toEqual(ids(0, 10));
    expect(stored).toHaveBeenCalledTimes(3);
    expect(stored).toHaveBeenLastCalledWith(URI, expect.objectContaining({ start: 0, end: 5 }));
  });

  it.each([
    ['values', 0],
    ['stored text', 1_000],
  ])('is what it was when turns are brought back and cut while it is read as %s', async (_as, textMaxCharacters) => {
    const { history, pages, channel, cut, writer } = await chatWith({ stored: 10, base: 6 });
    const list = (start: number, end: number) =>
      pages.list(channel.committed, { start, end }, { textMaxCharacters }) as LazyList<ListedTurn>;
    const frozen = [0, 2, 5].map((start) => list(start, 10));
    const short = list(0, 4);
    // Two have read their first page, which is longer than what the log has of it in the end.
    const begun = [list(0, 10), list(0, 10)].map((each) => each.pages());
    const firstPages = await Promise.all(begun.map((reading) => reading.next()));
    expect(firstPages.map(({ value }) => value.flatMap(turnsOf))).toEqual([turns(0, 6), turns(0, 6)]);
    await history.reach('t3');
    cut('t3');
    await writer.settled();
    history.storeArchive();
    await writer.settled();
    await history.reach('t1');
    cut('t1');
    history.storeArchive();
    await writer.settled();
    expect(await Promise.all(frozen.map(idsOf))).toEqual([ids(0, 10), ids(2, 10), ids(5, 10)]);
    expect(await idsOf(short)).toEqual(ids(0, 4));
    for (const reading of begun) {
      expect((await reading.next()).value).toEqual([]);
      expect((await reading.next()).value).toEqual(turns(6, 10));
    }
    expect(await pages.slice(channel.committed, 0, 99)).toEqual(turns(0, 2));
  });

  it('fails when its chat leaves memory meanwhile, or the log has lost a turn', async () => {
    const closed = await chatWith({ stored: 4, base: 2 });
    const list = closed.pages.list(closed.channel.committed, { start: 0, end: 4 });
    closed.pages.close();
    await expect(read(list)).rejects.toThrow('was closed');
    const lost = await chatWith({ stored: 4, base: 2 });
    vi.spyOn(lost.log, 'archivedTurns').mockResolvedValue([]);
    await expect(read(lost.pages.list(lost.channel.committed, { start: 1, end: 4 }))).rejects.toThrow('turn 1 of');
  });
});

describe('turns that only the log has', () => {
  it('are brought back before they are cut, and found where they are', async () => {
    const { history, pages, channel } = await chatWith({ stored: 10, base: 6 });
    await history.reach('t8');
    await history.reach('no');
    expect([pages.base, channel.live.turns.length]).toEqual([6, 4]);
    await history.reach('t4');
    expect([pages.base, channel.live.turns.map(({ id }) => id)]).toEqual([4, ids(4, 10)]);
    await history.reach(undefined);
    expect([pages.base, channel.live.turns.length, pages.total(channel.live)]).toEqual([0, 10, 10]);
  });

  it('are brought back once, whoever asks for them at the same time', async () => {
    const { history, pages, channel } = await chatWith({ stored: 10, base: 6 });
    await Promise.all([history.reach('t2'), history.reach('t4'), history.reach('t2')]);
    expect([pages.base, channel.live.turns.map(({ id }) => id)]).toEqual([2, ids(2, 10)]);
  });

  it('[UP-033] are whole in a list that is sent while they are brought back', async () => {
    const { history, pages, channel } = await chatWith({ stored: 10, base: 6 });
    for (const [turnId, start] of [
      ['t5', 3],
      ['t3', 4],
      ['t0', 2],
    ] as const) {
      const list = pages.list(channel.live, { start, end: 9 });
      const [, sent] = await Promise.all([history.reach(turnId), read(list)]);
      expect(sent.map((each) => (each as { id: string }).id)).toEqual(ids(start, 9));
    }
    expect(pages.base).toBe(0);
  });

  it('are not found when they were cut, though the log has them until the next archive', async () => {
    const { history, cut, pages, channel } = await chatWith({ stored: 10, base: 6 });
    cut('t7');
    expect([await history.has('t7'), await history.has('t8'), await history.has('t2')]).toEqual([true, false, true]);
    expect(await pages.indexOf(channel.live, 't2')).toBe(2);
    expect(await pages.indexOf(channel.live, 't7')).toBe(7);
  });

  it('wait for what is being stored', async () => {
    const { history, writer, channel, pages } = await chatWith({ stored: 10, base: 6 });
    writer.write({ channel, action: { type: 'chat/activityChanged', activity: 'busy' } as StateAction });
    await history.reach('t5');
    expect([pages.base, channel.isSettled, channel.live.turns[0]?.id]).toEqual([5, true, 't5']);
  });

  it('[UP-033] are the page before an index, as it is behind a cut', async () => {
    const { history, cut } = await chatWith({ stored: 50, base: 40 });
    const page = await history.before(() => 30);
    expect([page.start, page.turns.map(({ id }) => id)]).toEqual([10, ids(10, 30)]);
    expect(await history.before(() => 5)).toEqual({ start: 0, turns: turns(0, 5) });
    expect((await history.before(() => 99)).turns.at(-1)?.id).toBe('t49');
    cut('t44');
    const late = await history.before(() => 99);
    expect(late.turns.at(-1)?.id).toBe('t44');
    const end = vi.fn(() => 30);
    const reading = history.before(end);
    cut('t42');
    await reading;
    expect(end).toHaveBeenCalledTimes(2);
  });
});

describe('the archive of a chat', () => {
  it('[REL-064] has the turns that the log does not have, and those that took the place of others', async () => {
    const { pages, channel, cut } = await chatWith({ stored: 3, more: 2 });
    const archive = () => {
      const { head, turns: stored } = pages.archiveOf(channel.live);
      expect(JSON.parse(head)).toEqual({ ...channel.live, turns: [] });
      return [stored.start, stored.items.map(({ id }) => id)];
    };
    expect(archive()).toEqual([3, ['t3', 't4']]);
    expect(archive()).toEqual([5, []]);
    cut('t1');
    expect(archive()).toEqual([2, []]);
    pages.cutTo(1);
    expect(archive()).toEqual([1, ['t1']]);
    pages.cutTo(9);
    expect(archive()).toEqual([2, []]);
  });

  it('[REL-033] has the same turns again when it could not be stored', async () => {
    const { log, history, writer } = await chatWith({ stored: 3, more: 2 });
    const append = vi.spyOn(log, 'append').mockRejectedValueOnce(new Error('full'));
    history.storeArchive();
    await expect(writer.settled()).rejects.toThrow();
    history.storeArchive();
    await writer.settled();
    expect(append.mock.calls.map(([{ archives = [] }]) => archives.map(({ turns: { start } }) => start))).toEqual([
      [3],
      [3],
    ]);
    expect((await log.archiveHead(URI))?.turnCount).toBe(5);
  });

  it(`lets all but ${TURNS_IN_MEMORY} turns leave memory, once there are twice as many and they are stored`, async () => {
    const many = await chatWith({ stored: 2 * TURNS_IN_MEMORY });
    many.history.storeArchive();
    await many.writer.settled();
    expect([many.pages.base, many.channel.committed.turns.length]).toEqual([0, 2 * TURNS_IN_MEMORY]);
    const more = await chatWith({ stored: 2 * TURNS_IN_MEMORY, more: 1 });
    more.history.storeArchive();
    await more.writer.settled();
    expect([more.pages.base, more.channel.committed.turns.length]).toEqual([TURNS_IN_MEMORY + 1, TURNS_IN_MEMORY]);
    expect(more.channel.committed.turns[0]?.id).toBe(`t${TURNS_IN_MEMORY + 1}`);
    const unstored = await chatWith({ stored: 10, more: 2 * TURNS_IN_MEMORY });
    expect(unstored.pages.surplus(unstored.channel.live)).toBe(10);
  });
});
