/**
 * A dialect as the host uses it, over the AHP 1.0 model: translates one version of the wire into that model, and back.
 * The dialects of 0.3.0, 0.2.0 and version 1 are written over 0.3.0 (`dialect.ts`), and stacked on its projection.
 *
 * What differs: the model has a session and its chats on separate channels, while an older wire shows a session and its
 * default chat on one. Connections therefore subscribe to **wire channels**. A wire channel shows one or several
 * internal channels (`channelsOf`), and an internal channel shows on none, one or several (`wireChannels`).
 *
 * What the host provides:
 * - Steps in groups. A session with all of its chats is one group; every other channel is a group of its own. The host
 *   calls `encodeSteps` once for each group, dialect and tick, and sends each frame to the connections that subscribe to
 *   the frame's channel, sorted by number across channels.
 * - Snapshots in parts: for a wire channel, the snapshots of all of its internal channels, taken at one moment. They
 *   stand as `SnapshotParts` in the results of `initialize` (`snapshots`), `reconnect` (`snapshots`) and `subscribe`
 *   (`snapshot`); `encodeResult` puts them together. A part without a state is left out.
 * - A close: when `encodeSteps` says `close`, live or in a replay, the client cannot follow and must take a snapshot.
 * - The params of a forwarded request and a dispatched action are translated from checked input; the host checks them
 *   once more against the 1.0 schema after it has filled in what it stamps (`startedAt`, `duration`).
 *
 * Dialects are pure and keep nothing: what they must remember is a value that they return, and the host hands it in
 * again. Caches of translations hang on the (immutable) states that they are made from.
 */
import type { ActionEnvelope, ChatState, SessionState, SessionSummary, Snapshot } from '../ahp-1/index.js';
import type { JsonRpcErrorObject } from '../rpc.js';
import type {
  ActionFrame,
  Call,
  ChannelMemory,
  DialectConnection,
  DialectTraits,
  EchoStamp,
  Frame,
  InboundNotification,
  OriginalAction,
  Params,
  RejectionStamp,
} from './dialect-0.3.js';
import type { ReferTo } from './upstream/input-references.js';

export type { InboundNotification } from './dialect-0.3.js';

/** What a dialect may look up in the host. Channels are named by their internal URIs. */
export interface ModelView {
  /** The provider of a session, also of one whose removal is just being announced. */
  providerOf(session: string): string | undefined;
  /** The only session whose URI ends in this after the colon, if its scheme is not `ahp-session`. */
  namesakeOf?(rest: string): string | undefined;
  /** Whether the host has this agent. */
  hasProvider?(provider: string): boolean;
  /** The session that a chat belongs to. */
  sessionUriOf(chat: string): string | undefined;
  /** The chat that a session shows to wires without chats. */
  defaultChatOf(session: string): string | undefined;
  /** The entry of a session in the catalogue: only it has the time of creation. */
  summaryOf(session: string): SessionSummary | undefined;
  /** The state of a session, while it is in memory. */
  sessionOf(session: string): SessionState | undefined;
  /** The state of a chat, while it is in memory. */
  chatOf(chat: string): ChatState | undefined;
  /** What dialects remember of a group. */
  memoryOf(group: string): ChannelMemory | undefined;
  /**
   * Makes the reference that replaces a long tool input, for wires that have references; absent when all input is text.
   */
  readonly referTo?: ReferTo;
}

/** The sender of a call. */
export interface CallContext {
  readonly connection: DialectConnection;
  /** The client, once the handshake has named it. */
  readonly clientId?: string | undefined;
  readonly view: ModelView;
}

/** One accepted action, with the state of its channel before and after it. A replay has no states. */
export interface ModelStep {
  readonly envelope: ActionEnvelope;
  readonly before: unknown;
  readonly after: unknown;
}

/** What a group of channels did in one tick, in the order of the numbers. */
export interface StepGroup {
  /** The session, for a session and its chats; otherwise the channel. */
  readonly channel: string;
  readonly steps: readonly ModelStep[];
  /** The state of a channel of the group before the first step; undefined when it is not known, as in a replay. */
  stateBefore(channel: string): unknown;
}

/** The snapshots behind one wire channel, all of one moment. */
export interface SnapshotParts {
  /** The wire channel. */
  readonly channel: string;
  readonly parts: readonly Snapshot[];
}

/** A request in internal terms with the translation of its result, or the error to answer with. */
export type ModelRequest =
  | {
      readonly kind: 'forward';
      readonly connection: DialectConnection;
      readonly method: string;
      /** In `subscribe`, `initialize` and `reconnect` channels are wire channels; elsewhere they are internal ones. */
      readonly params: Params;
      encodeResult(result: unknown, view: ModelView): unknown;
    }
  | { readonly kind: 'fail'; readonly connection: DialectConnection; readonly error: JsonRpcErrorObject };

export interface ModelEncoded {
  readonly memory: ChannelMemory;
  /** A frame's `channel` is its wire channel. */
  readonly frames: readonly ActionFrame[];
  /** Set when the wire cannot express what happened: send the frames, then close; the client takes a new snapshot. */
  readonly close?: string;
}

export interface Dialect {
  readonly traits: DialectTraits;
  /** True when an `initialize` belongs to this wire, for a wire whose clients offer no list of versions. */
  isOfferedIn?(params: Params): boolean;
  /** The wire in the form that this connection uses. Returns the very same dialect for equal forms. */
  forConnection(connection: DialectConnection): Dialect;
  /** The wire channels that show an internal channel. */
  wireChannels(channel: string, view: ModelView): readonly string[];
  /** The internal channels that a wire channel shows, the one that names its group first; empty when there are none. */
  channelsOf(wireChannel: string, view: ModelView): readonly string[];
  /** Checks a request against the schema of its version and translates it. */
  request(call: Call, context: CallContext): ModelRequest;
  /** Checks a notification against the schema of its version and translates it. Dispatched actions are on internal channels. */
  notification(call: Call, context: CallContext): InboundNotification;
  encodeError(error: JsonRpcErrorObject, view: ModelView): JsonRpcErrorObject;
  /** Undefined for a channel that this wire lacks. */
  encodeSnapshot(snapshot: SnapshotParts, connection: DialectConnection, view: ModelView): object | undefined;
  /** The memory after some steps, for a group without subscribers that speak this dialect. */
  remember(memory: ChannelMemory, group: StepGroup, view: ModelView): ChannelMemory;
  /** The same frames serve all connections of the dialect. */
  encodeSteps(memory: ChannelMemory, group: StepGroup, view: ModelView): ModelEncoded;
  /** Tells the client that dispatched an action that it will be applied unchanged, before that happens. */
  encodeEcho(original: OriginalAction, stamp: EchoStamp, view: ModelView): Frame;
  encodeRejection(original: OriginalAction, stamp: RejectionStamp, view: ModelView): Frame;
  /** Any host notification except `action`; undefined when this wire lacks it. */
  encodeNotification(call: Call, view: ModelView): Frame | undefined;
  /** Translates a request of the host, for a wire with another form of it. */
  encodeRequest?(call: Call, view: ModelView): Call;
  /** Whether the host may send this request to a client. */
  canSend(method: string): boolean;
}
