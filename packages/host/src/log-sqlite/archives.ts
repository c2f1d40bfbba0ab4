/** The archives: each channel's state at one number, and its finished turns in rows of their own. */
import { checkTurnStart, turnsPresent } from '@atrium/core/log/check-commit.js';
import type { ArchivedTurn, ArchiveHead, NewArchive, TurnRange } from '@atrium/core/log/log.js';
import { type Damage, damagedTurn, fits, sumOf } from './damage.js';
import type { Database, Statement } from './driver.js';
import { type SummedText, selectTexts, textsIn } from './summed-texts.js';

/** How many turns are measured in one query. */
const LENGTHS_AT_ONCE = 100;

interface HeadRow extends ArchiveHead {
  readonly sum: number | null;
}

/** The plus keeps SQLite from walking all turns in their order, which saves it the sorting of one row. */
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
  readonly #turnLengths: Statement<{ lengths: string | null }>;
  readonly #findTurn: Statement<{ idx: number }>;
  readonly #copyTurns: Statement<never>;
  readonly #remove: Statement<never>;
  readonly #damage: Damage;

  constructor(db: Database, damage: Damage) {
    this.#damage = damage;
    // Turn indexes have no gaps, so the last index gives their number without counting.
    const turnCount = '(SELECT coalesce(max(idx) + 1, 0) FROM turns WHERE turns.channel = ?1)';
    this.#put = db.prepare('INSERT OR REPLACE INTO archives VALUES (?, ?, ?, ?, ?)');
    this.#get = db.prepare(
      `SELECT seq, ${db.text('head')} AS head, sum, ${turnCount} AS turnCount FROM archives WHERE channel = ?1`,
    );
    this.#turnCount = db.prepare(`SELECT ${turnCount} AS turnCount`);
    this.#cutTurns = db.prepare('DELETE FROM turns WHERE channel = ? AND idx >= ?');
    this.#addTurn = db.prepare('INSERT INTO turns VALUES (?, ?, ?, ?, ?)');
    const range = 'FROM turns WHERE channel = ? AND idx >= ? AND idx < ? ORDER BY idx';
    this.#turns = db.prepare(selectTexts(`SELECT idx AS row, id AS key, json AS text, sum ${range}`));
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
    this.#damage.found({ what: `the archive of ${channel}`, instead: 'it is made anew from what is left', hex });
    return { seq, head: '', turnCount, isDamaged: true };
  }

  turns(channel: string, { start, end, maxBytes }: TurnRange): ArchivedTurn[] {
    const last = maxBytes === undefined ? end : this.#endOfPage(channel, { start, end, maxBytes });
    return textsIn(this.#turns.bytes(channel, start, last)).map((turn) => this.#checked(channel, turn));
  }

  /** Measures a few turns at a time; SQLite knows their lengths without reading them. */
  #endOfPage(channel: string, { start, end, maxBytes }: Required<TurnRange>): number {
    let bytes = 0;
    for (let index = start; index < end; ) {
      const lengths = this.#turnLengths.get(channel, index, Math.min(end, index + LENGTHS_AT_ONCE))?.lengths;
      if (typeof lengths !== 'string') return index;
      for (const length of lengths.split(',')) {
        index += 1;
        bytes += Number(length);
        if (bytes >= maxBytes) return index;
      }
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
    this.#damage.mend(() => this.#replaceTurn.run(instead, sumOf(id, instead), channel, idx));
    return { id, json: instead };
  }

  findTurn(channel: string, turnId: string): number | undefined {
    return this.#findTurn.get(channel, turnId)?.idx;
  }

  copyTurns(from: string, to: string, { start, end, maxBytes }: TurnRange): number {
    if (this.countTurns(to) !== start) throw turnsPresent(to, start);
    const last = maxBytes === undefined ? end : this.#endOfPage(from, { start, end, maxBytes });
    this.#copyTurns.run(to, from, start, last);
    return this.countTurns(to) - start;
  }

  remove(channel: string): void {
    this.#remove.run(channel);
    this.#cutTurns.run(channel, 0);
  }

  countTurns(channel: string): number {
    return this.#turnCount.get(channel)?.turnCount ?? 0;
  }
}
