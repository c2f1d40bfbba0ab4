/** Keeps one connection open: dials, notices the end, waits, dials again. Knows nothing of what is said on it. */

import { backoffDelay, type Clock, type Transport, type TransportFactory } from '@atrium/link';
import type { ToGatewayMessage } from '@atrium/protocol/provider';
import { asError } from './errors.js';

/** A gateway on this machine answers at once; one that does not in this time is not there. */
export const DIAL_TIMEOUT_MS = 10_000;

/** A connection that was of use for this long was a good one: what happens to it then is no failure of it. */
export const STEADY_AFTER_MS = 10_000;

/** How long a farewell may take. */
export const CLOSE_TIMEOUT_MS = 1_000;

/** The first few attempts fall well into the time for which the gateway keeps a lost provider's place. */
export const BACKOFF_MS = { min: 500, max: 15_000 } as const;

export interface ConnectionOptions {
  readonly transport: TransportFactory;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface ConnectionEvents {
  dialling(failures: number): void;
  opened(): void;
  message(text: string): void;
  /** There is no connection any more, or there never was one. The next attempt is under way already. */
  lost(error: Error, next: { readonly failures: number; readonly delayMs: number }): void;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  /** The attempt that counts; whatever an earlier one still says is not listened to. */
  #attempt: object | undefined;
  #transport: Transport | undefined;
  #failures = 0;
  /** When this connection became of use. */
  #settledAt: number | undefined;
  #cancelTimer = () => {};

  constructor(options: ConnectionOptions, events: ConnectionEvents) {
    this.#options = options;
    this.#events = events;
  }

  dial(): void {
    const attempt = {};
    this.#drop();
    this.#attempt = attempt;
    this.#events.dialling(this.#failures);
    const isCurrent = () => this.#attempt === attempt;
    const fail = (error: unknown) => isCurrent() && this.restart(asError(error));
    const { clock, transport } = this.#options;
    this.#cancelTimer = clock.after(DIAL_TIMEOUT_MS, () => fail(new Error('No connection in time.')));
    Promise.resolve()
      .then(transport)
      .then((opened) => (isCurrent() ? this.#open(opened, isCurrent) : opened.close()))
      .catch(fail);
  }

  /** Says something, if there is anybody to say it to. */
  send(message: ToGatewayMessage): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(text: string): void {
    this.#transport?.send(text);
  }

  /** All is well. If it stays so for a while, the next loss counts as the first. */
  settled(): void {
    this.#settledAt ??= this.#options.clock.now();
  }

  /** Gives this connection up and tries again after a while. */
  restart(error: Error): void {
    if (this.#isSteady()) this.#failures = 0;
    this.#drop();
    const delayMs = backoffDelay(BACKOFF_MS, this.#failures, this.#options.random());
    this.#failures += 1;
    this.#cancelTimer = this.#options.clock.after(delayMs, () => this.dial());
    this.#events.lost(error, { failures: this.#failures, delayMs });
  }

  /** Ends this connection without a word to anybody; the caller knows what comes next. */
  hangUp(): void {
    this.#drop();
  }

  /** Resolves when the other side knows, or does not care. */
  close(): Promise<void> {
    const transport = this.#transport;
    const done = new Promise<void>((resolve) => {
      if (!transport) return resolve();
      const stopTimer = this.#options.clock.after(CLOSE_TIMEOUT_MS, resolve);
      transport.onClose(() => {
        stopTimer();
        resolve();
      });
    });
    this.#drop();
    return done;
  }

  #open(transport: Transport, isCurrent: () => boolean): void {
    this.#cancelTimer();
    this.#transport = transport;
    transport.onClose(({ reason }) => isCurrent() && this.restart(new Error(`The connection is lost: ${reason}`)));
    this.#events.opened();
    transport.onMessage((text) => isCurrent() && this.#events.message(text));
  }

  /** A gateway that takes us and drops us over and over is not asked any faster than one that is not there. */
  #isSteady(): boolean {
    return this.#settledAt !== undefined && this.#options.clock.now() - this.#settledAt >= STEADY_AFTER_MS;
  }

  #drop(): void {
    const transport = this.#transport;
    this.#attempt = undefined;
    this.#transport = undefined;
    this.#settledAt = undefined;
    this.#cancelTimer();
    transport?.close();
  }
}

/**
 * Notices a connection that is dead and does not say so. The gateway's own pings cannot be seen from a page, so now and
 * then, when nothing has been heard for a while, it is asked something that it has to answer.
 */

/** After so long without a word, we ask. */
export const KEEPALIVE_AFTER_MS = 30_000;
/** A gateway that has not said anything by then is not there. */
export const KEEPALIVE_TIMEOUT_MS = 10_000;

export interface KeepaliveParts {
  readonly clock: Clock;
  /** Says something that has to be answered, whatever the answer; false when there is nothing to say. */
  ask(): boolean;
  /** Nobody answered. */
  silent(): void;
}

export class Keepalive {
  readonly #parts: KeepaliveParts;
  #heardAt = 0;
  #isAsked = false;
  #cancelTimer = () => {};

  constructor(parts: KeepaliveParts) {
    this.#parts = parts;
  }

  /** There is a connection: from now on it is watched. */
  start(): void {
    this.heard();
    this.#waitFor(KEEPALIVE_AFTER_MS, () => this.#look());
  }

  /** Whatever it says, it is there. */
  heard(): void {
    this.#heardAt = this.#parts.clock.now();
    this.#isAsked = false;
  }

  stop(): void {
    this.#cancelTimer();
  }

  #look(): void {
    const { clock, ask, silent } = this.#parts;
    const leftMs = this.#heardAt + KEEPALIVE_AFTER_MS - clock.now();
    if (leftMs > 0) return this.#waitFor(leftMs, () => this.#look());
    this.#isAsked = ask();
    if (!this.#isAsked) return this.#waitFor(KEEPALIVE_AFTER_MS, () => this.#look());
    this.#waitFor(KEEPALIVE_TIMEOUT_MS, () => (this.#isAsked ? silent() : this.#look()));
  }

  #waitFor(milliseconds: number, then: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#parts.clock.after(milliseconds, then);
  }
}
