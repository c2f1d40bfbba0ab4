/** Usage as the page and the terminal write it: amounts of money, and a table for spreadsheets. */
import type { UsageLimit, UsageReport } from './usage.js';

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
