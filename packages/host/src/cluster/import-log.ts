/**
 * Moves the history of a single host into an empty cluster. Everything keeps its number, so that clients can resume.
 */
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { CLIENT_RECORDS } from '@atrium/core/log/client-records.js';
import type { ArchivedTurn, Log } from '@atrium/core/log/log.js';
import { ClusterError } from '../log-postgres/administer.js';
import type { Engine, EngineValue } from '../log-postgres/engine.js';
import { nameToEngine } from '../log-postgres/texts.js';

/** Rows per statement, and bytes of turns that are read at once. */
const BATCH_ROWS = 1_000;
const TURNS_MAX_BYTES = 8 * 2 ** 20;
/** Folders that sessions refer to. Worktrees stay, because Git knows them by their path. */
const FOLDERS = ['content', 'changes'];

export interface Imported {
  readonly sessions: number;
  readonly entries: number;
  readonly turns: number;
}

type Run = Engine['run'];

/** Stores everything or nothing. Throws when the cluster already holds something. */
export async function importLog(engine: Engine, log: Log): Promise<Imported> {
  return engine.transaction('write', async (run) => {
    await run('SELECT 1 FROM head FOR UPDATE');
    const [row] = await run<{ used: boolean }>(
      'SELECT last_number() > 0 OR EXISTS (SELECT 1 FROM records) OR EXISTS (SELECT 1 FROM archives) AS used',
    );
    if (row?.used)
      throw new ClusterError(
        'this cluster has a history already: import into a new one, with another schema= in its address',
      );
    const turns = await importArchives(run, log);
    const entries = await importEntries(run, log);
    const sessions = await importRecords(run, log);
    await run('UPDATE numbers SET dropped = $1, skipped = CASE WHEN last_number() < $2 THEN $2 ELSE skipped END', [
      log.oldest - 1,
      log.head,
    ]);
    return { sessions, entries, turns };
  });
}

/** Copies the contents that sessions refer to into the shared folder. */
export async function importContents(dataDir: string, sharedDir: string): Promise<void> {
  for (const name of FOLDERS)
    await cp(path.join(dataDir, name), path.join(sharedDir, name), {
      recursive: true,
      errorOnExist: false,
      force: false,
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
}

async function importArchives(run: Run, log: Log): Promise<number> {
  let count = 0;
  for (const channel of await log.channels()) {
    const name = nameToEngine(channel);
    const archive = await log.archiveHead(channel);
    if (archive) await run('INSERT INTO archives VALUES ($1, $2, $3)', [name, archive.seq, archive.head]);
    for (let start = 0; ; ) {
      const turns = await log.archivedTurns(channel, { start, end: start + BATCH_ROWS, maxBytes: TURNS_MAX_BYTES });
      if (turns.length === 0) break;
      await run(
        'INSERT INTO turns SELECT $1, $2 + t.at - 1, t.id, t.json FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS t (id, json, at)',
        [name, start, turns.map(({ id }: ArchivedTurn) => nameToEngine(id)), turns.map(({ json }) => json)],
      );
      start += turns.length;
      count += turns.length;
    }
  }
  return count;
}

async function importEntries(run: Run, log: Log): Promise<number> {
  let count = 0;
  for (let after = 0; ; ) {
    const entries = await log.read({ after, limit: BATCH_ROWS });
    const last = entries.at(-1);
    if (!last) return count;
    const columns: EngineValue[] = [
      entries.map(({ seq }) => seq),
      entries.map(({ channel }) => nameToEngine(channel)),
      entries.map(({ time }) => time),
      entries.map(({ action }) => action),
      entries.map(({ origin }) => (origin ? nameToEngine(origin.clientId) : null)),
      entries.map(({ origin }) => origin?.epoch ?? null),
      entries.map(({ origin }) => origin?.clientSeq ?? null),
    ];
    await run(
      'INSERT INTO entries SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])',
      columns,
    );
    await run(
      `INSERT INTO client_numbers SELECT client_id, epoch, client_seq, seq FROM entries
       WHERE seq > $1 AND seq <= $2 AND client_id IS NOT NULL`,
      [after, last.seq],
    );
    after = last.seq;
    count += entries.length;
  }
}

/** Also stores the numbers of clients whose entries were dropped. Returns how many sessions there are. */
async function importRecords(run: Run, log: Log): Promise<number> {
  const records = await log.records('');
  for (let at = 0; at < records.length; at += BATCH_ROWS) {
    const batch = records.slice(at, at + BATCH_ROWS);
    const values = [batch.map(({ key }) => nameToEngine(key)), batch.map(({ value }) => value)];
    await run('INSERT INTO records SELECT * FROM unnest($1::text[], $2::text[])', values);
  }
  for (const { key, value } of records) {
    if (key.startsWith(CLIENT_RECORDS)) await importNumbers(run, log, key.slice(CLIENT_RECORDS.length), value);
  }
  return records.filter(({ key }) => key.startsWith('session:')).length;
}

async function importNumbers(run: Run, log: Log, clientId: string, known: string): Promise<void> {
  const { epoch } = JSON.parse(known) as { epoch?: unknown };
  if (typeof epoch !== 'number') return;
  const numbers = await log.clientSeqs(clientId, epoch, 0);
  if (numbers.length === 0) return;
  await run('INSERT INTO client_numbers SELECT $1, $2, n, 0 FROM unnest($3::bigint[]) AS n ON CONFLICT DO NOTHING', [
    nameToEngine(clientId),
    epoch,
    numbers,
  ]);
}
