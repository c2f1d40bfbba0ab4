/** Checks that every log makes before it stores any part of a commit. */
import { type Commit, type EntryOrigin, LogWriteError, type NewArchive, type NumberedValue } from './log.js';

/** Throws when a record refers to the number of an entry that the commit does not have. */
export function checkCommit({ entries, records = [] }: Commit): void {
  for (const { key, value } of records) {
    if (value === null || typeof value === 'string' || value.entry in entries) continue;
    throw new LogWriteError(
      'invalid-record',
      `the record ${key} tells the number of entry ${value.entry}, but the commit has ${entries.length}: count from 0`,
    );
  }
}

/** The text of a record, with the number of its entry filled in. */
export function recordText(value: string | NumberedValue, first: number): string {
  return typeof value === 'string' ? value : `${value.before}${first + value.entry}${value.after}`;
}

/** Throws when archived turns would have a gap: an archive continues the stored turns, or replaces some of them. */
export function checkTurnStart(archive: NewArchive, turnCount: number): void {
  const { start } = archive.turns;
  if (Number.isInteger(start) && start >= 0 && start <= turnCount) return;
  throw new LogWriteError(
    'invalid-archive',
    `the archive of ${archive.channel} starts at turn ${start}, but ${turnCount} turns are stored: archive the missing ones too`,
  );
}

export function duplicateOrigin({ clientId, epoch, clientSeq }: EntryOrigin, options?: ErrorOptions): LogWriteError {
  const what = `number ${clientSeq} of client ${clientId} (epoch ${epoch})`;
  return new LogWriteError('duplicate-origin', `${what} is in the log already: do not append it again`, options);
}

export function turnsPresent(channel: string, start: number): LogWriteError {
  const message = `${channel} does not have exactly ${start} archived turns: copy those before, and to no other channel`;
  return new LogWriteError('turns-present', message);
}
