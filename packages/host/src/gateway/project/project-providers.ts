/**
 * Providers that a session's folder declares in its `atrium.json`. They start with the session once the folder is
 * trusted, start again when they fail, and end with the session.
 */
import path from 'node:path';
import type { Clock } from '@atrium/core/util/clock.js';
import { folderOf } from '@atrium/core/util/folders.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { PROJECT_FILE, readConfigFile } from '../../config/config-file.js';
import type { ProviderConfig } from '../../config/config-schema.js';
import { type Program, providerProgram } from '../../plugins/trust/programs.js';
import type { GatewaySession } from '../gateway-session.js';
import type { GatewayService, GatewayUrl } from '../ports.js';
import type { Binding } from '../provider.js';
import type { ProviderTokens } from '../provider-auth.js';
import type { ListedProviders } from './listed-providers.js';
import { OrphanReaper } from './orphan-reaper.js';
import { ProviderProcess } from './provider-process.js';

/** A folder with more providers than this is a mistake, not a project. */
export const PROJECT_PROVIDERS_MAX = 20;
/**
 * How long a turn waits for a provider, counted from the start of its process. Most bind in a fraction of this; some
 * never do.
 */
export const ARRIVAL_MAX_MS = 3_000;

interface ProjectProvidersOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tokens: ProviderTokens;
  /** Where providers find the gateway; undefined while it has no port. */
  address(): GatewayUrl | undefined;
  readonly listed: ListedProviders;
  /** Shows a note to the people in a session. */
  note(session: GatewaySession, from: string, text: string): void;
}

/** The processes of one session, and the providers that are about to bind to it. */
interface Running {
  readonly processes: ProviderProcess[];
  readonly arrivals: Arrivals;
  /** The session is idle; its processes start when it is used again. */
  isSuspended: boolean;
}

interface Declared {
  readonly name: string;
  readonly config: ProviderConfig;
  readonly program: Program;
}

/** The extension that makes turns wait for the project's providers and keeps the gates of missing ones closed. */
const EXTENSION_ID = 'gateway-project:/';

export class ProjectProviders implements GatewayService {
  readonly #options: ProjectProvidersOptions;
  readonly #running = new Map<GatewaySession, Running>();
  readonly #reaper = new OrphanReaper();

  constructor(options: ProjectProvidersOptions) {
    this.#options = options;
  }

  used(session: GatewaySession): void {
    const running = this.#running.get(session);
    if (running) return this.#startAgain(session, running);
    const arrivals = new Arrivals(this.#options.clock);
    this.#running.set(session, { processes: [], arrivals, isSuspended: false });
    const started = this.#start(session).catch((error) =>
      this.#options.note(session, PROJECT_FILE, error instanceof Error ? error.message : String(error)),
    );
    const untilReady = async () => {
      await started;
      await arrivals.all();
      session.resume();
    };
    const gates = [this.#options.listed.gateOf(session)];
    session.extensions.set({ id: EXTENSION_ID, name: PROJECT_FILE, untilReady, gates });
  }

  #startAgain(session: GatewaySession, running: Running): void {
    running.isSuspended = false;
    if (!session.isEnding) for (const process of running.processes) process.start();
  }

  /** While suspended, their gates stay closed and their tools listed. */
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

  /** Bound providers hear that the session ends, like all others; no more processes start. */
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
      this.#options.note(session, PROJECT_FILE, tooManyDeclared(declared.length));
    const programs = declared.map(([name, config]) => ({
      name,
      config,
      program: providerProgram(name, config, folder),
    }));
    // A listed provider counts as missing until it is bound, even while a change of it waits for a person's yes.
    if (await session.trust.isFolderTrusted()) for (const each of programs) this.#list(session, each);
    await Promise.all(programs.slice(0, PROJECT_PROVIDERS_MAX).map((each) => this.#startWhenTrusted(session, each)));
  }

  #list(session: GatewaySession, { name, config, program: { digest } }: Declared): void {
    if (this.#running.has(session)) this.#options.listed.list(session, { name, config, digest });
  }

  #startWhenTrusted(session: GatewaySession, declared: Declared): Promise<void> {
    const { name, config, program } = declared;
    const start = () => {
      this.#list(session, declared);
      this.#spawn(session, name, config);
    };
    const refused = (why: string, isByPerson: boolean) => {
      this.#options.note(session, name, `does not run: ${why}`);
      if (isByPerson) this.#options.listed.giveUp(session, name);
    };
    return session.trust.whenTrusted(program, { start, refused });
  }

  #spawn(session: GatewaySession, name: string, config: ProviderConfig): void {
    const running = this.#running.get(session);
    const folder = folderOf(session.state);
    if (!running || folder === undefined || session.isEnding) return;
    const { clock, logger, tokens, note, listed } = this.#options;
    const address = this.#options.address();
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
      reaper: this.#reaper,
      admitted,
      failed,
    });
    processes.push(process);
    if (!running.isSuspended) process.start();
  }
}

function tooManyDeclared(count: number): string {
  const max = PROJECT_PROVIDERS_MAX;
  return `lists ${count} providers; the host starts the first ${max} only. What the others guard stays closed: list fewer`;
}

interface Arrival {
  readonly isOver: Promise<void>;
  end(): void;
}

/**
 * The providers of a project that are about to bind to its session. A turn waits for them for a short time, so that
 * their gates apply from its first call on and the agent finds their tools.
 */
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

  /** A provider is bound, or will not come. Ignores providers that nobody waits for. */
  over(id: string): void {
    this.#expected.get(id)?.end();
    this.#expected.delete(id);
  }

  /** Resolves when every provider that is expected now has come, or will not. Later ones are not waited for. */
  async all(): Promise<void> {
    await Promise.all([...this.#expected.values()].map(({ isOver }) => isOver));
  }
}
