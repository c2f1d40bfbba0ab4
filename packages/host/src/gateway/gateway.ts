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
import { CloseCode, type Transport } from '../wire/transport.js';
import { type Access, INTERNAL_ACCESS, isOpenTo, listFor } from './access.js';
import { Binder, type BinderParts } from './binder.js';
import { ProviderConnection } from './connection.js';
import type { Doorkeeper } from './doorkeeper.js';
import { invalidSession, unauthorized } from './gateway-error.js';
import type { Provider } from './provider.js';
import { extensionId, type Group, Room } from './room.js';
import type { GatewayCore, GatewayService, Handlers } from './service.js';

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
  readonly #rooms = new Map<string, Room>();
  readonly #connections = new Set<ProviderConnection>();
  #heard = 0;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.logger = parts.logger;
    this.#services = parts.services(this);
    this.#handlers = Object.assign({}, ...this.#services.map(({ handlers }) => handlers));
    this.#doorkeeper = parts.doorkeeper(this);
    this.#binder = new Binder({ ...parts, core: this, services: this.#services });
  }

  rooms(): readonly Room[] {
    return [...this.#rooms.values()];
  }

  settled(): Promise<void> {
    return this.#parts.settled();
  }

  afterCommit(then: () => void): void {
    this.#parts.afterCommit(then);
  }

  get connections(): ReadonlySet<ProviderConnection> {
    return this.#connections;
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
    if (origin === 'network') connection.start('AwaitAuth');
    else {
      connection.start('AwaitHello');
      this.#letIn(connection, INTERNAL_ACCESS);
    }
    return connection;
  }

  #take(connection: ProviderConnection, message: ToGatewayMessage): void | Promise<void> {
    if (message.type === 'auth' || message.type === 'auth.confirm')
      return this.#doorkeeper.take(connection, message, (access, token) => this.#letIn(connection, access, token));
    const { provider } = connection;
    if (provider) provider.lastHeard = ++this.#heard;
    if (message.type === 'hello') {
      if (provider) connection.enter('Rebinding');
      return this.#binder.hello(connection, message).finally(() => {
        if (connection.state === 'Rebinding') connection.enter(connection.provider ? 'Bound' : 'Unbound');
      });
    }
    if (message.type === 'goodbye') return this.#binder.goodbye(connection);
    if (!provider) return undefined;
    if (message.type === 'session.ready') return this.#ready(provider, message);
    const handler = this.#handlers[message.type] as ((it: ToGatewayMessage, from: Provider) => void) | undefined;
    handler?.(message, provider);
  }

  #letIn(connection: ProviderConnection, access: Access, token?: string): void {
    connection.access = access;
    connection.enter('AwaitHello');
    connection.send({ type: 'sessions', active: this.#list(access), ...(token !== undefined && { token }) });
  }

  #list(access: Access) {
    return listFor(access, this.rooms()).map((room) => room.entry(isOpenTo(access, room)));
  }

  /** An everywhere-bound provider is ready for a session that came later. */
  #ready(provider: Provider, { sessionId }: ToGatewayMessageMap['session.ready']): void {
    if (!provider.isEverywhere) throw unauthorized('session.ready is for providers that are bound to all sessions');
    const room = this.#rooms.get(sessionId);
    if (!room || room.isEnding) throw invalidSession(`there is no session ${sessionId}`, sessionId);
    if (provider.bindings.has(sessionId)) return;
    this.#parts.checkTools(provider, room);
    const binding = this.#binder.bind(provider, room);
    for (const service of this.#services) service.bound?.(binding, false);
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
    if (session.state.lifecycle === 'ready') queueMicrotask(() => this.#open(room));
    return {
      begin: async () => {
        room.isUsed = true;
        if (this.#rooms.has(room.id)) this.#use(room);
      },
      get keepsAwake() {
        return room.bindings.length > 0;
      },
      observe: (step) => {
        if (step.envelope.action.type === 'session/ready') this.#open(room);
        if (step.envelope.action.type === 'session/titleChanged' && this.#rooms.has(room.id)) this.#announce();
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
    if (room.session.isClosed || this.#rooms.has(room.id)) return;
    this.#rooms.set(room.id, room);
    for (const service of this.#services) service.opened?.(room);
    this.#announce();
    if (room.isUsed) this.#use(room);
  }

  #use(room: Room): void {
    for (const service of this.#services) service.used?.(room);
  }

  /** Providers hear of it first, then everybody sees it gone; it is taken apart when they are ready, or time is up. */
  async #end(room: Room): Promise<void> {
    if (this.#rooms.get(room.id) !== room) return;
    room.isEnding = true;
    const ready = this.#services.map((service) => service.ending?.(room));
    this.#rooms.delete(room.id);
    this.#announce();
    await Promise.all(ready);
    this.#binder.unbindRoom(room, (provider) => this.#connectionOf(provider));
    this.#doorkeeper.ended(room);
  }

  #connectionOf(provider: Provider): ProviderConnection | undefined {
    return [...this.#connections].find((connection) => connection.provider === provider);
  }

  /** Everybody who has been let in is told which sessions there are now. */
  #announce(): void {
    for (const connection of this.#connections) {
      const { access } = connection;
      if (access) connection.send({ type: 'sessions.updated', active: this.#list(access) });
    }
  }

  close(): void {
    for (const connection of [...this.#connections]) connection.close(CloseCode.GoingAway, 'the host is stopping');
  }
}
