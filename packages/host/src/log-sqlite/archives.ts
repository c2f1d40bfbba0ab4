/** The archives: each channel's state as of one number, and one row for each of its finished turns. */
import { crc32 } from 'node:zlib';
import { checkTurnStart, turnsPresent } from '@atrium/core/log/check-commit.js';
import {
  type ArchivedTurn,
  type ArchiveHead,
  type NewArchive,
  type TurnRange,
  type TurnsJson,
  type TurnsJsonRange,
  turnsJson,
} from '@atrium/core/log/log.js';
import { type Damage, damagedTurn, fits, sumOf } from './damage.js';
import type { Database, Statement } from './driver.js';
import { joinedIn, type SummedText, selectJoined, selectTexts, textsIn } from './summed-texts.js';
import { type TurnPage, TurnPageTable } from './turn-pages.js';

/** How many turns the first query for a page measures, and the most that a later one may measure. */
const LENGTHS_AT_FIRST = 100;
const LENGTHS_AT_ONCE_MAX = 1_000;

interface HeadRow extends ArchiveHead {
  readonly sum: number | null;
}

/** The plus keeps SQLite from walking all turns in order just to avoid sorting one row. */
export const FIND_TURN = 'SELECT idx FROM turns WHERE channel = ? AND id = ? ORDER BY +idx LIMIT 1';

export class ArchiveTable {
  readonly #put: Statement<never>;
  readonly #get: Statement<HeadRow>;
  readonly #headBytes: Statement<{ hex: string }>;
  readonly #turnBytes: Statement<{ hex: string }>;
  readonly #replaceTurn: Statement<never>;
  readonly #channels: Statement<{ channel: string }>;
  readonly #turnCount: Statement<{ turnCount: number }>;
  readonly #cutTurns: Statement<never>;
  readonly #addTurn: Statement<never>;
  readonly #turns: Statement<never>;
  readonly #turnsJson: Statement<never>;
  readonly #pageJson: Statement<never>;
  readonly #turnLengths: Statement<{ lengths: string | null }>;
  readonly #findTurn: Statement<{ idx: number }>;
  readonly #copyTurns: Statement<never>;
  readonly #remove: Statement<never>;
  readonly #damage: Damage;
  readonly #pages: TurnPageTable;

  constructor(db: Database, damage: Damage) {
    this.#damage = damage;
    this.#pages = new TurnPageTable(db);
    // Turn indexes have no gaps, so the last index gives their number without counting.
    const turnCount = '(SELECT coalesce(max(idx) + 1, 0) FROM turns WHERE turns.channel = ?1)';
    this.#put = db.prepare('INSERT OR REPLACE INTO archives VALUES (?, ?, ?, ?, ?)');
    this.#get = db.prepare(
      `SELECT seq, ${db.text('head')} AS head, sum, ${turnCount} AS turnCount FROM archives WHERE channel = ?1`,
    );
    this.#turnCount = db.prepare(`SELECT ${turnCount} AS turnCount`);
    this.#cutTurns = db.prepare('DELETE FROM turns WHERE channel = ? AND idx >= ?');
    this.#addTurn = db.prepare('INSERT INTO turns VALUES (?, ?, ?, ?, ?)');
    const anyOrder = 'FROM turns WHERE channel = ? AND idx >= ? AND idx < ?';
    const range = `${anyOrder} ORDER BY idx`;
    this.#turns = db.prepare(selectTexts(`SELECT idx AS row, id AS key, json AS text, sum ${range}`));
    this.#turnsJson = db.prepare(selectJoined(`SELECT id AS key, json AS text, sum ${range}`));
    // With an ORDER BY, SQLite would copy every text once more. Without it, the rows come in index order, and the sum
    // of the page confirms that. Turns that are longer than the page's longest do not belong to it and are not read.
    this.#pageJson = db.prepare(
      `SELECT CAST(group_concat(json, ',') AS BLOB) AS bytes ${anyOrder} AND octet_length(json) <= ?`,
    );
    this.#turnLengths = db.prepare(
      `SELECT group_concat(length) AS lengths FROM (SELECT octet_length(json) AS length ${range})`,
    );
    this.#headBytes = db.prepare('SELECT hex(head) AS hex FROM archives WHERE channel = ?');
    this.#turnBytes = db.prepare('SELECT hex(json) AS hex FROM turns WHERE channel = ? AND idx = ?');
    this.#replaceTurn = db.prepare('UPDATE turns SET json = ?, sum = ? WHERE channel = ? AND idx = ?');
    this.#channels = db.prepare(
      `SELECT ${db.text('channel')} AS channel FROM (SELECT channel FROM archives UNION SELECT channel FROM turns)`,
    );
    this.#findTurn = db.prepare(FIND_TURN);
    this.#copyTurns = db.prepare(
      'INSERT INTO turns SELECT ?, idx, id, json, sum FROM turns WHERE channel = ? AND idx >= ? AND idx < ? ORDER BY idx',
    );
    this.#remove = db.prepare('DELETE FROM archives WHERE channel = ?');
  }

  put(seq: number, archive: NewArchive): void {
    const { channel, head, turns } = archive;
    checkTurnStart(archive, this.countTurns(channel));
    this.#put.run(channel, seq, head, sumOf(channel, head), turns.start + turns.items.length);
    this.#cutTurns.run(channel, turns.start);
    this.#pages.put(channel, turns.start, turns.items);
    turns.items.forEach(({ id, json }, index) => {
      this.#addTurn.run(channel, turns.start + index, id, json, sumOf(id, json));
    });
  }

  head(channel: string): ArchiveHead | undefined {
    const row = this.#get.get(channel);
    if (row === undefined) return undefined;
    const { seq, head, turnCount, sum } = row;
    if (fits(sum, channel, head)) return { seq, head, turnCount };
    const hex = this.#headBytes.get(channel)?.hex ?? '';
    this.#damage.found({ what: `the archive of ${channel}`, instead: 'it is rebuilt from what is left', hex });
    return { seq, head: '', turnCount, isDamaged: true };
  }

  turns(channel: string, { start, end, maxBytes }: TurnRange): ArchivedTurn[] {
    const last = maxBytes === undefined ? end : this.#endOfPage(channel, { start, end, maxBytes });
    return textsIn(this.#turns.bytes(channel, start, last)).map((turn) => this.#checked(channel, turn));
  }

  turnsJson(channel: string, range: TurnsJsonRange): TurnsJson {
    const next = this.#pages.next(channel, range.start);
    const json = next && isFirstOf(range, next) && this.#whole(channel, next);
    if (json) return { count: next.behind - next.start, json };
    // Ends at the next page, so that the following read is a page again.
    const end = next && next.start > range.start ? Math.min(range.end, next.start) : range.end;
    return this.#rowsJson(channel, { ...range, end });
  }

  /** The turns of a page; undefined when they differ from what was stored. They may then not even be UTF-8. */
  #whole(channel: string, { start, behind, longest, sum }: TurnPage): Buffer | undefined {
    const json = this.#pageJson.bytes(channel, start, behind, longest);
    return crc32(json) === sum ? json : undefined;
  }

  #rowsJson(channel: string, { turnMaxBytes, ...range }: TurnsJsonRange): TurnsJson {
    const { start, end, maxBytes = Number.POSITIVE_INFINITY } = range;
    const last = this.#endOfPage(channel, { start, end, maxBytes }, turnMaxBytes);
    if (last === start) return { count: 0, json: Buffer.alloc(0) };
    const json = joinedIn(this.#turnsJson.bytes(channel, start, last));
    if (json) return { count: last - start, json };
    return turnsJson(this.turns(channel, { start, end: last }), turnMaxBytes);
  }

  /**
   * Measures a few turns at a time; SQLite knows their lengths without reading them. The average length so far says how
   * many more to measure at once. The page ends before a turn that is longer than `turnMaxBytes`.
   */
  #endOfPage(
    channel: string,
    { start, end, maxBytes }: Required<TurnRange>,
    turnMaxBytes = Number.POSITIVE_INFINITY,
  ): number {
    let bytes = 0;
    let atOnce = LENGTHS_AT_FIRST;
    for (let index = start; index < end; ) {
      const lengths = this.#turnLengths.get(channel, index, Math.min(end, index + atOnce))?.lengths;
      if (typeof lengths !== 'string') return index;
      for (const length of lengths.split(',')) {
        if (Number(length) > turnMaxBytes) return index;
        index += 1;
        bytes += Number(length);
        if (bytes >= maxBytes) return index;
      }
      const average = bytes / (index - start);
      atOnce = Math.min(LENGTHS_AT_ONCE_MAX, Math.ceil((maxBytes - bytes) / average));
    }
    return end;
  }

  channels(): string[] {
    return this.#channels.all().map(({ channel }) => channel);
  }

  #checked(channel: string, { row: idx, key: id, text: json, isWhole }: SummedText): ArchivedTurn {
    if (isWhole) return { id, json };
    const hex = this.#turnBytes.get(channel, idx)?.hex ?? '';
    const instead = damagedTurn(id);
    this.#damage.found({
      what: `turn ${idx} (${id}) of ${channel}`,
      instead: 'another turn says so in its place',
      hex,
    });
    this.#damage.repair(() => this.#replaceTurn.run(instead, sumOf(id, instead), channel, idx));
    return { id, json: instead };
  }

  findTurn(channel: string, turnId: string): number | undefined {
    return this.#findTurn.get(channel, turnId)?.idx;
  }

  copyTurns(from: string, to: string, { start, end, maxBytes }: TurnRange): number {
    if (this.countTurns(to) !== start) throw turnsPresent(to, start);
    const last = maxBytes === undefined ? end : this.#endOfPage(from, { start, end, maxBytes });
    this.#copyTurns.run(to, from, start, last);
    this.#pages.copy(from, to, { start, end: last });
    return this.countTurns(to) - start;
  }

  remove(channel: string): void {
    this.#remove.run(channel);
    this.#cutTurns.run(channel, 0);
    this.#pages.cut(channel, 0);
  }

  countTurns(channel: string): number {
    return this.#turnCount.get(channel)?.turnCount ?? 0;
  }
}

/** Whether a request begins with the turns of this page. */
function isFirstOf({ start, end, maxBytes = Number.POSITIVE_INFINITY, turnMaxBytes }: TurnsJsonRange, page: TurnPage) {
  return page.start === start && page.behind <= end && page.bytes <= maxBytes && page.longest <= turnMaxBytes;
}
