/** The text that is being written, as lines that fit, with the place of the cursor. Long texts cost what is shown. */
import { printableLines } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { graphemesOf, widthOf } from '../text/width.js';
import type { Editor } from './editor.js';

/** Of a long text the part around the cursor is shown. */
const ROWS_MAX = 12;
const ROWS_MIN = 3;
/** Rows of a chat that are not the editor. */
const OTHER_ROWS = 6;

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
  readonly rows?: number;
  readonly prompt?: string;
  /** Shown while nothing is written. */
  readonly hint?: string;
}

export function editorView({ text, cursor }: Editor, frame: EditorFrame): EditorView {
  const { style, columns, rows: height = ROWS_MAX + OTHER_ROWS, prompt = '> ', hint = '' } = frame;
  const room = Math.max(10, columns - prompt.length - 1);
  const part = around(text, cursor, ROWS_MAX * room);
  const { rows, place } = laidOut(text.slice(part.start, part.end), cursor - part.start, room);
  const most = Math.max(ROWS_MIN, Math.min(ROWS_MAX, height - OTHER_ROWS));
  const from = Math.max(0, Math.min(place.row - most + 1, rows.length - most));
  const visible = rows.slice(from, from + most);
  const isCutBelow = from + most < rows.length || part.end < text.length;
  const blank = ' '.repeat(prompt.length);
  const lead = (at: number) => {
    if (at === 0)
      return from + part.start === 0 ? style.bold(style.green(prompt)) : style.dim('⋮'.padEnd(blank.length));
    return at === visible.length - 1 && isCutBelow ? style.dim('⋮'.padEnd(blank.length)) : blank;
  };
  const lines = visible.map((row, at) => `${lead(at)}${row === '' && text === '' ? style.dim(hint) : row}`);
  return { lines, cursor: { row: place.row - from, column: prompt.length + place.column } };
}

/** The part of the text that may be seen. It begins and ends with a line, or within a very long one. */
function around(text: string, cursor: number, characters: number): { start: number; end: number } {
  let start = lineStart(text, cursor);
  // In whole blocks, so that rows stay where they are while the cursor moves.
  start += Math.max(0, Math.floor((cursor - start) / characters) - 1) * characters;
  let end = cursor;
  for (let rows = 0; rows < ROWS_MAX && start > 0 && cursor - start < characters; rows += 1)
    start = Math.max(start - characters, lineStart(text, start - 1));
  for (let rows = 0; rows < ROWS_MAX && end < text.length && end - cursor < characters; rows += 1) {
    const next = text.indexOf('\n', end + 1);
    end = Math.min(next < 0 ? text.length : next, end + characters);
  }
  return { start, end };
}

function lineStart(text: string, index: number): number {
  return index <= 0 ? 0 : text.lastIndexOf('\n', index - 1) + 1;
}

function laidOut(text: string, cursor: number, room: number): { rows: string[]; place: Cursor } {
  const rows: string[] = [''];
  let place = { row: 0, column: 0 };
  let width = 0;
  let index = 0;
  for (const grapheme of [...graphemesOf(text), '']) {
    if (index === cursor) place = { row: rows.length - 1, column: width };
    index += grapheme.length;
    const shown = grapheme === '\n' ? '' : printableLines(grapheme);
    const size = widthOf(shown);
    if (grapheme === '\n' || width + size > room) {
      rows.push('');
      width = 0;
    }
    rows[rows.length - 1] += shown;
    width += size;
  }
  return { rows, place };
}
