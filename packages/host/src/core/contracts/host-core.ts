/** What the rooms of the host know of each other. Wired together in `house.ts`, and only there. */

import type { Auth } from '../../auth/auth.js';
import type { PairingBoard } from '../../gateway/pairing.js';
import type { Customizations } from '../../plugins/customizations/customizations.js';
import type { OpenChannel } from '../channels/open-channel.js';
import type { RootChannel } from '../channels/root-channel.js';
import type { Writer } from '../channels/writer.js';
import type { Service } from '../sessions/service.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Clock } from '../util/clock.js';
import type { Logger } from '../util/logger.js';
import type { Clients } from '../wire/clients.js';
import type { Connection } from '../wire/connection.js';
import type { HostView } from '../wire/dialects/dialects.js';
import type { Identity } from '../wire/handshake.js';
import type { ReplayBuffer } from '../wire/replay.js';
import type { BlobStore } from './blobs.js';
import type { Presence } from './ports.js';
import type { RequestError } from './request-error.js';
import type { TelemetryReports } from './telemetry.js';

export type { Asker, ChannelSnapshot, OpenChannel, SnapshotRequest } from '../channels/open-channel.js';

export interface HostCore {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: TelemetryReports;
  readonly writer: Writer;
  readonly replay: ReplayBuffer;
  readonly view: HostView;
  readonly clients: Clients;
  readonly sessions: Sessions;
  /** Absent when sessions of this host are not customized. */
  readonly customizations: Customizations | undefined;
  readonly defaultDirectory: string | undefined;
  /** What is too large for sessions; absent when the host has no folder for it. */
  readonly blobs: BlobStore | undefined;
  /** What a model reads of one tool output. */
  readonly toolOutputMaxCharacters: number;
  readonly root: RootChannel;
  readonly auth: Auth;
  readonly pairings: PairingBoard;
  readonly services: readonly Service[];
  /** What was damaged in the log. */
  readonly damage: { readonly greeting: Readonly<Record<string, unknown>> };
  readonly connections: Presence & {
    arrived(connection: Connection, identity: Identity): void;
    left(connection: Connection, identity: Identity | undefined): void;
    isConnected(clientId: string): boolean;
    of(clientId: string): Connection | undefined;
  };
  /** The channel with this URI, brought into memory; undefined when there is none. */
  open(uri: string): Promise<OpenChannel | undefined>;
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
