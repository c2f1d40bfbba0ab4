/** Keeps one connection open: dials, does the handshake, notices the end, backs off, dials again. Knows no channels. */
import {
  asError,
  backoffDelay,
  type CloseReason,
  Emitter,
  type Outcome,
  type Transport,
  type TransportFactory,
} from '@atrium/link';
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { ClientClosedError, DisconnectedError, RequestError, RequestTimeoutError } from './errors.js';
import type { HandshakeResult } from './handshake.js';
import { Peer, type PeerEvents, type PeerOptions } from './peer.js';

export type Status =
  /** Dialling, or in the handshake. `failures` counts the failed attempts in a row. */
  | { readonly at: 'connecting'; readonly failures: number }
  /**
   * `began` tells how: `initialize` anew, `replay` where the last connection ended, `snapshot` with states anew. After
   * anything but the first, tokens given with `authenticate` may have to be given again.
   */
  | { readonly at: 'open'; readonly began: 'initialize' | 'replay' | 'snapshot'; readonly protocolVersion: string }
  | { readonly at: 'waiting'; readonly failures: number; readonly delayMs: number; readonly error: Error }
  /** For good. `error` is set when not `close()` but the host ended it. */
  | { readonly at: 'closed'; readonly error?: Error };

/**
 * The host closes with this when the same client id connects elsewhere. Reconnecting would close the other connection.
 */
export const CLOSE_REPLACED = 4002;

interface ConnectionOptions extends PeerOptions {
  readonly transport: TransportFactory;
  /** In [0, 1); spreads the attempts of many clients. */
  readonly random: () => number;
  readonly isVisible: () => boolean;
}

interface ConnectionEvents extends Omit<PeerEvents, 'closed'> {
  /** Sends `initialize` or `reconnect`, and applies the answer before it settles. */
  handshake(peer: Peer, settle: (outcome: Outcome<HandshakeResult>) => void): void;
  /** The status is `open` now; its listeners are called after this. */
  opened(peer: Peer, result: HandshakeResult): void;
  /** For good. */
  closed(error: Error): void;
}

export class Connection {
  readonly statusChanged: Emitter<Status>;
  #status: Status = { at: 'connecting', failures: 0 };
  /** The peer of the current attempt or connection; messages of earlier ones are ignored. */
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
      .then((transport) => (isCurrent() ? this.#shakeHands(transport) : transport.close()), fail);
  }

  /** Skips the backoff, if one is running. */
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

  #shakeHands(transport: Transport): void {
    this.#cancelTimer();
    const { received, notification, request } = this.#events;
    const closed = (reason: CloseReason) => peer === this.#peer && this.#lost(reason);
    const peer: Peer = new Peer(transport, { received, notification, request, closed }, this.#options);
    this.#peer = peer;
    this.#events.handshake(peer, (outcome) => {
      if (peer !== this.#peer) return;
      if (outcome.ok) this.#greeted(peer, outcome.value);
      else this.#failed(outcome.error);
    });
  }

  #greeted(peer: Peer, result: HandshakeResult): void {
    if (result.by === 'initialize') this.#protocolVersion = result.result.protocolVersion;
    this.#opened = true;
    const open: Status = { at: 'open', began: result.by, protocolVersion: this.#protocolVersion };
    this.#status = open;
    this.#events.opened(peer, result);
    if (this.#status === open) this.statusChanged.emit(open);
  }

  #lost({ code, reason }: CloseReason): void {
    if (code === CLOSE_REPLACED) this.close(new ClientClosedError('the same client id connected elsewhere'));
    else this.#failed(new Error(reason));
  }

  /**
   * The caller repeats a failed first attempt; the client repeats later ones, unless no protocol version fits any more.
   */
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

export const BACKOFF_VISIBLE_MS = { min: 500, max: 2_000 } as const;
/** A page that is not visible may wait longer. */
export const BACKOFF_HIDDEN_MS = { min: 1_000, max: 300_000 } as const;

interface BackoffInput {
  /** Failures in a row so far, from 0. */
  readonly failures: number;
  readonly visible: boolean;
  /** In [0, 1). */
  readonly random: number;
}

export function reconnectDelay({ failures, visible, random }: BackoffInput): number {
  return backoffDelay(visible ? BACKOFF_VISIBLE_MS : BACKOFF_HIDDEN_MS, failures, random);
}

/** Hidden pages back off longer. Outside of a page it is always true. */
export function isVisible(): boolean {
  return globalThis.document?.visibilityState !== 'hidden';
}

/** Calls back when a backoff should end early: the page is visible again, or the network is back. */
export function onWake(listener: () => void): () => void {
  const whenShown = () => isVisible() && listener();
  globalThis.document?.addEventListener('visibilitychange', whenShown);
  globalThis.window?.addEventListener?.('online', listener);
  return () => {
    globalThis.document?.removeEventListener('visibilitychange', whenShown);
    globalThis.window?.removeEventListener?.('online', listener);
  };
}
