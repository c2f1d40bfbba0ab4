/** The program that runs one turn: started for it, and gone with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { LAST_WORDS_MAX_CHARACTERS } from './limits.js';
import type { SpawnRequest } from './sdk.js';

export class TurnProcess {
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #words = '';

  /** Given to the SDK, which talks to it. */
  readonly start = ({ command, args, cwd, env }: SpawnRequest): ChildProcess => {
    const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#words = (this.#words + text).slice(-LAST_WORDS_MAX_CHARACTERS);
    });
    return child;
  };

  /** What it last complained about. */
  get lastWords(): string {
    return this.#words.trim();
  }

  /** Waits for its end, and brings it about when it takes too long. */
  async end(maxMs: number): Promise<void> {
    const timer = setTimeout(() => this.#child?.kill('SIGKILL'), maxMs);
    await this.#ended.finally(() => clearTimeout(timer));
  }
}
