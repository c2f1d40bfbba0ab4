/** The map of the house: every room of the host, and how they are wired. Nothing else knows them all. */

import { ROOT_CHANNEL } from '@atrium/protocol';
import type { Auth } from './auth/auth.js';
import type { KeptContents } from './blobs/kept-contents.js';
import { Aftermath } from './core/channels/aftermath.js';
import type { Channel } from './core/channels/channel.js';
import { Compaction } from './core/channels/compaction.js';
import type { NumberedMessage } from './core/channels/encoding.js';
import { ReplayBuffer } from './core/channels/replay-buffer.js';
import { RootChannel } from './core/channels/root-channel.js';
import { Watching } from './core/channels/watching.js';
import { Writer } from './core/channels/writer.js';
import type { HostCore, OpenChannel } from './core/contracts/host-core.js';
import { type Service, serviceOf } from './core/contracts/service.js';
import { MODEL_OUTPUT_MAX_CHARACTERS, PROCESSES_REST_MS } from './core/limits.js';
import { Catalogue } from './core/sessions/catalogue.js';
import { SessionNotes } from './core/sessions/session-notes.js';
import { Sessions } from './core/sessions/sessions.js';
import { type Clock, systemClock } from './core/util/clock.js';
import { type Logger, silentLogger } from './core/util/logger.js';
import { Clients } from './core/wire/clients.js';
import type { Connection } from './core/wire/connection.js';
import { ConnectionRegistry } from './core/wire/connection-registry.js';
import { departures } from './core/wire/departures.js';
import type { HostView } from './core/wire/dialects/dialects.js';
import { unknownChannel } from './core/wire/unknown-channel.js';
import { DamageReports } from './damage-reports.js';
import type { Gateway } from './gateway/gateway.js';
import { PairingBoard } from './gateway/pairing.js';
import type { GatewayAddress, HostOptions } from './host-options.js';
import type { Customizations } from './plugins/customizations/customizations.js';
import { SessionTrusts } from './plugins/trust/session-trusts.js';
import { NO_TRUST } from './plugins/trust/trust.js';
import {
  authFor,
  choicesWith,
  companionsOf,
  contentsIn,
  customizationsWith,
  gatewayWith,
  worktreesIn,
} from './rooms.js';
import { createServices } from './services.js';
import { createTelemetry } from './telemetry/service.js';
import { Telemetry } from './telemetry/telemetry.js';

export class House implements HostCore {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly defaultDirectory: string | undefined;
  readonly contents: KeptContents | undefined;
  readonly toolOutputMaxCharacters: number;

  // What happens: one writer stores it, and what follows is decided behind it.
  readonly writer: Writer;
  readonly replay: ReplayBuffer;
  readonly #aftermath: Aftermath;

  // Who is here: clients on their connections, and what they watch.
  readonly connections: ConnectionRegistry;
  readonly clients: Clients;
  readonly watching: Watching;
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
  readonly notes: SessionNotes;
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
    this.contents = contentsIn(options);
    this.toolOutputMaxCharacters = options.toolOutputMaxCharacters ?? MODEL_OUTPUT_MAX_CHARACTERS;

    this.writer = new Writer({
      log,
      clock,
      logger,
      show: (batch) => this.#aftermath.stored(batch),
      stored: (entries, milliseconds) => this.#aftermath.took(entries, milliseconds),
      answered: (origin, answer) => this.clients.sent.answered(origin, answer),
      undone: (batch) => this.#aftermath.undone(batch),
      superseded,
    });
    this.replay = new ReplayBuffer(log.head);
    this.root = new RootChannel(log, this.writer);
    this.catalogue = new Catalogue(log, this.writer);
    this.notes = new SessionNotes(log, this.writer);
    this.damage = new DamageReports({ log, writer: this.writer, clock, logger });

    this.clients = new Clients(log, this.writer, clock);
    this.connections = new ConnectionRegistry({ clock, ...departures(this) });
    this.watching = new Watching(this, this.connections);
    this.view = {
      providerOf: (uri) => this.catalogue.providerOf(uri),
      sessionOf: (uri) => this.sessions.inMemory.get(uri)?.committed,
      memoryOf: (uri) => this.watching.memoryOf(uri),
    };
    const compaction = new Compaction({ log, logger, archive: (uri) => this.sessions.archive(uri) });
    this.#aftermath = new Aftermath({ core: this, watching: this.watching, compaction });

    this.pairings = new PairingBoard(clock, logger);
    const trusts = new SessionTrusts(options.trust ?? NO_TRUST);
    this.gateway = gatewayWith(options, { core: this, trusts, address: () => this.gatewayAddress });
    this.customizations = customizationsWith(options, { core: this, trusts });
    this.auth = authFor(agents, this);
    const worktrees = worktreesIn(options, this);
    const telemetry = createTelemetry(this, options.telemetry ?? {});
    this.services = [telemetry, this.auth, ...(worktrees ? [worktrees] : []), ...createServices(this, options)];
    this.sessions = new Sessions({
      core: this,
      log,
      catalogue: this.catalogue,
      notes: this.notes,
      agents,
      tools,
      extensions,
      restProcessesAfterMs: options.restProcessesAfterMs ?? PROCESSES_REST_MS,
      companions: companionsOf([this.gateway, this.customizations], this.services),
      choices: choicesWith(options, { core: this, catalogue: this.catalogue, worktrees }),
    });
  }

  async open(uri: string): Promise<OpenChannel | undefined> {
    if (uri === ROOT_CHANNEL) return this.root;
    const service = serviceOf(this.services, uri);
    return service ? service.open?.(uri) : this.sessions.open(uri);
  }

  readonly unknownChannel = unknownChannel;

  // Who watches what is known to one room; the others ask here.

  subscribe(connection: Connection, channel: Channel): void {
    this.watching.subscribe(connection, channel);
  }

  translatedAfter(uri: string, seq: number): readonly NumberedMessage[] | undefined {
    return this.watching.translatedAfter(uri, seq);
  }

  unsubscribe(connection: Connection, uri: string): void {
    this.watching.unsubscribe(connection, uri);
  }

  unsubscribeAll(uri: string): void {
    this.watching.unsubscribeAll(uri);
  }

  isWatched(uri: string): boolean {
    return this.watching.isWatched(uri);
  }

  watchedBy(connection: Connection): readonly string[] {
    return this.watching.watchedBy(connection);
  }

  unsentTo(uri: string): number {
    return this.watching.unsentTo(uri);
  }

  mayRest(uri: string): void {
    this.watching.mayRest(uri);
  }

  mayBeAnswered(uri: string): boolean {
    return this.watching.mayBeAnswered(uri);
  }

  isWatchedWithoutQuestions(uri: string): boolean {
    return this.watching.isWatchedWithoutQuestions(uri);
  }

  notify(uri: string, method: string, params: object): void {
    this.watching.notify(uri, method, params);
  }
}
