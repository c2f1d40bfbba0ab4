/**
 * A part of the host that answers requests and has channels of its own: files, terminals, changes, telemetry. The host
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
 * Where a request waits. `main`: after everything else that its client sent, and later requests wait for it. `aside`:
 * only after other requests of this lane, so that a long copy does not delay a "stop". `free`: after nothing, because a
 * person may have to be asked first.
 */
export type Lane = 'main' | 'aside' | 'free';

/** The call that a tool works for. */
export interface ToolCallScope {
  readonly session: Session;
  readonly chat: Chat;
  readonly turnId: string;
  readonly toolCallId: string;
}

/** The next thing an agent is about to do: begin a turn, ask its model, call a tool. */
export interface TurnStep {
  readonly session: Session;
  readonly chat: Chat;
  readonly turnId: string;
  /** Aborts when the turn is over. */
  readonly signal: AbortSignal;
}

export interface Service {
  readonly requests?: ServiceRequests;
  /** Methods of our own beside the protocol. Their parameters have no schema: the handler checks them. */
  readonly extensionRequests?: Readonly<
    Record<string, (connection: Caller, params: Readonly<Record<string, unknown>>, work: Work) => unknown>
  >;
  /** Lanes of methods; those not named here wait in the main lane. */
  readonly lanes?: Readonly<Record<string, Lane>>;
  /** The scheme of its channels' URIs: `ahp-terminal:`. */
  readonly scheme?: string;
  /** The channel with this URI; undefined when there is none. Only called for URIs of its scheme. */
  open?(uri: string): OpenChannel | undefined | Promise<OpenChannel | undefined>;
  /**
   * Archives a channel of its scheme, so that the log need not keep its entries; false when there is no such channel.
   */
  storeArchive?(uri: string): Promise<boolean>;
  /** Called when the last subscriber of a channel of this scheme has gone. */
  unwatched?(uri: string): void;
  /** Called when a connection has closed, for whatever reason. */
  left?(connection: Caller): void;
  /** Makes an observer for every session in memory. */
  readonly attach?: AttachObserver;
  /** Called when a session and everything kept of it is deleted. */
  forgotten?(session: string): Promise<void>;
  /** The number of people's programs that it runs. While there are any, the host is needed. */
  readonly running?: number;
  /** The number of things that it will start by itself some day. While there are any, the host is needed. */
  readonly awaited?: number;
  /** Adds abilities to the context of a tool call. */
  toolContext?(scope: ToolCallScope): Partial<ToolContext>;
  /** Holds back the next step of a turn until the promise settles; undefined when nothing holds it back. */
  beforeStep?(step: TurnStep): Promise<void> | undefined;
  /** Members that it adds to the answer to `initialize`. */
  readonly greeting?: Readonly<Record<string, unknown>>;
  /** Called before anyone connects. */
  start?(): Promise<void>;
  /** Called when everything has started and sessions are restored: it may begin work of its own. */
  ready?(): void;
  /** Called when the host is about to stop: nothing new may begin. */
  stopping?(): void;
  close?(): Promise<void>;
}

/** Finds the service of a channel. */
export function serviceOf(services: readonly Service[], uri: string): Service | undefined {
  return services.find(({ scheme }) => scheme !== undefined && uri.startsWith(scheme));
}
