/** How long a client waits before it connects again. */

import {
  backoffDelay,
  type CloseReason,
  Emitter,
  type Outcome,
  type Transport,
  type TransportFactory,
} from '@atrium/link';
import { ErrorCode } from '@atrium/protocol';
import { ClientClosedError, DisconnectedError, RequestError, RequestTimeoutError } from './errors.js';
import type { Greeting } from './handshake.js';
import { Peer, type PeerEvents, type PeerOptions } from './peer.js';

export const BACKOFF_VISIBLE_MS = { min: 500, max: 2_000 } as const;
/** A page that is not visible may wait longer. */
export const BACKOFF_HIDDEN_MS = { min: 1_000, max: 300_000 } as const;

export interface BackoffInput {
  /** Failures in a row so far, from 0. */
  readonly failures: number;
  readonly visible: boolean;
  /** In [0, 1). */
  readonly random: number;
}

export function reconnectDelay({ failures, visible, random }: BackoffInput): number {
  return backoffDelay(visible ? BACKOFF_VISIBLE_MS : BACKOFF_HIDDEN_MS, failures, random);
}

/** What a user may know of the connection. */

export type Status =
  /** Dialling, or saying hello. `failures` counts the attempts in a row that came to nothing. */
  | { readonly at: 'connecting'; readonly failures: number }
  /**
   * `began` tells how: `initialize` anew, `replay` where the last connection ended, `snapshot` with states anew. After
   * anything but the first, tokens given with `authenticate` may have to be given again.
   */
  | { readonly at: 'open'; readonly began: 'initialize' | 'replay' | 'snapshot'; readonly protocolVersion: string }
  | { readonly at: 'waiting'; readonly failures: number; readonly delayMs: number; readonly error: Error }
  /** For good. `error` is set when not `close()` but the host ended it. */
  | { readonly at: 'closed'; readonly error?: Error };

/** The host closes with this when the same client id connects elsewhere. Coming back would throw the other one out. */
export const CLOSE_REPLACED = 4002;

/** Keeps one connection open: dials, says hello, notices the end, waits, dials again. Knows nothing of channels. */

export interface ConnectionOptions extends PeerOptions {
  readonly transport: TransportFactory;
  /** In [0, 1); spreads the attempts of many clients. */
  readonly random: () => number;
  readonly isVisible: () => boolean;
}

export interface ConnectionEvents extends Omit<PeerEvents, 'closed'> {
  /** Says hello, and applies the answer before it settles. */
  greet(peer: Peer, settle: (outcome: Outcome<Greeting>) => void): void;
  /** The status is `open` now; those who watch it are told after this. */
  opened(peer: Peer, greeting: Greeting): void;
  /** For good. */
  closed(error: Error): void;
}

export class Connection {
  readonly statusChanged: Emitter<Status>;
  #status: Status = { at: 'connecting', failures: 0 };
  /** The peer of the current attempt or connection; messages of any other one are not listened to. */
  #peer: Peer | undefined;
  #cancelTimer: () => void = () => {};
  #protocolVersion = '';
  #opened = false;
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;

  constructor(options: ConnectionOptions, events: ConnectionEvents) {
    this.#options = options;
    this.#events = events;
    this.statusChanged = new Emitter(options.log);
  }

  get status(): Status {
    return this.#status;
  }

  /** The peer to talk to, or an error that says why there is none. */
  peer(doing: string): Peer {
    if (this.#status.at === 'open' && this.#peer) return this.#peer;
    this.throwIfClosed();
    throw new DisconnectedError(doing, this.#status.at === 'waiting' ? this.#status.error.message : 'still connecting');
  }

  throwIfClosed(): void {
    if (this.#status.at === 'closed') throw this.#status.error ?? new ClientClosedError();
  }

  dial(failures = 0): void {
    this.#cancelTimer();
    const attempt: Status = { at: 'connecting', failures };
    this.#set(attempt);
    const isCurrent = () => this.#status === attempt;
    if (!isCurrent()) return;
    const fail = (error: unknown) => isCurrent() && this.#failed(asError(error));
    const { clock, requestTimeoutMs } = this.#options;
    this.#cancelTimer = clock.after(requestTimeoutMs, () => fail(new RequestTimeoutError('connect', requestTimeoutMs)));
    Promise.resolve()
      .then(this.#options.transport)
      .then((transport) => (isCurrent() ? this.#greet(transport) : transport.close()), fail);
  }

  /** Ends the waiting, if that is what it does. */
  dialNow(): void {
    if (this.#status.at === 'waiting') this.dial(this.#status.failures);
  }

  close(error?: Error): void {
    if (this.#status.at === 'closed') return;
    this.#cancelTimer();
    const peer = this.#peer;
    this.#peer = undefined;
    this.#set(error ? { at: 'closed', error } : { at: 'closed' });
    peer?.close();
    this.#events.closed(error ?? new ClientClosedError());
  }

  #greet(transport: Transport): void {
    this.#cancelTimer();
    const { heard, notification, request } = this.#events;
    const closed = (reason: CloseReason) => peer === this.#peer && this.#lost(reason);
    const peer: Peer = new Peer(transport, { heard, notification, request, closed }, this.#options);
    this.#peer = peer;
    this.#events.greet(peer, (outcome) => {
      if (peer !== this.#peer) return;
      if (outcome.ok) this.#welcome(peer, outcome.value);
      else this.#failed(outcome.error);
    });
  }

  #welcome(peer: Peer, greeting: Greeting): void {
    if (greeting.by === 'initialize') this.#protocolVersion = greeting.result.protocolVersion;
    this.#opened = true;
    const open: Status = { at: 'open', began: greeting.by, protocolVersion: this.#protocolVersion };
    this.#status = open;
    this.#events.opened(peer, greeting);
    if (this.#status === open) this.statusChanged.emit(open);
  }

  #lost({ code, reason }: CloseReason): void {
    if (code === CLOSE_REPLACED) this.close(new ClientClosedError('the same client id connected elsewhere'));
    else this.#failed(new Error(reason));
  }

  /** The first attempt is the caller's to repeat; later ones are ours, unless the host speaks another language now. */
  #failed(error: Error): void {
    const peer = this.#peer;
    this.#peer = undefined;
    peer?.close();
    const hopeless = error instanceof RequestError && error.code === ErrorCode.UnsupportedProtocolVersion;
    if (!this.#opened || hopeless) this.close(error);
    else this.#wait(error);
  }

  #wait(error: Error): void {
    const { clock, random, isVisible } = this.#options;
    const failures = this.#status.at === 'connecting' ? this.#status.failures : 0;
    const delayMs = reconnectDelay({ failures, visible: isVisible(), random: random() });
    this.#cancelTimer();
    this.#cancelTimer = clock.after(delayMs, () => this.dial(failures + 1));
    this.#set({ at: 'waiting', failures: failures + 1, delayMs, error });
  }

  #set(status: Status): void {
    this.#status = status;
    this.statusChanged.emit(status);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** The few things that differ between a browser and Node, with no import of either. */

/** A page that nobody looks at may wait longer before it tries again. Outside of a page somebody always looks. */
export function isVisible(): boolean {
  return globalThis.document?.visibilityState !== 'hidden';
}

/** Calls back when waiting any longer makes no sense: the page is shown again, or the network is back. */
export function onWake(listener: () => void): () => void {
  const whenShown = () => isVisible() && listener();
  globalThis.document?.addEventListener('visibilitychange', whenShown);
  globalThis.window?.addEventListener?.('online', listener);
  return () => {
    globalThis.document?.removeEventListener('visibilitychange', whenShown);
    globalThis.window?.removeEventListener?.('online', listener);
  };
}
