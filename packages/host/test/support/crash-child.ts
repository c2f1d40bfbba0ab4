/** Starts hosts as processes of their own, asks them what they have stored, and kills them. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { LogEntry } from '@atrium/core/log/log.js';
import { programFile } from '../../../../test/support/programs.js';
import { type CrashPoint, crashPointText } from './crash-log.js';

/** A data folder that is gone when the test is over. */
export function crashFolder(): { readonly dataDir: string; remove(): void } {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'atrium-crash-'));
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true, force: true }) };
}

export interface HostProcessOptions {
  readonly dataDir: string;
  readonly crashAt?: CrashPoint;
}

interface Said {
  readonly port?: number;
  readonly repairs?: string[];
  readonly entries?: LogEntry[];
}

export class HostProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  readonly #heard: Said[] = [];
  #hear: (() => void) | undefined;
  #hasEnded = false;
  /** What it complained about. */
  complaints = '';

  constructor({ dataDir, crashAt }: HostProcessOptions) {
    const env = { ...process.env, ATRIUM_CRASH_AT: crashAt ? crashPointText(crashAt) : '' };
    this.#child = spawn(process.execPath, [programFile('crash-host'), dataDir], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'close').then(() => {
      this.#hasEnded = true;
      this.#hear?.();
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.complaints += chunk.toString();
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#heard.push(JSON.parse(line));
      this.#hear?.();
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The port that it serves; undefined when it died before. */
  async serving(): Promise<{ port: number; repairs: string[] } | undefined> {
    const { port, repairs = [] } = (await this.#next()) ?? {};
    return port === undefined ? undefined : { port, repairs };
  }

  /** What its log has behind a number; undefined when it died before it could tell. */
  async entries(after: number): Promise<LogEntry[] | undefined> {
    this.#child.stdin.write(`${after}\n`);
    return (await this.#next())?.entries;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  ended(): Promise<unknown> {
    return this.#ended;
  }

  async #next(): Promise<Said | undefined> {
    while (this.#heard.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#hear = resolve;
      });
    }
    return this.#heard.shift();
  }
}
