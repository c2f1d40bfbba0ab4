/**
 * The log: the one place where what happened is stored. Every action has its number here, and nothing is shown to a
 * client before it is stored. The embedded log is SQLite (`log-sqlite/`), `MemoryLog` is for tests, and `contract.ts`
 * is the suite that every log passes.
 *
 * A log knows entries, archives and records as text. It does not know actions, sessions or clients.
 *
 * The interface assumes one writer per log. For several hosts on one log, three things will change: `append` returns
 * the numbers that it assigned instead of comparing `Commit.expectedHead`; `LogConflictError` becomes a reason per
 * failure; and an asynchronous `changes` delivers the commits of other hosts.
 */

export interface Log {
  /** The greatest number in the log; 0 when it is empty. */
  readonly head: number;
  /** The smallest number whose entry is still there, or head + 1: older ones live on in archives only. */
  readonly oldest: number;

  /** Stores the whole commit or throws: `LogConflictError` when the head has moved, `LogWriteError` otherwise. */
  append(commit: Commit): Promise<void>;
  read(range: ReadRange): Promise<LogEntry[]>;

  archiveHead(channel: string): Promise<ArchiveHead | undefined>;
  archivedTurns(channel: string, range: TurnRange): Promise<ArchivedTurn[]>;
  /** The same turns as one text, joined by commas: a snapshot is made of it. */
  archivedTurnsText(channel: string, range: TurnRange): Promise<string>;
  /** The index of an archived turn, or undefined. */
  findTurn(channel: string, turnId: string): Promise<number | undefined>;
  /** Copies the archived turns [0, end) of one channel to another that has none. */
  copyTurns(from: string, to: string, end: number): Promise<void>;
  /** Every channel that has an archive or archived turns. */
  channels(): Promise<string[]>;

  record(key: string): Promise<string | undefined>;
  /** All records whose key starts with the prefix, in the order of their keys. */
  records(prefix: string): Promise<{ key: string; value: string }[]>;

  /** Which of a client's numbers are in the log, at or above `from`. */
  clientSeqs(clientId: string, epoch: number, from: number): Promise<number[]>;

  /** Drops entries up to a number that every archive has passed; keeps at least `keep` newest ones. */
  compact(options: { readonly upTo: number; readonly keep: number }): Promise<void>;
  /** Forgets a channel altogether: its archive, its turns, its entries' actions. */
  forget(channel: string): Promise<void>;
  /** Forgets whose a client's entries were, and which of its numbers were used. It must not use those epochs again. */
  forgetClient(clientId: string): Promise<void>;

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

/** A finished turn never changes: it is kept as the very text that goes to clients. */
export interface ArchivedTurn {
  readonly id: string;
  readonly json: string;
}

/** A channel's archive without its turns. */
export interface ArchiveHead {
  readonly seq: number;
  readonly head: string;
  readonly turnCount: number;
  /** The head was damaged on disk, and is empty; the number and the turns are right. */
  readonly isDamaged?: true;
}

/** A small fact that must be found without opening a channel: a session's summary, a client's last handshake. */
export interface LogRecord {
  readonly key: string;
  /** JSON; null removes the record. */
  readonly value: string | null;
}

/** Everything that one event-loop tick decided. It is stored as a whole or not at all. */
export interface Commit {
  /** The head that the entries continue. */
  readonly expectedHead: number;
  readonly entries: readonly LogEntry[];
  readonly archives?: readonly Archive[];
  readonly records?: readonly LogRecord[];
  /** `normal` survives the death of the process; `full` also survives a power cut. */
  readonly durability: 'normal' | 'full';
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

/** Another writer appended first: this host no longer owns the log. */
export class LogConflictError extends Error {
  override readonly name = 'LogConflictError';
  constructor(
    readonly expectedHead: number,
    readonly actualHead: number,
  ) {
    super(
      `the log is at ${actualHead}, not at ${expectedHead}: another host has written to it. Use that one, or stop it first`,
    );
  }
}

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
  | 'not-contiguous'
  | 'duplicate-origin'
  | 'invalid-archive'
  | 'turns-present'
  | 'disk-full'
  | 'damaged'
  | 'failed';

/** A commit was refused or could not be written. Nothing of it is in the log. */
export class LogWriteError extends Error {
  override readonly name = 'LogWriteError';
  constructor(
    readonly reason: LogWriteReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function closedError(): LogWriteError {
  return new LogWriteError('closed', 'the log is closed: open it again before using it');
}
