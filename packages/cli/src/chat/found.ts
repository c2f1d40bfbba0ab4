/** /search and /find: a list of hits, and the turns themselves, from one hit to the next. */
import type { Client } from '@atrium/client';
import type { Phrase, SearchItem, SearchParams } from '@atrium/protocol/ahp-1';
import { shortId } from '../sessions/find-session.js';
import { foundTurn, marked, search, spansIn } from '../sessions/search.js';
import { turnText } from '../sessions/show.js';
import { ago } from '../sessions/summary-text.js';
import { printable } from '../text/printable.js';
import { PLAIN, type Style } from '../text/style.js';
import { cut, padded, wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import type { Key } from './keys.js';
import { onScreen, Picker, pick } from './picker.js';
import type { Task } from './tasks.js';

/** How many hits the list has at most. */
const FOUND_MAX = 200;
const TITLE_COLUMNS = 24;
const TIME_COLUMNS = 8;
/** Rows of the view that are not text: the head, an empty row, the keys. */
const OTHER_ROWS = 4;

interface FoundOptions {
  readonly client: Client;
  readonly style: Style;
}

type Chosen = SearchItem | 'escape' | 'interrupt';

/** The person chooses among all sessions. Esc goes from a turn back to the list. */
export async function chooseFound({ client, style, query }: FoundOptions & { query: string }): Promise<Chosen> {
  const { items, phrases } = await search(client, { query }, FOUND_MAX);
  let before: SearchItem | undefined;
  for (;;) {
    const picker = foundPicker(items, query, before);
    const picked = await pick({ picker, style, onEscape: 'goes back' });
    if (picked === 'escape' || picked === 'interrupt' || picked.turn === undefined) return picked;
    const chosen = await readFound({
      client,
      style,
      items,
      phrases,
      first: items.indexOf(picked),
      enter: 'goes there',
    });
    if (chosen !== 'escape') return chosen;
    before = picked;
  }
}

/** Searches the open session, also turns that are not loaded. */
export function findHere(words: string): Task {
  return async ({ client, open, note, view, away }) => {
    if (words === '') return note('Write what to find behind it: /find rate limiter');
    const params: SearchParams = { query: words, channel: open.session.uri };
    const { items, phrases } = await search(client, params, FOUND_MAX);
    if (items.length === 0) return note(`Nothing in this session has "${printable(words)}". In all: /search`);
    const { style } = view();
    await away(async () => {
      await readFound({ client, style, items, phrases, first: 0, enter: 'goes back' });
    });
  };
}

function foundPicker(items: readonly SearchItem[], query: string, before: SearchItem | undefined): Picker<SearchItem> {
  return new Picker<SearchItem>({
    ...{ question: `Found for ${printable(query)}:`, noun: 'hit' },
    items: () => items,
    words: ({ title, snippet, provider }) => `${title} ${snippet} ${provider}`,
    row: ({ title, time, snippet }) =>
      [
        padded(ago(time, Date.now()), TIME_COLUMNS),
        padded(cut(printable(title), TITLE_COLUMNS), TITLE_COLUMNS),
        printable(snippet),
      ].join('  '),
    isMarked: (item) => item === before,
  });
}

interface ReadOptions extends FoundOptions {
  readonly items: readonly SearchItem[];
  readonly phrases: readonly Phrase[];
  readonly first: number;
  /** What Enter does, in a word. */
  readonly enter: string;
}

/** Shows the turn of a hit; N and P go to the next and the previous one. */
async function readFound({ client, style, items, phrases, first, enter }: ReadOptions): Promise<Chosen> {
  const view = new FoundView({ items, phrases, first, enter });
  let changed: () => void = () => {};
  const load = () => {
    const { item } = view;
    foundTurn(client, item)
      .then(
        (turn) => view.loaded(item, turn ? turnText(turn, { style: PLAIN, columns: 80, hint: '' }) : 'It is gone.'),
        (error) => view.loaded(item, `It cannot be read: ${String(error)}`),
      )
      .finally(() => changed());
  };
  load();
  return onScreen<Chosen>({
    lines: (size) => view.lines({ style, ...size }),
    press: (key) => {
      const { item } = view;
      const chosen = view.press(key);
      if (view.item !== item) load();
      return chosen;
    },
    ended: 'interrupt',
    follow: (draw) => {
      changed = draw;
      return () => {
        changed = () => {};
      };
    },
  });
}

/** A turn with the found words marked, without the terminal. */
export class FoundView {
  readonly #options: Pick<ReadOptions, 'items' | 'phrases' | 'enter'>;
  #at: number;
  #text: string | undefined;
  /** The first row that shows; undefined: the one with the first found word. */
  #from: number | undefined;
  #page = 1;

  constructor({ first, ...options }: Pick<ReadOptions, 'items' | 'phrases' | 'first' | 'enter'>) {
    this.#options = options;
    this.#at = Math.max(0, first);
  }

  get item(): SearchItem {
    return this.#options.items[this.#at] as SearchItem;
  }

  loaded(item: SearchItem, text: string): void {
    if (item === this.item) this.#text = text;
  }

  press({ name, text = '', ctrl }: Key): Chosen | undefined {
    if (name === 'escape' || (name === 'text' && text === 'q')) return 'escape';
    if (ctrl && (name === 'c' || name === 'd')) return name === 'c' ? 'interrupt' : 'escape';
    if (name === 'enter') return this.item;
    if (name === 'text' && text === 'n') this.#go(1);
    else if (name === 'text' && text === 'p') this.#go(-1);
    else if (name === 'text' && text === ' ') this.#move(this.#page);
    else this.#move(STEPS[name]?.(this.#page) ?? 0);
    return undefined;
  }

  #go(by: number): void {
    const next = this.#at + by;
    if (next < 0 || next >= this.#options.items.length) return;
    this.#at = next;
    this.#text = undefined;
    this.#from = undefined;
  }

  #move(by: number): void {
    if (this.#from !== undefined) this.#from = Math.max(0, this.#from + by);
  }

  lines({ style, columns, rows = 24 }: ViewOptions): string[] {
    const { items, phrases, enter } = this.#options;
    const { title, turn, time, session } = this.item;
    const place = `hit ${this.#at + 1} of ${items.length} · turn ${(turn ?? 0) + 1} · ${ago(time, Date.now())}`;
    const head = `${style.bold(printable(title))}  ${style.dim(`${shortId(session)} · ${place}`)}`;
    const text = this.#text?.split('\n').flatMap((line) => wrap(line, columns)) ?? ['…'];
    const spans = text.map((line) => spansIn(line, phrases));
    this.#page = Math.max(1, rows - OTHER_ROWS);
    const first = spans.findIndex(({ length }) => length > 0);
    // The two lines before the words show their context.
    if (this.#text !== undefined) this.#from ??= Math.max(0, first - 2);
    const from = Math.max(0, Math.min(this.#from ?? 0, text.length - this.#page));
    if (this.#from !== undefined) this.#from = from;
    const shown = text.slice(from, from + this.#page).map((line, at) => marked(line, spans[from + at] ?? [], style));
    const keys = `  N next · P previous · ↑ ↓ Space move · Enter ${enter} · Esc leaves`;
    return [cut(head, columns), '', ...shown, style.dim(cut(keys, columns))];
  }
}

const STEPS: Readonly<Record<string, (page: number) => number>> = {
  up: () => -1,
  down: () => 1,
  pageup: (page) => -page,
  pagedown: (page) => page,
};
