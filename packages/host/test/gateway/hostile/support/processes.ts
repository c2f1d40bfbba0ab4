/** Processes of a hostile run: the host, and those who attack it. All of them end with the test. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** A program that says one JSON object in each line. */
export class TalkingProcess {
  readonly #child: Child;
  readonly #ended: Promise<unknown>;
  readonly #heard: object[] = [];
  #hear = () => {};
  #hasEnded = false;
  /** What it complained about. */
  complaints = '';

  constructor(file: string, args: readonly string[]) {
    this.#child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#ended = once(this.#child, 'close').then(() => {
      this.#hasEnded = true;
      this.#hear();
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.complaints += chunk.toString();
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#heard.push(JSON.parse(line));
      this.#hear();
    });
  }

  /** The next thing that it says. */
  async next<T extends object>(): Promise<T> {
    while (this.#heard.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#hear = resolve;
      });
    }
    const said = this.#heard.shift();
    if (!said) throw new Error(`it ended without a word: ${this.complaints}`);
    return said as T;
  }

  async ask<T extends object>(): Promise<T> {
    this.#child.stdin.write('\n');
    return this.next<T>();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** It ends by itself when nobody talks to it any more, and takes along what it has started. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
