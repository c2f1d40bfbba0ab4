/** The options of `connect` and their defaults. */

import { type Clock, consoleLog, type Log, newId, type TransportFactory, wallClock } from '@atrium/link';
import type { Implementation } from '@atrium/protocol/ahp-1';
import { isVisible } from './connection.js';
import { isSpoken, PROTOCOL_VERSIONS } from './handshake.js';
import type { HostRequestHandlers } from './host-requests.js';
import { HEARTBEAT_MS } from './peer.js';
import type { TurnWindow } from './reconcile.js';
import { type SystemMessageTransform, transformHandler } from './transform.js';
import { type WebSocketOptions, webSocketTransport } from './websocket.js';

export const REQUEST_TIMEOUT_MS = 30_000;

export interface ClientOptions {
  /** Identifies this client to the host; random by default. Give one only if no other connection uses it. */
  readonly clientId?: string;
  /** The protocol versions to offer: 1.0.0 and 0.9.0 by default. This client speaks 1.x and 0.9.x only. */
  readonly protocolVersions?: readonly string[];
  /** Hosts show the program by this: `{ name: 'atrium-client' }` by default. */
  readonly clientInfo?: Implementation;
  /** The language that the host should speak to users, as a BCP 47 tag. */
  readonly locale?: string;
  /** Channels to subscribe to in the same round trip; `client.subscribe` then finds them there. */
  readonly initialSubscriptions?: readonly string[];
  /** How much of each chat the initial subscriptions bring. */
  readonly turns?: TurnWindow;
  /** Answers to requests of the host. */
  readonly handlers?: HostRequestHandlers;
  /** Rewrites sections of the system prompt in sessions in which this client is an active one. */
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
  const foreign = options.protocolVersions?.find((version) => !isSpoken(version));
  if (foreign !== undefined) throw new TypeError(`this client speaks 1.x and 0.9.x, not ${foreign}`);
  return {
    clientId: newId(),
    protocolVersions: PROTOCOL_VERSIONS,
    clientInfo: { name: 'atrium-client' },
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
