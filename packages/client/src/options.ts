/** The options of `connect` and their defaults. */

import { type Clock, consoleLog, type Log, newId, type TransportFactory, wallClock } from '@atrium/link';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@atrium/protocol';
import { isVisible } from './connection.js';
import type { HostRequestHandlers } from './host-requests.js';
import { HEARTBEAT_MS } from './peer.js';
import type { TurnWindow } from './reconcile.js';
import { type SystemMessageTransform, transformHandler } from './transform.js';
import { type WebSocketOptions, webSocketTransport } from './websocket.js';

export const REQUEST_TIMEOUT_MS = 30_000;

export interface ClientOptions {
  /** Identifies this client to the host; random by default. Give one only if no other connection uses it. */
  readonly clientId?: string;
  /** The protocol versions to offer, most preferred first. */
  readonly protocolVersions?: readonly string[];
  /** The language that the host should speak to users, as a BCP 47 tag. */
  readonly locale?: string;
  /** Channels to subscribe to in the same round trip; `client.subscribe` then finds them there. */
  readonly initialSubscriptions?: readonly string[];
  /** How much history the initial subscriptions bring. */
  readonly turns?: TurnWindow;
  /** Answers to requests of the host. */
  readonly handlers?: HostRequestHandlers;
  /** Rewrites sections of the system prompt in sessions whose active client this is. */
  readonly transformSystemMessage?: SystemMessageTransform;
  readonly requestTimeoutMs?: number;
  readonly heartbeatMs?: number;
  /** Receives warnings about ignored messages and failed listeners. The console by default. */
  readonly log?: Log;
  readonly clock?: Clock;
  /** In [0, 1); spreads the attempts of many clients to reconnect. */
  readonly random?: () => number;
  /** Whether the page is visible. A hidden page reconnects less often. */
  readonly isVisible?: () => boolean;
}

export type ConnectOptions = ClientOptions & (WebSocketOptions | { readonly transport: TransportFactory });

type Optional = 'locale' | 'turns' | 'transformSystemMessage';

export type Settings = Required<Omit<ClientOptions, Optional>> &
  Pick<ClientOptions, Optional> & { readonly transport: TransportFactory };

export function settingsOf(options: ConnectOptions): Settings {
  return {
    clientId: newId(),
    protocolVersions: SUPPORTED_PROTOCOL_VERSIONS,
    initialSubscriptions: [],
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    heartbeatMs: HEARTBEAT_MS,
    log: consoleLog('atrium client'),
    clock: wallClock,
    random: Math.random,
    isVisible,
    ...withoutUndefined(options),
    handlers: handlersOf(options),
    transport: 'transport' in options ? options.transport : webSocketTransport(options),
  };
}

function handlersOf({ handlers = {}, transformSystemMessage }: ClientOptions): HostRequestHandlers {
  if (!transformSystemMessage) return handlers;
  return { ...handlers, systemMessageTransform: transformHandler(transformSystemMessage) };
}

/** An option with the value `undefined` counts as absent. */
function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
