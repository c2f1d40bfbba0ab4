/** One process of a project provider: its token, its output, its end, and its next start. */
import path from 'node:path';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { childEnvironment } from '@atrium/core/util/processes.js';
import { type ProcessEnd, runProcess } from '@atrium/core/util/run-process.js';
import { pause } from '@atrium/core/util/waiting.js';
import type { ProviderConfig } from '../../config/config-schema.js';
import type { GatewayUrl } from '../ports.js';
import type { ProviderTokens } from '../provider-auth.js';
import type { OrphanReaper } from './orphan-reaper.js';
import type { Arrivals } from './project-providers.js';

export const RESTART_FIRST_MS = 1_000;
export const RESTART_MAX_MS = 60_000;
/** A process that ran this long is healthy, so its next failure counts as the first. */
export const HEALTHY_AFTER_MS = 60_000;
export const STOP_GRACE_MS = 2_000;

/** Longer lines of output are cut. */
export const LINE_MAX_CHARACTERS = 1_000;

export interface ProviderProcessOptions {
  readonly name: string;
  readonly config: ProviderConfig;
  /** The session's folder. */
  readonly folder: string;
  readonly address: GatewayUrl;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tokens: ProviderTokens;
  /** Turns wait there for this process. */
  readonly arrivals: Arrivals;
  /** Ends the process when the host is killed. */
  readonly reaper: OrphanReaper;
  readonly sessionId: string;
  /** Called when a process is about to start; it will authenticate under this id. */
  admitted(admission: string): void;
  /** Called at the first failure, and at the first failure after being healthy. */
  failed(how: string): void;
}

export class ProviderProcess {
  readonly #options: ProviderProcessOptions;
  #stopping = new AbortController();
  #retiring = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: ProviderProcessOptions) {
    this.#options = options;
  }

  /** Does nothing while the process runs. */
  start(): void {
    if (this.#running) return;
    this.#stopping = new AbortController();
    this.#retiring = new AbortController();
    this.#running = this.#keepRunning();
  }

  /** The session is about to end: the process may still say goodbye, but is not started again. */
  retire(): void {
    this.#retiring.abort();
  }

  /** Ends the process and everything it started; resolves when that is done. */
  async stop(): Promise<void> {
    this.retire();
    this.#stopping.abort();
    await this.#running;
    this.#running = undefined;
  }

  async #keepRunning(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#retiring;
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = clock.now();
      const end = await this.#runOnce();
      if (signal.aborted) return;
      if (clock.now() - startedAt >= HEALTHY_AFTER_MS) failures = 0;
      this.#ended(end, failures);
      await pause(clock, Math.min(RESTART_FIRST_MS * 2 ** failures, RESTART_MAX_MS), signal);
      failures += 1;
    }
  }

  /** Every process has its own token, which is revoked when the process ends. */
  async #runOnce(): Promise<ProcessEnd> {
    const { config, folder, tokens, reaper, arrivals, sessionId, name, clock, logger, admitted } = this.#options;
    const token = tokens.issueProject(sessionId);
    const admission = tokens.accessOf(token)?.token?.id ?? '';
    arrivals.expect(admission);
    admitted(admission);
    // The log gets the process's output, but never its token.
    const lines = new OutputLines((line) =>
      logger.log('info', line.replaceAll(token, '…'), { provider: name, session: sessionId }),
    );
    const end = await runProcess({
      command: config.command,
      args: config.args ?? [],
      cwd: path.resolve(folder, config.cwd ?? '.'),
      env: this.#environment(token),
      signal: this.#stopping.signal,
      timeoutMs: Number.MAX_SAFE_INTEGER,
      graceMs: STOP_GRACE_MS,
      clock,
      started: (leader) => reaper.add(leader),
      output: (text) => lines.add(text),
    });
    lines.end();
    arrivals.over(admission);
    tokens.revoke(token);
    return end;
  }

  #ended(end: ProcessEnd, failures: number): void {
    const { name, sessionId, logger, failed } = this.#options;
    const how = endText(end);
    logger.log('warn', 'a provider ended; it is started again', { provider: name, session: sessionId, how });
    if (failures === 0) failed(how);
  }

  #environment(token: string): NodeJS.ProcessEnv {
    const { config, address } = this.#options;
    return {
      ...childEnvironment(),
      ...config.env,
      TAP_PROVIDER_TOKEN: token,
      ATRIUM_PROVIDER_TOKEN: token,
      TAP_GATEWAY_URL: address.url,
      TAP_GATEWAY_PORT: String(address.port),
    };
  }
}

function endText(end: ProcessEnd): string {
  if (end.kind === 'exited') return `ended with code ${end.code}`;
  if (end.kind === 'killed') return `was ended by ${end.signal}`;
  return end.kind === 'not-started' ? `could not be started (${end.code})` : 'was stopped';
}

/** Joins pieces of output into lines of at most `LINE_MAX_CHARACTERS`. */
export class OutputLines {
  #rest = '';

  constructor(private readonly line: (text: string) => void) {}

  add(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    // Of an unfinished line, keeps only as much as will be shown.
    this.#rest = (lines.pop() ?? '').slice(0, LINE_MAX_CHARACTERS);
    for (const line of lines) this.#say(line);
  }

  end(): void {
    this.#say(this.#rest);
    this.#rest = '';
  }

  #say(line: string): void {
    if (line.trim() !== '') this.line(line.slice(0, LINE_MAX_CHARACTERS));
  }
}
