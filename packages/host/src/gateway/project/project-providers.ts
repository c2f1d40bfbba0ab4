/**
 * The providers of a project that are on their way into its session. A turn waits for them, but not for long: what they
 * guard is guarded from its first call on, and what they lend is there when the agent looks.
 */

import path from 'node:path';
import { PROJECT_FILE, readConfigFile } from '../../config/config-file.js';
import type { ProviderConfig } from '../../config/schema.js';
import { folderOf } from '../../core/sessions/session-agent.js';
import type { Clock } from '../../core/util/clock.js';
import type { Logger } from '../../core/util/logger.js';
import { type Program, providerProgram } from '../../plugins/trust/programs.js';
import type { GatewaySession } from '../gateway-session.js';
import type { GatewayService, GatewayUrl } from '../ports.js';
import type { Binding } from '../provider.js';
import type { ProviderTokens } from '../provider-auth.js';
import type { ListedProviders } from './listed-providers.js';
import { OrphanReaper } from './orphan-reaper.js';
import { ProviderProcess } from './provider-process.js';

/** From the start of its process until a provider is bound. Most need a fraction of it; some never bind. */
export const ARRIVAL_MAX_MS = 3_000;

interface Arrival {
  readonly isOver: Promise<void>;
  end(): void;
}

export class Arrivals {
  readonly #clock: Clock;
  readonly #expected = new Map<string, Arrival>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  expect(id: string): void {
    const cancelTimer = this.#clock.after(ARRIVAL_MAX_MS, () => this.over(id));
    let end = () => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#expected.set(id, { isOver: isOver.finally(cancelTimer), end });
  }

  /** It is there, or does not come any more. Nobody minds when it was not expected. */
  over(id: string): void {
    this.#expected.get(id)?.end();
    this.#expected.delete(id);
  }

  /** Resolves when everybody who is on the way now has come, or will not. Who sets out later is not waited for. */
  async all(): Promise<void> {
    await Promise.all([...this.#expected.values()].map(({ isOver }) => isOver));
  }
}

/**
 * Providers that a session's folder declares in its `atrium.json`: started with the session once the folder is trusted,
 * started again when they fail, ended with the session.
 */

/** A folder with more is not a project but a mistake. */
export const PROJECT_PROVIDERS_MAX = 20;

export interface ProjectProvidersParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tokens: ProviderTokens;
  /** Where providers find the gateway; undefined while it has no port. */
  address(): GatewayUrl | undefined;
  readonly listed: ListedProviders;
  /** Shows people why something does not run. */
  note(session: GatewaySession, from: string, text: string): void;
}

/** Whatever runs in one session, and whoever is on the way there. */
interface Running {
  readonly processes: ProviderProcess[];
  readonly arrivals: Arrivals;
  /** The session rests: what may start now starts when it works again. */
  isSuspended: boolean;
}

interface Declared {
  readonly name: string;
  readonly config: ProviderConfig;
  readonly program: Program;
}

/** What a session adds to its turns while its project has providers. */
const EXTENSION_ID = 'gateway-project:/';

export class ProjectProviders implements GatewayService {
  readonly #parts: ProjectProvidersParts;
  readonly #running = new Map<GatewaySession, Running>();
  readonly #will = new OrphanReaper();

  constructor(parts: ProjectProvidersParts) {
    this.#parts = parts;
  }

  used(session: GatewaySession): void {
    const running = this.#running.get(session);
    if (running) return this.#startAgain(session, running);
    const arrivals = new Arrivals(this.#parts.clock);
    this.#running.set(session, { processes: [], arrivals, isSuspended: false });
    const started = this.#start(session).catch((error) =>
      this.#parts.note(session, PROJECT_FILE, error instanceof Error ? error.message : String(error)),
    );
    const untilReady = async () => {
      await started;
      await arrivals.all();
      session.resume();
    };
    const gates = [this.#parts.listed.gateOf(session)];
    session.extensions.set({ id: EXTENSION_ID, name: PROJECT_FILE, untilReady, gates });
  }

  #startAgain(session: GatewaySession, running: Running): void {
    running.isSuspended = false;
    if (!session.isEnding) for (const process of running.processes) process.start();
  }

  /** What they guard stays guarded meanwhile, and what they lend stays listed. */
  async suspending(session: GatewaySession): Promise<void> {
    const running = this.#running.get(session);
    if (!running) return;
    running.isSuspended = true;
    const own = session.bindings.filter(({ provider }) => provider.trust === 'project');
    session.suspend(own.map(({ provider }) => provider.name));
    await Promise.all(running.processes.map((process) => process.stop()));
  }

  bound({ provider, session }: Binding): void {
    if (provider.admission !== undefined) this.#running.get(session)?.arrivals.over(provider.admission);
  }

  /** Bound ones hear that the session ends, like all others; nothing is started any more. */
  ending(session: GatewaySession): undefined {
    session.trust.close();
    for (const process of this.#running.get(session)?.processes ?? []) process.retire();
  }

  async ended(session: GatewaySession): Promise<void> {
    const { processes = [] } = this.#running.get(session) ?? {};
    this.#running.delete(session);
    session.extensions.remove(EXTENSION_ID);
    await Promise.all(processes.map((process) => process.stop()));
  }

  async #start(session: GatewaySession): Promise<void> {
    const folder = folderOf(session.state);
    if (folder === undefined) return;
    const file = await readConfigFile(path.join(folder, PROJECT_FILE));
    const declared = Object.entries(file?.config.providers ?? {});
    if (declared.length > PROJECT_PROVIDERS_MAX)
      this.#parts.note(session, PROJECT_FILE, `only the first ${PROJECT_PROVIDERS_MAX} providers are started`);
    const programs = declared.map(([name, config]) => ({
      name,
      config,
      program: providerProgram(name, config, folder),
    }));
    // What a trusted folder lists is missing from now on until it is there, also when it was changed and waits for a yes.
    if (await session.trust.isFolderTrusted()) for (const each of programs) this.#list(session, each);
    await Promise.all(programs.slice(0, PROJECT_PROVIDERS_MAX).map((each) => this.#startWhenTrusted(session, each)));
  }

  #list(session: GatewaySession, { name, config, program: { digest } }: Declared): void {
    if (this.#running.has(session)) this.#parts.listed.list(session, { name, config, digest });
  }

  #startWhenTrusted(session: GatewaySession, declared: Declared): Promise<void> {
    const { name, config, program } = declared;
    const start = () => {
      this.#list(session, declared);
      this.#spawn(session, name, config);
    };
    const refused = (why: string, isByPerson: boolean) => {
      this.#parts.note(session, name, `does not run: ${why}`);
      if (isByPerson) this.#parts.listed.giveUp(session, name);
    };
    return session.trust.whenTrusted(program, { start, refused });
  }

  #spawn(session: GatewaySession, name: string, config: ProviderConfig): void {
    const running = this.#running.get(session);
    const folder = folderOf(session.state);
    if (!running || folder === undefined || session.isEnding) return;
    const { clock, logger, tokens, note, listed } = this.#parts;
    const address = this.#parts.address();
    if (!address) return note(session, name, 'does not run: the gateway has no port (--gateway-port)');
    const failed = (how: string) => note(session, name, `${how}; it is started again`);
    const { processes, arrivals } = running;
    const place = { folder, address, sessionId: session.id };
    const admitted = (admission: string) => listed.expect(session, name, admission);
    const process = new ProviderProcess({
      name,
      config,
      ...place,
      clock,
      logger,
      tokens,
      arrivals,
      will: this.#will,
      admitted,
      failed,
    });
    processes.push(process);
    if (!running.isSuspended) process.start();
  }
}
