/** Keys and what they do, in as few rows as the window allows. */
import { sealed, widthOf, wrap } from '../text/width.js';
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
  // An answer whose words are cut could mean more than it says.
  return rows.flatMap((row) => sealed(wrap(row.join(style.dim(GAP)), columns - 2)).map((line) => `  ${line}`));
}
