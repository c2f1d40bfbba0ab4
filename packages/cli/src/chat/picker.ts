/** Lists to choose from, with the arrow keys or by typing a part: of sessions, and of the chats of one. */
import {
  type FolderProjects,
  groupedSessions,
  isListedAsArchived,
  isPinned,
  type SessionState,
  type SessionSummary,
} from '@atrium/protocol/ahp-1';
import { io } from '../io.js';
import { type ChatRow, chatName, chatState, chatTree, kindWord } from '../sessions/chats.js';
import { shortId } from '../sessions/find-session.js';
import { activityOf, ago, folderOf, folderText, placeText, shortPlaceText } from '../sessions/summary-text.js';
import { printable } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { cut, padded } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import { Terminal } from './chat-terminal.js';
import type { Key } from './keys.js';
import { Screen } from './screen.js';

const PAGE_ROWS = 10;

/** The subject of a list, and how the list shows its items. */
interface ListOptions<T> {
  readonly question: string;
  /** The word for an item, for "no … fits". */
  readonly noun: string;
  /** The items now, in order. */
  items(): readonly T[];
  /** The text that the filter searches. */
  words(item: T): string;
  row(item: T, columns: number): string;
  /** Archived items show only in a search, or when there are no others. */
  isArchived?(item: T): boolean;
  /** True for the item that is marked at the start. */
  isMarked?(item: T): boolean;
}

type Picked<T> = T | 'escape' | 'interrupt';

/** The filter and the marked row, without the terminal. */
export class Picker<T> {
  readonly #options: ListOptions<T>;
  #filter = '';
  #marked: number;

  constructor(options: ListOptions<T>) {
    this.#options = options;
    this.#marked = Math.max(
      0,
      this.#listed().findIndex((item) => options.isMarked?.(item)),
    );
  }

  press({ name, text = '', ctrl }: Key): Picked<T> | undefined {
    if (name === 'escape') return 'escape';
    if (ctrl && (name === 'c' || name === 'd')) return name === 'c' ? 'interrupt' : 'escape';
    if (name === 'enter') return this.#matching()[this.#marked];
    if (name === 'text' || name === 'paste') this.#search(this.#filter + printable(text));
    if (name === 'backspace') this.#search(this.#filter.slice(0, -1));
    const steps: Record<string, number> = { up: -1, down: 1, pageup: -PAGE_ROWS, pagedown: PAGE_ROWS };
    this.#marked = Math.max(0, Math.min(this.#matching().length - 1, this.#marked + (steps[name] ?? 0)));
    return undefined;
  }

  #search(filter: string): void {
    this.#filter = filter;
    this.#marked = 0;
  }

  #matching(): T[] {
    const wanted = this.#filter.toLowerCase();
    const { items, words } = this.#options;
    return wanted === '' ? this.#listed() : items().filter((item) => words(item).toLowerCase().includes(wanted));
  }

  #listed(): T[] {
    const items = this.#options.items();
    const listed = items.filter((item) => !this.#options.isArchived?.(item));
    return listed.length > 0 ? listed : [...items];
  }

  lines(onEscape: string, { style, columns, rows = 24 }: ViewOptions): string[] {
    const { question, noun, row, items } = this.#options;
    const shown = this.#matching();
    const room = Math.max(3, rows - 5);
    const from = Math.max(0, Math.min(this.#marked - room + 1, shown.length - room));
    const lines = shown.slice(from, from + room).map((item, index) => {
      const text = cut(row(item, columns - 2), columns - 2);
      return index + from === this.#marked ? `${style.green('›')} ${style.bold(text)}` : `  ${text}`;
    });
    const none = shown.length === 0 ? [style.dim(`  No ${noun} fits. Backspace takes letters back.`)] : [];
    const count = shown.length > room ? style.dim(`  ${this.#marked + 1} of ${shown.length}`) : '';
    const archived = this.#filter === '' ? items().length - shown.length : 0;
    const more = archived > 0 ? [style.dim(cut(`  ${archived} archived: type "archived" to see them`, columns))] : [];
    const foot = style.dim(cut(`  ↑ ↓ choose · Enter opens · type to search · Esc ${onEscape}`, columns));
    return [`${style.bold(`${question} ${this.#filter}`.trimEnd())}${count}`, ...lines, ...none, ...more, foot];
  }
}

// Sessions.

const TITLE_COLUMNS_MAX = 40;
const TITLE_COLUMNS_MIN = 12;
const STATE_COLUMNS = 8;
const TIME_COLUMNS = 8;
/** Narrower lists leave out ids and folders. */
const WIDE_COLUMNS = 70;

/** Project by project, pinned ones first, as in the page. `current` is the session that the person comes from. */
export function sessionPicker(
  sessions: readonly SessionSummary[],
  projects?: FolderProjects,
  current?: string,
): Picker<SessionSummary> {
  const ordered = groupedSessions(sessions, projects).flatMap(({ items }) => items);
  const depths = new Map(ordered.map(({ summary, depth }) => [summary.resource, depth]));
  return new Picker<SessionSummary>({
    ...{ question: 'Which session?', noun: 'session' },
    items: () => ordered.map(({ summary }) => summary),
    words: (item) =>
      [item.title, shortId(item.resource), placeText(item), folderText(folderOf(item)), stateIn(item)].join(' '),
    row: (item, columns) => sessionText(item, columns, depths.get(item.resource) ?? 0),
    isArchived: isListedAsArchived,
    isMarked: ({ resource }) => resource === current,
  });
}

/** The state in a word that fits its column. */
function stateIn(summary: SessionSummary): string {
  return isListedAsArchived(summary) ? 'archived' : activityOf(summary);
}

function sessionText(summary: SessionSummary, columns: number, depth: number): string {
  const { resource, title, modifiedAt } = summary;
  const room = columns - STATE_COLUMNS - TIME_COLUMNS - 4;
  const width = Math.max(TITLE_COLUMNS_MIN, Math.min(TITLE_COLUMNS_MAX, room));
  const more = columns < WIDE_COLUMNS ? [] : [shortId(resource), shortPlaceText(summary)];
  const state = padded(stateIn(summary), STATE_COLUMNS);
  const time = padded(ago(modifiedAt, Date.now()), TIME_COLUMNS);
  const mark = `${isPinned(summary) ? '* ' : ''}${depth > 0 ? '└ ' : ''}`;
  return [padded(cut(mark + printable(title), width), width), state, time, ...more].join('  ');
}

// The chats of a session, as they are now.

const KIND_COLUMNS = 9;

/** `current` is the chat that the person comes from. */
export function chatPicker(session: () => SessionState, current: string): Picker<ChatRow> {
  const name = ({ chat }: ChatRow) => chatName(session(), chat);
  return new Picker({
    ...{ question: 'Which chat?', noun: 'chat' },
    items: () => chatTree(session()),
    words: (row) => [name(row), kindWord(row), chatState(row), row.asks ?? ''].join(' '),
    row: (row, columns) => chatText(row, name(row), columns),
    isMarked: ({ chat }) => chat.resource === current,
  });
}

function chatText(row: ChatRow, name: string, columns: number): string {
  const room = columns - STATE_COLUMNS - TIME_COLUMNS - KIND_COLUMNS - 6;
  const width = Math.max(TITLE_COLUMNS_MIN, Math.min(TITLE_COLUMNS_MAX, room));
  const title = padded(cut(`${row.depth > 0 ? `${'  '.repeat(row.depth - 1)}└ ` : ''}${name}`, width), width);
  const time = padded(ago(row.chat.modifiedAt, Date.now()), TIME_COLUMNS);
  const state = padded(chatState(row), STATE_COLUMNS);
  const more = row.asks ?? (row.chat.activity === undefined ? '' : printable(row.chat.activity));
  return [title, padded(kindWord(row), KIND_COLUMNS), state, time, more].join('  ').trimEnd();
}

interface PickOptions<T> {
  readonly picker: Picker<T>;
  readonly style: Style;
  /** What Esc does, in a word. */
  readonly onEscape: string;
  /** Calls back when the items have changed, and returns how to end that. */
  follow?(changed: () => void): () => void;
}

export function pick<T>({ picker, style, onEscape, follow }: PickOptions<T>): Promise<Picked<T>> {
  return onScreen({
    lines: ({ columns, rows }) => picker.lines(onEscape, { style, columns, rows }),
    press: (key) => picker.press(key),
    ended: 'interrupt',
    ...(follow && { follow }),
  });
}

interface OnScreen<T> {
  lines(view: { readonly columns: number; readonly rows: number }): readonly string[];
  /** Returns the person's choice, or undefined while the person has not chosen. */
  press(key: Key): T | undefined;
  /** The result if the terminal disappears. */
  readonly ended: T;
  /** Calls back when something has changed, and returns how to end that. */
  follow?(changed: () => void): () => void;
}

/** Gives the terminal to a screen until a key chooses. */
export function onScreen<T>({ lines, press, ended, follow }: OnScreen<T>): Promise<T> {
  return new Promise((resolve) => {
    const screen = new Screen(io().stdout);
    const draw = () => screen.update([], { lines: [...lines(screen)], cursor: { row: 0, column: 0 } });
    const done = (chosen: T) => {
      unfollow?.();
      terminal.close();
      resolve(chosen);
    };
    const key = (pressed: Key) => {
      const chosen = press(pressed);
      if (chosen) done(chosen);
      else draw();
    };
    const leaving = () => screen.clear();
    const terminal = new Terminal({ key, resize: draw, resumed: draw, leaving, ended: () => done(ended) });
    const unfollow = follow?.(draw);
    terminal.open();
    draw();
  });
}
