/** What `connectProvider` takes, and what it assumes when something is left out. */

import type { TransportFactory } from '@atrium/link';
import { type Clock, consoleLog, type Log, steadyClock } from '@atrium/link';
import type { ProviderConcurrency, ProviderJsonObject, ProviderSessionEntry } from '@atrium/protocol/provider';
import { defaultToken, defaultUrl } from './environment.js';
import { LocalErrorCode, ProviderError } from './errors.js';
import type { Handlers } from './handlers.js';
import type { Rules, Transforms } from './hooks.js';
import type { ProviderState } from './state.js';
import type { Tools } from './tools.js';
import { webSocketTransport } from './websocket.js';

/** Keeps the token of a pairing, so that the person types the code only once. */
export interface TokenStore {
  load(): string | undefined | null | Promise<string | undefined | null>;
  /** `undefined` when the token is no longer good. */
  save(token: string | undefined): void | Promise<void>;
}

export interface Pairing {
  /**
   * Asks the person for the code that the session shows. Nothing, or an empty text, means that nobody wants to, and ends
   * the provider. The signal fires when the code has run out; the library then asks again. It also asks again when the
   * session that was paired with has ended and another one is there, and when the host was started anew.
   */
  code(prompt: string, signal: AbortSignal): string | undefined | null | Promise<string | undefined | null>;
  readonly store?: TokenStore;
}

/** Which session to bind to: an id, `'all'` (in-process providers only), or a choice. The first one by default. */
export type SessionChoice = string | ((active: readonly ProviderSessionEntry[]) => string | undefined);

export interface ProviderOptions extends Rules {
  /** Letters, digits, dots, dashes and underscores, 64 at most. */
  readonly name: string;
  /** Tells several providers of one name apart, such as the tabs of a browser. */
  readonly instance?: string;
  /**
   * `ws://localhost:9400`, or what TAP_GATEWAY_URL or TAP_GATEWAY_PORT say. A function is asked anew for each attempt:
   * for hosts that have another port whenever they start.
   */
  readonly url?: string | (() => string | Promise<string>);
  /** Instead of a WebSocket. Without `token` and `pairing` the gateway is one in this process, which asks for neither. */
  readonly transport?: TransportFactory;
  /** What TAP_PROVIDER_TOKEN or ATRIUM_PROVIDER_TOKEN say, by default. A function is asked anew for each attempt. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>);
  readonly pairing?: Pairing;
  readonly session?: SessionChoice;
  readonly tools?: Tools;
  /** By section of the system prompt. */
  readonly transforms?: Transforms;
  /** Told to the model with every prompt. */
  readonly context?: string;
  /** Told to the model once. */
  readonly startupContext?: string;
  readonly concurrency?: ProviderConcurrency;
  /** What the model sees in the list of instances, such as a title. */
  readonly metadata?: ProviderJsonObject;
  /** Events besides those that `on` has handlers for. */
  readonly subscribe?: readonly string[];
  readonly on?: Handlers;
  onState?(state: ProviderState): void;
  /** Told what had to be ignored. The console by default. */
  readonly logger?: Log;
  readonly clock?: Clock;
  /** In [0, 1); spreads the attempts of many providers to reconnect. */
  readonly random?: () => number;
}

export interface Settings extends Omit<ProviderOptions, 'url' | 'logger'> {
  readonly transport: TransportFactory;
  /** Whether the gateway is in this process and wants to see nothing. */
  readonly isTrusted: boolean;
  readonly on: Handlers;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
}

export function settingsOf(options: ProviderOptions): Settings {
  const { url, logger = consoleLog('atrium provider'), transport, pairing, ...rest } = options;
  const isTrusted = transport !== undefined && options.token === undefined && pairing === undefined;
  const token = options.token ?? (transport ? undefined : defaultToken());
  if (!isTrusted && token === undefined && !pairing)
    throw new ProviderError(LocalErrorCode.NoToken, `${options.name} has nothing to show to the gateway`);
  return {
    clock: steadyClock,
    random: Math.random,
    on: {},
    ...rest,
    ...(token !== undefined && { token }),
    ...(pairing && { pairing }),
    isTrusted,
    log: logger,
    transport: transport ?? webSocketTransport(url ?? defaultUrl()),
  };
}
