/** Keys and what they do, in as few rows as the window allows. */
import { cut, widthOf } from '../text/width.js';
import type { ViewOptions } from './call-view.js';

/** A key, and what it does. */
export type KeyHint = readonly [key: string, meaning: string];

const GAP = ' · ';

export function flowed(hints: readonly KeyHint[], { style, columns }: ViewOptions): string[] {
  const rows: string[][] = [[]];
  let used = 0;
  for (const [key, meaning] of hints) {
    const size = widthOf(`${key} ${meaning}`) + GAP.length;
    if (used > 0 && used + size > columns) {
      rows.push([]);
      used = 0;
    }
    rows.at(-1)?.push(`${style.bold(key)} ${meaning}`);
    used += size;
  }
  return rows.map((row) => cut(`  ${row.join(style.dim(GAP))}`, columns));
}
