/** A list to choose a session from, with the arrow keys or by typing a part of it. */
import type { SessionSummary } from '@atrium/protocol/ahp-1';
import { shortId } from '../sessions/find-session.js';
import { activityOf, ago, folderOf, folderText, isArchived, placeText } from '../sessions/summary-text.js';
import { printable } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { cut, padded } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import { Terminal } from './chat-terminal.js';
import type { Key } from './keys.js';
import { Screen } from './screen.js';

const TITLE_COLUMNS_MAX = 40;
const TITLE_COLUMNS_MIN = 12;
const STATE_COLUMNS = 8;
const TIME_COLUMNS = 8;
/** Where there is less room, ids and folders are left out. */
const WIDE_COLUMNS = 70;
const PAGE_ROWS = 10;

type Picked = SessionSummary | 'escape' | 'interrupt';

/** The filter and the marked row, without the terminal. */
export class Picker {
  readonly #items: readonly SessionSummary[];
  #filter = '';
  #marked = 0;

  constructor(items: readonly SessionSummary[]) {
    this.#items = items;
  }

  press({ name, text = '', ctrl }: Key): Picked | undefined {
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

  #matching(): SessionSummary[] {
    const wanted = this.#filter.toLowerCase();
    const words = (item: SessionSummary) =>
      [item.title, shortId(item.resource), placeText(item), folderText(folderOf(item)), stateIn(item)]
        .join(' ')
        .toLowerCase();
    return wanted === '' ? this.#listed() : this.#items.filter((item) => words(item).includes(wanted));
  }

  /** Archived sessions show only in a search, or when there are no others. */
  #listed(): SessionSummary[] {
    const listed = this.#items.filter((item) => !isArchived(item));
    return listed.length > 0 ? listed : [...this.#items];
  }

  lines(onEscape: string, { style, columns, rows = 24 }: ViewOptions): string[] {
    const shown = this.#matching();
    const room = Math.max(3, rows - 5);
    const from = Math.max(0, Math.min(this.#marked - room + 1, shown.length - room));
    const lines = shown.slice(from, from + room).map((item, index) => {
      const text = cut(rowText(item, columns - 2), columns - 2);
      return index + from === this.#marked ? `${style.green('›')} ${style.bold(text)}` : `  ${text}`;
    });
    const none = shown.length === 0 ? [style.dim('  No session fits. Backspace takes letters back.')] : [];
    const count = shown.length > room ? style.dim(`  ${this.#marked + 1} of ${shown.length}`) : '';
    const archived = this.#filter === '' ? this.#items.length - shown.length : 0;
    const more = archived > 0 ? [style.dim(cut(`  ${archived} archived: type "archived" to see them`, columns))] : [];
    const foot = style.dim(cut(`  ↑ ↓ choose · Enter opens · type to search · Esc ${onEscape}`, columns));
    return [`${style.bold(`Which session? ${this.#filter}`.trimEnd())}${count}`, ...lines, ...none, ...more, foot];
  }
}

/** In a word that fits its column. */
function stateIn(summary: SessionSummary): string {
  return isArchived(summary) ? 'archived' : activityOf(summary);
}

function rowText(summary: SessionSummary, columns: number): string {
  const { resource, title, modifiedAt } = summary;
  const room = columns - STATE_COLUMNS - TIME_COLUMNS - 4;
  const width = Math.max(TITLE_COLUMNS_MIN, Math.min(TITLE_COLUMNS_MAX, room));
  const more = columns < WIDE_COLUMNS ? [] : [shortId(resource), placeText(summary)];
  const state = padded(stateIn(summary), STATE_COLUMNS);
  const time = padded(ago(modifiedAt, Date.now()), TIME_COLUMNS);
  return [padded(cut(printable(title), width), width), state, time, ...more].join('  ');
}

/** `onEscape`: what Esc does, in a word. */
export function pickSession(items: readonly SessionSummary[], style: Style, onEscape: string): Promise<Picked> {
  return new Promise((resolve) => {
    const screen = new Screen(process.stdout);
    const picker = new Picker(items);
    const draw = () => {
      const lines = picker.lines(onEscape, { style, columns: screen.columns, rows: screen.rows });
      screen.update([], { lines, cursor: { row: 0, column: 0 } });
    };
    const done = (picked: Picked) => {
      terminal.close();
      resolve(picked);
    };
    const press = (key: Key) => {
      const picked = picker.press(key);
      if (picked) done(picked);
      else draw();
    };
    const leaving = () => screen.clear();
    const terminal = new Terminal({ key: press, resize: draw, resumed: draw, leaving, ended: () => done('interrupt') });
    terminal.open();
    draw();
  });
}
