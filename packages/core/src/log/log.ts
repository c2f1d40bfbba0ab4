/**
 * The log: the one place that stores what happened. Every action gets its number here, and no client sees an action
 * before it is stored. The embedded log is SQLite (`log-sqlite/`), `MemoryLog` is for tests, and every log passes
 * `conformance-suite.ts`.
 *
 * A log knows entries, archives and records as text. It does not know actions or sessions; of a client it knows the
 * epoch and the numbers.
 *
 * The log assigns the numbers: a writer learns them from the answer to its commit, and nothing has a number before
 * that. So a log shared by several hosts is just one more implementation. See docs/decisions, "numbers come with the
 * commit".
 */
import type { TextIndex } from './text-index.js';

export interface Log {
  /** The greatest number in the log; 0 when it is empty. */
  readonly head: number;
  /** The smallest number whose entry is still stored, or head + 1. Older entries live on in archives only. */
  readonly oldest: number;

  /**
   * Stores the whole commit and returns the numbers of its entries, or throws an `AppendFailure` and stores nothing.
   */
  append(commit: Commit): Promise<Stored>;
  read(range: ReadRange): Promise<LogEntry[]>;
  /**
   * What a client missed: all entries of its channels after a number. Undefined when that exceeds the limits or is no
   * longer stored; then the client needs a snapshot. A log may count the entries of other channels towards the limits.
   */
  missed(after: number, channels: readonly string[], limits: ReplayLimits): Promise<readonly LogEntry[] | undefined>;

  /**
   * Everything needed to open a channel, as of one number: its archive, this many of its newest turns, and the entries
   * after the archive. Undefined when the log has neither an archive nor entries of the channel.
   */
  openChannel(channel: string, turns: number): Promise<StoredChannel | undefined>;
  archiveHead(channel: string): Promise<ArchiveHead | undefined>;
  archivedTurns(channel: string, range: TurnRange): Promise<ArchivedTurn[]>;
  /** The same turns as one text, joined by commas. */
  archivedTurnsText(channel: string, range: TurnRange): Promise<string>;
  /**
   * The first of these turns as JSON bytes, which snapshots pass on unchanged. Empty if the first turn is already too
   * long.
   */
  archivedTurnsJson(channel: string, range: TurnsJsonRange): Promise<TurnsJson>;
  /** The index of an archived turn, or undefined. */
  findTurn(channel: string, turnId: string): Promise<number | undefined>;
  /**
   * Copies archived turns to another channel, which must have all turns before the range and no others. Returns how
   * many it copied: fewer than the range has when it reaches `maxBytes`, so that a long history is copied in pieces.
   */
  copyTurns(from: string, to: string, range: TurnRange): Promise<number>;
  /** Every channel that has an archive or archived turns. */
  channels(): Promise<string[]>;

  record(key: string): Promise<string | undefined>;
  /** All records whose key starts with the prefix, in the order of their keys. */
  records(prefix: string): Promise<StoredRecord[]>;
  /**
   * Visits the same records one by one, in any order. They are never all in memory, for callers that keep little of
   * each.
   */
  eachRecord(prefix: string, visit: (record: StoredRecord) => void): Promise<void>;
  /** The same records, for callers that keep only some of them. Logs that cannot read synchronously leave this out. */
  recordsAtHand?(prefix: string): RecordsAtHand;

  /**
   * Starts a client over under its id, in one step: gives it an epoch above all its earlier ones, stores the facts
   * about it, and drops the answers to what it sent before. Throws an `AppendFailure`.
   */
  beginClient(clientId: string, facts: ClientFacts): Promise<{ readonly epoch: number }>;
  /** The numbers of a client that are in the log, at or above `from`. */
  clientSeqs(clientId: string, epoch: number, from: number): Promise<number[]>;

  /** Drops entries up to a number, if archives include them; keeps at least the newest `keep`. */
  compact(options: { readonly upTo: number; readonly keep: number }): Promise<void>;
  /** Forgets a channel: its archive, its turns, and the actions in its entries. */
  forget(channel: string): Promise<void>;
  /** Forgets which entries were a client's, and which numbers it used. It must not use those epochs again. */
  forgetClient(clientId: string): Promise<void>;

  /**
   * Opens the full-text index of the log. An index of another version is rebuilt; with `anew`, any index is. Logs
   * without full text leave this out. Closing the log closes the index.
   */
  openTextIndex?(options?: { readonly anew?: boolean }): Promise<TextIndex>;

  /** The repairs made so far. The list grows when a read finds damage. */
  readonly repairs: readonly LogRepair[];
  /** Calls back for every repair from now on. */
  onRepair(listener: (repair: LogRepair) => void): void;
  close(): Promise<void>;
}

/** One number of the host-wide sequence, and what happened under it. */
export interface LogEntry {
  /** Grows by one with each entry, over all channels, without a gap. The first entry is 1. */
  readonly seq: number;
  /** The channel's URI; empty when the number was used up without an action, as by a rejection. */
  readonly channel: string;
  /** When the action was accepted, in milliseconds since the epoch. */
  readonly time: number;
  /** The action as JSON; empty when there is none. */
  readonly action: string;
  /** The action was damaged on disk; `action` is empty. */
  readonly isDamaged?: true;
  /** The client that asked for it; absent when the host did. A log holds each (client, epoch, clientSeq) once. */
  readonly origin?: EntryOrigin | undefined;
}

/** An entry on its way to the log, which assigns its number. */
export interface NewEntry extends Omit<LogEntry, 'seq' | 'isDamaged'> {
  /**
   * The action is of a channel that ends with the host, such as a terminal: the log stores only its number, and replays
   * the action to clients that missed it.
   */
  readonly isEphemeral?: boolean;
}

export interface EntryOrigin {
  readonly clientId: string;
  /** Goes up each time the client's own numbers start over: at `initialize`, or when it reuses a number. */
  readonly epoch: number;
  readonly clientSeq: number;
  /** Lets the host recognise a resend; logs do not store it. */
  readonly sent?: SentStamp | undefined;
}

export interface SentStamp {
  /** The epoch in which the client began with `initialize`. */
  readonly start: number;
  /** Digest of the channel and the action, as the client spelled them. */
  readonly digest: string;
}

/** The state of a channel at one number, so that opening it needs only later entries. */
export interface Archive {
  readonly channel: string;
  readonly seq: number;
  /** The state as JSON, without the finished turns. */
  readonly head: string;
  /** Finished turns from index `start` on. They replace the archived ones from there; any after them are cut off. */
  readonly turns: { readonly start: number; readonly items: readonly ArchivedTurn[] };
}

/** An archive on its way to the log. It includes everything up to the last entry of its commit. */
export type NewArchive = Omit<Archive, 'seq'>;

/** A finished turn. It never changes, so it is stored as the text that goes to clients. */
export interface ArchivedTurn {
  readonly id: string;
  readonly json: string;
}

export interface TurnsJsonRange extends TurnRange {
  /** The result ends before the first turn with more bytes than this. */
  readonly turnMaxBytes: number;
}

export interface TurnsJson {
  readonly count: number;
  /** The turns as JSON in UTF-8, with commas between them. */
  readonly json: Buffer;
}

/** The same result, for a log that holds turns as texts. */
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
  /** The head was damaged on disk, and is empty; the number and the turns are intact. */
  readonly isDamaged?: true;
}

/** A channel as of one number. */
export interface StoredChannel {
  /** The head of the log at that moment; `tail` goes up to it. */
  readonly seq: number;
  /** Undefined for a channel that was never archived; then `tail` begins with its first entry. */
  readonly archive: ArchiveHead | undefined;
  /** The newest turns of the archive, oldest first. */
  readonly turns: readonly ArchivedTurn[];
  /** The entries after the archive. */
  readonly tail: readonly LogEntry[];
}

/** What the host knows of a client that starts over. */
export interface ClientFacts {
  /** The new epoch must be above this one, which the log may not have stored, or not yet. */
  readonly above: number;
  /** The client's record as JSON: the text before the epoch, and the text after it. */
  readonly known: { readonly before: string; readonly after: string };
}

/** A small fact that must be readable without opening a channel: a session's summary, a client's last handshake. */
export interface LogRecord {
  readonly key: string;
  /** JSON; null removes the record. */
  readonly value: string | NumberedValue | null;
}

declare const IS_JSON: unique symbol;

/** A text that is JSON, because `jsonText` made it. */
export type JsonText = string & { readonly [IS_JSON]: true };

export function jsonText(value: NonNullable<unknown> | null): JsonText {
  return JSON.stringify(value) as JsonText;
}

export interface StoredRecord {
  readonly key: string;
  readonly value: string;
}

/** Records with a prefix, read synchronously from where they are stored. */
export interface RecordsAtHand {
  count(): number;
  keys(): string[];
  /** The keys of the records whose values do not end with this text. */
  keysUnlike(end: string): string[];
  /** The records under these keys, in any order, without those that are gone or damaged. */
  read(keys: readonly string[]): StoredRecord[];
  /**
   * All records, in any order: for many records, this costs less than looking them up by key. `damaged` gets the keys of
   * those that cannot be read.
   */
  each(visit: (record: StoredRecord) => void, damaged?: (key: string) => void): void;
  /**
   * Visits the values at these JSON paths in each record, null where there is none. It checks nothing, and may return
   * the old value of a record that was changed or removed moments ago.
   */
  glance(paths: readonly string[], visit: (key: string, found: readonly unknown[]) => void): void;
}

/** A value that includes the number of an entry of the same commit: the log puts the number between the two texts. */
export interface NumberedValue {
  readonly before: string;
  /** Index of the entry in the commit, from 0. */
  readonly entry: number;
  readonly after: string;
}

/** Everything that one event-loop tick decided. The log stores all of it or nothing. */
export interface Commit {
  readonly entries: readonly NewEntry[];
  readonly archives?: readonly NewArchive[];
  readonly records?: readonly LogRecord[];
  /** `normal` survives the death of the process; `full` also survives a power cut. */
  readonly durability: 'normal' | 'full';
}

/**
 * The numbers of a commit's entries, without a gap. For a commit without entries, `last` is the head and `first` is
 * head + 1.
 */
export interface Stored {
  readonly first: number;
  readonly last: number;
}

/** How much of what a client missed is replayed; beyond that, it gets a snapshot. */
export interface ReplayLimits {
  readonly entries: number;
  readonly bytes: number;
}

export interface ReadRange {
  /** Only entries with a greater number. */
  readonly after: number;
  /** Only of this channel. */
  readonly channel?: string;
  readonly limit?: number;
}

export interface TurnRange {
  /** First index, from 0. */
  readonly start: number;
  /** Index after the last one. */
  readonly end: number;
  /** Reading stops with the turn that reaches this size, so that one read stays small. */
  readonly maxBytes?: number;
}

/** A repair made while a log was opened or read. It moves damaged bytes aside and never deletes them. */
export interface LogRepair {
  readonly message: string;
  readonly keptAt?: string;
  /** The whole file was rebuilt. */
  readonly isRebuilt?: true;
}

/** How much of a damaged log was saved, and how much is known to be lost. */
export interface Salvaged {
  /** Channels that had turns: those that kept at least one, and those that lost all. */
  readonly channels: number;
  readonly channelsLost: number;
  readonly turns: number;
  readonly turnsLost: number;
}

/** Describes a `Salvaged`, given as JSON, in words. */
export function salvagedText(json: string): string {
  const { channels = 0, channelsLost = 0, turns = 0, turnsLost = 0 } = JSON.parse(json) as Partial<Salvaged>;
  return `saved: ${turns} turns of ${channels} sessions; lost: ${turnsLost} turns, and ${channelsLost} sessions altogether`;
}

/** A rebuilt log has `Salvaged` as JSON under this key, until the host has told people and removes it. */
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

/** The data folder cannot be used in its present state. Nothing in it was lost. */
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

/** The log takes nothing from this host any more: another host has taken over. */
export class LogFencedError extends Error {
  override readonly name = 'LogFencedError';
  readonly kind = 'fenced';
}

/** Another host owns these channels. */
export class LogNotOwnerError extends Error {
  override readonly name = 'LogNotOwnerError';
  readonly kind = 'not-owner';
  constructor(readonly channels: readonly string[]) {
    super(`another host works on ${channels.join(', ')}: ask that one`);
  }
}

/** The log cannot be reached for now; append the same commit again. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError';
  readonly kind = 'unavailable';
}

/** The log refused a commit, or could not write it. */
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

/** Turns anything that a log threw into one of the failures that it may throw. */
export function appendFailure(error: unknown): AppendFailure {
  if (error instanceof LogFencedError || error instanceof LogNotOwnerError) return error;
  if (error instanceof LogUnavailableError || error instanceof LogWriteError) return error;
  return new LogWriteError('failed', error instanceof Error ? error.message : String(error), { cause: error });
}

export function closedError(): LogWriteError {
  return new LogWriteError('closed', 'the log is closed: open it again before using it');
}
