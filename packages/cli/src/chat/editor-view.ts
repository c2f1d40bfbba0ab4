/** The text that is being written, as lines that fit, with the place of the cursor. */
import { printableLines } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { graphemesOf, graphemeWidth } from '../text/width.js';
import type { Editor } from './editor.js';

/** Of a long text the part around the cursor is shown. */
const ROWS_MAX = 12;

export interface Cursor {
  readonly row: number;
  readonly column: number;
}

export interface EditorView {
  readonly lines: string[];
  readonly cursor: Cursor;
}

export interface EditorFrame {
  readonly style: Style;
  readonly columns: number;
  readonly prompt?: string;
  /** Shown while nothing is written. */
  readonly hint?: string;
}

export function editorView({ text, cursor }: Editor, frame: EditorFrame): EditorView {
  const { style, columns, prompt = '> ', hint = '' } = frame;
  const room = Math.max(10, columns - prompt.length - 1);
  const place = { row: 0, column: 0 };
  const rows: string[] = [''];
  let width = 0;
  let index = 0;
  for (const grapheme of [...graphemesOf(text), '']) {
    if (index === cursor) Object.assign(place, { row: rows.length - 1, column: width });
    index += grapheme.length;
    const shown = grapheme === '\n' ? '' : printableLines(grapheme);
    const size =
      shown === '' ? 0 : Math.max(graphemeWidth(shown), shown.length > 3 && /^ +$/.test(shown) ? shown.length : 0);
    if (grapheme === '\n' || width + size > room) {
      rows.push('');
      width = 0;
    }
    rows[rows.length - 1] += shown;
    width += size;
  }
  const from = Math.max(0, Math.min(place.row - ROWS_MAX + 1, rows.length - ROWS_MAX));
  const visible = rows.slice(from, from + ROWS_MAX);
  const lead = (at: number) => (at + from === 0 ? style.bold(style.green(prompt)) : ' '.repeat(prompt.length));
  const lines = visible.map((row, at) => `${lead(at)}${row === '' && text === '' ? style.dim(hint) : row}`);
  return { lines, cursor: { row: place.row - from, column: prompt.length + place.column } };
}
