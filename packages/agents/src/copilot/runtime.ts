/**
 * The one runtime process behind all sessions of an agent. It starts with the first session and ends with the last. It
 * reads the host's standard input, so it also ends when the host is killed.
 */
import { AgentError } from '@atrium/core/contracts/agent.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { makeFolder } from '@atrium/core/util/folders.js';
import { childEnvironment, type Environment } from '@atrium/core/util/processes.js';
import { succeedsWithin } from '@atrium/core/util/waiting.js';
import type { CopilotAgentOptions } from './backend.js';
import { LOG_IN, runtimeError, TOKEN_REFUSED } from './errors.js';
import { type ClientOptions, type CopilotSdk, loadSdk, type SdkClient } from './sdk.js';

/** How long the runtime may take to answer a ping; after that, it is killed. */
const PING_MAX_MS = 400;
/** How long it may take to end by itself; after that, it is killed. */
const STOP_MAX_MS = 1_500;
/** How often a turn pings the runtime: the SDK does not say when it dies. */
const RUNTIME_CHECK_MS = 1_000;

export class CopilotRuntime {
  readonly #options: CopilotAgentOptions;
  readonly #load: () => Promise<CopilotSdk>;
  /** Its own tools, known once a session has been opened. They are the same for all sessions. */
  toolNames: ReadonlySet<string> = new Set();
  #client: Promise<SdkClient> | undefined;
  /** Settles when the previous runtime has stopped. */
  #ending: Promise<void> = Promise.resolve();
  #sessions = 0;
  /** How many turns are running and sessions are being opened. */
  #working = 0;
  /** A client's token, kept only in memory. */
  #token: string | undefined;
  /** The runtime still has an earlier token. */
  #isOutdated = false;

  constructor(options: CopilotAgentOptions, load: () => Promise<CopilotSdk> = loadSdk) {
    this.#options = options;
    this.#load = load;
  }

  /** Registers a session, which needs the runtime until it calls `release`. */
  join(): void {
    this.#sessions++;
  }

  async release(): Promise<void> {
    this.#sessions--;
    if (this.#sessions === 0) await this.#end();
  }

  /** The token for sessions opened from now on. */
  get token(): string | undefined {
    return this.#token;
  }

  /**
   * Takes a token if GitHub accepts it. Running turns go on with the earlier token; the runtime restarts after them. A
   * separate runtime tests the token: a runtime puts its token into the environment of all commands, so the working one
   * gets the token with each session instead.
   */
  async authenticate(token: string): Promise<void> {
    const client = await this.#started({ gitHubToken: token, useLoggedInUser: false });
    const { isAuthenticated } = await client.getAuthStatus().finally(() => stop(client));
    if (!isAuthenticated) throw new AgentError('auth', TOKEN_REFUSED);
    this.#token = token;
    this.#isOutdated = true;
    this.#renew();
  }

  /** Forgets the token. Running turns go on with it. */
  revoke(): void {
    if (this.#token === undefined) return;
    this.#token = undefined;
    this.#isOutdated = true;
    this.#renew();
  }

  /** Runs work that a restart must not interrupt. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#working++;
    try {
      return await work();
    } finally {
      this.#working--;
      this.#renew();
    }
  }

  /** Ends an outdated runtime once it is idle; the next caller of `client` starts one with the new token. */
  #renew(): void {
    if (this.#isOutdated && this.#working === 0) void this.#end();
  }

  #end(): Promise<void> {
    const running = this.#client?.catch(() => undefined);
    this.#client = undefined;
    this.#isOutdated = false;
    this.#ending = Promise.all([this.#ending, running?.then((client) => client && stop(client))]).then(() => {});
    return this.#ending;
  }

  /** A running runtime, logged in if necessary. A dead one is replaced. */
  client(): Promise<SdkClient> {
    this.#client ??= this.#next().catch((error) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  /** Waits for the previous runtime, because both use the same files. */
  async #next(): Promise<SdkClient> {
    await this.#ending;
    return this.#start();
  }

  /** Kills the runtime when it does not answer. Its sessions go on with the next one. */
  async check(): Promise<void> {
    const running = this.#client;
    const client = await running?.catch(() => undefined);
    if (!client || (await succeedsWithin(systemClock, PING_MAX_MS, client.ping()))) return;
    if (this.#client === running) this.#client = undefined;
    await client.forceStop();
  }

  /** Rejects when the runtime is gone, or when the signal aborts. */
  async gone(client: SdkClient, signal: AbortSignal): Promise<never> {
    for (;;) {
      await new Promise<void>((resolve) => void systemClock.after(RUNTIME_CHECK_MS, resolve));
      signal.throwIfAborted();
      await client.ping();
    }
  }

  async #start(): Promise<SdkClient> {
    const { providerConfig, gitHubToken = '', useLoggedInUser = !providerConfig } = this.#options;
    const client = await this.#started({ useLoggedInUser, ...(gitHubToken !== '' && { gitHubToken }) });
    const isEnough = providerConfig !== undefined || this.#token !== undefined;
    if (isEnough || (await client.getAuthStatus()).isAuthenticated) return client;
    await client.forceStop();
    throw new AgentError('auth', LOG_IN);
  }

  async #started(login: Pick<ClientOptions, 'gitHubToken' | 'useLoggedInUser'>): Promise<SdkClient> {
    const { home } = this.#options;
    try {
      const [{ CopilotClient }] = await Promise.all([this.#load(), makeFolder(home)]);
      const env = runtimeEnvironment(process.env, this.#options);
      const client = new CopilotClient({
        ...login,
        baseDirectory: home,
        workingDirectory: home,
        logLevel: 'error',
        env,
      });
      await client.start();
      return client;
    } catch (error) {
      throw runtimeError(error, login.gitHubToken);
    }
  }
}

async function stop(client: SdkClient): Promise<void> {
  if (!(await succeedsWithin(systemClock, STOP_MAX_MS, client.stop()))) await client.forceStop().catch(() => {});
}

/** Variables with keys to GitHub. A runtime that works with another server does not get them. */
const GITHUB_KEYS = ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_SDK_AUTH_TOKEN'] as const;

/** The environment of the runtime. With a model server of one's own, the runtime contacts nothing else. */
export function runtimeEnvironment(host: Environment, { env, providerConfig }: CopilotAgentOptions): Environment {
  const open = childEnvironment(host);
  if (!providerConfig) return { ...open, ...env };
  const own = Object.fromEntries(Object.entries(open).filter(([name]) => !GITHUB_KEYS.some((key) => key === name)));
  return { ...own, COPILOT_OFFLINE: 'true', ...env };
}
