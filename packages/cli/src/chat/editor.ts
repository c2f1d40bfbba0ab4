/** The text that a person is writing: editing, history, and its layout on the screen with the cursor. */
import { printableLines } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { graphemesOf, widthOf } from '../text/width.js';
import type { Key } from './keys.js';

const HISTORY_MAX = 500;
const WORD_BEFORE = /[^\s]*\s*$/;
const WORD_AFTER = /^\s*[^\s]*/;
/** How far from the cursor the editor looks for letters and words, however long the text is. */
const LETTER_LOOK_CHARACTERS = 64;
const WORD_LOOK_CHARACTERS = 1_000;

export class Editor {
  text: string;
  /** An index into the text, always between two graphemes. */
  cursor: number;
  #history: string[] = [];
  /** The position in the history; its length stands for the person's own text. */
  #place = 0;
  #draft = '';

  constructor(text = '') {
    this.text = text;
    this.cursor = text.length;
  }

  /** Returns the text and clears the editor. */
  take(): string {
    const { text } = this;
    this.remember(text);
    this.set('');
    return text;
  }

  remember(text: string): void {
    if (text.trim() !== '' && this.#history.at(-1) !== text) this.#history.push(text);
    if (this.#history.length > HISTORY_MAX) this.#history = this.#history.slice(-HISTORY_MAX);
    this.#place = this.#history.length;
  }

  set(text: string): void {
    this.text = text;
    this.cursor = text.length;
  }

  /** Throws the text away. The history begins with the newest again. */
  clear(): void {
    this.set('');
    this.#place = this.#history.length;
  }

  insert(text: string): void {
    this.text = this.#before + text + this.#after;
    this.cursor += text.length;
  }

  /** True if the editor handled the key. */
  press(key: Key): boolean {
    if (key.name === 'text' || key.name === 'paste') {
      this.insert(key.text ?? '');
      return true;
    }
    const modifier = key.ctrl ? 'ctrl-' : key.alt ? 'alt-' : '';
    const act = this.#actions[`${modifier}${key.name}`];
    act?.();
    return act !== undefined;
  }

  readonly #actions: Readonly<Record<string, () => void>> = {
    newline: () => this.insert('\n'),
    left: () => this.#move(-this.#letterBefore),
    right: () => this.#move(this.#letterAfter),
    'ctrl-b': () => this.#actions.left?.(),
    'ctrl-f': () => this.#actions.right?.(),
    'ctrl-left': () => this.#move(-wordBefore(this.#before)),
    'ctrl-right': () => this.#move(wordAfter(this.#after)),
    'alt-b': () => this.#move(-wordBefore(this.#before)),
    'alt-f': () => this.#move(wordAfter(this.#after)),
    home: () => this.#move(-this.#lineBefore.length),
    end: () => this.#move(this.#lineAfter.length),
    'ctrl-a': () => this.#actions.home?.(),
    'ctrl-e': () => this.#actions.end?.(),
    up: () => this.#vertical(-1),
    down: () => this.#vertical(1),
    'ctrl-p': () => this.#vertical(-1),
    'ctrl-n': () => this.#vertical(1),
    backspace: () => this.#cut(this.#letterBefore, 0),
    delete: () => this.#cut(0, this.#letterAfter),
    'ctrl-d': () => this.#actions.delete?.(),
    'ctrl-w': () => this.#cut(wordBefore(this.#before), 0),
    'alt-backspace': () => this.#cut(wordBefore(this.#before), 0),
    'ctrl-u': () => this.#cut(this.#lineBefore.length, 0),
    'ctrl-k': () => this.#cut(0, this.#lineAfter.length || 1),
  };

  get #before(): string {
    return this.text.slice(0, this.cursor);
  }
  get #after(): string {
    return this.text.slice(this.cursor);
  }
  get #letterBefore(): number {
    return (
      graphemesOf(this.text.slice(Math.max(0, this.cursor - LETTER_LOOK_CHARACTERS), this.cursor)).at(-1)?.length ?? 0
    );
  }
  get #letterAfter(): number {
    return graphemesOf(this.text.slice(this.cursor, this.cursor + LETTER_LOOK_CHARACTERS))[0]?.length ?? 0;
  }
  get #lineBefore(): string {
    return this.#before.slice(this.#before.lastIndexOf('\n') + 1);
  }
  get #lineAfter(): string {
    return this.#after.split('\n', 1)[0] ?? '';
  }

  #move(by: number): void {
    this.cursor += by;
  }

  #cut(before: number, after: number): void {
    this.text = this.text.slice(0, this.cursor - before) + this.text.slice(this.cursor + after);
    this.cursor -= before;
  }

  /** Moves between the lines of the text; at its first and last line, through the history. */
  #vertical(by: 1 | -1): void {
    const rows = this.text.split('\n');
    const row = this.#before.split('\n').length - 1;
    const target = rows[row + by];
    if (target === undefined) return this.#recall(by);
    const start = rows.slice(0, row + by).reduce((sum, line) => sum + line.length + 1, 0);
    this.cursor = start + Math.min(this.#lineBefore.length, target.length);
  }

  #recall(by: 1 | -1): void {
    const place = this.#place + by;
    if (place < 0 || place > this.#history.length) return;
    if (this.#place === this.#history.length) this.#draft = this.text;
    this.#place = place;
    this.set(this.#history[place] ?? this.#draft);
  }
}

function wordBefore(text: string): number {
  return WORD_BEFORE.exec(text.slice(-WORD_LOOK_CHARACTERS))?.[0].length ?? 0;
}

function wordAfter(text: string): number {
  return WORD_AFTER.exec(text.slice(0, WORD_LOOK_CHARACTERS))?.[0].length ?? 0;
}

// The layout. Its cost depends on the visible rows, not on the length of the text.

/** The editor shows the part of a long text around the cursor. */
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

interface EditorFrame {
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

/** The part of the text that may be visible. It begins and ends with a line, or within a very long one. */
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
