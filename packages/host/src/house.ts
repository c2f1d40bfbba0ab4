/** The map of the house: every room of the host, and how they are wired. Nothing else knows them all. */

import { ROOT_CHANNEL } from '@atrium/protocol';
import type { Auth } from './auth/auth.js';
import { putImported } from './blobs/named-blobs.js';
import type { OpenChannel } from './core/channels/open-channel.js';
import { RootChannel } from './core/channels/root-channel.js';
import { Writer } from './core/channels/writer.js';
import type { BlobStore } from './core/contracts/blobs.js';
import type { HostCore } from './core/contracts/host-core.js';
import { Compaction } from './core/log/compaction.js';
import { PostCommit } from './core/post-commit.js';
import { Catalogue } from './core/sessions/catalogue.js';
import { IdleUnloader } from './core/sessions/idle.js';
import { PROCESSES_REST_MS } from './core/sessions/limits.js';
import { abandonCalls } from './core/sessions/recovery.js';
import { type Service, serviceOf } from './core/sessions/service.js';
import { SessionRecords } from './core/sessions/session-records.js';
import { Sessions } from './core/sessions/sessions.js';
import { MODEL_OUTPUT_MAX_CHARACTERS } from './core/tool-calls/limits.js';
import { type Clock, systemClock } from './core/util/clock.js';
import { type Logger, silentLogger } from './core/util/logger.js';
import { Clients } from './core/wire/clients.js';
import type { Connection } from './core/wire/connection.js';
import { ConnectionRegistry } from './core/wire/connections.js';
import type { WireContext } from './core/wire/context.js';
import type { HostView } from './core/wire/dialects/dialects.js';
import { REPLAY_MAX_ENVELOPES } from './core/wire/limits.js';
import { ReplayBuffer } from './core/wire/replay.js';
import { Requests, unknownChannel } from './core/wire/requests.js';
import { Subscriptions } from './core/wire/subscriptions.js';
import { DamageReports } from './damage-reports.js';
import type { Gateway } from './gateway/gateway.js';
import { PairingBoard } from './gateway/pairing.js';
import type { GatewayAddress, HostOptions } from './host-options.js';
import type { Customizations } from './plugins/customizations/customizations.js';
import { SessionTrusts } from './plugins/trust/session-trust.js';
import { NO_TRUST } from './plugins/trust/trust.js';
import { authFor, blobsIn, choicesWith, companionsOf, customizationsWith, gatewayWith, worktreesIn } from './rooms.js';
import { createServices } from './services.js';
import { createTelemetry } from './telemetry/service.js';
import { Telemetry } from './telemetry/telemetry.js';

export class House implements HostCore, WireContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly defaultDirectory: string | undefined;
  readonly blobs: BlobStore | undefined;
  readonly toolOutputMaxCharacters: number;

  // What happens: one writer stores it, and what follows is decided behind it.
  readonly writer: Writer;
  readonly replay: ReplayBuffer;
  readonly #postCommit: PostCommit;

  // Who is here: clients on their connections, and what they watch.
  readonly connections: ConnectionRegistry;
  readonly clients: Clients;
  readonly subscriptions: Subscriptions;
  readonly idle: IdleUnloader;
  readonly requests: Requests;
  readonly view: HostView;

  // What there is: the root, the sessions and what is around them, and everything else that answers requests.
  readonly root: RootChannel;
  readonly sessions: Sessions;
  readonly catalogue: Catalogue;
  readonly gateway: Gateway;
  readonly customizations: Customizations | undefined;
  readonly auth: Auth;
  readonly pairings: PairingBoard;
  readonly services: readonly Service[];
  readonly notes: SessionRecords;
  readonly damage: DamageReports;
  /** Where providers that the host starts itself are told to come. */
  gatewayAddress: GatewayAddress | undefined;

  /** `superseded` is called when another host has taken over the log. */
  constructor(options: HostOptions, superseded: (error: Error) => void) {
    const { log, agents, tools = [], extensions = [], clock = systemClock } = options;
    this.clock = clock;
    this.telemetry = new Telemetry({ clock, ...options.telemetry });
    const logger = this.telemetry.alongside(options.logger ?? silentLogger);
    this.logger = logger;
    this.defaultDirectory = options.defaultDirectory;
    this.blobs = blobsIn(options);
    this.toolOutputMaxCharacters = options.toolOutputMaxCharacters ?? MODEL_OUTPUT_MAX_CHARACTERS;

    this.writer = new Writer({
      log,
      clock,
      logger,
      show: (batch) => this.#postCommit.stored(batch),
      stored: (entries, milliseconds) => this.#postCommit.took(entries, milliseconds),
      answered: (origin, answer) => this.clients.sent.answered(origin, answer),
      undone: (batch) => this.#postCommit.undone(batch),
      superseded,
    });
    this.replay = new ReplayBuffer(log.head);
    this.root = new RootChannel(log, this.writer);
    this.catalogue = new Catalogue(log, this.writer);
    this.notes = new SessionRecords(log, this.writer);
    this.damage = new DamageReports({ log, writer: this.writer, clock, logger });

    this.clients = new Clients(log, this.writer, clock);
    this.connections = new ConnectionRegistry({
      clock,
      left: (connection) => {
        this.subscriptions.removeAllOf(connection);
        for (const service of this.services) service.left?.(connection);
      },
      // The role of active client ends with the connection; its calls get a grace period.
      lost: () => {
        for (const session of this.sessions.inMemory.values()) session.dropAbsentClient();
      },
      gone: (clientId) => {
        this.clients.forget(clientId);
        for (const session of this.sessions.inMemory.values()) abandonCalls(session, clientId);
      },
    });
    this.view = {
      providerOf: (uri) => this.catalogue.providerOf(uri),
      sessionOf: (uri) => this.sessions.inMemory.get(uri)?.committed,
      memoryOf: (uri) => this.subscriptions.memoryOf(uri),
    };
    this.subscriptions = new Subscriptions({
      connections: this.connections,
      view: this.view,
      open: (uri) => this.open(uri),
      committedSeq: () => this.writer.committedSeq,
      unsubscribed: (uri) => {
        this.idle.used(uri);
        if (!this.isWatched(uri)) serviceOf(this.services, uri)?.unwatched?.(uri);
      },
    });
    this.idle = new IdleUnloader({
      clock,
      logger,
      isInMemory: (uri) => this.sessions.inMemory.has(uri),
      isWatched: (uri) => this.subscriptions.isWatched(uri),
      unload: async (uri) => {
        await this.sessions.putAway(uri);
        if (!this.sessions.inMemory.has(uri)) this.subscriptions.forget(uri);
      },
    });
    const compaction = new Compaction({
      log,
      logger,
      keep: REPLAY_MAX_ENVELOPES,
      archive: (uri) => this.sessions.archive(uri),
    });

    this.pairings = new PairingBoard(clock, logger);
    const trusts = new SessionTrusts(options.trust ?? NO_TRUST, logger);
    this.gateway = gatewayWith(options, { core: this, address: () => this.gatewayAddress });
    this.customizations = customizationsWith(options, this);
    this.auth = authFor(agents, this);
    const worktrees = worktreesIn(options, this);
    const telemetry = createTelemetry(this, options.telemetry ?? {});
    this.services = [telemetry, this.auth, ...(worktrees ? [worktrees] : []), ...createServices(this, options)];
    this.sessions = new Sessions({
      clock,
      logger,
      writer: this.writer,
      telemetry: this.telemetry,
      presence: this.connections,
      watchers: this.subscriptions,
      deferrals: this.clients.sent,
      blobs: this.blobs,
      toolOutputMaxCharacters: this.toolOutputMaxCharacters,
      services: this.services,
      root: this.root,
      open: (uri) => this.open(uri),
      used: (uri) => this.idle.used(uri),
      log,
      catalogue: this.catalogue,
      notes: this.notes,
      agents,
      tools,
      extensions,
      restProcessesAfterMs: options.restProcessesAfterMs ?? PROCESSES_REST_MS,
      companions: companionsOf({
        catalogue: this.catalogue,
        notes: this.notes,
        gateway: this.gateway,
        trusts,
        customizations: this.customizations,
        services: this.services,
      }),
      choices: choicesWith(options, { core: this, catalogue: this.catalogue, worktrees }),
    });

    const { telemetry: metrics, replay, subscriptions, idle, root, clients, connections } = this;
    const after = { clock, metrics, replay, subscriptions, idle, root, clients, connections, compaction };
    this.#postCommit = new PostCommit({ ...after, sessions: this.sessions });
    this.requests = new Requests({
      sessions: this.sessions,
      subscriptions,
      services: [...this.services, this.#extensionRequests()],
      checkAccess: (connection, agent) => this.auth.check(connection, agent),
    });
  }

  #extensionRequests(): Service {
    return {
      extensionRequests: {
        'atrium/pairings': () => ({ items: this.pairings.look() }),
        'atrium/declinePairing': (_connection, { id }) => ({ wasOpen: this.pairings.decline(String(id)) }),
        'atrium/keepContent': async (connection, params) => {
          await putImported(this.blobs, params, connection);
          return null;
        },
      },
    };
  }

  greeting(): Readonly<Record<string, unknown>> {
    return {
      ...(this.defaultDirectory && { defaultDirectory: this.defaultDirectory }),
      ...Object.assign({}, ...this.services.map(({ greeting }) => greeting)),
      ...this.damage.greeting,
    };
  }

  async open(uri: string): Promise<OpenChannel | undefined> {
    if (uri === ROOT_CHANNEL) return this.root;
    const service = serviceOf(this.services, uri);
    return service ? service.open?.(uri) : this.sessions.open(uri);
  }

  readonly unknownChannel = unknownChannel;

  unsubscribeAll(uri: string): void {
    this.subscriptions.unsubscribeAll(uri);
  }

  isWatched(uri: string): boolean {
    return this.subscriptions.isWatched(uri);
  }

  watchedBy(connection: Connection): readonly string[] {
    return this.subscriptions.channelsOf(connection);
  }

  unsentTo(uri: string): number {
    return this.subscriptions.unsentTo(uri);
  }

  mayRest(uri: string): void {
    this.idle.used(uri);
  }

  mayBeAnswered(uri: string): boolean {
    return this.subscriptions.mayBeAnswered(uri);
  }

  isWatchedWithoutQuestions(uri: string): boolean {
    return this.subscriptions.isWatchedWithoutQuestions(uri);
  }

  notify(uri: string, method: string, params: object): void {
    this.subscriptions.notify(uri, method, params);
  }
}
