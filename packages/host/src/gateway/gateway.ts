/**
 * The second front door of the host: providers come in here and add tools, gates, prompt text and events to live
 * sessions. The gateway keeps who is connected and which sessions are open; its services do the rest.
 */
import type { ToGatewayMessage, ToGatewayMessageMap } from '@atrium/protocol/provider';
import type { Clock } from '../clock.js';
import type { Extension } from '../extensions/extension.js';
import type { Logger } from '../logger.js';
import type { Companion } from '../sessions/companion.js';
import type { Session } from '../sessions/session.js';
import { type Throttle, throttle } from '../tools/throttle.js';
import { CloseCode, type Transport } from '../wire/transport.js';
import { type Access, INTERNAL_ACCESS } from './access.js';
import { Binder, type BinderParts } from './binder.js';
import { ProviderConnection } from './connection.js';
import type { Doorkeeper } from './doorkeeper.js';
import { invalidSession, shown, unauthorized } from './gateway-error.js';
import type { Provider } from './provider.js';
import { Registry, type RegistryEntry } from './registry.js';
import { extensionId, type Group, Room } from './room.js';
import type { GatewayCore, GatewayService, Handlers } from './service.js';

/** Titles may change with every word of an agent; lists of sessions need not. */
export const TITLES_INTERVAL_MS = 1_000;

export interface GatewayParts extends Omit<BinderParts, 'core' | 'services'> {
  readonly clock: Clock;
  readonly logger: Logger;
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
  readonly #parts: GatewayParts;
  readonly #services: readonly GatewayService[];
  readonly #handlers: Handlers;
  readonly #doorkeeper: Doorkeeper;
  readonly #binder: Binder;
  readonly #registry = new Registry();
  readonly #connections = new Set<ProviderConnection>();
  readonly #titlesChanged: Throttle;
  #heard = 0;
  #isClosed = false;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.logger = parts.logger;
    this.#services = parts.services(this);
    this.#handlers = Object.assign({}, ...this.#services.map(({ handlers }) => handlers));
    this.#doorkeeper = parts.doorkeeper(this);
    this.#binder = new Binder({ ...parts, core: this, services: this.#services });
    this.#titlesChanged = throttle(parts.clock, TITLES_INTERVAL_MS, () => this.#announce());
  }

  rooms(): readonly Room[] {
    return this.#registry.rooms();
  }

  /** Every session that is open to providers. */
  sessions(): readonly RegistryEntry[] {
    return this.#registry.entries();
  }

  settled(): Promise<void> {
    return this.#parts.settled();
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
    if (!connection.access) connection.enter('AwaitHello');
    connection.access = access;
    const active = this.#registry.entriesFor(access);
    connection.send({ type: 'sessions', active, ...(token !== undefined && { token }) });
  }

  /** An everywhere-bound provider is ready for a session that came later. */
  #ready(provider: Provider, { sessionId }: ToGatewayMessageMap['session.ready']): void {
    if (!provider.isEverywhere) throw unauthorized('session.ready is for providers that are bound to all sessions');
    const room = this.#registry.get(sessionId);
    if (!room) throw invalidSession(`there is no session ${shown(sessionId)}`, sessionId);
    this.#binder.ready(provider, room);
  }

  #closed(connection: ProviderConnection): void {
    this.#connections.delete(connection);
    this.#doorkeeper.left(connection);
    this.#binder.lost(connection);
  }

  /** A session entered memory. It is open to providers from the moment it is ready until it ends. */
  attach(session: Session): Companion {
    const room = new Room(session, {
      extension: (group) => this.#extension(group),
      changed: (group) => {
        for (const service of this.#services) service.changed?.(group);
        if (room.bindings.length === 0) this.#parts.mayRest(session.uri);
      },
    });
    // The session is still being put together; nothing can be written to it in this very moment.
    if (session.state.lifecycle === 'ready') {
      queueMicrotask(() => {
        session.standing.withdrawStale(session.state);
        this.#open(room);
      });
    }
    return {
      begin: async () => {
        room.isUsed = true;
        if (this.#registry.has(room)) this.#use(room);
      },
      get keepsAwake() {
        return room.bindings.length > 0;
      },
      observe: (step) => {
        const { action, origin } = step.envelope;
        if (origin) this.#registry.touch(room);
        if (action.type === 'session/ready') this.#open(room);
        if (action.type === 'session/titleChanged' && this.#registry.has(room)) this.#titlesChanged.request();
        for (const service of this.#services) service.observe?.(room, step);
      },
      close: () => this.#end(room),
    };
  }

  #extension(group: Group): Extension {
    const parts = this.#services.map((service) => service.extend?.(group));
    return Object.assign({ id: extensionId(group.name), name: group.name }, ...parts);
  }

  #open(room: Room): void {
    const leaving = this.#registry.leaving(room.id);
    if (leaving) return void leaving.then(() => this.#open(room));
    if (room.session.isClosed || this.#registry.get(room.id)) return;
    this.#registry.add(room);
    for (const service of this.#services) service.opened?.(room);
    this.#announce();
    if (room.isUsed) this.#use(room);
  }

  #use(room: Room): void {
    for (const service of this.#services) service.used?.(room);
  }

  async #end(room: Room): Promise<void> {
    if (!this.#registry.has(room)) return;
    const { session } = room;
    // One that only leaves memory may come back: whoever was let into it is let in again.
    const hasEnded = !session.parts.catalogue.isListed(session.uri);
    room.isEnding = true;
    this.#doorkeeper.closed(room, hasEnded);
    await this.#takeApart(room);
  }

  /** Providers hear of it first, then everybody sees it gone; it is taken apart when they are ready, or time is up. */
  async #takeApart(room: Room): Promise<void> {
    const ready = Promise.all(this.#services.map((service) => service.ending?.(room)));
    const apart = ready.then(async () => {
      this.#binder.unbindRoom(room, (provider) => this.#connectionOf(provider));
      await Promise.all(this.#services.map((service) => service.ended?.(room)));
    });
    this.#registry.remove(room, apart);
    this.#announce();
    await apart;
  }

  #connectionOf(provider: Provider): ProviderConnection | undefined {
    return [...this.#connections].find((connection) => connection.provider === provider);
  }

  /** Everybody who has been let in is told which sessions there are now. */
  #announce(): void {
    for (const connection of this.#connections) {
      const { access } = connection;
      if (access) connection.send({ type: 'sessions.updated', active: this.#registry.entriesFor(access) });
    }
  }

  /** Everybody is sent away, also those who are still to come. */
  close(): void {
    this.#isClosed = true;
    this.#titlesChanged.stop();
    for (const connection of [...this.#connections]) this.#sendAway(connection);
  }

  #sendAway(connection: ProviderConnection): void {
    connection.close(CloseCode.GoingAway, 'the host is stopping');
  }
}
