/**
 * What one tick of the event loop decided, on its way to the log: gathered by the writer, then stored as a whole, or
 * undone as a whole.
 */
import type { Archive, Commit, LogEntry } from '../log/log.js';
import type { Connection } from '../wire/connection.js';
import type { Outgoing } from '../wire/outgoing.js';
import type { Channel, Step } from './channel.js';
import { needsFullDurability } from './durability.js';

export interface Batch {
  readonly entries: LogEntry[];
  readonly steps: CommittedStep[];
  readonly notices: Notice[];
  readonly records: Map<string, string | null>;
  readonly archives: Map<string, () => Archive>;
  readonly afterCommit: (() => void)[];
  readonly afterFailure: ((error: Error) => void)[];
}

export interface CommittedStep extends Step {
  readonly channel: Channel;
  /** The action as JSON. */
  readonly text: string;
}

/** What one client alone is told, right behind the action with this number: a rejection, or an echo ahead of its time. */
export interface Notice {
  readonly seq: number;
  readonly connection: Connection;
  message(): Outgoing;
}

/** What one tick did, after it has been stored. */
export interface CommittedBatch {
  readonly steps: readonly CommittedStep[];
  /** Also the numbers that were used up without an action. */
  readonly entries: readonly LogEntry[];
  readonly notices: readonly Notice[];
}

/** What never happened, because it could not be stored. */
export interface UndoneBatch extends CommittedBatch {
  readonly error: Error;
}

export const emptyBatch = (): Batch => ({
  entries: [],
  steps: [],
  notices: [],
  records: new Map(),
  archives: new Map(),
  afterCommit: [],
  afterFailure: [],
});

/** Whether there is something to store. */
export function hasContent({ entries, records, archives }: Batch): boolean {
  return entries.length + records.size + archives.size > 0;
}

/** Whether something is to happen even when there is nothing to store. */
export function isAwaited({ notices, afterCommit }: Batch): boolean {
  return notices.length + afterCommit.length > 0;
}

/** The batch as the log wants it. Archives are made now, when all actions are in. */
export function commitOf(batch: Batch, expectedHead: number): Commit {
  return {
    expectedHead,
    entries: batch.entries,
    records: [...batch.records].map(([key, value]) => ({ key, value })),
    archives: [...batch.archives.values()].map((make) => make()),
    durability: batch.steps.some(({ envelope }) => needsFullDurability(envelope.action)) ? 'full' : 'normal',
  };
}
