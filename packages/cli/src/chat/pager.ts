/**
 * A text that a person answers, shown whole, or page by page if the window is too small. An answer that lets something
 * happen appears once the end of the text has been on the screen.
 */
import { sealed, widthOf, wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { Key } from './keys.js';

/** The row with the position in the text. */
const PLACE_ROWS = 1;

export const READ_ON: KeyHint = ['Space', 'reads on'];

export class Pager {
  #from = 0;
  #page = 1;
  #lines = 0;
  #isRead = false;

  /** True once the whole text has been on the screen, in a window that is large enough to read it. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Whether the text has more than one page. */
  get isPaged(): boolean {
    return this.#lines > this.#page;
  }

  /** Moves through the text. False for any other key. */
  press({ name, text }: Key): boolean {
    if (!this.isPaged) return false;
    if (name === 'pagedown' || (name === 'text' && /^ +$/.test(text ?? ''))) this.#move(this.#page);
    else if (name === 'pageup') this.#move(-this.#page);
    else if (name === 'down') this.#move(1);
    else if (name === 'up') this.#move(-1);
    else if (name === 'home') this.#move(-this.#lines);
    else if (name === 'end') this.toEnd();
    else return false;
    return true;
  }

  toEnd(): void {
    this.#move(this.#lines);
  }

  #move(by: number): void {
    this.#from = Math.max(0, Math.min(this.#lines - this.#page, this.#from + by));
  }

  /** The rows that fit; `isComplete` when no part of the text is still loading. */
  view(lines: readonly string[], room: number, { style }: ViewOptions, isComplete = true): string[] {
    this.#lines = lines.length;
    this.#page = lines.length <= room ? lines.length : Math.max(0, room - PLACE_ROWS);
    this.#move(0);
    const end = this.#from + this.#page;
    if (!isComplete || this.#page === 0) this.#isRead = false;
    else if (end >= lines.length) this.#isRead = true;
    if (!this.isPaged) return [...lines];
    if (this.#page === 0) return [style.red('  Make the window larger: there is no room to show this.')];
    const place = `  lines ${this.#from + 1} to ${end} of ${lines.length}`;
    const rest = this.#isRead ? '' : ': read to the end to answer';
    return [...lines.slice(this.#from, end), style.yellow(`${place}${rest}`)];
  }
}

/** A key, and what it does. */
export type KeyHint = readonly [key: string, meaning: string];

const GAP = ' · ';

export function keyHintLines(hints: readonly KeyHint[], { style, columns }: ViewOptions): string[] {
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
  // Wraps instead of cutting: a cut label could hide a part of what the answer does.
  return rows.flatMap((row) => sealed(wrap(row.join(style.dim(GAP)), columns - 2)).map((line) => `  ${line}`));
}
