/** Keeps one connection open: dials, notices the end, backs off, dials again. Does not look into messages. */
import { asError, backoffDelay, type Clock, type Transport, type TransportFactory } from '@atrium/link';
import type { ToGatewayMessage } from '@atrium/protocol/provider';

/** A gateway on this machine answers quickly; after this long the attempt counts as failed. */
export const DIAL_TIMEOUT_MS = 10_000;

/** A connection that was bound for this long counts as good: its loss resets the backoff. */
export const STEADY_AFTER_MS = 10_000;

/** How long `close` waits for the other side. */
export const CLOSE_TIMEOUT_MS = 1_000;

/** The first few attempts fall well into the time for which the gateway keeps a lost provider's place. */
export const BACKOFF_MS = { min: 500, max: 15_000 } as const;

interface ConnectionOptions {
  readonly transport: TransportFactory;
  readonly clock: Clock;
  readonly random: () => number;
}

interface ConnectionEvents {
  dialling(failures: number): void;
  opened(): void;
  message(text: string): void;
  /** There is no connection any more, or there never was one. The next attempt is under way already. */
  lost(error: Error, next: { readonly failures: number; readonly delayMs: number }): void;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  /** The current attempt; events of earlier ones are ignored. */
  #attempt: object | undefined;
  #transport: Transport | undefined;
  #failures = 0;
  /** When this connection was bound. */
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

  /** Sends a message; does nothing without a connection. */
  send(message: ToGatewayMessage): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(text: string): void {
    this.#transport?.send(text);
  }

  /** The provider is bound. After `STEADY_AFTER_MS` the next loss counts as the first. */
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

  /** Ends this connection without calling `lost`; the caller decides the next step. */
  hangUp(): void {
    this.#drop();
  }

  /** Resolves when the other side has closed too, or after `CLOSE_TIMEOUT_MS`. */
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

  /** Backs off also from a gateway that accepts and drops the provider over and over. */
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

/** After this much silence the provider asks for an answer. */
export const KEEPALIVE_AFTER_MS = 30_000;
/** How long the gateway has to answer. */
export const KEEPALIVE_TIMEOUT_MS = 10_000;

interface KeepaliveOptions {
  readonly clock: Clock;
  /** Sends a message that the gateway has to answer; false when there is none to send. */
  ask(): boolean;
  /** The gateway did not answer. */
  silent(): void;
}

/**
 * Detects a dead connection that was never closed. Pages cannot see the gateway's own pings, so after some silence the
 * provider sends a message that the gateway has to answer.
 */
export class Keepalive {
  readonly #options: KeepaliveOptions;
  #heardAt = 0;
  #isAsked = false;
  #cancelTimer = () => {};

  constructor(options: KeepaliveOptions) {
    this.#options = options;
  }

  /** Starts to watch a new connection. */
  start(): void {
    this.received();
    this.#waitFor(KEEPALIVE_AFTER_MS, () => this.#checkIdle());
  }

  /** Call it for every message that arrives. */
  received(): void {
    this.#heardAt = this.#options.clock.now();
    this.#isAsked = false;
  }

  stop(): void {
    this.#cancelTimer();
  }

  #checkIdle(): void {
    const { clock, ask, silent } = this.#options;
    const leftMs = this.#heardAt + KEEPALIVE_AFTER_MS - clock.now();
    if (leftMs > 0) return this.#waitFor(leftMs, () => this.#checkIdle());
    this.#isAsked = ask();
    if (!this.#isAsked) return this.#waitFor(KEEPALIVE_AFTER_MS, () => this.#checkIdle());
    this.#waitFor(KEEPALIVE_TIMEOUT_MS, () => (this.#isAsked ? silent() : this.#checkIdle()));
  }

  #waitFor(milliseconds: number, then: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(milliseconds, then);
  }
}
