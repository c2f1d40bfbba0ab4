/**
 * The gateway's port. Any page and any program on this machine may connect, but learns nothing and can do nothing until
 * it has authenticated. The server itself checks only the name that the client uses for the machine (`Host`).
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { RateLimit } from '@atrium/core/util/scheduling.js';
import type { Transport } from '@atrium/core/wire/transport.js';
import {
  CONNECTIONS_FULL_HTTP_STATUS,
  CONNECTIONS_MAX,
  EXIT_CLOSE_CODE,
  FRAME_MAX_BYTES,
  PING_INTERVAL_MS,
} from '@atrium/protocol/provider';
import { type WebSocket, WebSocketServer } from 'ws';
import { isOwnHost, upgradePolicy } from '../server/access.js';
import { listen, machineAddresses } from '../server/listen.js';
import { UnadmittedBudget } from '../server/peer-budget.js';
import { PendingConnections } from '../server/pending-connections.js';
import { answerNothing } from '../server/static-files.js';
import { closeAll, WEBSOCKET_OPTIONS, websocketTransport } from '../server/websocket.js';

export interface GatewayServerOptions {
  /** Default: `localhost`, which means both loopback addresses. */
  readonly host?: string;
  /** 0 asks for any free port. */
  readonly port: number;
  readonly clock?: Clock;
  onConnection(transport: Transport): void;
}

export interface GatewayServer {
  readonly port: number;
  readonly addresses: readonly string[];
  close(): Promise<void>;
}

const FORBIDDEN = 403;
const NOT_FOUND = 404;
const UPGRADE_REQUIRED = 426;
const TOO_MANY_REQUESTS = 429;
/** Sockets that have not upgraded yet. After a restart of the host, all providers connect at once. */
export const PENDING_SOCKETS_MAX = CONNECTIONS_MAX * 2;
/** For one address: twice as many as all connections. No working provider connects faster. */
export const ARRIVALS_PER_SECOND_MAX = CONNECTIONS_MAX * 2;
const SECOND_MS = 1_000;

export async function startGatewayServer(options: GatewayServerOptions): Promise<GatewayServer> {
  const { host = 'localhost', port } = options;
  const { servers, port: bound, addresses } = await listen({ host, port });
  const { names } = upgradePolicy({}, { host, port: bound, addresses, machine: machineAddresses() });
  return new ProviderServer(options, { servers, port: bound, addresses, names });
}

interface Listening {
  readonly servers: readonly Server[];
  readonly port: number;
  readonly addresses: readonly string[];
  readonly names: ReadonlySet<string>;
}

class ProviderServer implements GatewayServer {
  readonly port: number;
  readonly addresses: readonly string[];
  readonly #options: GatewayServerOptions;
  readonly #listening: Listening;
  readonly #pending = new PendingConnections(PENDING_SOCKETS_MAX);
  readonly #unadmittedBudget = new UnadmittedBudget();
  readonly #arrivals: RateLimit;
  readonly #sockets = new Map<WebSocket, Transport>();
  readonly #websockets = new WebSocketServer({ ...WEBSOCKET_OPTIONS, maxPayload: FRAME_MAX_BYTES });
  #isClosed = false;

  constructor(options: GatewayServerOptions, listening: Listening) {
    this.port = listening.port;
    this.addresses = listening.addresses;
    this.#options = options;
    this.#listening = listening;
    this.#arrivals = new RateLimit(options.clock ?? systemClock, ARRIVALS_PER_SECOND_MAX, SECOND_MS);
    for (const server of listening.servers)
      this.#pending.serve(server, {
        answer: (request, response) => this.#answer(request, response),
        upgrade: (request, socket, head) => this.#upgrade(request, socket, head),
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = this.#listening.servers.map((server) => new Promise((done) => server.close(done)));
    await closeAll(this.#sockets, EXIT_CLOSE_CODE);
    // The remaining sockets never became WebSockets.
    this.#pending.close();
    for (const server of this.#listening.servers) server.closeAllConnections();
    await Promise.all(closed);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    answerNothing(response, request.url === '/' ? UPGRADE_REQUIRED : NOT_FOUND);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const refusal = this.#refusal(request);
    if (refusal) return this.#pending.refuse(socket, ...refusal);
    this.#websockets.handleUpgrade(request, socket, head, (websocket) => this.#enter(websocket, request.socket));
  }

  #refusal({ headersDistinct, socket }: IncomingMessage): [status: number, reason: string] | undefined {
    const [host, another] = headersDistinct.host ?? [];
    if (host === undefined || another !== undefined || !isOwnHost(host, this.#listening))
      return [FORBIDDEN, 'Connect to localhost.'];
    if (this.#isClosed) return [CONNECTIONS_FULL_HTTP_STATUS, 'The host is stopping.'];
    if (this.#sockets.size >= CONNECTIONS_MAX)
      return [CONNECTIONS_FULL_HTTP_STATUS, `All ${CONNECTIONS_MAX} places are taken.`];
    if (!this.#arrivals.take(socket.remoteAddress ?? ''))
      return [TOO_MANY_REQUESTS, 'Too many connections at once: wait a second.'];
    return undefined;
  }

  #enter(websocket: WebSocket, socket: Socket): void {
    this.#pending.accepted(socket);
    const { clock, onConnection } = this.#options;
    const transport = websocketTransport({
      websocket,
      socket,
      heartbeatMs: PING_INTERVAL_MS,
      unadmitted: this.#unadmittedBudget,
      ...(clock && { clock }),
    });
    this.#sockets.set(websocket, transport);
    websocket.once('close', () => this.#sockets.delete(websocket));
    onConnection(transport);
  }
}
