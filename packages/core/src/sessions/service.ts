/**
 * A part of the host that answers requests and keeps channels of its own: files, terminals, changes, telemetry. The host
 * asks its services in turn, and knows nothing else about them.
 */
import type { ClientRequestMethod, ClientRequests } from '@atrium/protocol/ahp-1';
import type { OpenChannel } from '../channels/open-channel.js';
import type { Caller } from '../contracts/ports.js';
import type { ToolContext } from '../contracts/tool.js';
import type { Work } from '../contracts/work.js';
import type { Chat } from './chat.js';
import type { Session } from './session.js';
import type { AttachObserver } from './session-observer.js';

export type ServiceRequests = {
  readonly [M in ClientRequestMethod]?: (
    connection: Caller,
    params: ClientRequests[M]['params'],
    work: Work,
  ) => Promise<ClientRequests[M]['result']> | ClientRequests[M]['result'];
};

/**
 * Where a request waits for its turn. `main`: behind everything else that its client sent, and what comes later waits for
 * it. `aside`: only behind other requests of this lane, so that a long copy does not keep a "stop" waiting. `free`: behind
 * nothing, because a person may have to be asked first.
 */
export type Lane = 'main' | 'aside' | 'free';

/** The call that a tool works for. */
export interface ToolCallScope {
  readonly session: Session;
  readonly chat: Chat;
  readonly turnId: string;
  readonly toolCallId: string;
}

/** What an agent is about to do: begin a turn, ask its model, call a tool. */
export interface TurnStep {
  readonly session: Session;
  readonly chat: Chat;
  readonly turnId: string;
  /** Fires when the turn is over. */
  readonly signal: AbortSignal;
}

export interface Service {
  readonly requests?: ServiceRequests;
  /** Methods of our own beside the protocol. Their parameters have no schema: the handler checks them. */
  readonly extensionRequests?: Readonly<
    Record<string, (connection: Caller, params: Readonly<Record<string, unknown>>, work: Work) => unknown>
  >;
  /** Methods that are not named here wait in the main lane. */
  readonly lanes?: Readonly<Record<string, Lane>>;
  /** How the URIs of its channels begin: `ahp-terminal:`. */
  readonly scheme?: string;
  /** The channel with this URI; undefined when there is none. Only asked for URIs of its scheme. */
  open?(uri: string): OpenChannel | undefined | Promise<OpenChannel | undefined>;
  /** Archives a channel of its scheme as it is now, so that the log need not keep its entries; false when there is none. */
  storeArchive?(uri: string): Promise<boolean>;
  /** The last one who watched a channel of this scheme has gone. */
  unwatched?(uri: string): void;
  /** A connection has closed, for whatever reason. */
  left?(connection: Caller): void;
  /** Lives beside every session that is in memory. */
  readonly attach?: AttachObserver;
  /** A session is gone for good, with all that was kept of it. */
  forgotten?(session: string): Promise<void>;
  /** How many programs of people it runs: as long as there are some, the host is needed. */
  readonly running?: number;
  /** How many things it will start by itself some day: as long as there are some, the host is needed. */
  readonly awaited?: number;
  /** What tools can do besides, in this call. */
  toolContext?(scope: ToolCallScope): Partial<ToolContext>;
  /** Holds back the next step of a turn as long as the promise is open; undefined: nothing is in its way. */
  beforeStep?(step: TurnStep): Promise<void> | undefined;
  /** What an answer to `initialize` says besides. */
  readonly greeting?: Readonly<Record<string, unknown>>;
  /** Before anybody connects. */
  start?(): Promise<void>;
  /** Everything has started, and sessions are what they were: it may begin things of its own. */
  ready?(): void;
  /** The host is about to stop: nothing new may begin. */
  stopping?(): void;
  close?(): Promise<void>;
}

/** The service whose channel this is. */
export function serviceOf(services: readonly Service[], uri: string): Service | undefined {
  return services.find(({ scheme }) => scheme !== undefined && uri.startsWith(scheme));
}
