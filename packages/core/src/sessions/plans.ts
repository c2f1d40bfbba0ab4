/**
 * The task lists of a session's agents. Agents send the whole list each time; items keep their ids as far as they can
 * be matched.
 */
import {
  type ChatState,
  type PlanItem,
  type PlanList,
  planLists,
  type SessionAction,
  type SessionState,
  withPlanLists,
} from '@atrium/protocol/ahp-1';
import type { PlannedTask } from '../contracts/agent.js';
import { shorten } from '../util/text.js';
import { PLAN_ITEM_MAX_CHARACTERS, PLAN_ITEMS_MAX, PLAN_LISTS_MAX } from './limits.js';

interface PlansOptions {
  state(): SessionState;
  write(action: SessionAction): void;
  isChat(uri: string): boolean;
}

export class Plans {
  readonly #options: PlansOptions;

  constructor(options: PlansOptions) {
    this.#options = options;
  }

  /** Stores the list of a chat. An empty list removes it. */
  set({ chat, turnId }: Pick<PlanList, 'chat' | 'turnId'>, tasks: readonly PlannedTask[]): void {
    const lists = planLists(this.#options.state()._meta);
    const before = lists.find((list) => list.chat === chat);
    const items = withIds(tasks.slice(0, PLAN_ITEMS_MAX), before?.items ?? []);
    const others = lists.filter((list) => list.chat !== chat && this.#options.isChat(list.chat));
    // The default chat's list stays, however many workers have lists of their own.
    const { defaultChat } = this.#options.state();
    const first = others.filter((list) => list.chat === defaultChat);
    const kept = [...new Set([...first, ...others])].slice(0, PLAN_LISTS_MAX - 1);
    this.#write(items.length === 0 ? kept : [{ chat, turnId, items }, ...kept]);
  }

  /** Removes a list made in a turn that was cut off. */
  truncated(chat: string, before: ChatState, after: ChatState): void {
    const lists = planLists(this.#options.state()._meta);
    const isGone = ({ turnId }: PlanList) => hasTurn(before, turnId) && !hasTurn(after, turnId);
    const left = lists.filter((list) => list.chat !== chat || !isGone(list));
    if (left.length < lists.length) this.#write(left);
  }

  #write(lists: readonly PlanList[]): void {
    const { _meta } = this.#options.state();
    if (JSON.stringify(planLists(_meta)) === JSON.stringify(lists)) return;
    this.#options.write({ type: 'session/metaChanged', _meta: withPlanLists(_meta, lists) });
  }
}

function hasTurn({ turns, activeTurn }: ChatState, turnId: string): boolean {
  return activeTurn?.id === turnId || turns.some(({ id }) => id === turnId);
}

/**
 * Matches new items with old ones. The same words mean the same item, wherever it stands. Unmatched items on both sides
 * between the same neighbours were reworded. All others are new.
 */
export function withIds(tasks: readonly PlannedTask[], before: readonly PlanItem[]): PlanItem[] {
  const texts = tasks.map(({ text }) => shorten(text, PLAN_ITEM_MAX_CHARACTERS));
  const unused = new Map<string, PlanItem[]>();
  for (const item of before) unused.set(item.text, [...(unused.get(item.text) ?? []), item]);
  const ids: (string | undefined)[] = texts.map((text) => unused.get(text)?.shift()?.id);
  const gone = new Set([...unused.values()].flat().map(({ id }) => id));
  for (const [index, id] of ids.entries()) if (id === undefined) ids[index] = reworded(index, ids, before, gone);
  let last = Math.max(0, ...before.map(({ id }) => Number(id.slice(1)) || 0));
  return tasks.map(({ status }, index) => ({ id: ids[index] ?? `t${++last}`, text: texts[index] ?? '', status }));
}

/** Finds the old item right after the previous match, if no new item has taken it. */
function reworded(
  index: number,
  ids: readonly (string | undefined)[],
  before: readonly PlanItem[],
  gone: Set<string>,
): string | undefined {
  const neighbour = index === 0 ? undefined : ids[index - 1];
  const at = index === 0 ? 0 : before.findIndex(({ id }) => id === neighbour) + 1;
  if (index > 0 && at === 0) return undefined;
  const id = before[at]?.id;
  if (id === undefined || !gone.delete(id)) return undefined;
  return id;
}
