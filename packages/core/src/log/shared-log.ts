/**
 * A log that several hosts write to at the same time. It gives one order of numbers for all of them, takes the actions of a channel
 * only from the host that owns it, and tells each host what the others did. `conformance-shared.ts` is its suite.
 */
import type { Commit, Log, LogEntry, Stored } from './log.js';

/** A host, and how often it has joined. */
export interface HostTerm {
  readonly host: string;
  readonly term: number;
}

/** Who owns a channel from the end of a commit on: another host, or nobody. One's own name claims a channel that has no owner. */
export interface OwnerChange {
  readonly channel: string;
  readonly to: HostTerm | null;
}

export interface SharedCommit extends Commit {
  readonly owners?: readonly OwnerChange[];
}

/** Up to where a reader has come: entries by their numbers, records by a count of their changes. */
export interface ChangePosition {
  readonly seq: number;
  readonly records: number;
}

/** What a reader wants to hear of; it is asked before each read. */
export interface Wanted {
  channels(): readonly string[];
  readonly recordPrefixes: readonly string[];
}

/** A record that changed; null: it was removed. */
export interface ChangedRecord {
  readonly key: string;
  readonly value: string | null;
}

/** Everything of what is wanted between two positions, in order. Numbers in between concern other channels. */
export interface Change {
  readonly upTo: ChangePosition;
  readonly entries: readonly LogEntry[];
  /** As they are by now. */
  readonly records: readonly ChangedRecord[];
}

/** The answer to a claim: all of the channels are ours, or those that are not, with their owners. */
export type Claim =
  | { readonly isMine: true }
  | { readonly isMine: false; readonly owners: readonly (HostTerm & { readonly channel: string })[] };

export interface SharedLog extends Log {
  /** Throws `LogNotOwnerError` when a channel is not owned by this host, and `LogFencedError` when this term is over. */
  append(commit: SharedCommit): Promise<Stored>;
  /** Makes channels this host's own, all of them or none. Owners whose term is over have lost theirs. */
  claim(channels: readonly string[]): Promise<Claim>;
  /** Gives channels back that this host owns; it forgets what others own. */
  release(channels: readonly string[]): Promise<void>;
  /** Where the log stands now: what was read before this call is not newer. */
  position(): Promise<ChangePosition>;
  /**
   * What happens behind a position, as it happens, also of this host itself. Fails with `LogFencedError` when the log no longer
   * knows what followed the position: the host has to read everything anew.
   */
  changes(after: ChangePosition, wanted: Wanted, signal: AbortSignal): AsyncIterable<Change>;
  /** There may be something new: `changes` looks now. It says nothing about what, or up to where. */
  hint(): void;
}
