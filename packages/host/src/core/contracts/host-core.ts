/** What the rooms of the host know of each other. Wired together in `house.ts`, and only there. */

import type { StateAction } from '@atrium/protocol';
import type { Auth } from '../../auth/auth.js';
import type { KeptContents } from '../../blobs/kept-contents.js';
import type { PairingBoard } from '../../gateway/pairing.js';
import type { Customizations } from '../../plugins/customizations/customizations.js';
import type { Telemetry } from '../../telemetry/telemetry.js';
import type { Channel } from '../channels/channel.js';
import type { NumberedMessage } from '../channels/encoding.js';
import type { ReplayBuffer } from '../channels/replay-buffer.js';
import type { RootChannel } from '../channels/root-channel.js';
import type { Writer } from '../channels/writer.js';
import type { EntryOrigin } from '../log/log.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import type { Clients } from '../wire/clients.js';
import type { Connection } from '../wire/connection.js';
import type { HostView, OriginalAction } from '../wire/dialects/dialects.js';
import type { Identity } from '../wire/handshake.js';
import type { TurnWindow, WindowRequest } from '../wire/subscriptions.js';
import type { RequestError } from './request-error.js';
import type { Service } from './service.js';

/** A channel that is in memory: what can be done with it. */
export interface OpenChannel {
  readonly channel: Channel;
  /** It has left memory, or is gone: whoever still wants it has to open it again. */
  readonly isClosed?: boolean;
  /**
   * The stored state as it is now; undefined when the channel has to be opened anew. Waits for nothing, so that several
   * can be taken at one moment.
   */
  takeSnapshot(request: SnapshotRequest): ChannelSnapshot | undefined;
  /** Takes an action that a client asked for, if the state allows it. */
  dispatch(action: StateAction, origin: EntryOrigin, asker: Asker): Promise<void>;
  /** A client resent an action that may still wait for the end of a turn. */
  stillHolds?(origin: EntryOrigin, asker: Asker): void;
}

export interface SnapshotRequest {
  readonly window?: WindowRequest | undefined;
  /** Whether stored turns may stand in it as the text that they are stored as. */
  readonly takesText: boolean;
}

export interface ChannelSnapshot {
  /**
   * Never changes, so that it can be written while other things happen; finished turns that only the log has are read
   * then. Undefined for a channel without a state.
   */
  readonly snapshot: object | undefined;
  readonly turns?: TurnWindow;
}

/** Who asked, and in which words: for a rejection or an early echo. */
export interface Asker {
  readonly connection: Connection;
  readonly original: OriginalAction;
}

export interface HostCore {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly writer: Writer;
  readonly replay: ReplayBuffer;
  readonly view: HostView;
  readonly clients: Clients;
  readonly sessions: Sessions;
  /** Absent when sessions of this host are not customized. */
  readonly customizations: Customizations | undefined;
  readonly defaultDirectory: string | undefined;
  /** Large contents of sessions; absent when the host has no folder for them. */
  readonly contents: KeptContents | undefined;
  /** What a model reads of one tool output. */
  readonly toolOutputMaxCharacters: number;
  readonly root: RootChannel;
  readonly auth: Auth;
  readonly pairings: PairingBoard;
  readonly services: readonly Service[];
  /** What was damaged in the log. */
  readonly damage: { readonly greeting: Readonly<Record<string, unknown>> };
  readonly connections: {
    arrived(connection: Connection, identity: Identity): void;
    left(connection: Connection, identity: Identity | undefined): void;
    isConnected(clientId: string): boolean;
    of(clientId: string): Connection | undefined;
  };
  /** The channel with this URI, brought into memory; undefined when there is none. */
  open(uri: string): Promise<OpenChannel | undefined>;
  /** What follows reaches the connection behind the answer to its request. */
  subscribe(connection: Connection, channel: Channel): void;
  /** What a channel said behind a number, in the wire whose translation needs states; undefined if unknown. */
  translatedAfter(uri: string, seq: number): readonly NumberedMessage[] | undefined;
  unsubscribe(connection: Connection, uri: string): void;
  unsubscribeAll(uri: string): void;
  isWatched(uri: string): boolean;
  /** What a connection watches. */
  watchedBy(connection: Connection): readonly string[];
  /** Bytes that wait for the one who keeps up best among those who watch; none when nobody does. */
  unsentTo(uri: string): number;
  /** A session was used just now: if nobody watches it, it leaves memory in a while. */
  mayRest(uri: string): void;
  /** Whether anyone who watches could answer a question, or nobody watches at all and somebody may come. */
  mayBeAnswered(uri: string): boolean;
  /** Whether somebody watches who cannot be asked questions at all. */
  isWatchedWithoutQuestions(uri: string): boolean;
  unknownChannel(uri: string): RequestError;
  /** Tells everyone who watches a channel, once: it is neither numbered nor told again. */
  notify(uri: string, method: string, params: object): void;
}
