/**
 * One provider's connection: its state, which messages are legal in that state, and the order of its messages. The
 * gateway decides what a message does.
 */

import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { WireFrame } from '@atrium/core/wire/frames.js';
import { CloseCode, type Transport } from '@atrium/core/wire/transport.js';
import {
  AUTH_TIMEOUT_MS,
  CONNECTION_STATE_RULES,
  type ConnectionState,
  FATAL_GATEWAY_ERRORS,
  GatewayErrorCode,
  ILLEGAL_MESSAGES_BEFORE_AUTH_MAX,
  isLegalIn,
  PAIRING_CODE_TTL_MS,
  ProviderRuleError,
  type ToGatewayMessage,
  type ToProviderMessage,
} from '@atrium/protocol/provider';
import { GatewayError, shown } from './gateway-errors.js';
import { type CpuBudget, Inbox } from './inbox.js';
import type { Provider } from './provider.js';
import type { Access } from './provider-auth.js';
import { checkUnauthenticated, knownType, type RawMessage, readMessage, readRaw } from './provider-frame.js';

/**
 * How much may wait for a provider that does not read. Beyond that, the connection closes; the provider may come back.
 */
export const UNREAD_MAX_BYTES = 32 * 2 ** 20;

/** How long authentication may take. A pairing code expires by itself, so that state lasts a little longer. */
const TIME_LIMITS_MS: Partial<Record<ConnectionState, number>> = {
  AwaitAuth: AUTH_TIMEOUT_MS,
  AwaitPairing: PAIRING_CODE_TTL_MS + AUTH_TIMEOUT_MS,
};

/** Errors that count towards `ILLEGAL_MESSAGES_BEFORE_AUTH_MAX`. A request to wait does not. */
const ILLEGAL: ReadonlySet<GatewayErrorCode> = new Set([
  GatewayErrorCode.InvalidJson,
  GatewayErrorCode.UnknownType,
  GatewayErrorCode.PayloadTooLarge,
]);

const INTERNAL_ERROR_CLOSE_CODE = 1011;

export interface ConnectionEvents {
  /** Handles a message that is legal now. Errors go back to the provider. Later messages wait for the promise. */
  message(connection: ProviderConnection, message: ToGatewayMessage): void | Promise<void>;
  /** The connection has ended; called once. */
  closed(connection: ProviderConnection): void;
}

export interface GatewayConnectionOptions {
  readonly transport: Transport;
  readonly events: ConnectionEvents;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Shared by all connections of the network; absent for providers in this process. */
  readonly cpuBudget?: CpuBudget;
}

export class ProviderConnection {
  /** Undefined until the provider has authenticated. */
  access: Access | undefined;
  /** Undefined while the provider is not bound. */
  provider: Provider | undefined;
  readonly #options: GatewayConnectionOptions;
  readonly #inbox: Inbox;
  #state: ConnectionState = 'Connected';
  #illegal = 0;
  #stopTimer = () => {};

  constructor(options: GatewayConnectionOptions) {
    this.#options = options;
    const { transport, cpuBudget } = options;
    this.#inbox = new Inbox({
      ...(cpuBudget && { cpuBudget }),
      take: (text) => this.#take(text),
      pause: () => transport.pause?.(),
      resume: () => transport.resume?.(),
      overflow: () => this.close(CloseCode.PolicyViolation, 'too many messages at once'),
    });
  }

  get state(): ConnectionState {
    return this.#state;
  }

  start(state: 'AwaitAuth' | 'AwaitHello'): void {
    this.enter(state);
    this.#options.transport.start({
      message: (text) => this.#inbox.push(text),
      drain: () => {},
      closed: () => this.#end(),
    });
  }

  /** The provider has authenticated, and may send its `hello`. */
  admit(access: Access): void {
    this.enter('AwaitHello');
    this.access = access;
    this.#options.transport.admit?.();
  }

  enter(state: ConnectionState): void {
    if (this.#state === 'Disconnected') return;
    this.#state = state;
    this.#stopTimer();
    const limitMs = TIME_LIMITS_MS[state];
    if (limitMs === undefined) return;
    const tooLate = () => this.close(CloseCode.HandshakeTimeout, 'not authenticated in time');
    this.#stopTimer = this.#options.clock.after(limitMs, tooLate);
  }

  send(message: ToProviderMessage): void {
    const { transport } = this.#options;
    if (this.#state === 'Disconnected') return;
    transport.send([WireFrame.of(message)]);
    if (transport.bufferedBytes > UNREAD_MAX_BYTES) this.close(CloseCode.TooSlow, 'does not read what it is sent');
  }

  /** Closes the connection. Later input is ignored. */
  close(code: number, reason: string): void {
    if (this.#state === 'Disconnected') return;
    this.#end();
    this.#options.transport.close(code, reason);
  }

  #end(): void {
    if (this.#state === 'Disconnected') return;
    this.#state = 'Disconnected';
    this.#stopTimer();
    this.#inbox.clear();
    this.#options.events.closed(this);
  }

  #take(text: string): void | Promise<void> {
    let raw: RawMessage | undefined;
    try {
      if (!this.access) checkUnauthenticated(text);
      raw = readRaw(text);
      const message = this.#legal(raw);
      const work = message && this.#options.events.message(this, message);
      return work?.catch((error) => this.#refuse(error, raw));
    } catch (error) {
      this.#refuse(error, raw);
    }
  }

  #legal(raw: RawMessage): ToGatewayMessage | undefined {
    const type = knownType(raw.type);
    if (type && isLegalIn(this.#state, type)) return readMessage(raw);
    if (CONNECTION_STATE_RULES[this.#state].otherwise === 'ignore') return undefined;
    const what = type ? `${type} cannot be sent now (${this.#state})` : `there is no message type ${shown(raw.type)}`;
    throw new GatewayError(GatewayErrorCode.UnknownType, what);
  }

  /**
   * Tells the provider what was wrong. A fatal error ends the connection, and so do too many errors before
   * authentication.
   */
  #refuse(error: unknown, raw: RawMessage | undefined): void {
    if (!(error instanceof GatewayError || error instanceof ProviderRuleError)) return this.#broken(error);
    const { code, message } = error;
    const sessionId = error instanceof GatewayError ? error.sessionId : undefined;
    const requestId = raw?.content.requestId;
    this.send({
      type: 'error',
      code,
      message,
      ...(raw && { replyTo: shown(raw.type) }),
      ...(this.provider && { providerId: this.provider.providerId }),
      ...(sessionId !== undefined && { sessionId }),
      ...(typeof requestId === 'string' && { requestId }),
    });
    if (FATAL_GATEWAY_ERRORS.has(code)) return this.close(CloseCode.PolicyViolation, code);
    if (this.access || !ILLEGAL.has(code)) return;
    this.#illegal += 1;
    if (this.#illegal >= ILLEGAL_MESSAGES_BEFORE_AUTH_MAX)
      this.close(CloseCode.PolicyViolation, 'too many messages before authentication');
  }

  /** A bug of the gateway must neither take the host down nor leave the provider in an unknown state. */
  #broken(error: unknown): void {
    const { logger, transport } = this.#options;
    logger.log('error', 'the gateway failed to handle a message', { connection: transport.name, error: String(error) });
    this.close(INTERNAL_ERROR_CLOSE_CODE, 'internal error');
  }
}
