/**
 * The commit journal: a file beside the database that takes small commits, one line each, because a line costs a tenth
 * of a transaction. A commit of durability `full` syncs its line, and with it all lines before. The log folds the lines
 * into the database in groups, and empties the file.
 *
 * A line is a checksum, the number of the commit's first entry, and three fields for each entry and each record. An
 * entry has its time, its channel and its action; if a client asked for it, the client's epoch, number and id follow
 * the time. A record has `=`, its key and its value, or `-` and its key if it is removed.
 *
 * A salt ties the file to its database. The database holds the salt of the lines that are still to come, and of those
 * that it took last; a fold changes both in the transaction that takes the lines. So after a crash the lines are either
 * new, or known, or of another database: see `applyJournal` in `journal-recovery.ts`, and decision 0060.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { recordText } from '@atrium/core/log/check-commit.js';
import type { Commit, EntryOrigin, LogEntry, NewEntry, ReadRange } from '@atrium/core/log/log.js';
import { syncFolder } from './folder.js';

export const JOURNAL_FILE = 'atrium.journal';
/** The journal holds at most this much before the log folds it. */
export const JOURNAL_MAX_ENTRIES = 1_024;
export const JOURNAL_MAX_RECORDS = 1_024;
export const JOURNAL_MAX_CHARACTERS = 2 ** 20;
/** A commit with more entries or records gets a transaction of its own. */
export const JOURNAL_COMMIT_MAX_ENTRIES = 16;
/** The log folds after this time at the latest, so that other readers of the database file are not far behind. */
export const FOLD_AFTER_MS = 1_000;

const FORMAT = 'atrium-journal-1';
const SEPARATOR = '\t';
const RECORD = '=';
const REMOVED = '-';
/** `JSON.stringify` never outputs these. A commit that contains one does not go into the journal. */
const UNSAFE_CHARACTERS = /[\0\t\n]/;
const SUM_DIGITS = 8;
const NEWLINE = 10;

export type JournalEntry = Omit<LogEntry, 'isDamaged'>;

/** Records by key; null for a removed one. */
export type JournalRecords = ReadonlyMap<string, string | null>;

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
  #records = new Map<string, string | null>();
  /** The highest number of each client and epoch. Every new line has a higher one. */
  #greatest = new Map<string, number>();
  /** The number of the first entry. */
  #first = 0;
  #characters = 0;
  #hasSynced = false;
  /** The file may still hold a line that could not be synced and so belongs to no commit. */
  #hasStray = false;
  /** Whether the folder entry of the file survives a power cut. */
  #isFolderSynced = false;
  /** The file could not be emptied or synced, or ends in half a line; it takes no more lines. */
  #isBroken = false;

  /** The path must not exist yet. */
  constructor(path: string, salt: string) {
    this.#path = path;
    this.#salt = salt;
    this.#saltSum = crc32(salt);
  }

  /** Whether the database has every entry and record. */
  get isEmpty(): boolean {
    return this.#position === 0;
  }

  /**
   * Whether the file may hold lines with its salt. If it is left behind, the database must keep that salt to recognise
   * them.
   */
  get mayHaveLines(): boolean {
    return !this.isEmpty || this.#hasStray;
  }

  /** Entries that the database does not have yet. They have consecutive numbers from `first`. */
  get entries(): readonly NewEntry[] {
    return this.#entries;
  }

  /** Records that the database lacks, or has with another value. */
  get records(): JournalRecords {
    return this.#records;
  }

  get first(): number {
    return this.#first;
  }

  get characters(): number {
    return this.#characters;
  }

  /** Whether lines must survive a power cut. The fold that takes them must then survive one, too. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** The salt of the lines in the file. */
  get salt(): string {
    return this.#salt;
  }

  /** Whether the journal takes a commit: it must be small, without archives, and fit. */
  accepts({ entries, archives, records = [] }: Commit): boolean {
    if (archives?.length || this.#isBroken) return false;
    if (entries.length + records.length === 0) return false;
    if (Math.max(entries.length, records.length) > JOURNAL_COMMIT_MAX_ENTRIES) return false;
    if (this.#entries.length + entries.length > JOURNAL_MAX_ENTRIES) return false;
    if (this.#records.size + records.length > JOURNAL_MAX_RECORDS) return false;
    let characters = this.#characters;
    for (const { channel, action, origin } of entries) {
      if (
        UNSAFE_CHARACTERS.test(channel) ||
        UNSAFE_CHARACTERS.test(action) ||
        (origin && UNSAFE_CHARACTERS.test(origin.clientId))
      )
        return false;
      characters += channel.length + action.length;
    }
    for (const { key, value } of records) {
      const text = value === null ? '' : recordText(value, 0);
      if (UNSAFE_CHARACTERS.test(key) || UNSAFE_CHARACTERS.test(text)) return false;
      characters += key.length + text.length;
    }
    return characters <= JOURNAL_MAX_CHARACTERS;
  }

  /** Writes a commit that `accepts` accepted. False if that failed; then the file holds nothing of it. */
  write({ entries, records = [], durability }: Commit, first: number): boolean {
    const isSynced = durability === 'full';
    let text = String(first);
    for (const entry of entries) {
      const { channel, action } = toStore(entry);
      text += `\t${whenAndWho(entry)}\t${channel}\t${action}`;
    }
    for (const { key, value } of records) {
      text += value === null ? `\t${REMOVED}\t${key}\t` : `\t${RECORD}\t${key}\t${recordText(value, first)}`;
    }
    const line = lineOf(text, this.#saltSum);
    if (!this.#append(this.#position === 0 ? headerOf(this.#salt) + line : line, isSynced)) return false;
    if (isSynced) this.#hasSynced = true;
    if (this.#entries.length === 0) this.#first = first;
    for (const entry of entries) {
      this.#entries.push(entry);
      if (entry.origin) this.#greatest.set(nameOf(entry.origin), entry.origin.clientSeq);
    }
    for (const { key, value } of records) this.#records.set(key, value && recordText(value, first));
    this.#characters += text.length;
    return true;
  }

  #append(text: string, isSynced: boolean): boolean {
    const bytes = Buffer.byteLength(text);
    try {
      this.#file ??= openSync(this.#path, 'wx', 0o600);
      if (writeSync(this.#file, text, this.#position) === bytes && (!isSynced || this.#sync(this.#file))) {
        this.#position += bytes;
        return true;
      }
    } catch {}
    this.#cutTo(this.#position);
    return false;
  }

  /** False when the sync failed. After that, later syncs of this file are not to be trusted. */
  #sync(file: number): boolean {
    try {
      fdatasyncSync(file);
      if (!this.#isFolderSynced) syncFolder(path.dirname(this.#path));
      this.#isFolderSynced = true;
      return true;
    } catch {
      this.#isBroken = true;
      this.#hasStray = true;
      return false;
    }
  }

  /** Call it when the database has taken all entries, and holds this salt for the lines to come. */
  emptied(salt: string): void {
    this.#entries = [];
    this.#records = new Map();
    this.#greatest = new Map();
    this.#characters = 0;
    this.#hasSynced = false;
    this.#hasStray = false;
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

  /** The entries read from the database, followed by those that it does not have yet. */
  behind(stored: LogEntry[], { after, channel, limit = Number.POSITIVE_INFINITY }: ReadRange): LogEntry[] {
    const start = Math.max(0, after + 1 - this.#first);
    for (let at = start; at < this.#entries.length && stored.length < limit; at++) {
      const entry = this.#entries[at];
      if (entry === undefined) break;
      const kept = toStore(entry);
      if (channel !== undefined && kept.channel !== channel) continue;
      const origin = entry.origin && { origin: originOf(entry.origin) };
      stored.push({ seq: this.#first + at, channel: kept.channel, time: entry.time, action: kept.action, ...origin });
    }
    return stored;
  }

  /** The highest number of a client in an epoch; undefined when only the database knows. */
  greatest(origin: Pick<EntryOrigin, 'clientId' | 'epoch'>): number | undefined {
    return this.#greatest.get(nameOf(origin));
  }

  /** The numbers of a client in an epoch that the database does not have yet. */
  clientSeqs(clientId: string, epoch: number, from: number): number[] {
    return this.#entries.flatMap(({ origin }) =>
      origin?.clientId === clientId && origin.epoch === epoch && origin.clientSeq >= from ? [origin.clientSeq] : [],
    );
  }

  /** Closes the file, and removes it if it is empty. */
  close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    if (this.isEmpty) rmSync(this.#path, { force: true });
  }
}

/** Stored for a number without an action. */
const NOTHING = { channel: '', action: '' } as const;

/** What the log stores of an entry: of an ephemeral one, only the number. */
export function toStore(entry: NewEntry): Pick<NewEntry, 'channel' | 'action'> {
  return entry.isEphemeral ? NOTHING : entry;
}

/** The part of an origin that the log keeps. */
function originOf({ clientId, epoch, clientSeq }: EntryOrigin): EntryOrigin {
  return { clientId, epoch, clientSeq };
}

function nameOf({ clientId, epoch }: Pick<EntryOrigin, 'clientId' | 'epoch'>): string {
  return `${epoch} ${clientId}`;
}

function whenAndWho({ time, origin }: NewEntry): string {
  return origin ? `${time} ${origin.epoch} ${origin.clientSeq} ${origin.clientId}` : String(time);
}

function headerOf(salt: string): string {
  return lineOf(`${FORMAT}${SEPARATOR}${salt}`, crc32(FORMAT));
}

/** The sum covers the salt, so that a line of an earlier round does not match. */
function lineOf(text: string, saltSum: number): string {
  return `${sumText(text, saltSum)} ${text}\n`;
}

function sumText(text: string | Buffer, saltSum: number): string {
  return crc32(text, saltSum).toString(16).padStart(SUM_DIGITS, '0');
}

export interface FoundJournal {
  /** Undefined when the first line cannot be read. */
  readonly salt: string | undefined;
  /** The entries of all whole lines up to the first bad one. */
  readonly entries: readonly JournalEntry[];
  readonly records: JournalRecords;
  /** The number in the first line, which follows the last one of the database; undefined without a whole line. */
  readonly first: number | undefined;
  /**
   * `unfinished`: the last line was cut off, so its commit was never acknowledged. `damaged`: a line was complete once
   * and is no longer readable.
   */
  readonly end: 'whole' | 'unfinished' | 'damaged';
  /** Where the whole lines end, in bytes. */
  readonly bytes: number;
}

/** Reads the journal without changing it. Undefined when there is none or it is empty. */
export function readJournal(path: string): FoundJournal | undefined {
  if (!existsSync(path)) return undefined;
  const bytes = readFileSync(path);
  if (bytes.length === 0) return undefined;
  const header = lineAt(bytes, 0, FORMAT);
  // The sum of the first line covers the format, so a line of another format does not match.
  const [, salt] = header.text?.split(SEPARATOR) ?? [];
  if (salt === undefined) {
    const nothing = { entries: [], records: new Map<string, string>(), first: undefined };
    return { salt: undefined, ...nothing, end: header.end ?? 'damaged', bytes: 0 };
  }
  return readLines(bytes, header.next, salt);
}

function readLines(bytes: Buffer, start: number, salt: string): FoundJournal {
  const entries: JournalEntry[] = [];
  const records = new Map<string, string | null>();
  let first: number | undefined;
  let at = start;
  while (at < bytes.length) {
    const { text, next, end } = lineAt(bytes, at, salt);
    const commit = text === undefined ? undefined : parseCommit(text);
    const isNext = commit && commit.first === (first ?? commit.first) + entries.length;
    if (!isNext) return { salt, entries, records, first, end: end ?? 'damaged', bytes: at };
    first ??= commit.first;
    entries.push(...commit.entries);
    for (const [key, value] of commit.records) records.set(key, value);
    at = next;
  }
  return { salt, entries, records, first, end: 'whole', bytes: at };
}

interface Line {
  /** Undefined when it does not match its sum. */
  readonly text?: string;
  readonly next: number;
  readonly end?: 'unfinished' | 'damaged';
}

function lineAt(bytes: Buffer, at: number, salt: string): Line {
  const newline = bytes.indexOf(NEWLINE, at);
  const end = newline < 0 ? bytes.length : newline;
  const isWhole = fitsSum(bytes.subarray(at, end), salt);
  if (newline >= 0 && isWhole) return { text: bytes.toString('utf8', at + SUM_DIGITS + 1, end), next: end + 1 };
  // If the line is complete except for its line end, it was finished once.
  const wasFinished = newline >= 0 || fitsSum(bytes.subarray(at, end - 1), salt);
  return { next: end, end: wasFinished ? 'damaged' : 'unfinished' };
}

function fitsSum(line: Buffer, salt: string): boolean {
  if (line.length <= SUM_DIGITS) return false;
  const sum = line.toString('latin1', 0, SUM_DIGITS + 1);
  return sum === `${sumText(line.subarray(SUM_DIGITS + 1), crc32(salt))} `;
}

interface JournalCommit {
  readonly first: number;
  readonly entries: readonly JournalEntry[];
  readonly records: readonly (readonly [key: string, value: string | null])[];
}

function parseCommit(text: string): JournalCommit {
  const [number = '', ...fields] = text.split(SEPARATOR);
  const first = Number(number);
  const entries: JournalEntry[] = [];
  const records: [string, string | null][] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [kind = '', place = '', value = ''] = fields.slice(at, at + 3);
    if (kind === RECORD) records.push([place, value]);
    else if (kind === REMOVED) records.push([place, null]);
    else entries.push({ seq: first + entries.length, ...parseWhenAndWho(kind), channel: place, action: value });
  }
  return { first, entries, records };
}

/** Parses the time and the client of an entry; the id of a client may contain spaces. */
function parseWhenAndWho(text: string): Pick<JournalEntry, 'time' | 'origin'> {
  const [time, epoch, clientSeq, ...clientId] = text.split(' ');
  if (epoch === undefined) return { time: Number(time) };
  return {
    time: Number(time),
    origin: { clientId: clientId.join(' '), epoch: Number(epoch), clientSeq: Number(clientSeq) },
  };
}
