/** The agents' lists of tasks in one session. */
import {
  type ChatState,
  type PlanItem,
  type PlanList,
  planLists,
  type SessionState,
  withPlanLists,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import type { PlannedTask } from '../../src/contracts/agent.js';
import { PLAN_ITEM_MAX_CHARACTERS, PLAN_ITEMS_MAX, PLAN_LISTS_MAX } from '../../src/sessions/limits.js';
import { Plans, withIds } from '../../src/sessions/plans.js';

const tasks = (...texts: string[]): PlannedTask[] => texts.map((text) => ({ text, status: 'pending' }));
const items = (...texts: string[]): PlanItem[] =>
  texts.map((text, index) => ({ id: `t${index + 1}`, text, status: 'pending' }));

function setUp(before: readonly PlanList[] = [], chats: readonly string[] = ['main', 'side']) {
  let state = { defaultChat: 'main', _meta: withPlanLists({ other: 1 }, before) } as unknown as SessionState;
  let writes = 0;
  const plans = new Plans({
    state: () => state,
    write: (action) => {
      writes += 1;
      state = { ...state, ...(action.type === 'session/metaChanged' && { _meta: action._meta }) };
    },
    isChat: (uri) => chats.includes(uri),
  });
  const shown = () => planLists(state._meta).map(({ chat, turnId }) => `${chat} ${turnId}`);
  return { plans, shown, lists: () => planLists(state._meta), meta: () => state._meta, writes: () => writes };
}

describe('the list of tasks of a chat', () => {
  it('[DAY-050] stands beside those of other chats, and takes the place of its own', () => {
    const { plans, shown, lists, meta } = setUp();
    plans.set({ chat: 'main', turnId: '1' }, tasks('a'));
    plans.set({ chat: 'side', turnId: '2' }, tasks('b'));
    plans.set({ chat: 'main', turnId: '3' }, tasks('a', 'c'));
    expect(shown()).toEqual(['main 3', 'side 2']);
    expect(lists()[0]?.items.map(({ id, text }) => [id, text])).toEqual([
      ['t1', 'a'],
      ['t2', 'c'],
    ]);
    expect(meta()).toMatchObject({ other: 1 });
  });

  it('[DAY-050] goes when it is empty, and when its chat is gone', () => {
    const gone = { chat: 'gone', turnId: '0', items: items('x') };
    const { plans, shown, meta } = setUp([gone, { chat: 'main', turnId: '1', items: items('a') }]);
    plans.set({ chat: 'side', turnId: '2' }, tasks('b'));
    expect(shown()).toEqual(['side 2', 'main 1']);
    plans.set({ chat: 'side', turnId: '3' }, []);
    expect(shown()).toEqual(['main 1']);
    plans.set({ chat: 'main', turnId: '3' }, []);
    expect(meta()).toEqual({ other: 1 });
  });

  it('[DAY-050] is not written again as it was', () => {
    const { plans, writes } = setUp();
    plans.set({ chat: 'main', turnId: '1' }, tasks('a'));
    plans.set({ chat: 'main', turnId: '1' }, tasks('a'));
    expect(writes()).toBe(1);
    plans.set({ chat: 'main', turnId: '2' }, tasks('a'));
    expect(writes()).toBe(2);
  });

  it('[REL-098] is one of a few, of which that of the default chat always is one, and has so many items', () => {
    const chats = Array.from({ length: PLAN_LISTS_MAX + 1 }, (_, index) => `c${index}`);
    const before = [...chats, 'main'].map((chat) => ({ chat, turnId: '0', items: items('x') }));
    const { plans, shown, lists } = setUp(before, [...chats, 'main', 'side']);
    plans.set({ chat: 'side', turnId: '1' }, tasks(...Array.from({ length: PLAN_ITEMS_MAX + 1 }, (_, n) => `${n}`)));
    expect(shown()).toHaveLength(PLAN_LISTS_MAX);
    expect(shown().slice(0, 3)).toEqual(['side 1', 'main 0', 'c0 0']);
    expect(lists()[0]?.items).toHaveLength(PLAN_ITEMS_MAX);
  });

  it('[DAY-050] goes with the turn that made it, and only when that is cut off', () => {
    const { plans, shown, writes } = setUp([
      { chat: 'main', turnId: '2', items: items('a') },
      { chat: 'side', turnId: '2', items: items('b') },
    ]);
    const chat = (...ids: string[]) => ({ turns: ids.map((id) => ({ id })) }) as unknown as ChatState;
    plans.truncated('main', chat('1', '2'), chat('1', '2'));
    plans.truncated('main', chat('1'), chat());
    plans.truncated('main', chat('1'), { ...chat(), activeTurn: { id: '2' } } as ChatState);
    expect(writes()).toBe(0);
    plans.truncated('main', { ...chat('1'), activeTurn: { id: '2' } } as ChatState, chat('1'));
    expect(shown()).toEqual(['side 2']);
  });
});

describe('the items of a list', () => {
  const ids = (before: readonly PlanItem[], ...texts: string[]) => withIds(tasks(...texts), before).map(({ id }) => id);

  it('[DAY-050] keep their ids wherever they stand, each once', () => {
    expect(ids(items('a', 'b', 'c'), 'c', 'a', 'b')).toEqual(['t3', 't1', 't2']);
    expect(ids(items('a', 'a'), 'a', 'a', 'a')).toEqual(['t1', 't2', 't3']);
    expect(ids([], 'a', 'b')).toEqual(['t1', 't2']);
    expect(ids([{ id: 'odd', text: 'x', status: 'done' }], 'x', 'y')).toEqual(['odd', 't1']);
  });

  it('[DAY-050] keep their ids when they are reworded where they stood', () => {
    expect(ids(items('a', 'b', 'c'), 'a', 'B', 'c')).toEqual(['t1', 't2', 't3']);
    expect(ids(items('a', 'b'), 'A', 'b')).toEqual(['t1', 't2']);
    expect(ids(items('a', 'b'), 'A', 'B')).toEqual(['t1', 't2']);
    expect(ids(items('a', 'b'), 'a', 'new', 'b')).toEqual(['t1', 't3', 't2']);
    expect(ids(items('a', 'b'), 'b', 'new')).toEqual(['t2', 't3']);
    expect(ids(items('a', 'b', 'c'), 'new', 'c')).toEqual(['t1', 't3']);
    expect(ids(items('a'), 'a', 'new', 'newer')).toEqual(['t1', 't2', 't3']);
  });

  it('[REL-098] are of a bounded length', () => {
    const [long] = withIds([{ text: 'x'.repeat(PLAN_ITEM_MAX_CHARACTERS + 1), status: 'active' }], []);
    expect([long?.text.length, long?.status]).toEqual([PLAN_ITEM_MAX_CHARACTERS, 'active']);
  });
});
