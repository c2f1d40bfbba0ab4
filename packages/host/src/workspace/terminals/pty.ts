/** A process on a pseudo terminal. The package for them is optional and native, and is loaded when first needed. */
import { readSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import type { ReadStream } from 'node:tty';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { ErrorCode } from '@atrium/protocol/ahp-1';
import type * as NodePty from '@lydell/node-pty';

/** How often the rest of its input is offered to a program that did not read it. */
const INPUT_RETRY_MS = 10;
/**
 * How much output is still read after a program has ended. The system holds less; a background process may add more.
 */
const LAST_OUTPUT_MAX_BYTES = 2 ** 20;
const READ_BYTES = 64 * 2 ** 10;

interface PtyRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
}

export interface PtyExit {
  readonly exitCode: number;
  /** The signal that ended it, such as `SIGKILL`, 9; absent when it ended by itself. */
  readonly signal: { readonly name: string; readonly number: number } | undefined;
}

export interface PtyEvents {
  output(text: string): void;
  exited(exit: PtyExit): void;
}

export type SpawnPty = (request: PtyRequest, events: PtyEvents) => Pty;

/** Terminals are not available; the message says what to do. */
class PtyMissingError extends Error {
  override readonly name = 'PtyMissingError';
}

export async function loadPty(
  load: () => Promise<typeof NodePty> = () => import('@lydell/node-pty'),
): Promise<SpawnPty> {
  try {
    const { spawn } = await load();
    return ({ file, args, cwd, env, cols, rows }, events) =>
      new Pty(spawn(file, [...args], { name: env.TERM ?? 'xterm-256color', cwd, env: { ...env }, cols, rows }), events);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    const advice = 'install it beside the host: npm install @lydell/node-pty';
    throw new PtyMissingError(`terminals need the package @lydell/node-pty; ${advice} (${why})`, { cause: error });
  }
}

/** Private members of the package: the file descriptor of the terminal, and the stream that reads from it. */
interface Inside {
  readonly fd?: number;
  readonly _socket?: ReadStream;
}

export class Pty {
  readonly #pty: NodePty.IPty;
  readonly #clock: Clock;
  #input = Buffer.alloc(0);
  #isOver = false;
  #isRetrying = false;

  constructor(pty: NodePty.IPty, { output, exited }: PtyEvents, clock = systemClock) {
    this.#pty = pty;
    this.#clock = clock;
    pty.onData(output);
    const { fd, _socket } = pty as Inside;
    if (fd !== undefined && _socket && process.platform !== 'win32') readToTheEnd(_socket, fd);
    pty.onExit(({ exitCode, signal }) => {
      this.#isOver = true;
      exited({ exitCode, signal: signal ? { name: signalName(signal), number: signal } : undefined });
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** How much input the program has not read. */
  get unreadBytes(): number {
    return this.#input.length;
  }

  /** Sends input; waits with the part that the program does not read yet. */
  write(text: string): void {
    if (this.#isOver) return;
    this.#input = Buffer.concat([this.#input, Buffer.from(text)]);
    if (!this.#isRetrying) this.#pass();
  }

  resize(cols: number, rows: number): void {
    if (!this.#isOver && this.#isOpen()) this.#pty.resize(cols, rows);
  }

  pause(): void {
    this.#pty.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#pty.resume();
  }

  /** Windows only; elsewhere processes are ended by their groups. */
  kill(): void {
    if (!this.#isOver) this.#pty.kill();
  }

  #isOpen(): boolean {
    return (this.#pty as Inside)._socket?.destroyed !== true;
  }

  /**
   * The package's own `write` busy-waits for a program that does not read, and so blocks the host. The descriptor
   * itself does not block: it takes as much as fits, and this class offers the rest again in a moment.
   */
  #pass(): void {
    this.#isRetrying = false;
    const { fd } = this.#pty as Inside;
    if (this.#isOver || !this.#isOpen()) return;
    if (fd === undefined || process.platform === 'win32') return this.#passWhole();
    try {
      while (this.#input.length > 0) this.#input = this.#input.subarray(writeSync(fd, this.#input));
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') this.#retry();
      else this.#input = Buffer.alloc(0);
    }
  }

  #passWhole(): void {
    this.#pty.write(this.#input.toString());
    this.#input = Buffer.alloc(0);
  }

  #retry(): void {
    this.#isRetrying = true;
    this.#clock.after(INPUT_RETRY_MS, () => this.#pass());
  }
}

/**
 * Output that a program writes right before it ends gets lost in three places: Node takes a hangup for the end of the
 * stream after the first 4 KiB that it reads; an error of the descriptor, which is how a terminal ends, drops what
 * waits in a paused stream; and the package destroys the stream 200 ms after the exit, read or not. This makes each of
 * them first read what the descriptor still holds; the stream then ends by itself when its reader has everything.
 */
function readToTheEnd(stream: ReadStream, fd: number): void {
  const push = stream.push.bind(stream);
  const destroy = stream.destroy.bind(stream);
  let isAtEnd = false;
  const end = (): void => {
    if (isAtEnd) return;
    isAtEnd = true;
    for (const chunk of restOf(fd)) push(chunk);
    push(null);
    stream.read(0);
  };
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null) end();
    return isAtEnd ? false : push(chunk, encoding);
  };
  stream.destroy = (error?: Error) => {
    end();
    const isExpected = !error || codeOf(error) === 'EIO';
    return isExpected && !stream.readableEnded ? stream : destroy(error);
  };
}

/** Everything that can be read without waiting. */
function* restOf(fd: number): Generator<Buffer> {
  for (let total = 0; total < LAST_OUTPUT_MAX_BYTES; ) {
    const chunk = Buffer.allocUnsafe(READ_BYTES);
    const size = readNow(fd, chunk);
    if (size === 0) return;
    total += size;
    yield chunk.subarray(0, size);
  }
}

function readNow(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into);
  } catch {
    // EAGAIN: a background process has the terminal open and writes nothing. EIO: no process has it open.
    return 0;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
}

/** Loads the package when the first pseudo terminal is needed, and tries again after a failure. */
export class PtySource {
  readonly #load: () => Promise<SpawnPty>;
  #spawn: Promise<SpawnPty> | undefined;

  constructor(load: () => Promise<SpawnPty> = () => loadPty()) {
    this.#load = load;
  }

  async spawn(): Promise<SpawnPty> {
    this.#spawn ??= this.#load();
    try {
      return await this.#spawn;
    } catch (error) {
      // The user may install the package meanwhile.
      this.#spawn = undefined;
      const message = error instanceof PtyMissingError ? error.message : `no terminal can be opened: ${String(error)}`;
      throw new RequestError(ErrorCode.InternalError, message);
    }
  }
}
