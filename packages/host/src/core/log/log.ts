/**
 * The log: the one place where what happened is kept. It gives every action its number, and nothing is shown to anyone
 * before it is in here. The embedded implementation is SQLite; a distributed one fits the same interface.
 *
 * A log knows entries, archives and records as text. It does not know actions, sessions or clients.
 */

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
  /** What happened here cannot be read any more: it was damaged on disk. The action is empty. */
  readonly isDamaged?: true;
  /** Who asked for it; absent when the host did. A log holds each (client, epoch, clientSeq) once. */
  readonly origin?: EntryOrigin | undefined;
}

export interface EntryOrigin {
  readonly clientId: string;
  /** Counts the times this client's own numbers started over: with `initialize`, or because it used one again. */
  readonly epoch: number;
  readonly clientSeq: number;
  /** What the host needs to know a resend by; logs do not keep it. */
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
  /** Finished turns from index `start` on replace whatever was archived from there; later ones are cut off. */
  readonly turns: { readonly start: number; readonly items: readonly ArchivedTurn[] };
}

/** A finished turn never changes: it is kept as the very text that goes to clients. */
export interface ArchivedTurn {
  readonly id: string;
  readonly json: string;
}

/** What is known of a channel without reading its turns. */
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

/** Somebody else appended first: this host no longer owns what it tried to write. */
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

/** What a log had to mend when it was opened or read. The bad bytes are kept aside. */
export interface LogRepair {
  readonly message: string;
  readonly keptAt?: string;
  /** The whole file was made anew. */
  readonly isRebuilt?: true;
}

/** What was saved of a damaged log, and what is known to be lost. */
export interface Salvaged {
  /** Channels that had turns, and kept at least one of them; and those that lost all. */
  readonly channels: number;
  readonly channelsLost: number;
  readonly turns: number;
  readonly turnsLost: number;
}

/** In words, from the JSON of a record. */
export function salvagedText(json: string): string {
  const { channels = 0, channelsLost = 0, turns = 0, turnsLost = 0 } = JSON.parse(json) as Partial<Salvaged>;
  return `saved: ${turns} turns of ${channels} sessions; lost: ${turnsLost} turns, and ${channelsLost} sessions altogether`;
}

/** The record under which a log that was rebuilt says what was saved (`Salvaged` as JSON), until somebody removes it. */
export const REBUILT_RECORD = 'log:rebuilt';

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

export interface Log {
  /** The greatest number in the log; 0 when it is empty. */
  readonly head: number;
  /** The smallest number whose entry is still there, or head + 1: older ones live on in archives only. */
  readonly oldest: number;
  /** What was mended so far. It grows when damage is found while reading. */
  readonly repairs: readonly LogRepair[];
  /** Calls back for everything that is mended from now on. */
  onRepair(listener: (repair: LogRepair) => void): void;
  append(commit: Commit): Promise<void>;
  read(range: ReadRange): Promise<LogEntry[]>;
  /** Calls back for every entry behind `after`, stored or yet to come, in order, until the returned function is called. */
  follow(after: number, listener: (entry: LogEntry) => void): () => void;
  archiveHead(channel: string): Promise<ArchiveHead | undefined>;
  archivedTurns(channel: string, range: TurnRange): Promise<ArchivedTurn[]>;
  /** The same turns as one text, joined by commas: what a snapshot is made of. */
  archivedTurnsText(channel: string, range: TurnRange): Promise<string>;
  /** The index of an archived turn, or undefined. */
  findTurn(channel: string, turnId: string): Promise<number | undefined>;
  /** Every channel that has an archive or archived turns. */
  channels(): Promise<string[]>;
  /** Copies the archived turns [0, end) of one channel to another that has none. */
  copyTurns(from: string, to: string, end: number): Promise<void>;
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
  close(): Promise<void>;
}
