/**
 * The host's entrance for providers, which add tools, gates, prompt text and events to live sessions. Every message
 * takes the same way: its connection reads it, the gateway hands it to the service for it, and that service judges it
 * and applies it to the provider's sessions (`GatewaySession`).
 */

import type { SessionObserver } from '@atrium/core/sessions/session-observer.js';
import { CloseCode, type Transport } from '@atrium/core/wire/transport.js';
import type { ToGatewayMessage, ToGatewayMessageMap } from '@atrium/protocol/provider';
import { Binder } from './binder.js';
import { invalidSession, shown, unauthorized } from './gateway-errors.js';
import type { GatewaySession } from './gateway-session.js';
import { ProviderHooks } from './hooks/provider-hooks.js';
import { CpuBudget } from './inbox.js';
import { OpenSessions, type SessionListEntry } from './open-sessions.js';
import { Pairings } from './pairing.js';
import type { GatewayPorts, GatewayService, Handlers, HostSession, SessionFacts } from './ports.js';
import { ListedProviders } from './project/listed-providers.js';
import { ProjectProviders } from './project/project-providers.js';
import type { Provider } from './provider.js';
import { type Access, checkConnectionCount, INTERNAL_ACCESS, ProviderAuth, ProviderTokens } from './provider-auth.js';
import { ProviderConnection } from './provider-connection.js';
import { Lifecycle, SessionEvents } from './provider-events.js';
import { ProviderStatus } from './provider-status.js';
import { Pushes } from './pushes/pushes.js';
import { Updates } from './registration-updates.js';
import { ResultFolders } from './tools/provider-results.js';
import { ProviderTools } from './tools/provider-tools.js';

export class Gateway {
  readonly #ports: GatewayPorts;
  readonly #connections = new Set<ProviderConnection>();
  readonly #handlers: Handlers;
  readonly #auth: ProviderAuth;
  readonly #binder: Binder;
  readonly #sessions: OpenSessions;
  /** The share of the host's time that all providers on the network may use together. */
  readonly #cpuBudget = new CpuBudget();
  /** Counts messages, to tell which of several instances was active last. */
  #received = 0;
  #isClosed = false;

  constructor(ports: GatewayPorts) {
    const { clock, logger, telemetry, commits, isStrict = false } = ports;
    this.#ports = ports;
    const tokens = new ProviderTokens();
    const folders = new ResultFolders(ports.filesFolder);
    const updates = new Updates({ clock, commits });
    const pushes = new Pushes({ clock, logger, commits, updates, pushed: (event) => ports.pushed?.(event) });
    const note = (session: GatewaySession, from: string, text: string) => pushes.timeline.note(session, from, text);
    const listed = new ListedProviders({ note, evict: (binding, why) => this.#binder.evict(binding, why) });
    const address = () => ports.address();
    const services: readonly GatewayService[] = [
      new ProviderTools({ clock, telemetry, updates, folders }),
      new ProviderHooks({ clock, updates, isStrict }),
      pushes,
      new SessionEvents({ clock, commits, isOfProvider: (session, turnId) => pushes.hasStarted(session, turnId) }),
      new Lifecycle({ clock, commits }),
      listed,
      new ProviderStatus({ clock, note, missing: (session) => listed.missing(session) }),
      new ProjectProviders({ clock, logger, tokens, note, listed, address }),
    ];
    const sessions = () => this.#sessions.list.all();
    this.#handlers = Object.assign({}, ...services.map(({ handlers }) => handlers));
    this.#auth = new ProviderAuth(tokens, new Pairings({ clock, sessions, show: ports.showCodes }));
    this.#binder = new Binder({ clock, commits, services, sessions, listed, folders, isStrict });
    this.#sessions = new OpenSessions({
      clock,
      services,
      connections: this.#connections,
      released: (uri) => ports.released(uri),
      closeTo: (session, hasEnded) => this.#auth.closed(session, hasEnded),
      unbindAll: (session) => this.#binder.unbindAll(session),
    });
  }

  /** Lists every session that is open to providers. */
  sessions(): readonly SessionListEntry[] {
    return this.#sessions.list.entries();
  }

  get connections(): ReadonlySet<ProviderConnection> {
    return this.#connections;
  }

  /** A session was loaded into memory. */
  attach(session: HostSession, facts: SessionFacts): SessionObserver {
    return this.#sessions.attach(session, facts);
  }

  /** Serves one provider. A provider in this process is trusted; all others must authenticate. */
  connect(transport: Transport, origin: 'in-process' | 'network'): ProviderConnection {
    const { clock, logger } = this.#ports;
    const connection = new ProviderConnection({
      transport,
      clock,
      logger,
      ...(origin === 'network' && { cpuBudget: this.#cpuBudget }),
      events: {
        message: (from, message) => this.#take(from, message),
        closed: (from) => this.#closed(from),
      },
    });
    this.#connections.add(connection);
    connection.start(origin === 'network' ? 'AwaitAuth' : 'AwaitHello');
    if (this.#isClosed) rejectConnection(connection);
    else if (origin === 'in-process') this.#admit(connection, INTERNAL_ACCESS);
    return connection;
  }

  /** Closes all connections, including those that are still to come. */
  close(): void {
    this.#isClosed = true;
    this.#sessions.stop();
    for (const connection of [...this.#connections]) rejectConnection(connection);
  }

  #take(connection: ProviderConnection, message: ToGatewayMessage): void | Promise<void> {
    if (message.type === 'auth' || message.type === 'auth.confirm')
      return this.#auth.take(connection, message, (access, token) => this.#admit(connection, access, token));
    if (connection.provider) connection.provider.lastHeard = ++this.#received;
    if (message.type === 'hello') return this.#hello(connection, message);
    if (message.type === 'goodbye') return this.#binder.goodbye(connection);
    const { provider } = connection;
    if (!provider) return undefined;
    if (message.type === 'session.ready') return this.#ready(provider, message);
    const handler = this.#handlers[message.type] as ((it: ToGatewayMessage, from: Provider) => void) | undefined;
    handler?.(message, provider);
  }

  /** Later messages wait until the `hello` is decided, because its outcome decides what they mean. */
  async #hello(connection: ProviderConnection, message: ToGatewayMessageMap['hello']): Promise<void> {
    if (connection.provider) connection.enter('Rebinding');
    try {
      await this.#binder.hello(connection, message);
      if (connection.provider) connection.provider.lastHeard = ++this.#received;
    } finally {
      if (connection.state === 'Rebinding') connection.enter(connection.provider ? 'Bound' : 'Unbound');
    }
  }

  #admit(connection: ProviderConnection, access: Access, token?: string): void {
    if (!connection.access) {
      checkConnectionCount(access, this.#connections);
      connection.admit(access);
    }
    const active = this.#sessions.list.entriesFor(access);
    connection.send({ type: 'sessions', active, ...(token !== undefined && { token }) });
  }

  /** A provider that is bound to all sessions is ready for a session that came later. */
  #ready(provider: Provider, { sessionId }: ToGatewayMessageMap['session.ready']): void {
    if (!provider.isEverywhere) throw unauthorized('session.ready is for providers that are bound to all sessions');
    const session = this.#sessions.list.get(sessionId);
    if (!session) throw invalidSession(`there is no session ${shown(sessionId)}`, sessionId);
    this.#binder.ready(provider, session);
  }

  #closed(connection: ProviderConnection): void {
    this.#connections.delete(connection);
    this.#auth.left(connection);
    this.#binder.lost(connection);
  }
}

function rejectConnection(connection: ProviderConnection): void {
  connection.close(CloseCode.GoingAway, 'the host is stopping');
}
