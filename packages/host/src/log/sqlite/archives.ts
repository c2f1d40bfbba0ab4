/** The archives: each channel's state at one number, and its finished turns in rows of their own. */
import { checkTurnStart, turnsPresent } from '../check-commit.js';
import type { Archive, ArchivedTurn, ArchiveHead, TurnRange } from '../log.js';
import type { Database, Statement } from './driver.js';

/** How many turns' lengths are looked at in one go. */
const LENGTHS_AT_ONCE = 100;

export class ArchiveTable {
  readonly #put: Statement<never>;
  readonly #get: Statement<ArchiveHead>;
  readonly #turnCount: Statement<{ turnCount: number }>;
  readonly #cutTurns: Statement<never>;
  readonly #addTurn: Statement<never>;
  readonly #turns: Statement<ArchivedTurn>;
  readonly #turnLengths: Statement<{ length: number }>;
  readonly #turnsText: Statement<{ text: string | null }>;
  readonly #findTurn: Statement<{ idx: number }>;
  readonly #copyTurns: Statement<never>;
  readonly #remove: Statement<never>;

  constructor(db: Database) {
    // Turns have no holes, so the last index tells how many there are without counting them.
    const turnCount = '(SELECT coalesce(max(idx) + 1, 0) FROM turns WHERE turns.channel = ?1)';
    this.#put = db.prepare('INSERT OR REPLACE INTO archives VALUES (?, ?, ?)');
    this.#get = db.prepare(
      `SELECT seq, ${db.text('head')} AS head, ${turnCount} AS turnCount FROM archives WHERE channel = ?1`,
    );
    this.#turnCount = db.prepare(`SELECT ${turnCount} AS turnCount`);
    this.#cutTurns = db.prepare('DELETE FROM turns WHERE channel = ? AND idx >= ?');
    this.#addTurn = db.prepare('INSERT INTO turns VALUES (?, ?, ?, ?)');
    this.#turns = db.prepare(`
      SELECT ${db.text('id')} AS id, ${db.text('json')} AS json FROM turns
      WHERE channel = ? AND idx >= ? AND idx < ? ORDER BY idx`);
    this.#turnLengths = db.prepare(`
      SELECT octet_length(json) AS length FROM turns WHERE channel = ? AND idx >= ? AND idx < ? ORDER BY idx`);
    this.#turnsText = db.prepare(`
      SELECT ${db.text("group_concat(json, ',')")} AS text FROM (
        SELECT json FROM turns WHERE channel = ? AND idx >= ? AND idx < ? ORDER BY idx
      )`);
    this.#findTurn = db.prepare('SELECT idx FROM turns WHERE channel = ? AND id = ? ORDER BY idx LIMIT 1');
    this.#copyTurns = db.prepare(
      'INSERT INTO turns SELECT ?, idx, id, json FROM turns WHERE channel = ? AND idx < ? ORDER BY idx',
    );
    this.#remove = db.prepare('DELETE FROM archives WHERE channel = ?');
  }

  put(archive: Archive): void {
    const { channel, seq, head, turns } = archive;
    checkTurnStart(archive, this.#countTurns(channel));
    this.#put.run(channel, seq, head);
    this.#cutTurns.run(channel, turns.start);
    turns.items.forEach(({ id, json }, index) => {
      this.#addTurn.run(channel, turns.start + index, id, json);
    });
  }

  head(channel: string): ArchiveHead | undefined {
    const row = this.#get.get(channel);
    return row && { seq: row.seq, head: row.head, turnCount: row.turnCount };
  }

  turns(channel: string, { start, end, maxBytes }: TurnRange): ArchivedTurn[] {
    const last = maxBytes === undefined ? end : this.#endOfPage(channel, { start, end, maxBytes });
    return this.#turns.all(channel, start, last).map(({ id, json }) => ({ id, json }));
  }

  /** Looks at the lengths of a few turns at a time, which SQLite tells without reading them. */
  #endOfPage(channel: string, { start, end, maxBytes }: Required<TurnRange>): number {
    let bytes = 0;
    for (let index = start; index < end; ) {
      const lengths = this.#turnLengths.all(channel, index, Math.min(end, index + LENGTHS_AT_ONCE));
      if (lengths.length === 0) return index;
      for (const { length } of lengths) {
        index += 1;
        bytes += length;
        if (bytes >= maxBytes) return index;
      }
    }
    return end;
  }

  turnsText(channel: string, { start, end }: TurnRange): string {
    return this.#turnsText.get(channel, start, end)?.text ?? '';
  }

  findTurn(channel: string, turnId: string): number | undefined {
    return this.#findTurn.get(channel, turnId)?.idx;
  }

  copyTurns(from: string, to: string, end: number): void {
    if (this.#countTurns(to) > 0) throw turnsPresent(to);
    this.#copyTurns.run(to, from, end);
  }

  remove(channel: string): void {
    this.#remove.run(channel);
    this.#cutTurns.run(channel, 0);
  }

  #countTurns(channel: string): number {
    return this.#turnCount.get(channel)?.turnCount ?? 0;
  }
}
