/**
 * Takes over the journals of version 0.1: a file for each session, with one JSON line for each event. All events of a
 * journal, and the digest of the file, go into the log in one commit; then the file is moved aside. If the host is
 * killed in between, the next one finds the digest and does not take the same events over again. This file can go when
 * no data folder of version 0.1 is left to be opened.
 */
import { createHash } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { jsonText } from '@atrium/core/log/log.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { type ChangeEvent, ChangeLog, type ChangeRecords } from './change-log.js';
import { keyOf } from './uri.js';

export const JOURNAL = 'journal.jsonl';
const JOURNAL_ASIDE = 'journal-0.1.jsonl';
const TAKEN_OVER = 'changes-taken-over:';

/** The record that says which journal of a session is in the log. */
export function takenOverKey(session: string): string {
  return TAKEN_OVER + keyOf(session);
}

/** `folder` holds the changes of the session. */
export async function takeOverJournal(records: ChangeRecords, session: string, folder: string): Promise<void> {
  const file = path.join(folder, JOURNAL);
  const text = await readFile(file, 'utf8').catch(ifMissing);
  if (text === undefined) return;
  const { log, writer } = records;
  const [key, digest] = [takenOverKey(session), createHash('sha256').update(text).digest('hex')];
  // An earlier host wrote the bare digest.
  if (![jsonText(digest), digest].includes((await log.record(key)) ?? '')) {
    const changes = await ChangeLog.open(records, session);
    writer.record({ key, value: jsonText(digest) }, 'full');
    await changes.addAll(eventsIn(text));
  }
  await rename(file, path.join(folder, JOURNAL_ASIDE));
}

/** A journal that cannot be read must not count as missing. */
function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** An event that ended replaces the one with which it began. */
function eventsIn(text: string): ChangeEvent[] {
  const lines = text.split('\n').flatMap(parsedLine);
  const over = new Set(lines.flatMap(({ kind, id }) => (ENDS.has(kind) ? [id] : [])));
  return lines.flatMap((line) => {
    const isOpenOnly = line.kind === 'begun' || line.kind === 'writing';
    return EVENTS.has(line.kind) && !(isOpenOnly && over.has(line.id)) ? [line as unknown as ChangeEvent] : [];
  });
}

interface JournalLine {
  readonly kind: string;
  readonly id?: unknown;
}

/**
 * The types of ending events. `written` ended a writing with nothing to undo; `session` named the session in the first
 * line.
 */
const ENDS: ReadonlySet<string> = new Set(['step', 'undone', 'written']);
const EVENTS: ReadonlySet<string> = new Set(['turn', 'begun', 'step', 'writing', 'undone', 'redone']);

/** Skips half a line, which a crash left at the end and after which the next host went on writing. */
function parsedLine(text: string): JournalLine[] {
  try {
    const line: unknown = JSON.parse(text);
    return isRecord(line) && typeof line.kind === 'string' ? [{ ...line, kind: line.kind }] : [];
  } catch {
    return [];
  }
}
