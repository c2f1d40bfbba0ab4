/**
 * Runs of finished turns that are read, checked and sent as one text. A page records where it ends and the sum of that
 * text; the turns themselves are in their own rows, each with its own sum. So a page may be missing or wrong, as in a
 * file that another version has written to: its turns are then read row by row.
 */
import { crc32 } from 'node:zlib';
import type { TurnRange } from '@atrium/core/log/log.js';
import { sumOf } from './damage.js';
import type { Database, Statement } from './driver.js';

/** The most bytes of turns that a page holds. */
const PAGE_BYTES = 256 * 2 ** 10;
/** A longer turn is in no page: clients may have to see it in another form, and it is worth its own read. */
const TURN_BYTES = 64 * 2 ** 10;

const COMMA = ',';

export interface TurnPage {
  /** The index of its first turn, and the index after its last. */
  readonly start: number;
  readonly behind: number;
  /** The bytes of its turns, without the commas between them. */
  readonly bytes: number;
  /** The bytes of its longest turn. */
  readonly longest: number;
  /** The checksum of its turns, joined by commas. */
  readonly sum: number;
}

/** A row of numbers, with commas between them: a read of many rows costs no more than one of a single one. */
const ROW = ['start', 'behind', 'bytes', 'longest', 'sum', 'own_sum'];

export class TurnPageTable {
  readonly #all: Statement<never>;
  readonly #last: Statement<never>;
  readonly #put: Statement<never>;
  readonly #cut: Statement<never>;
  readonly #copy: Statement<never>;
  /** The pages of the channel that was read last, until something is written. */
  #known: { readonly channel: string; readonly pages: readonly TurnPage[] } | undefined;

  constructor(db: Database) {
    const select = (rows: string) =>
      `SELECT CAST(group_concat(${ROW.map((column) => `CAST(${column} AS INTEGER)`).join(` || ',' || `)}) AS BLOB) AS bytes
        FROM (SELECT * FROM turn_pages WHERE channel = ? ORDER BY start ${rows})`;
    this.#all = db.prepare(select(''));
    this.#last = db.prepare(select('DESC LIMIT 1'));
    this.#put = db.prepare('INSERT OR REPLACE INTO turn_pages VALUES (?, ?, ?, ?, ?, ?, ?)');
    // Only the last page before the index can reach beyond it, so the others need no check.
    const before = 'SELECT start FROM turn_pages WHERE channel = ?1 AND start < ?2 ORDER BY start DESC LIMIT 1';
    this.#cut = db.prepare(
      `DELETE FROM turn_pages WHERE channel = ?1 AND start >= coalesce((${before}), 0) AND behind > ?2`,
    );
    this.#copy = db.prepare(
      `INSERT OR REPLACE INTO turn_pages SELECT ?, start, behind, bytes, longest, sum, own_sum FROM turn_pages
        WHERE channel = ? AND behind > ? AND behind <= ?`,
    );
  }

  /** The first page that begins at or after this turn. */
  next(channel: string, start: number): TurnPage | undefined {
    if (this.#known?.channel !== channel) this.#known = { channel, pages: pagesIn(this.#all.bytes(channel)) };
    return firstFrom(this.#known.pages, start);
  }

  /** Replaces all turns from an index on with these. A page that would be cut is removed as a whole. */
  put(channel: string, start: number, turns: readonly { readonly json: string }[]): void {
    this.cut(channel, start);
    if (turns.length === 0) return;
    const [last] = pagesIn(this.#last.bytes(channel));
    let page = last?.behind === start ? last : undefined;
    for (const [index, { json }] of turns.entries()) {
      const grown = withTurn(page, start + index, json);
      if (page && grown?.start !== page.start) this.#store(channel, page);
      page = grown;
    }
    if (page) this.#store(channel, page);
  }

  #store(channel: string, page: TurnPage): void {
    const { start, behind, bytes, longest, sum } = page;
    this.#put.run(channel, start, behind, bytes, longest, sum, ownSum(page));
  }

  cut(channel: string, start: number): void {
    this.#known = undefined;
    this.#cut.run(channel, start);
  }

  /** Copies the pages of copied turns. A page that is copied in two pieces arrives with the second. */
  copy(from: string, to: string, { start, end }: TurnRange): void {
    this.#known = undefined;
    this.#copy.run(to, from, start, end);
  }
}

/** The page with one more turn, or a new page if it is full; undefined for a turn that is too long for a page. */
function firstFrom(pages: readonly TurnPage[], start: number): TurnPage | undefined {
  let [low, high] = [0, pages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pages[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return pages[low];
}

/** Leaves out damaged pages, so that no reader takes far more at once than a page may hold. */
function withTurn(page: TurnPage | undefined, index: number, json: string): TurnPage | undefined {
  const bytes = Buffer.byteLength(json);
  if (bytes > TURN_BYTES) return undefined;
  const behind = index + 1;
  if (!page || page.bytes + bytes > PAGE_BYTES)
    return { start: index, behind, bytes, longest: bytes, sum: crc32(json) };
  const sum = crc32(json, crc32(COMMA, page.sum));
  return { ...page, behind, bytes: page.bytes + bytes, longest: Math.max(page.longest, bytes), sum };
}

/** Without the damaged ones: nobody must take far more at once than a page has. */
function pagesIn(rows: Buffer): TurnPage[] {
  const numbers = JSON.parse(`[${rows.toString('latin1')}]`) as number[];
  const pages: TurnPage[] = [];
  for (let at = 0; at < numbers.length; at += ROW.length) {
    const [start = 0, behind = 0, bytes = 0, longest = 0, sum = 0, found] = numbers.slice(at, at + ROW.length);
    const page = { start, behind, bytes, longest, sum };
    if (found === ownSum(page)) pages.push(page);
  }
  return pages;
}

function ownSum({ start, behind, bytes, longest, sum }: TurnPage): number {
  return sumOf('', [start, behind, bytes, longest, sum].join(COMMA));
}
