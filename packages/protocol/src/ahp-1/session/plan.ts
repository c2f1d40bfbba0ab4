/**
 * The agents' task lists, as session state. AHP has no place for them, so they are under one private key of the
 * session's `_meta`: the lists of all chats, and in summaries the progress of the default chat's list.
 */
import type { Meta } from '../common/types.js';

/** The key in `SessionState._meta` with `PlanLists`, and in `SessionSummary._meta` with a `PlanProgress`. */
export const PLAN_META_KEY = 'atrium.plan';

export const PLAN_STATUSES = ['pending', 'active', 'done'] as const;
export type PlanStatus = (typeof PLAN_STATUSES)[number];

export interface PlanItem {
  /** Stays the same while the item is on the list, even if its words change. */
  readonly id: string;
  readonly text: string;
  readonly status: PlanStatus;
}

/** The list of one chat. */
export interface PlanList {
  readonly chat: string;
  /** The turn that last changed it. */
  readonly turnId: string;
  readonly items: readonly PlanItem[];
}

export interface PlanProgress {
  readonly done: number;
  readonly total: number;
  /** The item that the agent works on. */
  readonly active?: string;
}

/** The lists in a session's metadata. Only our own host writes the key, but another program may use the same name. */
export function planLists(meta: Meta | undefined): readonly PlanList[] {
  const lists = (meta?.[PLAN_META_KEY] as { lists?: unknown } | undefined)?.lists;
  return Array.isArray(lists) ? lists.filter(isList) : [];
}

/** The list of a chat; empty when it has none. */
export function planOf(meta: Meta | undefined, chat: string | undefined): readonly PlanItem[] {
  return planLists(meta).find((list) => list.chat === chat)?.items ?? [];
}

interface ShownChat {
  readonly resource: string;
  readonly turns: readonly { readonly id: string }[];
  readonly activeTurn?: { readonly id: string } | undefined;
}

/** The list of a chat while it matters: a finished one disappears when the next turn starts. */
export function currentPlan(meta: Meta | undefined, { resource, turns, activeTurn }: ShownChat): readonly PlanItem[] {
  const list = planLists(meta).find(({ chat }) => chat === resource);
  if (!list) return [];
  const isDone = list.items.every(({ status }) => status === 'done');
  const newest = activeTurn?.id ?? turns.at(-1)?.id;
  return isDone && list.turnId !== newest ? [] : list.items;
}

/** The progress of a list; undefined for an empty one. */
export function planProgress(items: readonly PlanItem[]): PlanProgress | undefined {
  if (items.length === 0) return undefined;
  const active = items.find(({ status }) => status === 'active')?.text;
  const done = items.filter(({ status }) => status === 'done').length;
  return { done, total: items.length, ...(active !== undefined && { active }) };
}

/** The metadata with other lists. Without lists, the key is removed. */
export function withPlanLists(meta: Meta | undefined, lists: readonly PlanList[]): Meta {
  const { [PLAN_META_KEY]: _before, ...rest } = meta ?? {};
  return lists.length === 0 ? rest : { ...rest, [PLAN_META_KEY]: { lists } };
}

/** The metadata for a summary: the progress of the default chat's list instead of the lists. */
export function withPlanProgress(meta: Meta | undefined, chat: string | undefined): Meta | undefined {
  if (meta?.[PLAN_META_KEY] === undefined) return meta;
  const { [PLAN_META_KEY]: _lists, ...rest } = meta;
  const progress = planProgress(planOf(meta, chat));
  return progress ? { ...rest, [PLAN_META_KEY]: progress } : rest;
}

/** The progress in a session's summary. */
export function summaryProgress(meta: Meta | undefined): PlanProgress | undefined {
  const progress = meta?.[PLAN_META_KEY] as Partial<PlanProgress> | undefined;
  const { done, total } = progress ?? {};
  return typeof done === 'number' && typeof total === 'number' && total > 0 ? (progress as PlanProgress) : undefined;
}

/** As lists of sessions say it: nothing once all is done, because then there is nothing left to follow. */
export function openProgress(meta: Meta | undefined): PlanProgress | undefined {
  const progress = summaryProgress(meta);
  return progress && progress.done < progress.total ? progress : undefined;
}

function isList(list: unknown): list is PlanList {
  const { chat, items } = (list ?? {}) as Partial<PlanList>;
  return typeof chat === 'string' && Array.isArray(items) && items.every(isItem);
}

function isItem(item: unknown): item is PlanItem {
  const { id, text, status } = (item ?? {}) as Partial<PlanItem>;
  return typeof id === 'string' && typeof text === 'string' && PLAN_STATUSES.includes(status as PlanStatus);
}
