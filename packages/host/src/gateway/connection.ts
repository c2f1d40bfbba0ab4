/**
 * One provider's connection: its state, what it may send in it, and the order of its messages. What a message does is
 * decided elsewhere.
 */
import {
  AUTH_TIMEOUT_MS,
  CONNECTION_STATE_RULES,
  type ConnectionState,
  FATAL_GATEWAY_ERRORS,
  GatewayErrorCode,
  ILLEGAL_MESSAGES_BEFORE_AUTH_MAX,
  isLegalIn,
  type ToGatewayMessage,
  type ToProviderMessage,
} from '@atrium/protocol/provider';
import type { Clock } from '../clock.js';
import type { Logger } from '../logger.js';
import { CloseCode, type Transport } from '../wire/transport.js';
import { WireFrame } from '../wire/wire-frame.js';
import type { Access } from './access.js';
import { knownType, type RawMessage, readMessage, readRaw } from './frame.js';
import { GatewayError } from './gateway-error.js';
import type { Provider } from './provider.js';

/** What may wait while a `hello` is being worked on; more is not patience but a flood. */
export const HELD_MESSAGES_MAX = 1_000;

/** What messages do. */
export interface ConnectionEvents {
  /** Takes a message that is legal now. What it throws is told to the provider. While it works, later ones wait. */
  message(connection: ProviderConnection, message: ToGatewayMessage): void | Promise<void>;
  /** The connection is over, and why; never called twice. */
  closed(connection: ProviderConnection): void;
}

export interface ConnectionParts {
  readonly transport: Transport;
  readonly events: ConnectionEvents;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class ProviderConnection {
  /** How it was let in; undefined before that. */
  access: Access | undefined;
  /** Who it is bound as; undefined while it is not. */
  provider: Provider | undefined;
  readonly #parts: ConnectionParts;
  readonly #held: string[] = [];
  #state: ConnectionState = 'Connected';
  #isBusy = false;
  #illegal = 0;
  #cancelAuthTimer = () => {};

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Begins to listen, in the first state that fits how it came. */
  start(state: 'AwaitAuth' | 'AwaitHello'): void {
    this.#state = state;
    if (state === 'AwaitAuth')
      this.#cancelAuthTimer = this.#parts.clock.after(AUTH_TIMEOUT_MS, () =>
        this.close(CloseCode.HandshakeTimeout, 'not authenticated in time'),
      );
    this.#parts.transport.start({
      message: (text) => this.#receive(text),
      drain: () => {},
      closed: () => this.#end(),
    });
  }

  enter(state: ConnectionState): void {
    if (this.#state === 'Disconnected') return;
    this.#state = state;
    if (state !== 'AwaitAuth' && state !== 'AwaitPairing') this.#cancelAuthTimer();
  }

  send(message: ToProviderMessage): void {
    if (this.#state !== 'Disconnected') this.#parts.transport.send([WireFrame.of(message)]);
  }

  /** Says goodbye to the other side. Nothing that still arrives counts. */
  close(code: number, reason: string): void {
    if (this.#state === 'Disconnected') return;
    this.#end();
    this.#parts.transport.close(code, reason);
  }

  #end(): void {
    if (this.#state === 'Disconnected') return;
    this.#state = 'Disconnected';
    this.#cancelAuthTimer();
    this.#held.length = 0;
    this.#parts.events.closed(this);
  }

  #receive(text: string): void {
    if (this.#state === 'Disconnected') return;
    if (!this.#isBusy) return this.#take(text);
    if (this.#held.length >= HELD_MESSAGES_MAX)
      return this.close(CloseCode.PolicyViolation, 'too many messages at once');
    this.#held.push(text);
  }

  #take(text: string): void {
    let raw: RawMessage | undefined;
    try {
      raw = readRaw(text);
      const message = this.#legal(raw);
      const work = message && this.#parts.events.message(this, message);
      if (work) this.#wait(work, raw);
    } catch (error) {
      this.#refuse(error, raw);
    }
  }

  /** Messages that come meanwhile belong to the outcome, whichever that is. */
  #wait(work: Promise<void>, raw: RawMessage): void {
    this.#isBusy = true;
    work
      .catch((error) => this.#refuse(error, raw))
      .then(() => {
        this.#isBusy = false;
        while (!this.#isBusy && this.#held.length > 0) this.#take(this.#held.shift() ?? '');
      });
  }

  #legal(raw: RawMessage): ToGatewayMessage | undefined {
    const type = knownType(raw.type);
    if (type && isLegalIn(this.#state, type)) return readMessage(raw);
    if (CONNECTION_STATE_RULES[this.#state].otherwise === 'ignore') return undefined;
    const what = type
      ? `${type} cannot be sent now (${this.#state})`
      : `there is no message type ${raw.type.slice(0, 64)}`;
    throw new GatewayError(GatewayErrorCode.UnknownType, what);
  }

  /** Tells the provider what was wrong. Only two mistakes end the connection, and too many before it was let in. */
  #refuse(error: unknown, raw: RawMessage | undefined): void {
    if (!(error instanceof GatewayError)) return this.#broken(error);
    const { code, message, sessionId } = error;
    const requestId = raw?.content.requestId;
    this.send({
      type: 'error',
      code,
      message,
      ...(raw && { replyTo: raw.type }),
      ...(this.provider && { providerId: this.provider.providerId }),
      ...(sessionId !== undefined && { sessionId }),
      ...(typeof requestId === 'string' && { requestId }),
    });
    if (FATAL_GATEWAY_ERRORS.has(code)) return this.close(CloseCode.PolicyViolation, code);
    if (this.access) return;
    this.#illegal += 1;
    if (this.#illegal >= ILLEGAL_MESSAGES_BEFORE_AUTH_MAX)
      this.close(CloseCode.PolicyViolation, 'too many messages before authentication');
  }

  /** A mistake of ours must not take the host down, and must not leave the provider in a state that nobody knows. */
  #broken(error: unknown): void {
    const { logger, transport } = this.#parts;
    logger.log('error', 'the gateway failed at a message', { connection: transport.name, error: String(error) });
    this.close(1011, 'internal error');
  }
}
