/**
 * The log: the one place where what happened is stored. Every action has its number here, and nothing is shown to a
 * client before it is stored. The embedded log is SQLite (`log-sqlite/`), `MemoryLog` is for tests, and `conformance-suite.ts`
 * is the suite that every log passes.
 *
 * A log knows entries, archives and records as text. It does not know actions or sessions; of a client it knows the
 * epoch and the numbers.
 *
 * The log gives the numbers: a writer learns them from the answer to its commit, and nothing has a number before. So a
 * log that several hosts write to is one more implementation. See docs/decisions, "numbers come with the commit".
 */
import type { TextIndex } from './text-index.js';

export interface Log {
  /** The greatest number in the log; 0 when it is empty. */
  readonly head: number;
  /** The smallest number whose entry is still there, or head + 1: older ones live on in archives only. */
  readonly oldest: number;

  /** Stores the whole commit and says which numbers its entries got, or throws an `AppendFailure` and stores nothing. */
  append(commit: Commit): Promise<Stored>;
  read(range: ReadRange): Promise<LogEntry[]>;
  /**
   * What a client missed of its channels, everything behind a number; undefined when that is more than the limits, or no
   * longer known: then the client needs a snapshot. A log may count the entries of other channels, too.
   */
  missed(after: number, channels: readonly string[], limits: ReplayLimits): Promise<readonly LogEntry[] | undefined>;

  /**
   * Everything that opening a channel needs, true at one number: its archive, so many of its newest turns, and what
   * happened behind the archive. Undefined when the log has neither an archive nor entries of it.
   */
  openChannel(channel: string, turns: number): Promise<StoredChannel | undefined>;
  archiveHead(channel: string): Promise<ArchiveHead | undefined>;
  archivedTurns(channel: string, range: TurnRange): Promise<ArchivedTurn[]>;
  /** The same turns as one text, joined by commas. */
  archivedTurnsText(channel: string, range: TurnRange): Promise<string>;
  /** The first of these turns as they go to clients: snapshots pass the bytes on. None if the first is too long for that. */
  archivedTurnsJson(channel: string, range: TurnsJsonRange): Promise<TurnsJson>;
  /** The index of an archived turn, or undefined. */
  findTurn(channel: string, turnId: string): Promise<number | undefined>;
  /**
   * Copies archived turns of one channel to another one that has all turns before them and no other. Says how many: fewer
   * than the range has when `maxBytes` is reached, so that a long history is copied piece by piece.
   */
  copyTurns(from: string, to: string, range: TurnRange): Promise<number>;
  /** Every channel that has an archive or archived turns. */
  channels(): Promise<string[]>;

  record(key: string): Promise<string | undefined>;
  /** All records whose key starts with the prefix, in the order of their keys. */
  records(prefix: string): Promise<StoredRecord[]>;
  /** Visits the same records one by one, in any order, for a reader that keeps little of each: they are never in memory all at once. */
  eachRecord(prefix: string, visit: (record: StoredRecord) => void): Promise<void>;
  /** The same records for a reader that keeps only some of them. A log that has to wait for its records leaves this out. */
  recordsAtHand?(prefix: string): RecordsAtHand;

  /**
   * A client starts over under its id: the log gives it an epoch above every one that it had, keeps what is to be known of
   * it, and drops the answers to what it sent before, in one step. Throws an `AppendFailure`.
   */
  beginClient(clientId: string, facts: ClientFacts): Promise<{ readonly epoch: number }>;
  /** Which of a client's numbers are in the log, at or above `from`. */
  clientSeqs(clientId: string, epoch: number, from: number): Promise<number[]>;

  /** Drops entries up to a number that every archive has passed; keeps at least `keep` newest ones. */
  compact(options: { readonly upTo: number; readonly keep: number }): Promise<void>;
  /** Forgets a channel altogether: its archive, its turns, its entries' actions. */
  forget(channel: string): Promise<void>;
  /** Forgets whose a client's entries were, and which of its numbers were used. It must not use those epochs again. */
  forgetClient(clientId: string): Promise<void>;

  /**
   * Opens the index of what the log holds; one of another making is begun anew, and with `anew` any. Logs without full text
   * of their own leave this out. The index closes with the log.
   */
  openTextIndex?(options?: { readonly anew?: boolean }): Promise<TextIndex>;

  /** What was repaired so far. It grows when damage is found while reading. */
  readonly repairs: readonly LogRepair[];
  /** Calls back for every repair from now on. */
  onRepair(listener: (repair: LogRepair) => void): void;
  close(): Promise<void>;
}

/** One number of the host-wide sequence, and what happened under it. */
export interface LogEntry {
  /** Strictly increasing by one over all channels, without a gap. The first entry is 1. */
  readonly seq: number;
  /** The channel's URI; empty for a number that was used up without an action (a rejection). */
  readonly channel: string;
  /** When it was accepted, in milliseconds since the epoch. */
  readonly time: number;
  /** The action as JSON; empty where there is none. */
  readonly action: string;
  /** The action was damaged on disk and is empty. */
  readonly isDamaged?: true;
  /** The client that asked for it; absent when the host did. A log holds each (client, epoch, clientSeq) once. */
  readonly origin?: EntryOrigin | undefined;
}

/** An entry on its way to the log, which gives it its number. */
export interface NewEntry extends Omit<LogEntry, 'seq' | 'isDamaged'> {
  /**
   * What happened ends with the host, as the output of a terminal does: the log stores the number, and tells the action to
   * clients that missed it.
   */
  readonly isEphemeral?: boolean;
}

export interface EntryOrigin {
  readonly clientId: string;
  /** Counts the times this client's own numbers started over: with `initialize`, or because it used one again. */
  readonly epoch: number;
  readonly clientSeq: number;
  /** The host recognises a resend by it; logs do not store it. */
  readonly sent?: SentStamp | undefined;
}

export interface SentStamp {
  /** The epoch in which the client began with `initialize`. */
  readonly start: number;
  /** Of the channel and the action, as the client spelled them. */
  readonly digest: string;
}

/** The state of a channel at one number, so that opening it needs only the entries behind. */
export interface Archive {
  readonly channel: string;
  readonly seq: number;
  /** The state as JSON, without the finished turns. */
  readonly head: string;
  /** Finished turns from index `start` on replace those archived from there; later ones are cut off. */
  readonly turns: { readonly start: number; readonly items: readonly ArchivedTurn[] };
}

/** An archive on its way to the log. It is true behind the last entry of its commit. */
export type NewArchive = Omit<Archive, 'seq'>;

/** A finished turn never changes: it is kept as the very text that goes to clients. */
export interface ArchivedTurn {
  readonly id: string;
  readonly json: string;
}

export interface TurnsJsonRange extends TurnRange {
  /** The text ends before a turn that has more bytes. */
  readonly turnMaxBytes: number;
}

export interface TurnsJson {
  readonly count: number;
  /** The turns as JSON in UTF-8, with commas between them. */
  readonly json: Buffer;
}

/** For a log that has turns as texts. */
export function turnsJson(turns: readonly ArchivedTurn[], turnMaxBytes: number): TurnsJson {
  const tooLong = turns.findIndex(({ json }) => Buffer.byteLength(json) > turnMaxBytes);
  const fitting = tooLong < 0 ? turns : turns.slice(0, tooLong);
  return { count: fitting.length, json: Buffer.from(fitting.map(({ json }) => json).join(',')) };
}

/** A channel's archive without its turns. */
export interface ArchiveHead {
  readonly seq: number;
  readonly head: string;
  readonly turnCount: number;
  /** The head was damaged on disk, and is empty; the number and the turns are right. */
  readonly isDamaged?: true;
}

/** A channel as it was at one number. */
export interface StoredChannel {
  /** The greatest number of the log at that time: `tail` goes up to here. */
  readonly seq: number;
  /** Undefined for a channel that was never archived; then `tail` goes back to its first entry. */
  readonly archive: ArchiveHead | undefined;
  /** The newest turns of the archive, oldest first. */
  readonly turns: readonly ArchivedTurn[];
  /** The entries behind the archive. */
  readonly tail: readonly LogEntry[];
}

/** What the host knows of a client that starts over. */
export interface ClientFacts {
  /** The new epoch is above this one: it may be the only trace of an earlier life, or not be stored yet. */
  readonly above: number;
  /** The client's record as JSON, up to the epoch and behind it. */
  readonly known: { readonly before: string; readonly after: string };
}

/** A small fact that must be found without opening a channel: a session's summary, a client's last handshake. */
export interface LogRecord {
  readonly key: string;
  /** JSON; null removes the record. */
  readonly value: string | NumberedValue | null;
}

/** A record as it is read. */
export interface StoredRecord {
  readonly key: string;
  readonly value: string;
}

/** Records with a prefix that stay where they are stored, and are read at once when somebody asks for them. */
export interface RecordsAtHand {
  count(): number;
  keys(): string[];
  /** The keys of those whose values do not end like this. */
  keysUnlike(end: string): string[];
  /** The records under these keys, in any order; what is gone or damaged is left out. */
  read(keys: readonly string[]): StoredRecord[];
  /**
   * Visits what stands at these JSON paths in each record, null where nothing does. Nothing is checked; a record that was
   * changed or removed moments ago may still be told as it was.
   */
  glance(paths: readonly string[], visit: (key: string, found: readonly unknown[]) => void): void;
}

/** A record that tells the number of an entry of its commit: the log puts it between the two texts. */
export interface NumberedValue {
  readonly before: string;
  /** Which entry of the commit, from 0. */
  readonly entry: number;
  readonly after: string;
}

/** Everything that one event-loop tick decided. It is stored as a whole or not at all. */
export interface Commit {
  readonly entries: readonly NewEntry[];
  readonly archives?: readonly NewArchive[];
  readonly records?: readonly LogRecord[];
  /** `normal` survives the death of the process; `full` also survives a power cut. */
  readonly durability: 'normal' | 'full';
}

/** The numbers that a commit got, without a gap. A commit without entries has `first` behind `last`, the head. */
export interface Stored {
  readonly first: number;
  readonly last: number;
}

/** How much of what a client missed it is given one by one. */
export interface ReplayLimits {
  readonly entries: number;
  readonly bytes: number;
}

export interface ReadRange {
  /** Entries with a greater number. */
  readonly after: number;
  /** Only of this channel. */
  readonly channel?: string;
  readonly limit?: number;
}

export interface TurnRange {
  /** First index, from 0. */
  readonly start: number;
  /** Index behind the last one. */
  readonly end: number;
  /** Turns are read up to the one with which this is reached: what is read at once stays small. */
  readonly maxBytes?: number;
}

/** A repair that a log made when it was opened or read. It moves damaged bytes aside and never deletes them. */
export interface LogRepair {
  readonly message: string;
  readonly keptAt?: string;
  /** The whole file was rebuilt. */
  readonly isRebuilt?: true;
}

/** How much of a damaged log was saved, and how much is known to be lost. */
export interface Salvaged {
  /** Channels that had turns, and kept at least one of them; and those that lost all. */
  readonly channels: number;
  readonly channelsLost: number;
  readonly turns: number;
  readonly turnsLost: number;
}

/** `Salvaged` in words, from the JSON of the record below. */
export function salvagedText(json: string): string {
  const { channels = 0, channelsLost = 0, turns = 0, turnsLost = 0 } = JSON.parse(json) as Partial<Salvaged>;
  return `saved: ${turns} turns of ${channels} sessions; lost: ${turnsLost} turns, and ${channelsLost} sessions altogether`;
}

/** A rebuilt log holds `Salvaged` as JSON under this key until the host has told people and removes it. */
export const REBUILT_RECORD = 'log:rebuilt';

export type LogOpenReason =
  | 'not-a-folder'
  | 'not-writable'
  | 'symlink'
  | 'not-a-file'
  | 'foreign'
  | 'newer'
  | 'disk-full'
  | 'failed';

/** The data folder cannot be used as it is. Nothing in it was lost. */
export class LogOpenError extends Error {
  override readonly name = 'LogOpenError';
  constructor(
    readonly reason: LogOpenReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Another process has the data folder open. */
export class LogLockedError extends Error {
  override readonly name = 'LogLockedError';
  constructor(
    readonly dataDir: string,
    /** The holder, if it left its process id behind. */
    readonly pid: number | undefined,
  ) {
    const holder = pid === undefined ? 'another process' : `process ${pid}`;
    super(`${dataDir} is in use by ${holder}: stop it, connect to it instead, or choose another data folder`);
  }
}

export type LogWriteReason =
  | 'closed'
  | 'duplicate-origin'
  | 'invalid-archive'
  | 'invalid-record'
  | 'turns-present'
  | 'disk-full'
  | 'damaged'
  | 'failed';

/** Why a commit is not in the log. Nothing of it is stored. */
export type AppendFailure = LogFencedError | LogNotOwnerError | LogUnavailableError | LogWriteError;

/** The log no longer takes anything from this host: another one has it. */
export class LogFencedError extends Error {
  override readonly name = 'LogFencedError';
  readonly kind = 'fenced';
}

/** Another host works on these channels. */
export class LogNotOwnerError extends Error {
  override readonly name = 'LogNotOwnerError';
  readonly kind = 'not-owner';
  constructor(readonly channels: readonly string[]) {
    super(`another host works on ${channels.join(', ')}: ask that one`);
  }
}

/** The log cannot be reached for now: the same commit is to be appended again. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError';
  readonly kind = 'unavailable';
}

/** A commit was refused or could not be written. */
export class LogWriteError extends Error {
  override readonly name = 'LogWriteError';
  readonly kind = 'refused';
  constructor(
    readonly reason: LogWriteReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a log threw, as one of the failures that it may throw. */
export function appendFailure(error: unknown): AppendFailure {
  if (error instanceof LogFencedError || error instanceof LogNotOwnerError) return error;
  if (error instanceof LogUnavailableError || error instanceof LogWriteError) return error;
  return new LogWriteError('failed', error instanceof Error ? error.message : String(error), { cause: error });
}

export function closedError(): LogWriteError {
  return new LogWriteError('closed', 'the log is closed: open it again before using it');
}
