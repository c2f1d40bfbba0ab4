/** Keeps one connection open: dials, notices the end, waits, dials again. Knows nothing of what is said on it. */

import type { Clock, Transport, TransportFactory } from '@atrium/link';
import { backoffDelay } from '@atrium/link';
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

export interface LinkOptions {
  readonly transport: TransportFactory;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface LinkEvents {
  dialling(failures: number): void;
  opened(): void;
  message(text: string): void;
  /** There is no connection any more, or there never was one. The next attempt is under way already. */
  lost(error: Error, next: { readonly failures: number; readonly delayMs: number }): void;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  /** The attempt that counts; whatever an earlier one still says is not listened to. */
  #attempt: object | undefined;
  #transport: Transport | undefined;
  #failures = 0;
  /** When this connection became of use. */
  #settledAt: number | undefined;
  #cancelTimer = () => {};

  constructor(options: LinkOptions, events: LinkEvents) {
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
