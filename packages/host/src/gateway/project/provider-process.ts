/** One process of a project provider: its token, its output, its end, and its next start. */
import path from 'node:path';
import type { ProviderConfig } from '../../config/schema.js';
import { runProcess } from '../../tools/run-process.js';
import type { GatewayCore } from '../service.js';
import type { ProviderTokens } from '../tokens.js';

export const RESTART_FIRST_MS = 1_000;
export const RESTART_MAX_MS = 60_000;
/** A process that ran this long is well: the next failure is a new one. */
export const WELL_AFTER_MS = 60_000;
export const STOP_GRACE_MS = 2_000;
const LINE_MAX_CHARACTERS = 1_000;

export interface ProviderProcessParts {
  readonly name: string;
  readonly config: ProviderConfig;
  /** The session's folder. */
  readonly folder: string;
  readonly address: { readonly url: string; readonly port: number };
  readonly core: GatewayCore;
  readonly tokens: ProviderTokens;
  readonly sessionId: string;
}

export class ProviderProcess {
  readonly #parts: ProviderProcessParts;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ProviderProcessParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#keepRunning();
  }

  /** Ends it and everything it started; resolves when that is done. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #keepRunning(): Promise<void> {
    const { clock } = this.#parts.core;
    for (let delayMs = RESTART_FIRST_MS; !this.#stopping.signal.aborted; ) {
      const startedAt = clock.now();
      await this.#runOnce();
      const wasWell = clock.now() - startedAt >= WELL_AFTER_MS;
      delayMs = wasWell ? RESTART_FIRST_MS : Math.min(delayMs * 2, RESTART_MAX_MS);
      await this.#pause(delayMs / 2);
    }
  }

  /** Every process has a token of its own, which dies with it. */
  async #runOnce(): Promise<void> {
    const { config, folder, tokens, sessionId, name, core } = this.#parts;
    const token = tokens.issueProject(sessionId);
    const end = await runProcess({
      command: config.command,
      args: config.args ?? [],
      cwd: path.resolve(folder, config.cwd ?? '.'),
      env: this.#environment(token),
      signal: this.#stopping.signal,
      timeoutMs: Number.MAX_SAFE_INTEGER,
      graceMs: STOP_GRACE_MS,
      clock: core.clock,
      output: (text) => this.#log(text),
    });
    tokens.revoke(token);
    if (this.#stopping.signal.aborted) return;
    const how = end.kind === 'exited' ? `code ${end.code}` : end.kind === 'not-started' ? end.code : end.kind;
    core.logger.log('warn', 'a provider ended; it is started again', { provider: name, session: sessionId, how });
  }

  #environment(token: string): NodeJS.ProcessEnv {
    const { config, address } = this.#parts;
    return {
      ...process.env,
      ...config.env,
      TAP_PROVIDER_TOKEN: token,
      ATRIUM_PROVIDER_TOKEN: token,
      TAP_GATEWAY_URL: address.url,
      TAP_GATEWAY_PORT: String(address.port),
    };
  }

  #log(text: string): void {
    const { name, sessionId, core } = this.#parts;
    for (const line of text.split('\n').filter((it) => it.trim() !== ''))
      core.logger.log('info', line.slice(0, LINE_MAX_CHARACTERS), { provider: name, session: sessionId });
  }

  #pause(milliseconds: number): Promise<void> {
    const { signal } = this.#stopping;
    return new Promise((resolve) => {
      const cancel = this.#parts.core.clock.after(milliseconds, resolve);
      signal.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
  }
}
