/**
 * The port of a host that stands by. It serves clients through the active host: it passes each connection on over the
 * link unchanged, and the active host judges it there with the same code as connections to its own port. This host only
 * says where a client comes from. When the active host is gone, its clients are told to connect again.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { type AccessPolicy, checkAccess, ownHost, type UpgradePolicy, upgradePolicy } from '../server/access.js';
import { type RequestSource, sourceOf } from '../server/forwarded.js';
import { answerHealth, type Health } from '../server/health.js';
import { UNAUTHENTICATED_MAX } from '../server/limits.js';
import { type Listening, listen, machineAddresses, renewTls } from '../server/listen.js';
import { Networks } from '../server/peer-address.js';
import { PendingConnections } from '../server/pending-connections.js';
import { answerNothing, COMMON_HEADERS } from '../server/static-files.js';
import { readTlsPair, type TlsFiles, TlsWatch } from '../server/tls-files.js';
import { LINK_LOOK_MS, LINK_MISSES_MAX, RELAY_STALL_MS } from './limits.js';
import { type ActiveLink, askLink, openRelay } from './link.js';
import { relayRequest } from './relay-request.js';
import { RelayedSocket, requestHead } from './relayed-socket.js';

export interface EdgeOptions {
  readonly host: string;
  readonly port: number;
  readonly policy: AccessPolicy;
  readonly tls?: TlsFiles | undefined;
  readonly behindProxy?: readonly string[] | undefined;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Absent: clients cannot be passed on. */
  readonly secret?: string | undefined;
  /** How long a client may read nothing before it is cut off. */
  readonly stallMs?: number;
  /** The active host, as of this host's last look. */
  active(): ActiveLink | undefined;
  /** What this host is doing, in words. */
  state(): string;
}

const RETRY = { 'Retry-After': 1, Connection: 'close', 'Content-Type': 'text/plain; charset=utf-8' };
const RETRY_SECONDS = 1;

export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { host, port, policy, tls: files, behindProxy = [], clock = systemClock, logger } = options;
  checkAccess(host, policy, files !== undefined);
  const pair = files && (await readTlsPair(files));
  const listening = await listen({ host, port, tls: pair?.options });
  const bound = { host, port: listening.port, addresses: listening.addresses, machine: machineAddresses() };
  const watch =
    pair && new TlsWatch(pair, { files, clock, logger, use: (secrets) => renewTls(listening.servers, secrets) });
  const proxies = behindProxy.length > 0 ? new Networks(behindProxy) : undefined;
  return new Edge(options, { ...listening, policy: upgradePolicy(policy, bound), proxies, watch });
}

interface Opened extends Listening {
  readonly policy: UpgradePolicy;
  readonly proxies: Networks | undefined;
  readonly watch: TlsWatch | undefined;
}

export class Edge {
  readonly port: number;
  readonly #options: EdgeOptions;
  readonly #opened: Opened;
  readonly #pending = new PendingConnections(UNAUTHENTICATED_MAX);
  /** The connected clients, and the host that each is served by. */
  readonly #clients = new Map<RelayedSocket, ActiveLink>();
  #cancel: () => void = () => {};
  /** The host whose link answered last. */
  #reached: ActiveLink | undefined;
  #misses = 0;
  #isClosed = false;

  constructor(options: EdgeOptions, opened: Opened) {
    this.port = opened.port;
    this.#options = options;
    this.#opened = opened;
    for (const server of opened.servers)
      this.#pending.serve(server, {
        answer: (request, response) => void this.#answer(request, response),
        upgrade: (request, socket, head) => void this.#upgrade(request, socket, head),
      });
    void this.#look();
  }

  /** How many clients are served through the active host. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Whether clients are served here, and if not, why. */
  get health(): Health {
    const isReady = this.#reached !== undefined && isSame(this.#reached, this.#options.active());
    return { isReady, text: this.#options.state() };
  }

  /** Frees the port at once. Clients are told to connect again, and get a moment to do so. */
  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#opened.watch?.stop();
    for (const server of this.#opened.servers) server.close();
    for (const client of this.#clients.keys()) client.sendAway('this host takes over, or stops; connect again');
    this.#pending.close();
    for (const server of this.#opened.servers) server.closeAllConnections();
  }

  /**
   * Asks the active host whether it is alive. If it is silent for long, or no longer active, its clients are told to
   * connect again.
   */
  async #look(): Promise<void> {
    const { active, secret, clock = systemClock } = this.#options;
    const startedAt = performance.now();
    const now = active();
    if (now && secret !== undefined) {
      const answer = await askLink(now.link, secret, 'engine');
      const isThere = answer === 'yes' || answer === 'no';
      this.#misses = isThere ? 0 : this.#misses + 1;
      if (isThere) this.#reached = now;
      else if (answer === 'refused' || this.#misses >= LINK_MISSES_MAX) this.#lost(now);
    }
    this.#sendAwayUnless((link) => isSame(link, this.#options.active()));
    const wait = Math.max(0, LINK_LOOK_MS - (performance.now() - startedAt));
    if (!this.#isClosed) this.#cancel = clock.after(wait, () => void this.#look());
  }

  #lost(link: ActiveLink): void {
    if (this.#reached) this.#options.logger.log('warn', 'the active host cannot be reached', { host: link.host });
    this.#reached = undefined;
    this.#sendAwayUnless(() => false);
  }

  #sendAwayUnless(mayStay: (link: ActiveLink) => boolean): void {
    for (const [client, link] of this.#clients) if (!mayStay(link)) client.sendAway();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (answerHealth(request, response, this.health)) return;
    const source = this.#sourceOf(request);
    if (typeof source === 'number') return answerNothing(response, source);
    const relay = await this.#open(source);
    if (relay) relayRequest(request, response, relay.stream);
    else response.writeHead(503, { ...COMMON_HEADERS, ...RETRY }).end(`${this.#options.state()}\n`);
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const source = this.#sourceOf(request);
    if (typeof source === 'number')
      return this.#pending.refuse(socket, source, 'This Host name is not one of ours, or a proxy is not understood.');
    const relay = await this.#open(source);
    if (!relay) return this.#pending.refuse(socket, 503, this.#options.state(), RETRY_SECONDS);
    if (socket.destroyed || this.#pending.hasRefused(socket)) return void relay.stream.destroy();
    const { stallMs = RELAY_STALL_MS } = this.#options;
    const accepted = () => this.#pending.accepted(socket);
    const client = new RelayedSocket({ client: socket, stream: relay.stream, stallMs, accepted });
    this.#clients.set(client, relay.link);
    void client.ended.then(() => this.#clients.delete(client));
    // As the parser read it: each character is one byte.
    relay.stream.write(requestHead(request), 'latin1');
    relay.stream.write(head);
  }

  /** Returns a status if the request must be refused. */
  #sourceOf(request: IncomingMessage): RequestSource | number {
    const source = sourceOf(request, this.#opened.proxies);
    if ('problem' in source) return 400;
    return ownHost(source, this.#opened.policy) === undefined ? 403 : source;
  }

  async #open({ address, scheme, host, isProxied }: RequestSource) {
    const { secret } = this.#options;
    const link = this.#options.active();
    if (!link || secret === undefined || this.#isClosed) return undefined;
    const client = { address, scheme, host, isProxied, relayedPort: this.port };
    const stream = await openRelay(link.link, secret, client);
    if (stream && this.#isClosed) stream.destroy();
    return stream && !this.#isClosed ? { stream, link } : undefined;
  }
}

function isSame(link: ActiveLink, other: ActiveLink | undefined): boolean {
  return link.host === other?.host && link.term === other.term && link.link === other.link;
}
