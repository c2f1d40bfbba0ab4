/** What the word that is being typed could become, below the line. */
import { cut, padded, widthOf } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { Choice } from './completer.js';

/** Rows of a chat that are not the menu. */
const OTHER_ROWS = 8;
const ROWS_MIN = 4;
/** What it is called takes no more than this part of a narrow window. */
const LABEL_SHARE = 0.5;

interface Menu {
  readonly choices: readonly Choice[];
  /** The one that is in the line already. */
  readonly index: number | undefined;
}

export function menuLines({ choices, index }: Menu, { style, columns, rows = 24 }: ViewOptions): string[] {
  const most = Math.max(ROWS_MIN, rows - OTHER_ROWS);
  const from = Math.max(0, Math.min((index ?? 0) - most + 1, choices.length - most));
  const shown = choices.slice(from, from + most);
  const width = Math.min(Math.floor(columns * LABEL_SHARE), Math.max(0, ...shown.map(({ label }) => widthOf(label))));
  const lines = shown.map(({ label, about }, at) => {
    const isHere = at + from === index;
    const tab = index === undefined && at === 0 ? '  (Tab)' : '';
    const text = cut(`${isHere ? '›' : ' '} ${padded(cut(label, width), width)}  ${about}${tab}`.trimEnd(), columns);
    return isHere ? style.bold(text) : style.dim(text);
  });
  const hidden = choices.length - shown.length;
  return [...lines, ...(hidden > 0 ? [style.dim(`  … ${hidden} more: type on, or Tab again`)] : [])];
}
