/**
 * Answers what was used, grouped as people ask for it. Reads the records of the log; nothing is kept in memory for it.
 */
import type { Log } from '@atrium/core/log/log.js';
import type { UsageEntry, UsageGroup, UsageReport, UsageTotals } from '@atrium/protocol/ahp-1';
import { type AccountKind, accountOf, prefixOf, type RowCounts, rowIn, totalOf, type UsageRow } from './accounts.js';
import type { PriceList } from './price-list.js';

/** How many days are kept individually. */
export const USAGE_DAYS_KEPT = 400;
/** How many days a report covers by default. */
export const USAGE_DAYS_SHOWN = 30;
/** Entries of one answer; those with the highest usage come first, except for days. */
export const USAGE_ENTRIES_MAX = 1_000;

export interface ReportQuestion {
  readonly by: UsageGroup;
  readonly days: number;
  /** Only this session, over its whole life. */
  readonly session: string | undefined;
  /** Only this project. */
  readonly project: string | undefined;
}

export interface ReportParts {
  readonly log: Log;
  readonly prices: PriceList;
  readonly clock: { now(): number };
  titleOf(kind: AccountKind, name: string): string | undefined;
}

interface Counted {
  readonly key: string;
  readonly row: UsageRow;
}

export async function reportOf(parts: ReportParts, question: ReportQuestion): Promise<UsageReport> {
  const { by, days, session } = question;
  const { prices, clock } = parts;
  const isByDay = session === undefined && by !== 'session';
  const range = { from: dayOf(clock.now(), 1 - days), to: dayOf(clock.now()) };
  const rows = isByDay ? await daysBetween(parts, question, range) : await sessionRows(parts, question);
  const groups = groupedBy(rows);
  const entries = [...groups].map(([key, of]): UsageEntry => {
    const title = by === 'session' || by === 'project' ? parts.titleOf(by, key) : undefined;
    const totals = totalsOf(
      of.map(({ row }) => row),
      prices,
    );
    return { key, ...(title !== undefined && { title }), ...totals };
  });
  return {
    by,
    ...(isByDay && range),
    entries: sorted(entries, by).slice(0, USAGE_ENTRIES_MAX),
    total: totalsOf(
      rows.map(({ row }) => row),
      prices,
    ),
    prices: prices.origin,
  };
}

/** Sums the rows, and their cost as far as it is known. */
export function totalsOf(rows: readonly UsageRow[], prices: PriceList): UsageTotals {
  const { costUsd: _, ...counts } = totalOf(rows);
  const costs = rows.map((row) => ({ row, cost: prices.costOf(row) }));
  const known = costs.filter(({ cost }) => cost !== undefined);
  const unpriced = costs.filter(({ cost }) => cost === undefined);
  return {
    ...counts,
    ...(known.length > 0 && { cost: known.reduce((sum, { cost = 0 }) => sum + cost, 0) }),
    unpricedTokens: unpriced.reduce((sum, { row }) => sum + tokensOf(row), 0),
  };
}

export function tokensOf({ input, output }: RowCounts): number {
  return input + output;
}

/** The day of a moment, or a number of days later, in the time zone of the host: `2026-11-18`. */
export function dayOf(time: number, later = 0): string {
  const date = new Date(time);
  const day = new Date(date.getFullYear(), date.getMonth(), date.getDate() + later, 12);
  const parts = [String(day.getFullYear()).padStart(4, '0'), day.getMonth() + 1, day.getDate()];
  return parts.map((part) => String(part).padStart(2, '0')).join('-');
}

async function daysBetween(
  { log }: ReportParts,
  { by, project }: ReportQuestion,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Counted[]> {
  const found: Counted[] = [];
  await log.eachRecord(prefixOf('day'), ({ key, value }) => {
    const day = accountOf('day', key);
    const row = day >= from && day <= to ? rowIn(value) : undefined;
    if (!row || (project !== undefined && row.project !== project)) return;
    found.push({ key: by === 'day' ? day : (keyOf(by, row) ?? ''), row });
  });
  return found;
}

async function sessionRows({ log }: ReportParts, { by, session, project }: ReportQuestion): Promise<Counted[]> {
  const found: Counted[] = [];
  await log.eachRecord(prefixOf('session', session), ({ key, value }) => {
    const row = rowIn(value);
    if (!row || (project !== undefined && row.project !== project)) return;
    found.push({ key: by === 'session' ? accountOf('session', key) : (keyOf(by, row) ?? ''), row });
  });
  return found;
}

function keyOf(by: UsageGroup, { project, agent, model }: UsageRow): string | undefined {
  if (by === 'project') return project;
  return by === 'agent' ? agent : model;
}

function groupedBy(rows: readonly Counted[]): Map<string, Counted[]> {
  const groups = new Map<string, Counted[]>();
  for (const row of rows) {
    const group = groups.get(row.key);
    if (group) group.push(row);
    else groups.set(row.key, [row]);
  }
  return groups;
}

function sorted(entries: UsageEntry[], by: UsageGroup): UsageEntry[] {
  if (by === 'day') return entries.sort((a, b) => (a.key < b.key ? -1 : 1));
  return entries.sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || b.input + b.output - (a.input + a.output));
}
