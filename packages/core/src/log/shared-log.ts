/**
 * A log that several hosts write to at the same time. It puts all their entries into one order, accepts the actions of
 * a channel only from the host that owns it, and tells each host what the others wrote. Its suite is
 * `conformance-shared.ts`.
 */
import type { Commit, Log, LogEntry, Stored } from './log.js';

/** A host, and a counter that grows each time it joins. */
export interface HostTerm {
  readonly host: string;
  readonly term: number;
}

/**
 * The owner of a channel from the end of a commit on: another host, or none. Naming itself, a host claims a channel
 * that has no owner.
 */
export interface OwnerChange {
  readonly channel: string;
  readonly to: HostTerm | null;
}

export interface SharedCommit extends Commit {
  readonly owners?: readonly OwnerChange[];
}

/** How far a reader has come: for entries their number, for records a count of their changes. */
export interface ChangePosition {
  readonly seq: number;
  readonly records: number;
}

/** What a reader wants to hear of; asked before each read. */
export interface Wanted {
  channels(): readonly string[];
  readonly recordPrefixes: readonly string[];
}

/** A changed record; null when it was removed. */
export interface ChangedRecord {
  readonly key: string;
  readonly value: string | null;
}

/** Everything wanted between two positions, in order. The numbers missing in between belong to other channels. */
export interface Change {
  readonly upTo: ChangePosition;
  readonly entries: readonly LogEntry[];
  /** The records with their latest values. */
  readonly records: readonly ChangedRecord[];
}

/** The answer to a claim: either all channels are ours now, or these belong to the named owners. */
export type Claim =
  | { readonly isMine: true }
  | { readonly isMine: false; readonly owners: readonly (HostTerm & { readonly channel: string })[] };

export interface SharedLog extends Log {
  /** Throws `LogNotOwnerError` when this host does not own a channel, and `LogFencedError` when its term is over. */
  append(commit: SharedCommit): Promise<Stored>;
  /** Makes this host the owner of the channels, all of them or none. A host whose term is over owns nothing. */
  claim(channels: readonly string[]): Promise<Claim>;
  /** Gives up the channels that this host owns; the others stay with their owners. */
  release(channels: readonly string[]): Promise<void>;
  /** The current position of the log. Nothing read before this call is newer. */
  position(): Promise<ChangePosition>;
  /**
   * Yields changes after a position as they happen, including those of this host. Fails with `LogFencedError` when the
   * log no longer knows what followed the position; then the host has to read everything again.
   */
  changes(after: ChangePosition, wanted: Wanted, signal: AbortSignal): AsyncIterable<Change>;
  /** Makes `changes` look now, because there may be something new. A hint does not say what, or how far. */
  hint(): void;
}
