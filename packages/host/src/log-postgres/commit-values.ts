/** A commit as arguments of the engine's function `append`: columns, each an array. */
import type { Commit, LogRecord } from '@atrium/core/log/log.js';
import type { OwnerChange } from '@atrium/core/log/shared-log.js';
import type { EngineValue } from './engine.js';
import { nameToEngine } from './texts.js';

export const APPEND = `SELECT first, last FROM append($1, $2, $3, $4::text[], $5::bigint[], $6::text[], $7::text[],
  $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::text[], $15::text[],
  $16::text[], $17::text[], $18::bigint[], $19::text[], $20::text[], $21::text[], $22::bigint[])`;

export function commitValues({ entries, archives = [], records = [] }: Commit): EngineValue[] {
  const turns = archives.flatMap(({ turns: { items } }, at) => items.map((turn) => ({ ...turn, archive: at + 1 })));
  const changed = [...new Map(records.map((record) => [record.key, record])).values()].map(recordParts);
  return [
    // Of ephemeral entries, only the number is stored.
    entries.map(({ channel, isEphemeral }) => (isEphemeral ? '' : nameToEngine(channel))),
    entries.map(({ time }) => time),
    entries.map(({ action, isEphemeral }) => (isEphemeral ? '' : action)),
    entries.map(({ origin }) => (origin ? nameToEngine(origin.clientId) : null)),
    entries.map(({ origin }) => origin?.epoch ?? null),
    entries.map(({ origin }) => origin?.clientSeq ?? null),
    archives.map(({ channel }) => nameToEngine(channel)),
    archives.map(({ head }) => head),
    archives.map(({ turns: { start } }) => start),
    turns.map(({ archive }) => archive),
    turns.map(({ id }) => nameToEngine(id)),
    turns.map(({ json }) => json),
    changed.map(({ key }) => key),
    changed.map(({ before }) => before),
    changed.map(({ entry }) => entry),
    changed.map(({ after }) => after),
  ];
}

/** The new owners of channels; null for a host that owns everything. */
export function ownerValues(owners: readonly OwnerChange[] | undefined): EngineValue[] {
  if (!owners) return [null, null, null];
  return [
    owners.map(({ channel }) => nameToEngine(channel)),
    owners.map(({ to }) => to?.host ?? null),
    owners.map(({ to }) => to?.term ?? null),
  ];
}

interface RecordParts {
  readonly key: string;
  /** Null: removes the record. */
  readonly before: string | null;
  readonly entry: number | null;
  readonly after: string | null;
}

function recordParts({ key: name, value }: LogRecord): RecordParts {
  const key = nameToEngine(name);
  if (value === null || typeof value === 'string') return { key, before: value, entry: null, after: null };
  return { key, ...value };
}
