/**
 * What every dialect can do: turn a wire version into the one internal model, and back. Dialects are pure and keep
 * nothing; what must be remembered is a value that they return and the host hands in again.
 */
import type { ActionEnvelope, ActionOrigin, Snapshot } from '../common/envelope.js';
import type { JsonRpcErrorObject } from '../rpc.js';
import type { SessionState } from '../session/state.js';

/** One accepted action with the session's state around it. Other channels have no states here. */
export interface Step {
  readonly envelope: ActionEnvelope;
  readonly before: SessionState | undefined;
  readonly after: SessionState | undefined;
}

/** What a dialect remembers of one connection. */
export interface DialectConnection {
  /** How this client spells the root, once it has. */
  readonly rootUri?: 'agenthost:root' | 'agenthost:/root';
}

/** What a dialect remembers of one session channel, for all its connections: confirmations asked in a turn. */
export interface ChannelMemory {
  readonly turnId?: string;
  readonly confirmations: ReadonlyMap<string, number>;
}

export const NO_MEMORY: ChannelMemory = { confirmations: new Map() };

/** What a dialect may look up in the host. Channels are named by their internal URIs. */
export interface HostView {
  /** The provider of a session. Must still know one whose removal is just being announced. */
  providerOf(channel: string): string | undefined;
  sessionOf(channel: string): SessionState | undefined;
  memoryOf(channel: string): ChannelMemory | undefined;
}

/** A call as it stands in a frame, not validated. */
export interface Call {
  readonly method: string;
  readonly params: Params;
}

export type Params = Readonly<Record<string, unknown>>;

/** A request in internal terms, with the way back for its result; or the error to answer with. */
export type InboundRequest =
  | {
      readonly kind: 'forward';
      readonly connection: DialectConnection;
      readonly method: string;
      readonly params: Params;
      encodeResult(result: unknown, view: HostView): unknown;
    }
  | { readonly kind: 'fail'; readonly connection: DialectConnection; readonly error: JsonRpcErrorObject };

/** An action as its client spelled it, kept so that an echo or a rejection can repeat it exactly. */
export interface OriginalAction {
  readonly channel?: string;
  readonly action: { readonly type: string };
}

/** A notification in internal terms. The host still validates params and actions: they come from outside. */
export type InboundNotification =
  | {
      readonly kind: 'forward';
      readonly connection: DialectConnection;
      readonly method: string;
      readonly params: Params;
    }
  | {
      readonly kind: 'dispatch';
      readonly connection: DialectConnection;
      readonly channel: string;
      readonly clientSeq: number;
      readonly action: { readonly type: string };
      readonly original: OriginalAction;
    }
  | {
      readonly kind: 'reject';
      readonly connection: DialectConnection;
      readonly clientSeq: number;
      readonly original: OriginalAction;
      readonly reason: string;
    }
  | { readonly kind: 'ignore'; readonly connection: DialectConnection };

/** A notification to a client, ready to be sent. */
export interface Frame {
  readonly method: string;
  readonly params: object;
}

/** A frame with an action. The origin, which is not sent beside it, says whose echo it is. */
export interface ActionFrame extends Frame {
  readonly origin?: ActionOrigin;
}

export interface EncodedSteps {
  readonly memory: ChannelMemory;
  readonly frames: readonly ActionFrame[];
  /** Set when the wire cannot say what happened: send the frames, then close; the client takes a new snapshot. */
  readonly close?: string;
}

export interface EchoStamp {
  readonly serverSeq: number;
  readonly origin: ActionOrigin;
}

export interface RejectionStamp extends EchoStamp {
  readonly rejectionReason: string;
}

export interface Dialect {
  readonly version: '1' | '0.2.0' | '0.3.0';
  /** Whether catalogue notifications go to every connection, subscribed to root or not. */
  readonly notifiesEveryone: boolean;
  request(call: Call, connection: DialectConnection, view: HostView): InboundRequest;
  notification(call: Call, connection: DialectConnection, view: HostView): InboundNotification;
  encodeError(error: JsonRpcErrorObject): JsonRpcErrorObject;
  /** Undefined for a channel that this wire does not have. */
  encodeSnapshot(snapshot: Snapshot, connection: DialectConnection, view: HostView): object | undefined;
  /** The memory after some steps, for a channel that no connection of this dialect follows just now. */
  remember(memory: ChannelMemory, steps: readonly Step[]): ChannelMemory;
  /** Translates what one channel did in one tick. The same frames serve all connections of the dialect. */
  encodeSteps(memory: ChannelMemory, steps: readonly Step[]): EncodedSteps;
  /** Tells an originator early that its action will be applied as it stands. */
  encodeEcho(original: OriginalAction, stamp: EchoStamp): Frame;
  encodeRejection(original: OriginalAction, stamp: RejectionStamp): Frame;
  /** Any host notification but `action`; undefined when this wire does not have it. */
  encodeNotification(call: Call, view: HostView): Frame | undefined;
  /** Whether the host may send this request to a client. */
  maySend(method: string): boolean;
}
