/** Reads the content of the engine. Each question is one statement, and so sees one state. */
import type {
  ArchivedTurn,
  ArchiveHead,
  LogEntry,
  ReadRange,
  StoredChannel,
  StoredRecord,
  TurnRange,
} from '@atrium/core/log/log.js';
import type { MissedRequest } from '@atrium/core/log/recent-entries.js';
import type { Engine } from './engine.js';
import { nameFromEngine, nameToEngine } from './texts.js';

/** Rows per question, if there may be many. */
const PAGE_ROWS = 1_000;
const ENTRY_COLUMNS = 'seq, channel, time, action, client_id, epoch, client_seq';

export interface EntryRow {
  readonly seq: number;
  readonly channel: string;
  readonly time: number;
  readonly action: string;
  readonly client_id: string | null;
  readonly epoch: number | null;
  readonly client_seq: number | null;
}

/** A row of `OPEN_CHANNEL`: the head of the log, the archive, a turn, or an entry. */
interface OpenRow extends EntryRow {
  readonly kind: 'head' | 'archive' | 'turn' | 'entry';
}

/**
 * Of turns, `seq` is the index, `channel` the id and `action` the JSON; of the archive, `time` is the number of turns.
 */
const OPEN_CHANNEL = `
  WITH archive AS (
    SELECT seq, head, (SELECT coalesce(max(idx) + 1, 0) FROM turns WHERE channel = $1) AS count FROM archives WHERE channel = $1
  )
  SELECT 'head' AS kind, last_number() AS seq, '' AS channel, 0::bigint AS time, '' AS action,
    NULL::text AS client_id, NULL::bigint AS epoch, NULL::bigint AS client_seq
  UNION ALL SELECT 'archive', seq, '', count, head, NULL, NULL, NULL FROM archive
  UNION ALL SELECT * FROM (
    SELECT 'turn', idx, id, 0::bigint, json, NULL::text, NULL::bigint, NULL::bigint FROM turns
    WHERE channel = $1 AND idx >= (SELECT count FROM archive) - $2 ORDER BY idx) AS newest
  UNION ALL SELECT * FROM (
    SELECT 'entry', ${ENTRY_COLUMNS} FROM entries
    WHERE channel = $1 AND seq > coalesce((SELECT seq FROM archive), 0) ORDER BY seq) AS tail`;

/** A row of `MISSED`: the totals, or an entry. In the totals, `epoch` is the oldest number that is known. */
interface MissedRow extends EntryRow {
  readonly kind: 'all' | 'entry';
}

/**
 * Entries of some channels, and one more than the limit, so that an excess can be detected; stops after too many bytes.
 */
const MISSED = `
  WITH own AS (
    SELECT e.*, sum(octet_length(e.action)) OVER (ORDER BY e.seq) AS bytes
    FROM (SELECT ${ENTRY_COLUMNS} FROM entries WHERE channel = ANY($2::text[]) AND seq > $1 ORDER BY seq LIMIT $3 + 1) AS e
  )
  SELECT 'all' AS kind, last_number() AS seq, '' AS channel, (SELECT count(*) FROM own) AS time, '' AS action,
    NULL::text AS client_id,
    greatest(coalesce((SELECT min(seq) FROM entries), last_number() + 1), (SELECT skipped + 1 FROM numbers)) AS epoch,
    (SELECT coalesce(max(bytes), 0) FROM own)::bigint AS client_seq
  UNION ALL SELECT * FROM (SELECT 'entry', ${ENTRY_COLUMNS} FROM own WHERE bytes <= $4 ORDER BY seq) AS kept`;

export class EngineReader {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async bounds(): Promise<{ head: number; oldest: number }> {
    const [row] = await this.#engine.run<{ head: number; first: number | null; skipped: number }>(
      'SELECT last_number() AS head, (SELECT min(seq) FROM entries) AS first, (SELECT skipped FROM numbers) AS skipped',
    );
    const { head = 0, first, skipped = 0 } = row ?? {};
    return { head, oldest: Math.max(first ?? head + 1, skipped + 1) };
  }

  async entries({ after, channel, limit }: ReadRange): Promise<LogEntry[]> {
    const rows = await this.#engine.run<EntryRow>(
      `SELECT ${ENTRY_COLUMNS} FROM entries WHERE seq > $1 ${channel === undefined ? '' : 'AND channel = $3'} ORDER BY seq LIMIT $2`,
      [after, limit ?? null, ...(channel === undefined ? [] : [nameToEngine(channel)])],
    );
    return rows.map(toEntry);
  }

  /** All entries of some channels after a number; undefined when that is too much, or no longer known. */
  async missed({ after, channels, limits }: MissedRequest): Promise<LogEntry[] | undefined> {
    const values = [after, channels.map(nameToEngine), limits.entries, limits.bytes];
    const rows = await this.#engine.run<MissedRow>(MISSED, values);
    const all = rows.find(({ kind }) => kind === 'all');
    const { seq: head = 0, time: count = 0, epoch: oldest, client_seq: bytes } = all ?? {};
    if (after < 0 || after > head || after < (oldest ?? 0) - 1) return undefined;
    if (count > limits.entries || (bytes ?? 0) > limits.bytes) return undefined;
    return rows
      .filter(({ kind }) => kind === 'entry')
      .map(toEntry)
      .sort((a, b) => a.seq - b.seq);
  }

  async openChannel(channel: string, turns: number): Promise<StoredChannel | undefined> {
    const rows = await this.#engine.run<OpenRow>(OPEN_CHANNEL, [nameToEngine(channel), turns]);
    const of = (kind: OpenRow['kind']) => rows.filter((row) => row.kind === kind).sort((a, b) => a.seq - b.seq);
    const [head] = of('head');
    const [found] = of('archive');
    const tail = of('entry').map(toEntry);
    if (!found && tail.length === 0) return undefined;
    return {
      seq: head?.seq ?? 0,
      archive: found && { seq: found.seq, head: found.action, turnCount: found.time },
      turns: of('turn').map(({ channel: id, action: json }) => ({ id: nameFromEngine(id), json })),
      tail,
    };
  }

  async archiveHead(channel: string): Promise<ArchiveHead | undefined> {
    const [row] = await this.#engine.run<ArchiveHead>(
      `SELECT seq, head, (SELECT coalesce(max(idx) + 1, 0) FROM turns WHERE channel = $1) AS "turnCount"
       FROM archives WHERE channel = $1`,
      [nameToEngine(channel)],
    );
    return row;
  }

  async turns(channel: string, { start, end, maxBytes }: TurnRange): Promise<ArchivedTurn[]> {
    const range = 'FROM turns WHERE channel = $1 AND idx >= $2 AND idx < $3';
    const sql =
      maxBytes === undefined
        ? `SELECT id, json ${range} ORDER BY idx`
        : `SELECT id, json FROM (
             SELECT idx, id, json, sum(octet_length(json)) OVER (ORDER BY idx) - octet_length(json) AS bytes ${range}
           ) AS page WHERE bytes < $4 ORDER BY idx`;
    const values = [nameToEngine(channel), start, end, ...(maxBytes === undefined ? [] : [maxBytes])];
    const rows = await this.#engine.run<ArchivedTurn>(sql, values);
    return rows.map(({ id, json }) => ({ id: nameFromEngine(id), json }));
  }

  async findTurn(channel: string, turnId: string): Promise<number | undefined> {
    const [row] = await this.#engine.run<{ idx: number }>(
      'SELECT idx FROM turns WHERE channel = $1 AND id = $2 ORDER BY idx LIMIT 1',
      [nameToEngine(channel), nameToEngine(turnId)],
    );
    return row?.idx;
  }

  async channels(): Promise<string[]> {
    const rows = await this.#engine.run<{ channel: string }>(
      'SELECT channel FROM archives UNION SELECT DISTINCT channel FROM turns WHERE idx = 0',
    );
    return rows.map(({ channel }) => nameFromEngine(channel));
  }

  async record(key: string): Promise<string | undefined> {
    const [row] = await this.#engine.run<{ value: string }>('SELECT value FROM records WHERE key = $1', [
      nameToEngine(key),
    ]);
    return row?.value;
  }

  async eachRecord(prefix: string, visit: (record: StoredRecord) => void): Promise<void> {
    const start = nameToEngine(prefix);
    for (let last = ''; ; ) {
      const rows = await this.#engine.run<StoredRecord>(
        `SELECT key, value FROM records WHERE key >= $1 AND key < $1 || U&'\\+10FFFF' AND key > $2 ORDER BY key LIMIT ${PAGE_ROWS}`,
        [start, last],
      );
      for (const { key, value } of rows) visit({ key: nameFromEngine(key), value });
      const end = rows.at(-1);
      if (!end || rows.length < PAGE_ROWS) return;
      last = end.key;
    }
  }

  async clientSeqs(clientId: string, epoch: number, from: number): Promise<number[]> {
    const rows = await this.#engine.run<{ number: number }>(
      `SELECT client_seq AS number FROM client_numbers WHERE client_id = $1 AND epoch = $2 AND client_seq >= $3 ORDER BY client_seq`,
      [nameToEngine(clientId), epoch, from],
    );
    return rows.map(({ number }) => number);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

export function toEntry({ seq, channel, time, action, client_id, epoch, client_seq }: EntryRow): LogEntry {
  const entry = { seq, channel: nameFromEngine(channel), time, action };
  if (client_id === null || epoch === null || client_seq === null) return entry;
  return { ...entry, origin: { clientId: nameFromEngine(client_id), epoch, clientSeq: client_seq } };
}
