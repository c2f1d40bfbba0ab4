/** The host: all rooms, wired together by constructor arguments. Nothing else knows them all. */
import path from 'node:path';
import { ErrorCode, ROOT_CHANNEL, type SessionState, type StateAction } from '@atrium/protocol';
import { Auth } from './auth/auth.js';
import { Audience } from './channels/audience.js';
import { Broadcaster } from './channels/broadcast.js';
import type { Channel } from './channels/channel.js';
import { ReplayBuffer } from './channels/replay-buffer.js';
import { type CommittedBatch, type CommittedStep, type UndoneBatch, Writer } from './channels/writer.js';
import { Clients } from './clients.js';
import { type Clock, systemClock } from './clock.js';
import { ConnectionRegistry } from './connection-registry.js';
import type { HostCore, OpenChannel } from './core.js';
import { Customizations } from './customizations/customizations.js';
import type { CustomizationsOptions } from './customizations/options.js';
import { createGateway } from './gateway/create.js';
import type { Gateway } from './gateway/gateway.js';
import type { GatewayAddress, Host, HostActivity, HostOptions } from './host-options.js';
import { COMPACT_EVERY_ENTRIES, REPLAY_MAX_ENVELOPES, STORE_RETRY_MS } from './limits.js';
import type { EntryOrigin } from './log/log.js';
import { type Logger, silentLogger } from './logger.js';
import { KeptContents } from './resources/kept/kept-contents.js';
import { browsedFolders } from './resources/resources.js';
import { RootChannel } from './root-channel.js';
import type { Service } from './service.js';
import { createServices } from './services.js';
import { Catalogue } from './sessions/catalogue.js';
import { Choices } from './sessions/choices.js';
import { abandonCalls, afterLoss, dropAbsentClient } from './sessions/mending.js';
import { Resting } from './sessions/resting.js';
import type { Session } from './sessions/session.js';
import { Sessions } from './sessions/sessions.js';
import { isAtWork, summaryChanges } from './sessions/summaries.js';
import { createTelemetry } from './telemetry/create.js';
import { Telemetry } from './telemetry/telemetry.js';
import { WireLog } from './telemetry/wire-log.js';
import { SessionTrust } from './trust/session-trust.js';
import { NO_TRUST } from './trust/trust.js';
import { Connection } from './wire/connection.js';
import type { HostView } from './wire/dialects/dialects.js';
import { canAnswer } from './wire/dialects/dialects.js';
import { RequestError } from './wire/request-error.js';
import { CloseCode, type Transport } from './wire/transport.js';
import { Worktrees } from './worktrees/worktrees.js';

export async function createHost(options: HostOptions): Promise<Host> {
  const host = new AgentHost(options);
  await host.start();
  return host;
}

class AgentHost implements Host, HostCore {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly #wireLog: WireLog | undefined;
  readonly writer: Writer;
  readonly replay: ReplayBuffer;
  readonly clients: Clients;
  readonly connections: ConnectionRegistry;
  readonly defaultDirectory: string | undefined;
  readonly contents: KeptContents | undefined;
  readonly view: HostView;
  readonly #options: HostOptions;
  readonly #audience = new Audience();
  readonly #broadcaster: Broadcaster;
  readonly #resting: Resting;
  readonly root: RootChannel;
  readonly auth: Auth;
  readonly services: readonly Service[];
  readonly #catalogue: Catalogue;
  readonly #gateway: Gateway;
  readonly #trusts = new WeakMap<Session, SessionTrust>();
  #gatewayAddress: GatewayAddress | undefined;
  readonly sessions: Sessions;
  readonly customizations: Customizations | undefined;

  constructor(options: HostOptions) {
    const { log, agents, tools = [], clock = systemClock } = options;
    this.#options = options;
    this.clock = clock;
    this.telemetry = new Telemetry({ clock, ...options.telemetry });
    const logger = this.telemetry.alongside(options.logger ?? silentLogger);
    this.logger = logger;
    this.#wireLog = options.wireLog === undefined ? undefined : new WireLog({ folder: options.wireLog, clock, logger });
    this.defaultDirectory = options.defaultDirectory;
    this.contents =
      options.dataFolder === undefined ? undefined : new KeptContents(path.join(options.dataFolder, 'content'));
    this.writer = new Writer({
      log,
      clock,
      logger,
      show: (batch) => this.#show(batch),
      stored: (entries, milliseconds) => {
        this.telemetry.measure('atrium.log.commit.duration', 'ms', milliseconds);
        this.telemetry.measure('atrium.log.commit.entries', '{entry}', entries);
      },
      undone: (batch) => this.#undone(batch),
    });
    this.replay = new ReplayBuffer(log.head);
    this.clients = new Clients(log, this.writer, clock);
    this.connections = new ConnectionRegistry({
      clock,
      left: (connection) => this.#left(connection),
      lost: () => this.#releaseRole(),
      gone: (clientId) => this.#forgetClient(clientId),
    });
    this.#broadcaster = new Broadcaster(
      this.#audience,
      (clientId) => this.connections.of(clientId),
      () => this.connections.all(),
    );
    this.#resting = new Resting({
      clock,
      logger,
      isWatched: (uri) => this.isWatched(uri),
      putAway: (uri) => this.#putAway(uri),
    });
    this.view = {
      providerOf: (uri) => this.#catalogue.providerOf(uri),
      sessionOf: (uri) => this.sessions.inMemory.get(uri)?.committed,
      memoryOf: (uri) => this.#broadcaster.memoryOf(uri),
    };
    this.root = new RootChannel(log, this.writer);
    this.#catalogue = new Catalogue(log, this.writer);
    this.#gateway = createGateway({
      clock,
      logger,
      telemetry: this.telemetry,
      isStrict: options.strictProviders ?? false,
      address: () => this.#gatewayAddress,
      trustOf: (session) => this.#trustOf(session),
      settled: () => this.writer.settled(),
      afterCommit: (then) => this.writer.afterCommit(then),
      mayRest: (uri) => this.mayRest(uri),
      ...(options.providerFolder !== undefined && { filesFolder: options.providerFolder }),
    }).gateway;
    this.customizations = options.customizations && this.#customizations(options.customizations);
    this.auth = new Auth({
      clock,
      logger,
      agents,
      giveToServers: (resource, token) => this.customizations?.authenticate(resource, token) ?? false,
      notify: (channel, method, params) => this.notify(channel, method, params),
    });
    const worktrees =
      options.dataFolder === undefined ? [] : [new Worktrees(path.join(options.dataFolder, 'worktrees'), logger)];
    const telemetry = createTelemetry(this, options.telemetry ?? {});
    this.services = [telemetry, this.auth, ...worktrees, ...createServices(this, options)];
    this.sessions = new Sessions({
      core: this,
      log,
      catalogue: this.#catalogue,
      agents,
      tools,
      extensions: options.extensions ?? [],
      companions: [
        ...[this.#gateway, this.customizations].flatMap((room) =>
          room ? [(session: Session) => room.attach(session)] : [],
        ),
        ...this.services.flatMap(({ attach }) => attach ?? []),
      ],
      announce: (method, params) => this.notify(ROOT_CHANNEL, method, params),
      counted: () => this.#count(),
      choices: new Choices({
        worktrees: worktrees[0],
        defaultDirectory: this.defaultDirectory,
        browsed: browsedFolders(this.defaultDirectory, options.browsedFolders),
        autoApprove: () => this.root.settings.autoApprove ?? false,
        recentFolders: () => this.#catalogue.folders(),
      }),
    });
  }

  async start(): Promise<void> {
    const { log, agents } = this.#options;
    await this.replay.load(log);
    await this.#catalogue.load();
    await this.root.load(agents);
    this.#count();
    for (const service of this.services) await service.start?.();
    await this.sessions.recover();
    await this.sessions.purge();
    await this.writer.settled();
    for (const { message } of log.repairs) this.logger.log('warn', message);
  }

  connect(transport: Transport): void {
    this.connections.add(new Connection(this, this.#wireLog?.watch(transport) ?? transport));
  }

  connectProvider(transport: Transport, origin: 'in-process' | 'network'): void {
    this.#gateway.connect(transport, origin);
  }

  get activity(): HostActivity {
    const working = [...this.sessions.inMemory.values()].filter((session) => isAtWork(session.state)).length;
    const providers = [...this.#gateway.connections];
    const ownProviders = providers.filter(({ access }) => access?.trust === 'project').length;
    const terminals = this.services.reduce((sum, { running = 0 }) => sum + running, 0);
    const clients = [...this.connections.all()].length;
    return { clients, providers: providers.length, ownProviders, working, terminals };
  }

  gatewayAt(address: GatewayAddress): void {
    this.#gatewayAddress = address;
  }

  #customizations(options: CustomizationsOptions): Customizations {
    return new Customizations({
      options,
      clock: this.clock,
      logger: this.logger,
      trustOf: (session) => this.#trustOf(session),
      isTrusted: async (folder) => this.#options.trust?.isTrusted(folder) ?? false,
      connectionOf: (clientId) => this.connections.of(clientId),
      notify: (channel, method, params) => this.notify(channel, method, params),
    });
  }

  /** One question per session, whatever waits there. */
  #trustOf(session: Session): SessionTrust {
    const trust = this.#trusts.get(session) ?? new SessionTrust(session, this.#options.trust ?? NO_TRUST);
    this.#trusts.set(session, trust);
    return trust;
  }

  async stop(): Promise<void> {
    for (const connection of [...this.connections.all()]) connection.close(CloseCode.GoingAway, 'the host is stopping');
    this.connections.stop();
    this.#resting.stop();
    await this.sessions.close();
    for (const service of this.services) await service.close?.();
    this.#gateway.close();
    await this.writer.settled().catch(() => {});
    await this.#options.log.close();
  }

  async open(uri: string): Promise<OpenChannel | undefined> {
    if (uri === ROOT_CHANNEL) return this.root;
    const service = this.#serviceOf(uri);
    return service ? service.open?.(uri) : this.sessions.open(uri);
  }

  #serviceOf(uri: string): Service | undefined {
    return this.services.find(({ scheme }) => scheme !== undefined && uri.startsWith(scheme));
  }

  notify(uri: string, method: string, params: object): void {
    this.#broadcaster.notify(uri, method, params, this.view);
  }

  subscribe(connection: Connection, channel: Channel): void {
    connection.holdForAnswer();
    this.#audience.add(connection, channel.uri);
  }

  unsubscribe(connection: Connection, uri: string): void {
    this.#audience.remove(connection, uri);
    this.#unwatched(uri);
  }

  #unwatched(uri: string): void {
    this.mayRest(uri);
    if (!this.isWatched(uri)) this.#serviceOf(uri)?.unwatched?.(uri);
  }

  unsubscribeAll(uri: string): void {
    this.#audience.clear(uri);
    this.#broadcaster.forget(uri);
  }

  isWatched(uri: string): boolean {
    return this.#audience.has(uri);
  }

  watchedBy(connection: Connection): readonly string[] {
    return this.#audience.watchedBy(connection);
  }

  unsentTo(uri: string): number {
    const waiting = [...this.#audience.of(uri)].map(({ unsentBytes }) => unsentBytes);
    return waiting.length === 0 ? 0 : Math.min(...waiting);
  }

  mayRest(uri: string): void {
    if (this.sessions.inMemory.has(uri)) this.#resting.used(uri);
  }

  mayBeAnswered(uri: string): boolean {
    const watchers = [...this.#audience.of(uri)];
    return watchers.length === 0 || watchers.some(({ dialect }) => canAnswer(dialect));
  }

  isWatchedWithoutQuestions(uri: string): boolean {
    return [...this.#audience.of(uri)].some(({ dialect }) => !canAnswer(dialect));
  }

  unknownChannel(uri: string): RequestError {
    return unknownChannel(uri);
  }

  /** One stored tick: kept for returning clients, and shown to those who are here. */
  #show(batch: CommittedBatch): void {
    const steps = new Map(batch.steps.map((step) => [step.envelope.serverSeq, step]));
    for (const { seq } of batch.entries) this.replay.add(seq, steps.get(seq)?.envelope, steps.get(seq)?.text ?? '');
    const start = performance.now();
    this.#broadcaster.show(batch);
    this.telemetry.measure('atrium.fanout.duration', 'ms', performance.now() - start);
    this.telemetry.count('atrium.fanout.actions', '{action}', batch.steps.length);
    this.#compactNowAndThen(batch);
    for (const { channel, before } of firstSteps(batch))
      this.#announceChanges(channel as Channel<SessionState>, before);
  }

  /** Entries that archives have passed are dropped, away from the hot path. */
  #compactNowAndThen({ entries }: CommittedBatch): void {
    if (!entries.some(({ seq }) => seq % COMPACT_EVERY_ENTRIES === 0)) return;
    const { log } = this.#options;
    log
      .compact({ upTo: log.head, keep: REPLAY_MAX_ENVELOPES })
      .catch((error) => this.logger.log('warn', 'could not compact the log', { error: String(error) }));
  }

  #announceChanges(channel: Channel<SessionState>, before: SessionState): void {
    if (channel.uri === ROOT_CHANNEL || !this.#catalogue.isListed(channel.uri)) return;
    const { committed } = channel;
    const changes = summaryChanges(before.summary, committed.summary);
    if (changes) {
      this.notify(ROOT_CHANNEL, 'root/sessionSummaryChanged', { session: channel.uri, changes });
    }
    if (!committed.activeTurn) this.mayRest(channel.uri);
  }

  async #putAway(uri: string): Promise<void> {
    await this.sessions.putAway(uri);
    if (!this.sessions.inMemory.has(uri)) this.#broadcaster.forget(uri);
  }

  /** What could not be stored never happened. Clients come back and ask for it again; the host mends its own part. */
  #undone({ entries, steps }: UndoneBatch): void {
    for (const { channel, origin } of entries) {
      if (origin && !this.sessions.inMemory.get(channel)?.isHolding(origin)) this.#askAgain(origin);
    }
    for (const [uri, lost] of ownActions(steps)) {
      if (uri === ROOT_CHANNEL) this.clock.after(STORE_RETRY_MS, () => this.#count());
      else this.#mend(uri, lost);
    }
  }

  #mend(uri: string, lost: readonly StateAction[]): void {
    const session = this.sessions.inMemory.get(uri);
    if (session) afterLoss(session, lost);
  }

  #askAgain(origin: EntryOrigin): void {
    void this.clients.release(origin);
    const connection = this.connections.of(origin.clientId);
    if (connection?.identity?.epoch !== origin.epoch) return;
    connection.close(CloseCode.NotStored, 'could not be stored: resume and send it again');
  }

  #count(): void {
    this.root.setActiveSessions(this.#catalogue.count);
  }

  #left(connection: Connection): void {
    for (const uri of this.#audience.leave(connection)) this.#unwatched(uri);
    for (const service of this.services) service.left?.(connection);
  }

  /** The role of active client ends with the connection; its calls get a grace period. */
  #releaseRole(): void {
    for (const session of this.sessions.inMemory.values()) dropAbsentClient(session);
  }

  /** It did not come back in time. */
  #forgetClient(clientId: string): void {
    this.clients.forget(clientId);
    for (const session of this.sessions.inMemory.values()) abandonCalls(session, clientId);
  }
}

function unknownChannel(uri: string): RequestError {
  const isOther = /^ahp-(terminal|changeset|resource-watch|otlp|root)/.test(uri);
  if (isOther) return new RequestError(ErrorCode.NotFound, `there is no channel ${uri}`);
  return new RequestError(ErrorCode.SessionNotFound, `there is no session ${uri}; listSessions names those there are`);
}

/** The first step of each channel in a batch: the state before it is the state before the tick. */
function firstSteps({ steps }: CommittedBatch): { channel: Channel; before: SessionState }[] {
  const first = new Map<Channel, SessionState>();
  for (const { channel, before } of steps) if (!first.has(channel)) first.set(channel, before as SessionState);
  return [...first].map(([channel, before]) => ({ channel, before }));
}

/** What the host itself did, by channel. */
function ownActions(steps: readonly CommittedStep[]): Map<string, StateAction[]> {
  const actions = new Map<string, StateAction[]>();
  for (const { channel, envelope } of steps) {
    if (!envelope.origin) actions.set(channel.uri, [...(actions.get(channel.uri) ?? []), envelope.action]);
  }
  return actions;
}
