/**
 * A dialect translates one version of the wire into the internal model, and back. Each is a folder with its traits and
 * its codec. Dialects are pure and keep nothing: what they must remember is a value that they return, and the host
 * passes it in again.
 */
import type { ActionEnvelope, ActionOrigin, Snapshot } from '../common/envelope.js';
import type { JsonRpcErrorObject } from '../rpc.js';
import type { SessionState } from '../session/state.js';

/** One accepted action, with the session's state before and after it. Other channels have no states here. */
export interface Step {
  readonly envelope: ActionEnvelope;
  readonly before: SessionState | undefined;
  readonly after: SessionState | undefined;
}

/**
 * What a dialect remembers of one connection. Only the dialect knows its content. The host stores it with the client.
 */
export type DialectConnection = Readonly<Record<string, unknown>>;

/** What dialects remember of one channel, for all its connections: each under its own version. */
export type ChannelMemory = Readonly<Record<string, unknown>>;

export const NO_MEMORY: ChannelMemory = {};

/** What a dialect may look up in the host. Channels are named by their internal URIs. */
export interface HostView {
  /** The provider of a session, also of one whose removal is just being announced. */
  providerOf(channel: string): string | undefined;
  sessionOf(channel: string): SessionState | undefined;
  memoryOf(channel: string): ChannelMemory | undefined;
}

/** A call from a frame, not validated. */
export interface Call {
  readonly method: string;
  readonly params: Params;
}

export type Params = Readonly<Record<string, unknown>>;

/** A request in internal terms with the translation of its result, or the error to answer with. */
export type InboundRequest =
  | {
      readonly kind: 'forward';
      readonly connection: DialectConnection;
      readonly method: string;
      readonly params: Params;
      encodeResult(result: unknown, view: HostView): unknown;
    }
  | { readonly kind: 'fail'; readonly connection: DialectConnection; readonly error: JsonRpcErrorObject };

/** An action exactly as its client sent it, for its echo or its rejection. */
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
      /** The channel, if known: an action on a channel that does not exist is dropped without an answer. */
      readonly channel?: string;
    }
  | { readonly kind: 'ignore'; readonly connection: DialectConnection };

/** A notification to a client, ready to be sent. */
export interface Frame {
  readonly method: string;
  readonly params: object;
}

/** A frame with an action. Channel and origin are not sent separately: they say who gets it, and whose echo it is. */
export interface ActionFrame extends Frame {
  /** The action's channel, under its name on this wire: one of `wireChannels`. */
  readonly channel: string;
  readonly origin?: ActionOrigin;
}

export interface EncodedSteps {
  readonly memory: ChannelMemory;
  readonly frames: readonly ActionFrame[];
  /** Set when the wire cannot express what happened: send the frames, then close; the client takes a new snapshot. */
  readonly close?: string;
}

export interface EchoStamp {
  readonly serverSeq: number;
  readonly origin: ActionOrigin;
}

export interface RejectionStamp extends EchoStamp {
  readonly rejectionReason: string;
}

/** What a wire can carry, as plain data. The host asks for a trait, never for a version. */
export interface DialectTraits {
  /** The version that clients offer, and that the host stores for a returning client. */
  readonly version: string;
  /** Notifications about the list of sessions go to every connection, subscribed to the root or not. */
  readonly notifiesEveryone: boolean;
  /** Clients can be asked questions. */
  readonly answersQuestions: boolean;
  /** States are sent in their stored form, so that stored JSON text goes out without being parsed. */
  readonly sendsStoredJson: boolean;
  /** Actions cannot be translated without the states around them, so a replay needs the earlier translations. */
  readonly needsStates: boolean;
  /** Clients wait for the echoes of their actions in order, so the host echoes a deferred action at once. */
  readonly waitsForEchoes: boolean;
  /**
   * A client that unsubscribes from a session is no longer an active client of it. Otherwise the role ends with the
   * connection.
   */
  readonly roleEndsWithSubscription?: boolean;
}

export interface Dialect03 {
  readonly traits: DialectTraits;
  /** True when an `initialize` belongs to this wire, for a wire whose clients offer no list of versions. */
  isOfferedIn?(params: Params): boolean;
  /** The wire in the form that this connection uses. */
  forConnection(connection: DialectConnection): Dialect03;
  /**
   * The channels of this wire that show an internal channel: none when the wire does not have it, several when the wire
   * splits it.
   */
  wireChannels(channel: string, view: HostView): readonly string[];
  /** The internal channel that a channel of this wire shows; undefined when the wire has no such channel. */
  channelOf(wireChannel: string, view: HostView): string | undefined;
  request(call: Call, connection: DialectConnection, view: HostView): InboundRequest;
  notification(call: Call, connection: DialectConnection, view: HostView): InboundNotification;
  encodeError(error: JsonRpcErrorObject): JsonRpcErrorObject;
  /** Undefined for a channel that this wire lacks. */
  encodeSnapshot(snapshot: Snapshot, connection: DialectConnection, view: HostView): object | undefined;
  /** The memory after some steps, for a channel without subscribers that speak this dialect. */
  remember(memory: ChannelMemory, steps: readonly Step[]): ChannelMemory;
  /** Translates what one internal channel did in one tick. The same frames serve all connections of the dialect. */
  encodeSteps(memory: ChannelMemory, steps: readonly Step[]): EncodedSteps;
  /** Tells the client that dispatched an action that it will be applied unchanged, before that happens. */
  encodeEcho(original: OriginalAction, stamp: EchoStamp): Frame;
  encodeRejection(original: OriginalAction, stamp: RejectionStamp): Frame;
  /** Any host notification except `action`; undefined when this wire lacks it. */
  encodeNotification(call: Call, view: HostView): Frame | undefined;
  /** Whether the host may send this request to a client. */
  canSend(method: string): boolean;
}
