/**
 * The one runtime process behind all sessions of an agent: started with the first session, ended with the last. It hangs
 * on our standard input, so it also ends when the host dies without a word.
 */

import { AgentError } from '../../core/contracts/agent.js';
import { systemClock } from '../../core/util/clock.js';
import { makeFolder } from '../../core/util/folders.js';
import { succeedsWithin } from '../../core/util/waiting.js';
import type { CopilotAgentOptions } from './copilot-agent.js';
import { runtimeEnvironment } from './environment.js';
import { LOG_IN, runtimeError, TOKEN_REFUSED } from './errors.js';
import { PING_MAX_MS, RUNTIME_CHECK_MS, STOP_MAX_MS } from './limits.js';
import { type ClientOptions, type CopilotSdk, loadSdk, type SdkClient } from './sdk.js';

export class CopilotRuntime {
  readonly #options: CopilotAgentOptions;
  readonly #load: () => Promise<CopilotSdk>;
  /** The tools that it brings itself: known once a session was opened, and the same for all of them. */
  toolNames: ReadonlySet<string> = new Set();
  #client: Promise<SdkClient> | undefined;
  /** The one before it is being stopped. */
  #ending: Promise<void> = Promise.resolve();
  #sessions = 0;
  /** What goes on in it: turns, and sessions that are being opened. */
  #working = 0;
  /** Shown by a client, and kept here alone. */
  #token: string | undefined;
  /** It runs with an earlier token. */
  #isOutdated = false;

  constructor(options: CopilotAgentOptions, load: () => Promise<CopilotSdk> = loadSdk) {
    this.#options = options;
    this.#load = load;
  }

  /** A session needs it from now on, until it leaves. */
  join(): void {
    this.#sessions++;
  }

  async leave(): Promise<void> {
    this.#sessions--;
    if (this.#sessions === 0) await this.#end();
  }

  /** For sessions that are opened from now on. */
  get token(): string | undefined {
    return this.#token;
  }

  /**
   * Takes a token, once GitHub does. What runs goes on with the earlier one; everything else is started anew. The runtime
   * that tries it is one of its own: a runtime's token is in the environment of all commands that it runs, so the one that
   * works gets it with each session instead.
   */
  async authenticate(token: string): Promise<void> {
    const client = await this.#started({ gitHubToken: token, useLoggedInUser: false });
    const { isAuthenticated } = await client.getAuthStatus().finally(() => stop(client));
    if (!isAuthenticated) throw new AgentError('auth', TOKEN_REFUSED);
    this.#token = token;
    this.#isOutdated = true;
    this.#renew();
  }

  /** Does something that needs the runtime as it is. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#working++;
    try {
      return await work();
    } finally {
      this.#working--;
      this.#renew();
    }
  }

  /** The next one who needs it gets one with the new token. */
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

  /** Running and logged in, as far as it must be. Started anew when it died. */
  client(): Promise<SdkClient> {
    this.#client ??= this.#next().catch((error) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  /** Two at once would be in each other's files. */
  async #next(): Promise<SdkClient> {
    await this.#ending;
    return this.#start();
  }

  /** Kills it when it does not react any more. Its sessions go on with the next one. */
  async check(): Promise<void> {
    const running = this.#client;
    const client = await running?.catch(() => undefined);
    if (!client || (await succeedsWithin(systemClock, PING_MAX_MS, client.ping()))) return;
    if (this.#client === running) this.#client = undefined;
    await client.forceStop();
  }

  /** Rejects when it is gone. Looks only until the signal fires. */
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
