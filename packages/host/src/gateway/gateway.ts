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
import type { SessionTrust } from '../plugins/trust/session-trust.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { degradedFor, degradedWords } from './authorize.js';
import { Binder, type BinderParts } from './binder.js';
import { ProviderConnection } from './connection.js';
import { invalidSession, shown, unauthorized } from './errors.js';
import { SessionEvents } from './events.js';
import type { Room } from './gateway-session.js';
import { ProviderHooks } from './hooks/hooks.js';
import { Share } from './inbox.js';
import { Lifecycle } from './lifecycle.js';
import { OpenSessions, type RegistryEntry } from './open-sessions.js';
import { Pairings, type ShowCodes } from './pairing.js';
import { ListedProviders } from './project/listed-providers.js';
import { ProjectProviders } from './project/project-providers.js';
import { Binding, type Provider } from './provider.js';
import { type Access, checkPlaces, Doorkeeper, INTERNAL_ACCESS, ProviderTokens } from './provider-auth.js';
import { Presence } from './provider-status.js';
import { News } from './pushes/pushes.js';
import type { GatewayCore, GatewayService, Handlers } from './service.js';
import { checkTools } from './tools/registration.js';
import { PersistFolders } from './tools/results.js';
import { ProviderTools } from './tools/tools.js';
import { Updates } from './updates.js';

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

/** Puts the gateway together. */

export interface GatewayOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry?: Telemetry;
  /** Where providers that run on this machine may leave files; absent when they may not. */
  readonly filesFolder?: string;
  /** Refuses rules and prompt changes that the agent of a session cannot honour, instead of only saying so. */
  readonly isStrict?: boolean;
  /** Where providers that the host starts find the gateway; undefined while it has no port. */
  address(): { readonly url: string; readonly port: number } | undefined;
  trustOf(session: Session): SessionTrust;
  /** Where people see which programs ask to be let in. */
  readonly showCodes: ShowCodes;
  settled(): Promise<void>;
  afterCommit(then: () => void): void;
  mayRest(uri: string): void;
}

export interface CreatedGateway {
  readonly gateway: Gateway;
  /** For processes that the host starts. */
  readonly tokens: ProviderTokens;
}

export function createGateway(options: GatewayOptions): CreatedGateway {
  const tokens = new ProviderTokens();
  const isStrict = options.isStrict ?? false;
  const folders = new PersistFolders(options.filesFolder);
  const persistDir = (provider: Provider) => folders.of(provider);
  let listed: ListedProviders | undefined;
  const gateway = new Gateway({
    ...options,
    persistDir,
    checkName: (provider, room) => listed?.checkName(provider, room),
    checkTools: (provider, room, tools) => checkTools(provider, room, tools),
    isStrict,
    degraded: (provider, room) => degradedFor(provider.bindings.get(room.id) ?? new Binding(provider, room)),
    doorkeeper: (core) => new Doorkeeper(tokens, new Pairings(core, options.showCodes)),
    services: (core) => {
      const updates = new Updates(core);
      const news = new News(core, updates);
      const note = (room: Room, from: string, text: string) => news.timeline.note(room, from, text);
      const trustOf = (room: Room) => options.trustOf(room.session);
      const providers = new ListedProviders({ core, note });
      listed = providers;
      return [
        new ProviderTools({ core, updates, persistDir }),
        new ProviderHooks({ core, updates, isStrict }),
        news,
        new SessionEvents({ core, isOfProvider: (room, turnId) => news.hasStarted(room, turnId) }),
        new Lifecycle(core),
        providers,
        new Presence({ degraded: degradedWords, missing: (room) => providers.missing(room), note }),
        new ProjectProviders({ core, tokens, note, trustOf, listed: providers, address: () => options.address() }),
      ];
    },
  });
  return { gateway, tokens };
}
