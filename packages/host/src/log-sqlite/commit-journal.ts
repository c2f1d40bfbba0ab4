/**
 * The commit journal: a file beside the database that takes small commits of durability `normal`, one line each, because
 * a line costs a tenth of a transaction. The log folds the lines into the database in groups, and empties the file.
 *
 * A salt ties the file to its database. The database holds the salt of the lines that are still to come, and of those
 * that it took last; a fold changes both in the transaction that takes the lines. So after a crash the lines are either
 * new, or known, or of another database: see `takeJournal` in `open.ts`, and decision 0060.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Commit, LogEntry, NewEntry, ReadRange } from '@atrium/core/log/log.js';

export const JOURNAL_FILE = 'atrium.journal';
/** What the journal holds at most before the log folds it. */
export const JOURNAL_MAX_ENTRIES = 256;
export const JOURNAL_MAX_CHARACTERS = 256 * 1_024;
/** A commit of more entries is worth a transaction of its own. */
export const JOURNAL_COMMIT_MAX_ENTRIES = 16;
/** The log folds after this long at the latest, so that other readers of the database file are not far behind. */
export const FOLD_AFTER_MS = 250;

const FORMAT = 'atrium-journal-1';
const SEPARATOR = '\t';
/** JSON made by `JSON.stringify` has none of these. What has one does not go into the journal. */
const UNFIT = /[\0\t\n]/;
const SUM_DIGITS = 8;
const NEWLINE = 10;

export type JournalEntry = Pick<LogEntry, 'seq' | 'channel' | 'time' | 'action'>;

export function newSalt(): string {
  return randomBytes(8).toString('hex');
}

export class CommitJournal {
  readonly #path: string;
  #salt: string;
  #saltSum: number;
  #file: number | undefined;
  #position = 0;
  #entries: NewEntry[] = [];
  /** The number of the first entry. */
  #first = 0;
  #characters = 0;
  /** A file that cannot be emptied, or was left with half a line, takes no more. */
  #isBroken = false;

  /** There must be no file at this path. */
  constructor(path: string, salt: string) {
    this.#path = path;
    this.#salt = salt;
    this.#saltSum = crc32(salt);
  }

  /** What the database does not have yet: entries that follow each other, the first with the number `first`. */
  get entries(): readonly NewEntry[] {
    return this.#entries;
  }

  get first(): number {
    return this.#first;
  }

  get characters(): number {
    return this.#characters;
  }

  /** The salt of the lines in the file. */
  get salt(): string {
    return this.#salt;
  }

  /** Whether there is room for a commit, and it is one for the journal: small, and nothing but actions of the host. */
  takes({ entries, archives, records, durability }: Commit): boolean {
    if (durability === 'full' || archives?.length || records?.length || this.#isBroken) return false;
    if (entries.length === 0 || entries.length > JOURNAL_COMMIT_MAX_ENTRIES) return false;
    if (this.#entries.length + entries.length > JOURNAL_MAX_ENTRIES) return false;
    let characters = this.#characters;
    for (const { channel, action, origin } of entries) {
      if (origin !== undefined || UNFIT.test(channel) || UNFIT.test(action)) return false;
      characters += channel.length + action.length;
    }
    return characters <= JOURNAL_MAX_CHARACTERS;
  }

  /** Writes a commit that it takes. False when it could not be written: nothing of it is in the file then. */
  write(entries: readonly NewEntry[], first: number): boolean {
    let text = String(first);
    let characters = 0;
    for (const entry of entries) {
      const { channel, action } = toStore(entry);
      text += `\t${entry.time}\t${channel}\t${action}`;
      characters += channel.length + action.length;
    }
    const line = lineOf(text, this.#saltSum);
    if (!this.#append(this.#position === 0 ? headerOf(this.#salt) + line : line)) return false;
    if (this.#entries.length === 0) this.#first = first;
    this.#entries.push(...entries);
    this.#characters += characters;
    return true;
  }

  #append(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    try {
      this.#file ??= openSync(this.#path, 'wx', 0o600);
      if (writeSync(this.#file, text, this.#position) === bytes) {
        this.#position += bytes;
        return true;
      }
    } catch {}
    this.#cutTo(this.#position);
    return false;
  }

  /** The database has taken all entries, and holds this salt for those to come. */
  emptied(salt: string): void {
    this.#entries = [];
    this.#characters = 0;
    this.#position = 0;
    this.#salt = salt;
    this.#saltSum = crc32(salt);
    this.#cutTo(0);
  }

  #cutTo(bytes: number): void {
    try {
      if (this.#file !== undefined) ftruncateSync(this.#file, bytes);
    } catch {
      this.#isBroken = true;
    }
  }

  /** What was read from the database, and behind it what the database does not have yet. */
  behind(stored: LogEntry[], { after, channel, limit = Number.POSITIVE_INFINITY }: ReadRange): LogEntry[] {
    const start = Math.max(0, after + 1 - this.#first);
    for (let at = start; at < this.#entries.length && stored.length < limit; at++) {
      const entry = this.#entries[at];
      if (entry === undefined) break;
      const kept = toStore(entry);
      if (channel !== undefined && kept.channel !== channel) continue;
      stored.push({ seq: this.#first + at, channel: kept.channel, time: entry.time, action: kept.action });
    }
    return stored;
  }

  /** Removes the file when it is empty. */
  close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    if (this.#entries.length === 0) rmSync(this.#path, { force: true });
  }
}

/** What is stored of a number without an action. */
const NOTHING = { channel: '', action: '' } as const;

/** Of what ends with the host, the log keeps the number only. */
export function toStore(entry: NewEntry): Pick<NewEntry, 'channel' | 'action'> {
  return entry.isEphemeral ? NOTHING : entry;
}

function headerOf(salt: string): string {
  return lineOf(`${FORMAT}${SEPARATOR}${salt}`, crc32(FORMAT));
}

/** The sum covers the salt, so a line of an earlier round does not fit. */
function lineOf(text: string, saltSum: number): string {
  return `${sumText(text, saltSum)} ${text}\n`;
}

function sumText(text: string | Buffer, saltSum: number): string {
  return crc32(text, saltSum).toString(16).padStart(SUM_DIGITS, '0');
}

/** What a journal file holds. */
export interface FoundJournal {
  /** Undefined when the first line cannot be read. */
  readonly salt: string | undefined;
  /** Of whole lines, up to the first that is not. */
  readonly entries: readonly JournalEntry[];
  /**
   * `unfinished`: the last line was cut off, so its commit was never acknowledged. `damaged`: a line was whole once, and
   * cannot be read any more.
   */
  readonly end: 'whole' | 'unfinished' | 'damaged';
  /** Where the whole lines end. */
  readonly bytes: number;
}

/** Undefined when there is no journal, or an empty one. It changes nothing. */
export function readJournal(path: string): FoundJournal | undefined {
  if (!existsSync(path)) return undefined;
  const bytes = readFileSync(path);
  if (bytes.length === 0) return undefined;
  const header = lineAt(bytes, 0, FORMAT);
  const [format, salt] = header.text?.split(SEPARATOR) ?? [];
  if (header.text === undefined || format !== FORMAT || salt === undefined) {
    return { salt: undefined, entries: [], end: header.end ?? 'damaged', bytes: 0 };
  }
  return readLines(bytes, header.next, salt);
}

function readLines(bytes: Buffer, start: number, salt: string): FoundJournal {
  const entries: JournalEntry[] = [];
  let at = start;
  while (at < bytes.length) {
    const { text, next, end } = lineAt(bytes, at, salt);
    const commit = text === undefined ? undefined : parseCommit(text, entries.at(-1)?.seq);
    if (commit === undefined) return { salt, entries, end: end ?? 'damaged', bytes: at };
    entries.push(...commit);
    at = next;
  }
  return { salt, entries, end: 'whole', bytes: at };
}

interface Line {
  /** Undefined when it does not fit its sum. */
  readonly text?: string;
  readonly next: number;
  readonly end?: 'unfinished' | 'damaged';
}

function lineAt(bytes: Buffer, at: number, salt: string): Line {
  const newline = bytes.indexOf(NEWLINE, at);
  const end = newline < 0 ? bytes.length : newline;
  const isWhole = fitsSum(bytes.subarray(at, end), salt);
  if (newline >= 0 && isWhole) return { text: bytes.toString('utf8', at + SUM_DIGITS + 1, end), next: end + 1 };
  // A line that is whole but for another byte in the place of its end was finished once.
  const wasFinished = newline >= 0 || fitsSum(bytes.subarray(at, end - 1), salt);
  return { next: end, end: wasFinished ? 'damaged' : 'unfinished' };
}

function fitsSum(line: Buffer, salt: string): boolean {
  if (line.length <= SUM_DIGITS) return false;
  const sum = line.toString('latin1', 0, SUM_DIGITS + 1);
  return sum === `${sumText(line.subarray(SUM_DIGITS + 1), crc32(salt))} `;
}

/** Undefined when the commit does not follow the one before. */
function parseCommit(text: string, last: number | undefined): JournalEntry[] | undefined {
  const [first = '', ...fields] = text.split(SEPARATOR);
  const entries: JournalEntry[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [time = '', channel = '', action = ''] = fields.slice(at, at + 3);
    entries.push({ seq: Number(first) + entries.length, time: Number(time), channel, action });
  }
  return last === undefined || Number(first) === last + 1 ? entries : undefined;
}
