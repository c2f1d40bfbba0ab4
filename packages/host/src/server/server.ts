/**
 * The host's HTTP server: accepts WebSocket clients that pass the access checks, and tells all others over HTTP why
 * not. `onConnection` takes the accepted connections.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { type Access, OWNER } from '@atrium/core/contracts/access.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { type Logger, silentLogger } from '@atrium/core/util/logger.js';
import { digestOf, matchesToken } from '@atrium/core/util/secrets.js';
import { PAYLOAD_MAX_BYTES } from '@atrium/core/wire/limits.js';
import { CloseCode, type Transport } from '@atrium/core/wire/transport.js';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  type AccessPolicy,
  type Credentials,
  checkAccess,
  isFromOwnPage,
  isNamedLocally,
  judgeUpgrade,
  ownHost,
  type UpgradeFacts,
  type UpgradePolicy,
  upgradePolicy,
} from './access.js';
import { Attempts } from './attempts.js';
import { COMPRESSION_OFFER } from './compression.js';
import { type RelayedSource, type RequestSource, sourceOf } from './forwarded.js';
import { answerHealth, type Health } from './health.js';
import { CLIENTS_MAX, TOKEN_CHANGED_MS, UNAUTHENTICATED_MAX } from './limits.js';
import { type Listening, listen, machineAddresses, renewTls } from './listen.js';
import { agreedProtocol, cookieToken, offeredToken, queryTokens, tokenCookie, withoutToken } from './offered-token.js';
import { Networks } from './peer-address.js';
import { PendingConnections, RefusalLog } from './pending-connections.js';
import { type Route, type RouteReply, readBody, sendReply } from './routes.js';
import { hstsFor, SECURITY_HEADERS } from './security-headers.js';
import { answerNothing, answerPage, type StaticFiles } from './static-files.js';
import { readTlsPair, type TlsFiles, TlsWatch } from './tls-files.js';
import type { Tunnels } from './tunnels.js';
import { closeAll, WEBSOCKET_OPTIONS, websocketTransport } from './websocket.js';

const CLIENT_OPTIONS = { maxPayload: PAYLOAD_MAX_BYTES, handleProtocols: agreedProtocol };
const TOO_OFTEN = 'Too many connections from here within a minute. Try again later.';
const TOO_MANY_FAILED = 'Too many wrong tokens came from here. Wait, and check the token before you try again.';

export interface ServerLimits {
  readonly clients: number;
  /** Connections that are not accepted yet. */
  readonly unadmitted: number;
  readonly headersTimeoutMs: number;
  readonly tlsHandshakeTimeoutMs: number;
}

export interface ServerOptions {
  /** What `/readyz` tells load balancers; without it, the host is always ready. */
  health?(): Health;
  /** Default: `localhost`, which means both loopback addresses. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  readonly policy: AccessPolicy;
  /** Certificate and key. Absent: no encryption. */
  readonly tls?: TlsFiles | undefined;
  /** Networks of proxies whose forwarded headers count, such as `10.0.0.0/8`. */
  readonly behindProxy?: readonly string[] | undefined;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly limits?: Partial<ServerLimits>;
  /** Ways into the host that are open for a time. */
  readonly tunnels?: Tunnels | undefined;
  /** The web page; without one, the host answers with a line of text. */
  readonly page?: StaticFiles;
  /** The tokens of devices and shares. */
  readonly devices?: ServedDevices | undefined;
  onConnection(transport: Transport, access: Access): void;
}

/** The server's view of devices and shares. */
export interface ServedDevices extends Credentials {
  readonly routes: readonly Route[];
  /** Called when a credential was used, with the place it was used from. */
  used(access: Access, place: { readonly address: string; readonly userAgent?: string | undefined }): void;
}

export interface RunningServer {
  readonly port: number;
  readonly addresses: readonly string[];
  /**
   * Requires this token from now on. Closes the connections that used another one a moment later, and returns how many.
   */
  changeToken(token: string): number;
  /** Whether new clients are accepted. */
  readonly isAccepting: boolean;
  /**
   * Takes over a client connection that another host of the cluster passes on, with the same checks as on this port.
   */
  takeRelayed(socket: Socket, source: RelayedSource): void;
  /** Refuses new clients from now on; connected clients stay. */
  stopAccepting(): void;
  /** Closes all connections and frees the port. */
  close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = 'localhost', port = 0, policy, limits, tls: files, behindProxy = [] } = options;
  checkAccess(host, policy, files !== undefined);
  const proxies = behindProxy.length > 0 ? new Networks(behindProxy) : undefined;
  const pair = files && (await readTlsPair(files));
  const { headersTimeoutMs, tlsHandshakeTimeoutMs } = limits ?? {};
  const listening = await listen({ host, port, headersTimeoutMs, tlsHandshakeTimeoutMs, tls: pair?.options });
  const bound = { host, port: listening.port, addresses: listening.addresses, machine: machineAddresses() };
  const { clock = systemClock, logger } = options;
  const use = (secrets: SecureContextOptions) => renewTls(listening.servers, secrets);
  const watch = pair && new TlsWatch(pair, { files, clock, logger, use });
  const upgrades = { ...upgradePolicy(policy, bound), credentials: options.devices };
  return new ClientServer(options, { ...listening, policy: upgrades, proxies, watch });
}

interface Opened extends Listening {
  readonly policy: UpgradePolicy;
  readonly proxies: Networks | undefined;
  readonly watch: TlsWatch | undefined;
}

class ClientServer implements RunningServer {
  readonly port: number;
  readonly addresses: readonly string[];
  readonly #options: ServerOptions;
  readonly #opened: Opened;
  #policy: UpgradePolicy;
  readonly #servers: readonly (Server | TlsServer)[];
  readonly #attempts: Attempts;
  readonly #logger: Logger;
  readonly #refusals: RefusalLog;
  readonly #pending: PendingConnections;
  readonly #clients = new Map<WebSocket, Transport>();
  /** Connections that other hosts of the cluster passed on, and where they come from. */
  readonly #relayed = new WeakMap<Duplex, RelayedSource>();
  /** Connections that used the connection token. */
  readonly #owners = new Set<Transport>();
  readonly #websockets = new WebSocketServer({ ...WEBSOCKET_OPTIONS, ...CLIENT_OPTIONS });
  /** Like `#websockets`, with compression. */
  readonly #compressing = new WebSocketServer({
    ...WEBSOCKET_OPTIONS,
    ...CLIENT_OPTIONS,
    perMessageDeflate: COMPRESSION_OFFER,
  });
  #stopped: Promise<unknown> | undefined;

  constructor(options: ServerOptions, opened: Opened) {
    this.port = opened.port;
    this.addresses = opened.addresses;
    this.#options = options;
    this.#opened = opened;
    this.#policy = opened.policy;
    this.#servers = opened.servers;
    const { clock } = options;
    this.#attempts = new Attempts(() => (clock ? clock.now() : performance.now()));
    this.#logger = options.logger ?? silentLogger;
    this.#refusals = new RefusalLog(this.#logger);
    this.#pending = new PendingConnections(options.limits?.unadmitted ?? UNAUTHENTICATED_MAX);
    for (const server of opened.servers)
      this.#pending.serve(server, {
        answer: (request, response) => this.#answer(request, response),
        upgrade: (request, socket, head) => this.#upgrade(request, socket, head),
      });
  }

  changeToken(token: string): number {
    const { clock = systemClock } = this.#options;
    this.#policy = { ...this.#policy, token: digestOf(token) };
    const cut = [...this.#owners];
    clock.after(TOKEN_CHANGED_MS, () => {
      for (const transport of cut) transport.close(CloseCode.AccessEnded, 'the connection token was replaced');
    });
    return cut.length;
  }

  get isAccepting(): boolean {
    return this.#stopped === undefined;
  }

  takeRelayed(socket: Socket, source: RelayedSource): void {
    const [server] = this.#servers;
    if (!server || !this.isAccepting) return void socket.destroy();
    this.#relayed.set(socket, source);
    // The link between the hosts is encrypted and its TLS is done, so the socket skips the handshake of this port.
    server.emit('setSecureContext' in server ? 'secureConnection' : 'connection', socket);
  }

  stopAccepting(): void {
    this.#stopped ??= Promise.all(this.#servers.map((server) => new Promise((done) => server.close(done))));
  }

  async close(): Promise<void> {
    this.stopAccepting();
    this.#opened.watch?.stop();
    await closeAll(this.#clients, CloseCode.GoingAway);
    this.#pending.close();
    for (const server of this.#servers) server.closeAllConnections();
    await this.#stopped;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    // Before the check of names: monitors ask by address, and learn nothing else.
    if (answerHealth(request, response, this.#options.health?.())) return;
    const source = this.#sourceOf(request);
    if ('problem' in source) return answerNothing(response, 400);
    if (ownHost(source, this.#policy) === undefined) return answerNothing(response, 403);
    for (const [name, value] of Object.entries(hstsFor(source))) response.setHeader(name, value);
    const asked = { request, response, source };
    const route = this.#routeOf(request);
    if (route) return void this.#answerRoute(asked, route);
    if (queryTokens(request.url ?? '').length > 0) return void this.#answerToken(asked);
    this.#renewCookie(asked);
    if (this.#options.page) this.#options.page.answer(request, response);
    else answerPage(request, response);
  }

  #routeOf({ method, url = '' }: IncomingMessage): Route | undefined {
    const [path] = url.split('?');
    return this.#options.devices?.routes.find((route) => route.method === method && route.path === path);
  }

  /** Requests with a token wait in the same line as upgrades with a token. */
  async #answerRoute({ request, response, source }: HttpAsked, route: Route): Promise<void> {
    const { devices } = this.#options;
    if (!devices) return;
    const { hostId } = devices;
    const send = (reply: RouteReply) => sendReply(response, reply, { hostId, scheme: source.scheme });
    const facts = factsOf(request, source);
    const isPage = isFromOwnPage(facts, this.#policy);
    if (facts.origin.length > 0 && !isPage) return send({ status: 403 });
    const access = await this.#accessIn(facts, source);
    if (typeof access === 'number') return send({ status: 429, retryAfterSeconds: access });
    const body = route.method === 'POST' ? await readBody(request) : { json: undefined };
    if (typeof body === 'number') return send({ status: body });
    const query = new URLSearchParams(request.url?.split('?')[1] ?? '');
    const { 'user-agent': userAgent } = request.headers;
    try {
      const token = offeredToken(facts);
      send(await route.answer({ source, isPage, access, token, userAgent, query, body: body.json }));
    } catch (error) {
      this.#logger.log('error', 'a request failed', { path: route.path, error: String(error) });
      send({ status: 500 });
    }
  }

  /**
   * What the token of a request allows; undefined without a token or with a wrong one. A number: wait for so many
   * seconds.
   */
  async #accessIn(facts: UpgradeFacts, source: RequestSource): Promise<Access | undefined | number> {
    const hostId = this.#options.devices?.hostId ?? '';
    const isPage = isFromOwnPage(facts, this.#policy);
    const isNamed = offeredToken(facts) !== undefined || (isPage && cookieToken(facts, hostId) !== undefined);
    if (!isNamed) return undefined;
    const turn = this.#attempts.turnOf(source);
    if (turn.kind === 'refused') return turn.seconds;
    if (turn.kind === 'wait') {
      const { clock = systemClock } = this.#options;
      await new Promise<void>((resolve) => clock.after(turn.ms, resolve));
      turn.done();
    }
    const verdict = judgeUpgrade(facts, this.#policy);
    if (verdict.ok) this.#attempts.succeeded(source);
    else this.#attempts.failed(source);
    return verdict.ok ? verdict.access : undefined;
  }

  /** Histories and screens show addresses, so a token must not stay in one: the page gets a cookie instead. */
  async #answerToken({ request, response, source }: HttpAsked): Promise<void> {
    const { devices } = this.#options;
    const { url = '/', method } = request;
    if (method !== 'GET' && method !== 'HEAD') return answerNothing(response, 404);
    const [token = ''] = queryTokens(url);
    const access = devices ? await this.#accessIn({ ...factsOf(request, source), origin: [] }, source) : undefined;
    if (typeof access === 'number') return answerNothing(response, 429);
    // A link on another page must not replace the access that this browser has with its own.
    const { 'sec-fetch-site': from = 'none' } = request.headers;
    const isAsked = (from === 'none' || from === 'same-origin') && access?.credential.kind !== 'share';
    const cookie = access && isAsked ? { 'Set-Cookie': this.#cookie(token, access, source) } : {};
    const headers = { ...SECURITY_HEADERS, ...cookie, 'Cache-Control': 'no-store', Location: withoutToken(url) };
    response.writeHead(303, { ...headers, 'Content-Length': 0 }).end();
  }

  /** A browser deletes a cookie after some time, so every visit renews it. */
  #renewCookie({ request, response, source }: HttpAsked): void {
    const { devices } = this.#options;
    const isDocument = /^\/(index\.html)?(\?|$)/.test(request.url ?? '/');
    const token = devices && isDocument ? cookieToken(factsOf(request, source), devices.hostId) : undefined;
    if (!devices || token === undefined) return;
    const access = this.#accessOf(token);
    if (access) response.setHeader('Set-Cookie', this.#cookie(token, access, source));
  }

  #accessOf(token: string): Access | undefined {
    const { token: own, credentials } = this.#policy;
    const access = credentials?.accessOf(token);
    return own && matchesToken(token, own) ? OWNER : access;
  }

  #cookie(token: string, { until }: Access, { scheme }: RequestSource): string {
    const { clock = systemClock, devices } = this.#options;
    const seconds = until === undefined ? undefined : (until - clock.now()) / 1_000;
    return tokenCookie(token, { hostId: devices?.hostId ?? '', scheme, seconds });
  }

  #sourceOf(request: IncomingMessage): ReturnType<typeof sourceOf> {
    const relayed = this.#relayed.get(request.socket);
    if (relayed) return relayed;
    const source = sourceOf(request, this.#opened.proxies);
    const { tunnels } = this.#options;
    return 'problem' in source || !tunnels ? source : tunnels.through(source, request.headersDistinct);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const source = this.#sourceOf(request);
    if ('problem' in source) return this.#refuse({ request, status: 400, reason: source.problem });
    const asked = { request, source, socket, head };
    if (!this.#attempts.takeUpgrade(source)) return this.#refuse({ ...asked, status: 429, reason: TOO_OFTEN });
    const turn = this.#attempts.turnOf(source);
    if (turn.kind === 'now') this.#judge(asked);
    else if (turn.kind === 'wait') this.#judgeAfter(asked, turn);
    else this.#refuse({ ...asked, status: 429, reason: TOO_MANY_FAILED, seconds: turn.seconds });
  }

  /** Meanwhile the socket counts as not accepted: it may be cut to make room for another, and is then never judged. */
  #judgeAfter(asked: Asked, { ms, done }: { readonly ms: number; done(): void }): void {
    const { clock = systemClock } = this.#options;
    const { socket } = asked;
    // Reading shows when the peer leaves. A peer that sends something is cut off: it has nothing to say before the
    // answer (RFC 6455, 4.1).
    const cut = () => void socket.destroy();
    socket.on('data', cut).on('end', cut);
    const cancel = clock.after(ms, () => {
      done();
      if (socket.destroyed || this.#pending.hasRefused(socket)) return;
      socket.off('data', cut).off('end', cut).pause();
      this.#judge(asked);
    });
    socket.once('close', () => {
      cancel();
      done();
    });
  }

  #judge({ request, source, socket, head }: Asked): void {
    const verdict = judgeUpgrade(factsOf(request, source), this.#policy);
    if (!verdict.ok && verdict.status === 401) this.#attempts.failed(source);
    if (!verdict.ok) return this.#refuse({ request, source, ...verdict });
    this.#attempts.succeeded(source);
    if (this.#stopped) return this.#refuse({ request, source, status: 503, reason: 'The host is stopping.' });
    const max = this.#options.limits?.clients ?? CLIENTS_MAX;
    const full = `All ${max} places are taken. Try again later.`;
    if (this.#clients.size >= max) return this.#refuse({ request, source, status: 503, reason: full });
    const websockets = isNamedLocally(source.host) ? this.#websockets : this.#compressing;
    const entered = { request, source, access: verdict.access };
    websockets.handleUpgrade(request, socket, head, (websocket) => this.#enter(websocket, entered));
  }

  #refuse({ request: { socket }, source, status, reason, seconds }: Refusal): void {
    this.#refusals.refused({ from: source?.address ?? socket.remoteAddress, status, reason });
    this.#pending.refuse(socket, status, reason, seconds);
  }

  #enter(websocket: WebSocket, { request, source, access }: Entered): void {
    const { socket, headers } = request;
    const { isProxied, relayedPort, address } = source;
    this.#pending.accepted(socket);
    const { clock } = this.#options;
    const from = isProxied || relayedPort !== undefined ? { address } : {};
    const transport = websocketTransport({ websocket, socket, ...from, ...(clock === undefined ? {} : { clock }) });
    this.#clients.set(websocket, transport);
    if (access.credential.kind === 'connection') this.#owners.add(transport);
    websocket.once('close', () => {
      this.#clients.delete(websocket);
      this.#owners.delete(transport);
    });
    websocket.on('error', ({ message }) => this.#logger.log('info', message, { connection: transport.name }));
    this.#options.devices?.used(access, { address, userAgent: headers['user-agent'] });
    this.#options.onConnection(transport, access);
  }
}

/** Collects the facts that the checks look at. */
function factsOf({ url = '/', headersDistinct }: IncomingMessage, source: RequestSource): UpgradeFacts {
  const { origin = [], authorization = [], cookie, 'sec-websocket-protocol': protocols } = headersDistinct;
  return { ...source, url, origin, authorization, cookie, protocols };
}

interface HttpAsked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly source: RequestSource;
}

interface Entered {
  readonly request: IncomingMessage;
  readonly source: RequestSource;
  readonly access: Access;
}

interface Asked {
  readonly request: IncomingMessage;
  readonly source: RequestSource;
  readonly socket: Duplex;
  readonly head: Buffer;
}

interface Refusal {
  readonly request: IncomingMessage;
  readonly source?: RequestSource;
  readonly status: number;
  readonly reason: string;
  /** Seconds until the next attempt. */
  readonly seconds?: number;
}
