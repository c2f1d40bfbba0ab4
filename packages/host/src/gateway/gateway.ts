/**
 * The second front door of the host: providers come in here and add tools, gates, prompt text and events to live
 * sessions. The gateway keeps who is connected and which sessions are open; its services do the rest.
 */
import type { ToGatewayMessage, ToGatewayMessageMap } from '@atrium/protocol/provider';
import type { Companion } from '../core/sessions/companion.js';
import type { Session } from '../core/sessions/session.js';
import type { Clock } from '../core/util/clock.js';
import type { Logger } from '../core/util/logger.js';
import { CloseCode, type Transport } from '../core/wire/transport.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { type Access, checkPlaces, INTERNAL_ACCESS } from './access.js';
import { Binder, type BinderParts } from './binder.js';
import { ProviderConnection } from './connection.js';
import type { Doorkeeper } from './doorkeeper.js';
import { invalidSession, shown, unauthorized } from './gateway-error.js';
import { OpenSessions } from './open-sessions.js';
import type { Binding, Provider } from './provider.js';
import type { RegistryEntry } from './registry.js';
import type { Room } from './room.js';
import type { GatewayCore, GatewayService, Handlers } from './service.js';
import { Share } from './share.js';

export interface GatewayParts extends Omit<BinderParts, 'core' | 'services'> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry?: Telemetry;
  settled(): Promise<void>;
  afterCommit(then: () => void): void;
  /** A session that nobody needs any more may leave memory. */
  mayRest(uri: string): void;
  doorkeeper(core: GatewayCore): Doorkeeper;
  services(core: GatewayCore): readonly GatewayService[];
}

export class Gateway implements GatewayCore {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry | undefined;
  readonly #parts: GatewayParts;
  readonly #services: readonly GatewayService[];
  readonly #handlers: Handlers;
  readonly #doorkeeper: Doorkeeper;
  readonly #binder: Binder;
  readonly #sessions: OpenSessions;
  readonly #share = new Share();
  readonly #connections = new Set<ProviderConnection>();
  #heard = 0;
  #isClosed = false;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.logger = parts.logger;
    this.telemetry = parts.telemetry;
    this.#services = parts.services(this);
    this.#handlers = Object.assign({}, ...this.#services.map(({ handlers }) => handlers));
    this.#doorkeeper = parts.doorkeeper(this);
    this.#binder = new Binder({ ...parts, core: this, services: this.#services });
    this.#sessions = new OpenSessions({
      clock: parts.clock,
      services: this.#services,
      mayRest: (uri) => parts.mayRest(uri),
      announce: () => this.#announce(),
      isHeard: () => this.#connections.size > 0,
      closeTo: (room, hasEnded) => this.#doorkeeper.closed(room, hasEnded),
      unbind: (room) => this.#binder.unbindRoom(room, (provider) => this.#connectionOf(provider)),
    });
  }

  rooms(): readonly Room[] {
    return this.#sessions.registry.rooms();
  }

  /** Every session that is open to providers. */
  sessions(): readonly RegistryEntry[] {
    return this.#sessions.registry.entries();
  }

  get connections(): ReadonlySet<ProviderConnection> {
    return this.#connections;
  }

  settled(): Promise<void> {
    return this.#parts.settled();
  }

  evict(binding: Binding, why: string): void {
    this.#binder.evict(binding, { why, connection: this.#connectionOf(binding.provider) });
  }

  afterCommit(then: () => void): void {
    this.#parts.afterCommit(then);
  }

  /** Serves one provider. Those in this process are trusted; all others have to show why they should be. */
  connect(transport: Transport, origin: 'in-process' | 'network'): ProviderConnection {
    const connection = new ProviderConnection({
      transport,
      clock: this.clock,
      logger: this.logger,
      ...(origin === 'network' && { share: this.#share }),
      events: {
        message: (from, message) => this.#take(from, message),
        closed: (from) => this.#closed(from),
      },
    });
    this.#connections.add(connection);
    connection.start(origin === 'network' ? 'AwaitAuth' : 'AwaitHello');
    if (this.#isClosed) this.#sendAway(connection);
    else if (origin === 'in-process') this.#letIn(connection, INTERNAL_ACCESS);
    return connection;
  }

  #take(connection: ProviderConnection, message: ToGatewayMessage): void | Promise<void> {
    if (message.type === 'auth' || message.type === 'auth.confirm')
      return this.#doorkeeper.take(connection, message, (access, token) => this.#letIn(connection, access, token));
    if (connection.provider) connection.provider.lastHeard = ++this.#heard;
    if (message.type === 'hello') return this.#hello(connection, message);
    if (message.type === 'goodbye') return this.#binder.goodbye(connection);
    const { provider } = connection;
    if (!provider) return undefined;
    if (message.type === 'session.ready') return this.#ready(provider, message);
    const handler = this.#handlers[message.type] as ((it: ToGatewayMessage, from: Provider) => void) | undefined;
    handler?.(message, provider);
  }

  /** Until it is decided, messages wait: they belong to the outcome, whichever that is. */
  async #hello(connection: ProviderConnection, message: ToGatewayMessageMap['hello']): Promise<void> {
    if (connection.provider) connection.enter('Rebinding');
    try {
      await this.#binder.hello(connection, message);
      if (connection.provider) connection.provider.lastHeard = ++this.#heard;
    } finally {
      if (connection.state === 'Rebinding') connection.enter(connection.provider ? 'Bound' : 'Unbound');
    }
  }

  #letIn(connection: ProviderConnection, access: Access, token?: string): void {
    if (!connection.access) {
      checkPlaces(access, this.#connections);
      connection.admit(access);
    }
    const active = this.#sessions.registry.entriesFor(access);
    connection.send({ type: 'sessions', active, ...(token !== undefined && { token }) });
  }

  /** An everywhere-bound provider is ready for a session that came later. */
  #ready(provider: Provider, { sessionId }: ToGatewayMessageMap['session.ready']): void {
    if (!provider.isEverywhere) throw unauthorized('session.ready is for providers that are bound to all sessions');
    const room = this.#sessions.registry.get(sessionId);
    if (!room) throw invalidSession(`there is no session ${shown(sessionId)}`, sessionId);
    this.#binder.ready(provider, room);
  }

  #closed(connection: ProviderConnection): void {
    this.#connections.delete(connection);
    this.#doorkeeper.left(connection);
    this.#binder.lost(connection);
  }

  /** A session entered memory. */
  attach(session: Session): Companion {
    return this.#sessions.attach(session);
  }

  #connectionOf(provider: Provider): ProviderConnection | undefined {
    return [...this.#connections].find((connection) => connection.provider === provider);
  }

  /** Everybody who has been let in is told which sessions there are now. */
  #announce(): void {
    for (const connection of this.#connections) {
      const { access } = connection;
      if (access) connection.send({ type: 'sessions.updated', active: this.#sessions.registry.entriesFor(access) });
    }
  }

  /** Everybody is sent away, also those who are still to come. */
  close(): void {
    this.#isClosed = true;
    this.#sessions.stop();
    for (const connection of [...this.#connections]) this.#sendAway(connection);
  }

  #sendAway(connection: ProviderConnection): void {
    connection.close(CloseCode.GoingAway, 'the host is stopping');
  }
}
