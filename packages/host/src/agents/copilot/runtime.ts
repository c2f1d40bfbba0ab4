/**
 * The one runtime process behind all sessions of an agent: started with the first session, ended with the last. It hangs
 * on our standard input, so it also ends when the host dies without a word.
 */
import { mkdir } from 'node:fs/promises';
import { systemClock } from '../../clock.js';
import { succeedsWithin } from '../../waiting.js';
import { AgentError } from '../agent.js';
import type { CopilotAgentOptions } from './copilot-agent.js';
import { runtimeEnvironment } from './environment.js';
import { LOG_IN, runtimeError } from './errors.js';
import { PING_MAX_MS, RUNTIME_CHECK_MS, STOP_MAX_MS } from './limits.js';
import { loadSdk, type SdkClient } from './sdk.js';

export class CopilotRuntime {
  readonly #options: CopilotAgentOptions;
  /** The tools that it brings itself: known once a session was opened, and the same for all of them. */
  toolNames: ReadonlySet<string> = new Set();
  #client: Promise<SdkClient> | undefined;
  #sessions = 0;

  constructor(options: CopilotAgentOptions) {
    this.#options = options;
  }

  /** A session needs it from now on, until it leaves. */
  join(): void {
    this.#sessions++;
  }

  async leave(): Promise<void> {
    this.#sessions--;
    if (this.#sessions > 0) return;
    const ending = this.#client;
    this.#client = undefined;
    const client = await ending?.catch(() => undefined);
    if (client && !(await succeedsWithin(systemClock, STOP_MAX_MS, client.stop()))) await client.forceStop();
  }

  /** Running and logged in, as far as it must be. Started anew when it died. */
  client(): Promise<SdkClient> {
    this.#client ??= this.#start().catch((error) => {
      this.#client = undefined;
      throw runtimeError(error);
    });
    return this.#client;
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
    const { home, providerConfig, gitHubToken, useLoggedInUser = providerConfig === undefined } = this.#options;
    const [{ CopilotClient }] = await Promise.all([loadSdk(), mkdir(home, { recursive: true })]);
    const client = new CopilotClient({
      baseDirectory: home,
      workingDirectory: home,
      useLoggedInUser,
      ...(gitHubToken !== undefined && { gitHubToken }),
      logLevel: 'error',
      env: runtimeEnvironment(process.env, this.#options),
    });
    await client.start();
    if (providerConfig || (await client.getAuthStatus()).isAuthenticated) return client;
    await client.forceStop();
    throw new AgentError('auth', LOG_IN);
  }
}
