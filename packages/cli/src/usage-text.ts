/** Usage in words, in a table, and for spreadsheets. */
import { moneyText, type UsageEntry, type UsageReport, type UsageTotals } from '@atrium/protocol/ahp-1';

export { usageCsv } from '@atrium/protocol/ahp-1';

import { shortId } from './sessions/find-session.js';
import { folderText } from './sessions/summary-text.js';
import { printable } from './text/printable.js';
import { table } from './text/table.js';

/** Checks the answer, because a host of another version may have another shape. */
export function readReport(answer: unknown): UsageReport {
  const { entries, total } = (answer ?? {}) as Partial<UsageReport>;
  if (!Array.isArray(entries) || typeof total !== 'object') throw new Error('the host answered no report of usage');
  return answer as UsageReport;
}

/** 950, 1.2k, 34k, 1.2M. */
export function tokensText(count: number): string {
  if (count < 1_000) return String(count);
  const [value, unit] = count < 999_500 ? [count / 1_000, 'k'] : [count / 1_000_000, 'M'];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

/** `$0.42 · 12k in (8k cached) · 1.2k out · 3 turns` */
export function totalsText({ cost, input, cacheRead, output, turns, unpricedTokens }: UsageTotals): string {
  const parts = [
    cost !== undefined && moneyText(cost),
    `${tokensText(input)} in${cacheRead > 0 ? ` (${tokensText(cacheRead)} cached)` : ''}`,
    `${tokensText(output)} out`,
    `${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    cost !== undefined && unpricedTokens > 0 && `${tokensText(unpricedTokens)} without a price`,
  ];
  return parts.filter(Boolean).join(' · ');
}

const HEADS = ['IN', 'CACHED', 'WRITTEN', 'OUT', 'REASONING', 'TURNS', 'COST'] as const;

export function usageTable(report: UsageReport, columns?: number): string {
  const { by, entries, total, prices } = report;
  if (entries.length === 0) return 'Nothing was used yet.';
  const row = (name: string, each: UsageTotals) => {
    const counts = [each.input, each.cacheRead, each.cacheWrite, each.output, each.reasoning].map(tokensText);
    return [name, ...counts, String(each.turns), each.cost === undefined ? '–' : moneyText(each.cost)];
  };
  const rows = entries.map((entry) => row(nameOf(report, entry), entry));
  const shown = table([[by.toUpperCase(), ...HEADS], ...rows, row('all', total)], columns);
  return `${shown}\n\n${priceNote(prices, total)}`;
}

function nameOf({ by }: UsageReport, { key, title }: UsageEntry): string {
  if (by === 'session') return `${shortId(key)} ${title === undefined ? '(removed)' : printable(title)}`;
  if (by === 'project') return key === '' ? '(no folder)' : folderText(key);
  return key === '' ? '(not told)' : printable(key);
}

function priceNote({ date, source, own }: UsageReport['prices'], { unpricedTokens }: UsageTotals): string {
  const without = unpricedTokens > 0 ? ` ${tokensText(unpricedTokens)} tokens have no price, or a plan pays.` : '';
  const replaced = own.length > 0 ? `, and your own for ${own.map(printable).join(', ')}` : '';
  return `US dollars, with prices of ${date} (${source})${replaced}.${without}`;
}
