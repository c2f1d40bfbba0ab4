/**
 * The second step on a connection: the provider chooses a session and sends `hello`, again whenever its session ends.
 */
import { asError, type Clock, type Log } from '@atrium/link';
import {
  GatewayErrorCode,
  type ProviderErrorMessage,
  type ProviderHelloAckMessage,
  type ProviderSessionEntry,
  RATE_LIMIT_RETRY_AFTER_MS,
  RECONNECT_WINDOW_MS,
  type ToProviderMessage,
} from '@atrium/protocol/provider';
import { NO_RECONNECT_TOKEN } from './defaults.js';
import { ProviderError } from './errors.js';
import type { ProviderState, SessionChoice } from './options.js';

/** A taken name may be free in a moment: our own lost connection may still hold it. */
export const HELLO_ATTEMPTS_MAX = 5;
/** Between two attempts when the gateway asks to wait, which it may do for a minute. */
export const HELLO_PAUSE_MAX_MS = 15_000;

interface HelloOptions {
  readonly sessions: SessionChooser;
  readonly clock: Clock;
  readonly log: Log;
  /** Sends the `hello` for this session, as everything stands now. */
  hello(session: string): void;
  bound(ack: ProviderHelloAckMessage, session: string): void;
  /** The session has ended, and no other one accepts the provider on this connection. */
  outOfSessions(): void;
  show(state: ProviderState): void;
  /** Ends the provider: no `hello` can succeed. */
  giveUp(error: Error): void;
}

/** Refusals that may pass in a moment. */
const TRANSIENT: ReadonlySet<string> = new Set([
  GatewayErrorCode.DuplicateInstance,
  GatewayErrorCode.ToolConflict,
  GatewayErrorCode.RateLimited,
]);

export class HelloExchange {
  readonly #options: HelloOptions;
  #at: 'away' | 'choosing' | 'hello-sent' | 'bound' = 'away';
  #session = '';
  /** It was bound, and its session has ended since. */
  #isOrphaned = false;
  /** Rate-limited and refused attempts in a row. */
  #waits = 0;
  #attempts = 0;
  #cancelRetry = () => {};

  constructor(options: HelloOptions) {
    this.#options = options;
  }

  get isBound(): boolean {
    return this.#at === 'bound';
  }

  lost(): void {
    this.#at = 'away';
    this.#isOrphaned = false;
    this.#cancelRetry();
  }

  /** The session has ended: binds to another one, if there is one. */
  sessionEnded(sessionId: string): void {
    this.#options.sessions.exclude(sessionId);
    if (!this.isBound || this.#session !== sessionId) return;
    this.#isOrphaned = true;
    this.#choose();
  }

  take(message: ToProviderMessage): void {
    if (message.type === 'sessions' || message.type === 'sessions.updated') this.#listed(message);
    if (message.type === 'hello.ack') this.#bound(message);
    // Older gateways do not always say what an error is about; while we wait for `hello`, it is about that.
    if (message.type === 'error' && (message.replyTo ?? 'hello') === 'hello') this.#failed(message);
  }

  /** Chooses on the first list of a connection, and on changes while there is no session to bind to. */
  #listed({ type, active }: Extract<ToProviderMessage, { type: 'sessions' | 'sessions.updated' }>): void {
    const { sessions } = this.#options;
    const isFirst = type === 'sessions' && this.#at === 'away';
    sessions.update(active);
    if (isFirst) sessions.reset();
    if (isFirst || this.#at === 'choosing') this.#choose();
  }

  #choose(): void {
    this.#cancelRetry();
    try {
      this.#send(this.#options.sessions.choose());
    } catch (error) {
      this.#options.giveUp(asError(error));
    }
  }

  #send(session: string | undefined): void {
    const { hello, show, outOfSessions } = this.#options;
    this.#at = session === undefined ? 'choosing' : 'hello-sent';
    if (session === undefined) return this.#isOrphaned ? outOfSessions() : show({ at: 'waiting-for-session' });
    this.#session = session;
    hello(session);
  }

  #bound(ack: ProviderHelloAckMessage): void {
    if (this.#at !== 'hello-sent') return;
    this.#at = 'bound';
    this.#isOrphaned = false;
    this.#waits = 0;
    this.#attempts = 0;
    this.#options.bound(ack, this.#session);
  }

  #failed({ code, message, replyTo, sessionId }: ProviderErrorMessage): void {
    if (this.#at !== 'hello-sent') return;
    const { sessions, clock, log, giveUp } = this.#options;
    if (code === GatewayErrorCode.InvalidSession && !sessions.isEverywhere) {
      sessions.exclude(this.#session);
      return this.#choose();
    }
    const error = new ProviderError(code, message, { replyTo, sessionId });
    const isToWait = code === GatewayErrorCode.RateLimited;
    const count = isToWait ? ++this.#waits : ++this.#attempts;
    if (!TRANSIENT.has(code) || (!isToWait && count >= HELLO_ATTEMPTS_MAX)) return giveUp(error);
    log(`${error.message} Trying again.`);
    const pauseMs = Math.min(RATE_LIMIT_RETRY_AFTER_MS * count, HELLO_PAUSE_MAX_MS);
    this.#cancelRetry = clock.after(pauseMs, () => this.#choose());
  }
}

/** The name of all sessions at once. */
const ALL_SESSIONS = 'all';

/** Tracks the active sessions and picks the one to bind to. */
export class SessionChooser {
  readonly #choice: SessionChoice | undefined;
  /** Sessions that refused the provider, or have ended. */
  readonly #excluded = new Set<string>();
  #active: readonly ProviderSessionEntry[] = [];
  #last: string | undefined;

  constructor(choice: SessionChoice | undefined) {
    this.#choice = choice;
  }

  get isEverywhere(): boolean {
    return this.#choice === ALL_SESSIONS;
  }

  get active(): readonly ProviderSessionEntry[] {
    return this.#active;
  }

  /** The whole new list. */
  update(active: readonly ProviderSessionEntry[]): void {
    this.#active = active;
    for (const id of this.#excluded) if (!this.has(id)) this.#excluded.delete(id);
  }

  has(sessionId: string): boolean {
    return this.#active.some(({ id }) => id === sessionId);
  }

  /** Forgets exclusions on a new connection: another token may allow other sessions. */
  reset(): void {
    this.#excluded.clear();
  }

  exclude(sessionId: string): void {
    this.#excluded.add(sessionId);
  }

  bound(sessionId: string | undefined): void {
    this.#last = sessionId;
  }

  /** The session to bind to now; undefined when there is none yet. Prefers the session that it was bound to before. */
  choose(): string | undefined {
    if (this.isEverywhere) return ALL_SESSIONS;
    const open = this.#active.filter(({ id }) => !this.#excluded.has(id));
    if (typeof this.#choice === 'function') return this.#choice(open);
    if (this.#choice !== undefined) return open.find(({ id }) => id === this.#choice)?.id;
    return (open.find(({ id }) => id === this.#last) ?? open[0])?.id;
  }
}

/** Holds the reconnect token for as long as the gateway keeps the provider's place. */
export class ReconnectToken {
  readonly #clock: Clock;
  #token: string | undefined;
  #lostAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  bound(token: string): void {
    this.#token = token === NO_RECONNECT_TOKEN ? undefined : token;
    this.#lostAt = undefined;
  }

  lost(): void {
    this.#lostAt ??= this.#clock.now();
  }

  /** The token for the next `hello`; undefined once the gateway has given the place up. */
  token(): string | undefined {
    const isInTime = this.#lostAt === undefined || this.#clock.now() - this.#lostAt < RECONNECT_WINDOW_MS;
    return isInTime ? this.#token : undefined;
  }
}
