/** Columns for people: as wide as they need, the last one cut at the edge of the terminal. */

import { cut, padded, widthOf } from './width.js';

const GAP = '  ';

export function table(rows: readonly (readonly string[])[], columns = Number.POSITIVE_INFINITY): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
  }
  const line = (row: readonly string[]) =>
    row.map((cell, index) => (index === row.length - 1 ? cell : padded(cell, widths[index] ?? 0))).join(GAP);
  return rows.map((row) => cut(line(row).trimEnd(), columns)).join('\n');
}

/** Names beside each other, in as few rows as fit, read from top to bottom. */
export function inColumns(names: readonly string[], width: number): string[] {
  const cell = Math.max(1, ...names.map(widthOf)) + GAP.length;
  const across = Math.max(1, Math.floor((width + GAP.length) / cell));
  const rows = Math.ceil(names.length / across);
  return Array.from({ length: rows }, (_, row) =>
    names
      .filter((_name, index) => index % rows === row)
      .map((name) => padded(name, cell))
      .join('')
      .trimEnd(),
  );
}
