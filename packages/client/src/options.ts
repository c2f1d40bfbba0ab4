/** What `connect` takes, and what it assumes when something is left out. */

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
  /** Who this client is to the host; a new one by default. Give one only if no other connection uses it. */
  readonly clientId?: string;
  /** Every version of the protocol that may be spoken, most preferred first. */
  readonly protocolVersions?: readonly string[];
  /** The language that the host should speak to users, as a BCP 47 tag. */
  readonly locale?: string;
  /** Channels to subscribe to in the same round trip; `client.subscribe` then finds them there. */
  readonly initialSubscriptions?: readonly string[];
  /** How much history the initial subscriptions bring. */
  readonly turns?: TurnWindow;
  /** What this client answers when the host asks. */
  readonly handlers?: HostRequestHandlers;
  /** Rewrites sections of the system prompt in sessions whose active client this is. */
  readonly transformSystemMessage?: SystemMessageTransform;
  readonly requestTimeoutMs?: number;
  readonly heartbeatMs?: number;
  /** Told what had to be ignored. The console by default. */
  readonly log?: Log;
  readonly clock?: Clock;
  /** In [0, 1); spreads the attempts of many clients to reconnect. */
  readonly random?: () => number;
  /** Whether somebody looks. If not, attempts to reconnect become rare. */
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

/** An option that is given as `undefined` is not given. */
function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
