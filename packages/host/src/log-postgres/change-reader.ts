/**
 * Reads what the hosts of a cluster write, soon after they write it. Each read is one statement, and so sees one state.
 * The next read continues from the head of that state, never from a number that another host reported.
 */

import { LogFencedError, LogUnavailableError } from '@atrium/core/log/log.js';
import type { Change, ChangedRecord, ChangePosition, Wanted } from '@atrium/core/log/shared-log.js';
import type { Engine } from './engine.js';
import { type EntryRow, toEntry } from './engine-reader.js';
import { RECORD_CHANGES_KEPT } from './schema.js';
import { nameFromEngine, nameToEngine } from './texts.js';

/** How often it looks without a hint. */
export const LOOK_EVERY_MS = 250;
/** How many entries, and how many bytes of them, one read returns; a single entry may be larger. */
const READ_MAX_ENTRIES = 1_000;
const READ_MAX_BYTES = 8 * 2 ** 20;
/** The wait between attempts while the engine is unreachable. */
const RETRY_MS = 1_000;

interface ChangeRow extends EntryRow {
  readonly kind: 'head' | 'known' | 'entry' | 'record';
}

/**
 * `head`: the number of the state and the count of its record changes. `known`: the oldest number that still exists. Of
 * a record, `channel` is the key, `action` the value, `seq` the count of its change, and `epoch` is set if it was
 * removed.
 */
const CHANGES = `
  WITH state AS (SELECT last_number() AS head, last_record_change() AS changed),
  read AS (
    SELECT e.*, sum(octet_length(e.action)) OVER (ORDER BY e.seq) - octet_length(e.action) AS before
    FROM (SELECT seq, channel, time, action, client_id, epoch, client_seq FROM entries
      WHERE seq > $1 AND channel = ANY($3::text[]) ORDER BY seq LIMIT ${READ_MAX_ENTRIES}) AS e
  ),
  changes AS (
    SELECT r.key, r.value, r.changed, NULL::bigint AS removed FROM records r WHERE r.changed > $2
    UNION ALL SELECT d.key, '', d.changed, 1 FROM removed_records d WHERE d.changed > $2
  )
  SELECT 'head' AS kind, s.head AS seq, '' AS channel, s.changed AS time, '' AS action,
    NULL::text AS client_id, NULL::bigint AS epoch, NULL::bigint AS client_seq FROM state s
  UNION ALL SELECT 'known', greatest(coalesce((SELECT min(seq) FROM entries), (SELECT head + 1 FROM state)), (SELECT skipped + 1 FROM numbers)),
    '', 0, '', NULL, NULL, NULL
  UNION ALL SELECT 'entry', seq, channel, time, action, client_id, epoch, client_seq FROM read WHERE before < ${READ_MAX_BYTES}
  UNION ALL SELECT 'record', changed, key, 0, value, NULL, removed, NULL FROM changes
    WHERE EXISTS (SELECT 1 FROM unnest($4::text[]) AS p WHERE starts_with(key, p))`;

export class ChangeReader {
  readonly #engine: Engine;
  #wake: () => void = () => {};
  #isHinted = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  hint(): void {
    this.#isHinted = true;
    this.#wake();
  }

  async position(): Promise<ChangePosition> {
    const [row] = await this.#engine.run<ChangePosition>(
      'SELECT last_number() AS seq, last_record_change() AS records',
    );
    if (!row) throw new LogUnavailableError('the engine gave no answer');
    return row;
  }

  async *changes(after: ChangePosition, wanted: Wanted, signal: AbortSignal): AsyncGenerator<Change> {
    for (let position = after; !signal.aborted; ) {
      this.#isHinted = false;
      const change = await this.#read(position, wanted);
      if (signal.aborted) return;
      const isFurther = change && (change.upTo.seq > position.seq || change.upTo.records > position.records);
      if (isFurther) {
        position = change.upTo;
        yield change;
      }
      if (!change || !isFurther) await this.#pause(change ? LOOK_EVERY_MS : RETRY_MS, signal);
    }
  }

  /** Undefined while the engine is unreachable. */
  async #read({ seq, records }: ChangePosition, { channels, recordPrefixes }: Wanted): Promise<Change | undefined> {
    try {
      const names = [channels().map(nameToEngine), recordPrefixes.map(nameToEngine)];
      const rows = await this.#engine.runPrepared<ChangeRow>('changes', CHANGES, [seq, records, ...names]);
      return changeOf({ seq, records }, rows);
    } catch (error) {
      if (error instanceof LogUnavailableError) return undefined;
      throw error;
    }
  }

  #pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#isHinted || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      signal.addEventListener('abort', end, { once: true });
      this.#wake = end;
    });
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

function changeOf(after: ChangePosition, rows: readonly ChangeRow[]): Change {
  const of = (kind: ChangeRow['kind']) => rows.filter((row) => row.kind === kind).sort((a, b) => a.seq - b.seq);
  const { seq: head = 0, time: changed = 0 } = of('head')[0] ?? {};
  const { seq: oldest = 0 } = of('known')[0] ?? {};
  if (after.seq < oldest - 1 || after.records < changed - RECORD_CHANGES_KEPT)
    throw new LogFencedError('the log has dropped what this host did not read in time: it reads everything again');
  if (after.seq > head) throw new LogFencedError('the engine is older than it was: this host reads everything again');
  const entries = of('entry').map(toEntry);
  // A full read ends with its last entry, and the next one continues there.
  const isFull = entries.length >= READ_MAX_ENTRIES || bytesOf(entries) >= READ_MAX_BYTES;
  const seq = isFull ? (entries.at(-1)?.seq ?? head) : head;
  return { upTo: { seq, records: changed }, entries, records: of('record').map(recordOf) };
}

function bytesOf(entries: readonly { readonly action: string }[]): number {
  return entries.reduce((sum, { action }) => sum + Buffer.byteLength(action), 0);
}

function recordOf({ channel: key, action: value, epoch: removed }: ChangeRow): ChangedRecord {
  return { key: nameFromEngine(key), value: removed === null ? value : null };
}
