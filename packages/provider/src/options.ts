/** The options of `connectProvider`, their defaults, and the states that `onState` reports. */
import {
  type Clock,
  consoleLog,
  type Log,
  openSocket,
  socketOpened,
  steadyClock,
  type TransportFactory,
} from '@atrium/link';
import {
  GATEWAY_DEFAULT_PORT,
  type ProviderConcurrency,
  type ProviderJsonObject,
  type ProviderSessionEntry,
} from '@atrium/protocol/provider';
import { LocalErrorCode, ProviderError } from './errors.js';
import type { Rules, Transforms } from './hooks.js';
import type { Handlers } from './session-events.js';
import type { Tools } from './tools.js';

/** Keeps the token of a pairing, so that the person types the code only once. */
export interface TokenStore {
  load(): string | undefined | null | Promise<string | undefined | null>;
  /** `undefined` when the token is no longer good. */
  save(token: string | undefined): void | Promise<void>;
}

export interface Pairing {
  /**
   * Asks the person for the code that the session shows. Returning nothing, or an empty text, declines and ends
   * the provider. The signal fires when the code has run out; the library then asks again. It also asks again when the
   * paired session has ended and another one exists, and when the host has restarted.
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
   * TAP_GATEWAY_URL, or TAP_GATEWAY_PORT on this machine, or `ws://localhost:9400`. A function is called before each
   * attempt: for hosts that have another port whenever they start.
   */
  readonly url?: string | (() => string | Promise<string>);
  /**
   * Instead of a WebSocket. Without `token` and `pairing` the gateway is one in this process, which asks for neither.
   */
  readonly transport?: TransportFactory;
  /** TAP_PROVIDER_TOKEN or ATRIUM_PROVIDER_TOKEN by default. A function is called before each attempt. */
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
  /** Receives warnings about ignored messages and failed handlers. The console by default. */
  readonly logger?: Log;
  readonly clock?: Clock;
  /** In [0, 1); spreads the attempts of many providers to reconnect. */
  readonly random?: () => number;
}

export interface Settings extends Omit<ProviderOptions, 'url' | 'logger'> {
  readonly transport: TransportFactory;
  /** Whether the gateway is in this process and asks for no token. */
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
    throw new ProviderError(LocalErrorCode.NoToken, `${options.name} has neither a token nor a way to pair`);
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

/** Where the provider stands, once the gateway has registered it. */
export interface Binding {
  /** Stable as long as the provider comes back in time. */
  readonly providerId: string;
  /** The session it is bound to; absent when it is bound to all. */
  readonly sessionId?: string;
  /** A folder for results that are too big to send; only for providers that the host has started. */
  readonly persistDir?: string;
  /** What the agent of the session cannot do for this provider, such as `gates:host-run` or `transforms:append`. */
  readonly degraded?: readonly string[];
}

export type ProviderState =
  /** Dialling, or showing the token. */
  | { readonly at: 'connecting'; readonly failures: number }
  /** Waits for a person to type the code that the session shows. */
  | { readonly at: 'pairing'; readonly prompt: string }
  /** Authenticated, but there is no session to bind to yet. */
  | { readonly at: 'waiting-for-session' }
  | ({ readonly at: 'ready' } & Binding)
  /** The connection is lost, or was never there; the next attempt comes by itself. */
  | { readonly at: 'reconnecting'; readonly failures: number; readonly delayMs: number; readonly error: Error }
  /** For good. `error` is set when not `close()` ended it. */
  | { readonly at: 'closed'; readonly error?: Error };

/** A function is called for the address of each connection. */
export function webSocketTransport(url: string | (() => string | Promise<string>)): TransportFactory {
  return async () => {
    const address = typeof url === 'function' ? await url() : url;
    return socketOpened(await openSocket(address), (detail) => {
      return new Error(`Cannot connect to ${address}${detail && ` (${detail})`}: is the host up?`);
    });
  };
}

/** The first of these variables that has a value. A page has none. */
function variable(...names: readonly string[]): string | undefined {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  const name = names.find((candidate) => process?.env?.[candidate]);
  return name === undefined ? undefined : process?.env?.[name];
}

/** The gateway's address without `url`. A host sets the environment of the providers that it starts. */
function defaultUrl(): string {
  const port = variable('TAP_GATEWAY_PORT') ?? GATEWAY_DEFAULT_PORT;
  return variable('TAP_GATEWAY_URL') ?? `ws://localhost:${port}`;
}

/** The token that a host gives to a provider that it starts. */
function defaultToken(): string | undefined {
  return variable('TAP_PROVIDER_TOKEN', 'ATRIUM_PROVIDER_TOKEN');
}
