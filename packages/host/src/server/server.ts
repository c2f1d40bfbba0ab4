/**
 * The host's HTTP server: accepts WebSocket clients that pass the access checks, and tells all others in HTTP why not.
 * `onConnection` takes the accepted connections.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '@atrium/core/util/clock.js';
import { type Logger, silentLogger } from '@atrium/core/util/logger.js';
import { PAYLOAD_MAX_BYTES } from '@atrium/core/wire/limits.js';
import { CloseCode, type Transport } from '@atrium/core/wire/transport.js';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  type AccessPolicy,
  checkAccess,
  isOwnHost,
  judgeUpgrade,
  type UpgradeFacts,
  type UpgradePolicy,
  upgradePolicy,
} from './access.js';
import { CLIENTS_MAX, UNAUTHENTICATED_MAX } from './limits.js';
import { type Listening, listen, machineAddresses } from './listen.js';
import { PendingConnections, RefusalLog } from './pending-connections.js';
import { answerNothing, answerPage, type StaticFiles } from './static-files.js';
import { closeAll, WEBSOCKET_OPTIONS, websocketTransport } from './websocket.js';

export interface ServerLimits {
  readonly clients: number;
  /** Connections that have not been accepted yet. */
  readonly strangers: number;
  readonly headersTimeoutMs: number;
}

export interface ServerOptions {
  /** `localhost`, the default, is both loopback addresses. */
  readonly host?: string;
  /** 0, the default, is any free port. */
  readonly port?: number;
  readonly policy: AccessPolicy;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly limits?: Partial<ServerLimits>;
  /** The web page; without one, a line of text says what this is. */
  readonly page?: StaticFiles;
  onConnection(transport: Transport): void;
}

export interface RunningServer {
  readonly port: number;
  readonly addresses: readonly string[];
  /** Refuses new clients from now on; connected ones stay. */
  stopAccepting(): void;
  /** Closes all connections and frees the port. */
  close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = 'localhost', port = 0, policy, limits } = options;
  checkAccess(host, policy);
  const listening = await listen({ host, port, headersTimeoutMs: limits?.headersTimeoutMs });
  const bound = { host, port: listening.port, addresses: listening.addresses, machine: machineAddresses() };
  return new ClientServer(options, listening, upgradePolicy(policy, bound));
}

class ClientServer implements RunningServer {
  readonly port: number;
  readonly addresses: readonly string[];
  readonly #options: ServerOptions;
  readonly #policy: UpgradePolicy;
  readonly #servers: readonly Server[];
  readonly #logger: Logger;
  readonly #refusals: RefusalLog;
  readonly #pending: PendingConnections;
  readonly #clients = new Map<WebSocket, Transport>();
  readonly #websockets = new WebSocketServer({ ...WEBSOCKET_OPTIONS, maxPayload: PAYLOAD_MAX_BYTES });
  #stopped: Promise<unknown> | undefined;

  constructor(options: ServerOptions, listening: Listening, policy: UpgradePolicy) {
    this.port = listening.port;
    this.addresses = listening.addresses;
    this.#options = options;
    this.#policy = policy;
    this.#servers = listening.servers;
    this.#logger = options.logger ?? silentLogger;
    this.#refusals = new RefusalLog(this.#logger);
    this.#pending = new PendingConnections(options.limits?.strangers ?? UNAUTHENTICATED_MAX);
    for (const server of listening.servers)
      this.#pending.serve(server, {
        answer: (request, response) => this.#answer(request, response),
        upgrade: (request, socket, head) => this.#upgrade(request, socket, head),
      });
  }

  stopAccepting(): void {
    this.#stopped ??= Promise.all(this.#servers.map((server) => new Promise((done) => server.close(done))));
  }

  async close(): Promise<void> {
    this.stopAccepting();
    await closeAll(this.#clients, CloseCode.GoingAway);
    this.#pending.close();
    for (const server of this.#servers) server.closeAllConnections();
    await this.#stopped;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const [host, another] = factsOf(request).host;
    const isOurs = host !== undefined && another === undefined && isOwnHost(host, this.#policy);
    if (!isOurs) answerNothing(response, 403);
    else if (this.#options.page) this.#options.page.answer(request, response);
    else answerPage(request, response);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const verdict = judgeUpgrade(factsOf(request), this.#policy);
    if (!verdict.ok) return this.#refuse(request, verdict.status, verdict.reason);
    if (this.#stopped) return this.#refuse(request, 503, 'The host is stopping.');
    const max = this.#options.limits?.clients ?? CLIENTS_MAX;
    if (this.#clients.size >= max) return this.#refuse(request, 503, `All ${max} places are taken. Try again later.`);
    this.#websockets.handleUpgrade(request, socket, head, (websocket) => this.#enter(websocket, request.socket));
  }

  #refuse({ socket }: IncomingMessage, status: number, reason: string): void {
    this.#refusals.refused({ from: socket.remoteAddress, status, reason });
    this.#pending.refuse(socket, status, reason);
  }

  #enter(websocket: WebSocket, socket: Socket): void {
    this.#pending.accepted(socket);
    const { clock } = this.#options;
    const transport = websocketTransport({ websocket, socket, ...(clock === undefined ? {} : { clock }) });
    this.#clients.set(websocket, transport);
    websocket.once('close', () => this.#clients.delete(websocket));
    websocket.on('error', ({ message }) => this.#logger.log('info', message, { connection: transport.name }));
    this.#options.onConnection(transport);
  }
}

function factsOf({ url = '/', headersDistinct }: IncomingMessage): UpgradeFacts {
  const { host = [], origin = [], authorization = [] } = headersDistinct;
  return { url, host, origin, authorization };
}
