/** Runs the appender in a process of its own, and knows what it has reported. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { programFile } from '../../../../test/support/programs.js';

export class Appender {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  #output = '';
  #errors = '';

  private constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.#output += chunk.toString();
    });
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
  }

  static async start(dataDir: string, seed: number): Promise<Appender> {
    const appender = new Appender(process.execPath, nodeArguments(dataDir, seed));
    await appender.#said('open ');
    return appender;
  }

  /** No file that the process writes can grow beyond this. */
  static async startWithFileLimit(dataDir: string, kilobytes: number): Promise<Appender> {
    const script = `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$0" "$@"`;
    const appender = new Appender('bash', ['-c', script, process.execPath, ...nodeArguments(dataDir, 1)]);
    await appender.#said('open ');
    return appender;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The head of the last commit that was reported as stored, or that the log was opened with. */
  get reported(): number {
    const lines = this.#output.split('\n').slice(0, -1);
    return Number(lines.findLast((line) => /^(open|stored) /.test(line))?.split(' ')[1] ?? 0);
  }

  /** The head of the last commit with a record that was reported as stored. */
  get recorded(): number {
    const lines = this.#output.split('\n').slice(0, -1);
    return Number(lines.findLast((line) => line.startsWith('stored '))?.split(' ')[2] ?? 0);
  }

  get failure(): string | undefined {
    return /^failed (.*)$/m.exec(this.#output)?.[1];
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
  }

  /** Everything that was written to the pipes has been read by then. */
  async ended(): Promise<void> {
    await once(this.#child, 'close');
  }

  async #said(what: string): Promise<void> {
    while (!this.#output.includes(what)) {
      const ended = once(this.#child, 'exit').then(() =>
        Promise.reject(new Error(`the appender ended: ${this.#errors}`)),
      );
      await Promise.race([once(this.#child.stdout, 'data'), ended]);
    }
  }
}

function nodeArguments(dataDir: string, seed: number): string[] {
  return [programFile('log-appender'), dataDir, String(seed)];
}
