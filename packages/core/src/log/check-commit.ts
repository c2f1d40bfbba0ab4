/** The rules that every commit meets before a log, of whatever kind, stores any of it. */
import { type Archive, type Commit, type EntryOrigin, LogConflictError, LogWriteError } from './log.js';

export function checkCommit(commit: Commit, head: number): void {
  if (commit.expectedHead !== head) throw new LogConflictError(commit.expectedHead, head);
  commit.entries.forEach((entry, index) => {
    const expected = head + 1 + index;
    if (entry.seq !== expected) throw notContiguous(entry.seq, expected);
  });
  for (const archive of commit.archives ?? []) checkArchiveSeq(archive, head + commit.entries.length);
}

/** Turns have no holes: an archive continues, or replaces, what is there. */
export function checkTurnStart(archive: Archive, turnCount: number): void {
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

export function turnsPresent(channel: string): LogWriteError {
  return new LogWriteError('turns-present', `${channel} has archived turns already: copy to a channel that has none`);
}

function notContiguous(actual: number, expected: number): LogWriteError {
  return new LogWriteError(
    'not-contiguous',
    `entry ${actual} came where ${expected} was due: number entries from the head`,
  );
}

function checkArchiveSeq(archive: Archive, newHead: number): void {
  if (archive.seq <= newHead) return;
  throw new LogWriteError(
    'invalid-archive',
    `the archive of ${archive.channel} stands at ${archive.seq}, but the log ends at ${newHead}: archive only what is stored`,
  );
}
