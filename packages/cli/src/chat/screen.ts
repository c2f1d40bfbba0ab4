/**
 * Draws a chat: finished lines go up into the scrollback and never change again; live lines below them are redrawn.
 * Writes
 * only lines that differ.
 */
import { io } from '../io.js';
import type { Style } from '../text/style.js';
import { cut, widthOf } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { Cursor } from './editor.js';
import { noteLines } from './transcript.js';

const ESC = '\u001b[';
/** Terminals that know it show a whole update at once; the others ignore it. */
const SYNC_BEGIN = `${ESC}?2026h`;
const SYNC_END = `${ESC}?2026l`;
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
const ERASE_BELOW = `${ESC}J`;
/**
 * Terminals disagree about the width of some pictures. So the terminal must not wrap live lines: it cuts a row that it
 * believes to be too long, and the count of rows stays right.
 */
const WRAP_OFF = `${ESC}?7l`;
const WRAP_ON = `${ESC}?7h`;

/** The layout assumes at least this width. */
const COLUMNS_MIN = 20;
const ROWS_MIN = 5;

interface Output {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): boolean;
}

export interface Frame {
  readonly lines: readonly string[];
  readonly cursor: Cursor;
}

const EMPTY: Frame = { lines: [], cursor: { row: 0, column: 0 } };

export class Screen {
  readonly #out: Output;
  #shown: Frame = EMPTY;
  #width: number;

  constructor(out: Output) {
    this.#out = out;
    this.#width = this.columns;
  }

  get columns(): number {
    return Math.max(COLUMNS_MIN, this.#out.columns ?? 80);
  }

  get rows(): number {
    return Math.max(ROWS_MIN, this.#out.rows ?? 24);
  }

  /** The rows for text that the person must see whole: none in a window that is narrower than the narrowest layout. */
  get wholeRows(): number {
    const { columns = COLUMNS_MIN, rows = ROWS_MIN } = this.#out;
    return columns < COLUMNS_MIN || rows < ROWS_MIN ? 0 : this.rows;
  }

  /** Moves `finished` into the scrollback and draws `frame` below it. */
  update(finished: readonly string[], frame: Frame): void {
    const next = this.#fitting(frame);
    const shown = this.#shown;
    const isRedrawn = finished.length > 0 || this.#width !== this.columns || !sameLines(shown.lines, next.lines);
    if (!isRedrawn && sameCursor(next.cursor, shown.cursor)) return;
    const kept = finished.length > 0 || this.#width !== this.columns ? 0 : commonLines(shown.lines, next.lines);
    const top = `\r${up(this.#rowsAboveCursor())}`;
    const gone = finished.map((line) => `${line}\r\n`).join('');
    const live = `${WRAP_OFF}${next.lines.slice(kept).join('\r\n')}${WRAP_ON}`;
    const text = isRedrawn ? `${down(kept)}${ERASE_BELOW}${gone}${live}` : '';
    const end = isRedrawn ? Math.max(0, next.lines.length - 1) : 0;
    const toCursor = vertical(next.cursor.row - end) + (next.cursor.column > 0 ? `${ESC}${next.cursor.column}C` : '');
    this.#out.write(`${SYNC_BEGIN}${HIDE_CURSOR}${top}${text}\r${toCursor}${SHOW_CURSOR}${SYNC_END}`);
    this.#shown = next;
    this.#width = this.columns;
  }

  /** Removes the live part, so that the next output starts on a clean line. */
  clear(): void {
    if (this.#shown === EMPTY) return;
    this.#out.write(`\r${up(this.#rowsAboveCursor())}${ERASE_BELOW}`);
    this.#shown = EMPTY;
  }

  /** A resize has wrapped our lines differently: counts the rows that they now have. */
  #rowsAboveCursor(): number {
    const { lines, cursor } = this.#shown;
    if (this.#width <= this.columns) return cursor.row;
    const rows = (width: number) => Math.max(1, Math.ceil(width / this.columns));
    const above = lines.slice(0, cursor.row).reduce((sum, line) => sum + rows(widthOf(line)), 0);
    return above + Math.floor(cursor.column / this.columns);
  }

  /** A frame taller than the window cannot be redrawn, so its upper part waits. */
  #fitting({ lines, cursor }: Frame): Frame {
    const surplus = Math.max(0, lines.length - (this.rows - 1));
    const visible = lines.slice(surplus).map((line) => cut(line, this.columns));
    if (surplus > 0) visible[0] = cut(`… ${surplus + 1} more lines`, this.columns);
    return { lines: visible, cursor: { row: Math.max(0, cursor.row - surplus), column: cursor.column } };
  }
}

/** How many lines at the top stay. The last line is always written, because the cursor cannot move to a missing row. */
function commonLines(one: readonly string[], other: readonly string[]): number {
  const most = Math.min(one.length, other.length) - 1;
  let count = 0;
  while (count < most && one[count] === other[count]) count += 1;
  return count;
}

function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}

function sameCursor(one: Cursor, other: Cursor): boolean {
  return one.row === other.row && one.column === other.column;
}

function up(rows: number): string {
  return rows > 0 ? `${ESC}${rows}A` : '';
}

function vertical(rows: number): string {
  return rows < 0 ? up(-rows) : down(rows);
}

function down(rows: number): string {
  return rows > 0 ? `${ESC}${rows}B` : '';
}

/** Changes within this time are drawn together. */
const DRAW_AFTER_MS = 16;
const NOTHING: Frame = { lines: [''], cursor: { row: 0, column: 0 } };

interface DisplayOptions {
  readonly style: Style;
  /** Returns the lines for the scrollback, and the frame below them. */
  draw(view: ViewOptions): { readonly finished: readonly string[]; readonly frame: Frame };
}

export class Display {
  readonly #options: DisplayOptions;
  readonly #screen = new Screen(io().stdout);
  /** Lines that wait to go up. */
  readonly #notes: string[] = [];
  #state: 'ours' | 'away' | 'over' = 'ours';
  #drawing: NodeJS.Timeout | undefined;

  constructor(options: DisplayOptions) {
    this.#options = options;
  }

  get view(): ViewOptions {
    return { style: this.#options.style, columns: this.#screen.columns, rows: this.#screen.wholeRows };
  }

  note(text: string): void {
    this.show([...noteLines(text, this.view), '']);
  }

  /** Puts lines into the scrollback. */
  show(lines: readonly string[]): void {
    this.#notes.push(...lines);
    this.changed();
  }

  changed(): void {
    this.#drawing ??= setTimeout(() => this.draw(), DRAW_AFTER_MS);
  }

  draw(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    if (this.#state !== 'ours') return;
    const { finished, frame } = this.#options.draw(this.view);
    this.#screen.update([...this.#notes.splice(0), ...finished], frame);
  }

  /** Takes the live part away, so that whatever comes next starts on a clean line. */
  clear(): void {
    this.#screen.clear();
  }

  /** Another program has the terminal: draws changes afterwards. */
  leave(): void {
    if (this.#state === 'ours') this.#state = 'away';
  }

  comeBack(): void {
    if (this.#state === 'away') this.#state = 'ours';
    this.changed();
  }

  /** Moves the last lines into the scrollback and stops drawing. */
  close(last: readonly string[]): void {
    clearTimeout(this.#drawing);
    this.#state = 'over';
    this.#screen.update([...this.#notes.splice(0), ...last], NOTHING);
  }
}
