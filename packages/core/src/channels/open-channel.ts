/** A channel in memory, as the wire and the host's services see it. */
import type { Role, StateAction } from '@atrium/protocol/ahp-1';
import type { EntryOrigin } from '../log/log.js';
import type { Channel } from './channel.js';

export interface OpenChannel {
  readonly channel: Channel;
  /** The channel has left memory or is gone; a caller that still needs it opens it again. */
  readonly isClosed?: boolean;
  /**
   * Returns the stored state, or undefined when the caller must open the channel again. Synchronous, so that a caller
   * can take several snapshots of the same moment.
   */
  takeSnapshot(request: SnapshotRequest): ChannelSnapshot | undefined;
  /** Applies, defers or rejects an action of a client. */
  dispatch(action: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void>;
  /**
   * The least role for an action, where it depends on the state: only the owner may answer some questions. Without it,
   * the table of roles decides.
   */
  leastRole?(action: StateAction): Role | undefined;
  /** Tells a client that resent an action if that action is still deferred. */
  answerDeferred?(origin: EntryOrigin, asker: ActionSender): void;
}

export interface SnapshotRequest {
  readonly window?: WindowRequest | undefined;
  /** Whether the snapshot may contain stored turns as JSON text, without parsing them. */
  readonly sendsStoredJson: boolean;
}

/** Our own extension: a client that loads turns page by page asks for the newest ones only. */
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
   * Immutable: the wire writes it while other things happen, and reads finished turns that only the log has while it
   * writes. Undefined for a channel without a state.
   */
  readonly snapshot: object | undefined;
  readonly turns?: TurnWindow;
}

/** The client that dispatched an action, wherever it is connected. The edge knows its connection and its dialect. */
export interface ActionSender {
  /** The display name of the connection's credential; absent for the owner's own token. */
  readonly name?: string | undefined;
  reject(origin: EntryOrigin, reason: string): void;
  /** Tells the client that its action waits for the end of a turn. */
  deferred(origin: EntryOrigin): void;
}
