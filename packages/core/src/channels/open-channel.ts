/** A channel in memory, as the wire and the host's services see it. */
import type { Role, StateAction } from '@atrium/protocol/ahp-1';
import type { EntryOrigin } from '../log/log.js';
import type { Channel } from './channel.js';

export interface OpenChannel {
  readonly channel: Channel;
  /** The channel has left memory or is gone; a caller that still needs it opens it again. */
  readonly isClosed?: boolean;
  /**
   * Returns the stored state, or undefined when the channel must be opened anew. Does not wait, so that a caller can take
   * several snapshots that are true at one moment.
   */
  takeSnapshot(request: SnapshotRequest): ChannelSnapshot | undefined;
  /** Applies, defers or rejects an action of a client. */
  dispatch(action: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void>;
  /** The least role for an action, where that depends on the state: some questions are the owner's. Absent: as the table says. */
  leastRole?(action: StateAction): Role | undefined;
  /** Tells a client that resent an action if that action is still deferred. */
  answerDeferred?(origin: EntryOrigin, asker: ActionSender): void;
}

export interface SnapshotRequest {
  readonly window?: WindowRequest | undefined;
  /** Whether the snapshot may contain stored turns as JSON text, without parsing them. */
  readonly sendsStoredJson: boolean;
}

/** Our own extension: a client that pages asks for the newest turns only. */
export interface WindowRequest {
  readonly last: number;
}

/** Which of a session's finished turns a snapshot holds. */
export interface TurnWindow {
  readonly start: number;
  readonly total: number;
}

export interface ChannelSnapshot {
  /**
   * Immutable, so that the wire can write it while other things happen; finished turns that only the log has are read
   * while it is written. Undefined for a channel without a state.
   */
  readonly snapshot: object | undefined;
  readonly turns?: TurnWindow;
}

/** The client that dispatched an action, wherever it is connected. The edge knows its connection and its dialect. */
export interface ActionSender {
  /** What people call the credential of its connection; absent for the owner's own token. */
  readonly name?: string | undefined;
  reject(origin: EntryOrigin, reason: string): void;
  /** The action waits for the end of a turn. */
  deferred(origin: EntryOrigin): void;
}
