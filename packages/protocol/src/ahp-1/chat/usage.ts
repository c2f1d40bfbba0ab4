/**
 * What a turn used. The protocol counts input, cached input and output; agents of this host add more in `_meta`. All
 * counts cover the turn so far, so the difference of two reports is what was used in between.
 */
import type { UsageInfo } from '../common/types.js';

/** Tokens; input includes what was read from a cache and what was written to one, output includes reasoning. */
export interface UsageCounts {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
  /** Requests to the model, including those that failed and were repeated; 0 when the agent does not say. */
  readonly requests: number;
}

/** Members of `UsageInfo._meta` that agents of this host write. */
export interface UsageDetails {
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  /** How much of the model's window the last request filled. */
  readonly contextTokens?: number;
  readonly requests?: number;
  /** `flat`: a subscription pays, so tokens cost nothing by themselves. */
  readonly plan?: 'flat';
  /** What the turn cost according to the agent itself, in US dollars. */
  readonly costUsd?: number;
}

export const NO_USAGE: UsageCounts = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0, requests: 0 };

/** The details of a usage, as far as they are valid: other agents may write anything. */
export function usageDetails({ _meta }: UsageInfo): UsageDetails {
  const details: Record<string, unknown> = {};
  for (const name of ['cacheWriteTokens', 'reasoningTokens', 'contextTokens', 'requests', 'costUsd'])
    if (isCount(_meta?.[name])) details[name] = _meta[name];
  return { ...details, ...(_meta?.plan === 'flat' && { plan: 'flat' }) };
}

export function usageCounts(usage: UsageInfo | undefined): UsageCounts {
  if (!usage) return NO_USAGE;
  const { cacheWriteTokens = 0, reasoningTokens = 0, requests = 0 } = usageDetails(usage);
  return {
    input: countOf(usage.inputTokens),
    cacheRead: countOf(usage.cacheReadTokens),
    cacheWrite: cacheWriteTokens,
    output: countOf(usage.outputTokens),
    reasoning: reasoningTokens,
    requests,
  };
}

/** Adds counts, member by member. */
export function addCounts<Counts extends { readonly [Name in keyof Counts]: number }>(
  one: Counts,
  other: Counts,
  sign: 1 | -1 = 1,
): Counts {
  const names = Object.keys(one) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + sign * other[name]])) as Counts;
}

/** The total of a turn that had already used something when an agent that counts from zero reports more. */
export function plusUsage(before: UsageInfo | undefined, more: UsageInfo): UsageInfo {
  if (!before) return more;
  const sums = addCounts(usageCounts(before), usageCounts(more));
  const details = [usageDetails(before), usageDetails(more)];
  const has = (name: keyof UsageDetails) => details.some((each) => each[name] !== undefined);
  const cost = details.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0);
  const meta = {
    ...more._meta,
    ...(has('cacheWriteTokens') && { cacheWriteTokens: sums.cacheWrite }),
    ...(has('reasoningTokens') && { reasoningTokens: sums.reasoning }),
    ...(has('requests') && { requests: sums.requests }),
    ...(has('costUsd') && { costUsd: cost }),
  };
  return {
    ...before,
    ...more,
    ...((before.inputTokens ?? more.inputTokens) !== undefined && { inputTokens: sums.input }),
    ...((before.outputTokens ?? more.outputTokens) !== undefined && { outputTokens: sums.output }),
    ...((before.cacheReadTokens ?? more.cacheReadTokens) !== undefined && { cacheReadTokens: sums.cacheRead }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

function countOf(value: unknown): number {
  return isCount(value) ? value : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** The usage of many turns together, as `atrium/usage` returns it. */
export interface UsageTotals extends UsageCounts {
  readonly turns: number;
  readonly milliseconds: number;
  /** In US dollars; absent when nothing has a price. */
  readonly cost?: number;
  /** Input and output tokens without a known price, or paid by a flat plan. They are not in `cost`. */
  readonly unpricedTokens: number;
}

export const USAGE_GROUPS = ['day', 'session', 'project', 'agent', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageEntry extends UsageTotals {
  /**
   * A day as `2026-11-18`, the URI of a session or a project, the id of an agent or a model; empty when there is none.
   */
  readonly key: string;
  /** The name that people know, if there is one. */
  readonly title?: string;
}

/** The answer to `atrium/usage`. */
export interface UsageReport {
  readonly by: UsageGroup;
  /** The first and the last day; absent for all time. */
  readonly from?: string;
  readonly to?: string;
  readonly entries: readonly UsageEntry[];
  readonly total: UsageTotals;
  readonly prices: { readonly date: string; readonly source: string; readonly own: readonly string[] };
}

/** A limit in US dollars, in tokens, or both. */
export interface UsageLimit {
  readonly money?: number;
  readonly tokens?: number;
}

export const BUDGET_SCOPES = ['session', 'project', 'day'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** Prefix of the ids of budget questions. */
export const BUDGET_QUESTION = 'budget-';

/** One budget, as `atrium/budgets` lists it. */
export interface BudgetEntry {
  readonly scope: BudgetScope;
  /** A day, or the URI of a project or a session. */
  readonly name: string;
  readonly limit: UsageLimit;
  /** The limit before people let turns go on with more. */
  readonly set: UsageLimit;
  readonly spent: { readonly money: number; readonly tokens: number };
}

/** `$0.42`; with four decimal places when two would show nothing. */
export function moneyText(cost: number): string {
  return cost > 0 && cost < 0.01 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`;
}

/** `$5` is money, `500k` and `2M` are tokens, `off` is no limit. */
export function readUsageLimit(text: string): UsageLimit | undefined {
  if (text === 'off') return {};
  const [, money] = /^\$(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (money !== undefined) return Number(money) > 0 ? { money: Number(money) } : undefined;
  const [, tokens, unit = ''] = /^(\d+(?:\.\d+)?)([kKmM]?)$/.exec(text) ?? [];
  const count = Math.round(Number(tokens) * ({ k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1));
  return count > 0 ? { tokens: count } : undefined;
}

const COLUMNS = [
  'input',
  'cacheRead',
  'cacheWrite',
  'output',
  'reasoning',
  'requests',
  'turns',
  'milliseconds',
] as const;

/** One line per entry, with whole numbers and the cost in US dollars, empty when unknown. */
export function usageCsv({ by, entries }: UsageReport): string {
  const head = [by, 'title', ...COLUMNS, 'costUsd', 'unpricedTokens'];
  const lines = entries.map((entry) => [
    ...[entry.key, entry.title ?? ''],
    ...COLUMNS.map((name) => entry[name]),
    ...[entry.cost ?? '', entry.unpricedTokens],
  ]);
  return [head, ...lines].map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}

/** A cell. Some programs run text that begins like a formula; a quote in front keeps it text. */
function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
